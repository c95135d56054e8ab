package server

import (
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/gen/api"
)

func TestDevelopmentOperation_IsAPathThatDoesNotExistElsewhere(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for _, method := range []string{http.MethodPost, http.MethodGet} {
		refused := f.send(method, "/v1/test_helpers/widgets", "")
		assert.Equal(t, http.StatusNotFound, refused.StatusCode, method)
		assert.Equal(t, f.send(method, "/v1/nowhere", "").problem(t).Code, refused.problem(t).Code)
	}
	assert.Equal(t, http.StatusUnauthorized, f.send(http.MethodPost, "/v1/test_helpers/widgets", "", "Authorization", "").StatusCode)

	document, err := os.ReadFile("testdata/widgets.yaml")
	require.NoError(t, err)
	developing, err := New(Deps{Store: f.store, Log: NewLogger(f.log, LogJSON), Development: true, Document: document,
		Register: func(r api.EchoRouter) { registerWidgets(r, f.calls, nil) }})
	require.NoError(t, err)
	server := httptest.NewServer(developing)
	t.Cleanup(server.Close)
	f.url = server.URL
	answered := f.send(http.MethodPost, "/v1/test_helpers/widgets", "")
	assert.Equal(t, http.StatusOK, answered.StatusCode, answered.body)
	assert.Equal(t, http.StatusMethodNotAllowed, f.send(http.MethodGet, "/v1/test_helpers/widgets", "").StatusCode)
}
