package reference_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
	_ "github.com/tillwright/tillwright/tests/harness/migrated"
)

// The pages stand beside the API: nobody needs a key for them, and they are only looked at.
func TestServed_ToEverybodyToLookAt(t *testing.T) {
	t.Parallel()
	s := harness.Boot(t, database.URL(t, "sqlite"))
	for _, asked := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/docs", 200}, {"HEAD", "/docs", 200}, {"GET", "/docs/products", 200}, {"HEAD", "/docs/events", 200}, {"GET", "/docs/guide", 200}, {"HEAD", "/docs/guide/start", 200}, {"GET", "/docs/guide/nothing", 404}, {"GET", "/docs/search.json", 200}, {"GET", "/llms.txt", 200},
		{"GET", "/docs/nothing", 404}, {"HEAD", "/docs/nothing", 404}, {"GET", "/docs/products/more", 404}, {"GET", "/docs/", 404}, {"GET", "/assets/reference.0.css", 404},
		{"POST", "/docs", 405}, {"DELETE", "/docs/products", 405}, {"PUT", "/llms.txt", 405}, {"GET", "/v1/docs", 401},
	} {
		request, err := http.NewRequestWithContext(t.Context(), asked.method, s.URL+asked.path, nil)
		require.NoError(t, err)
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, asked.status, response.StatusCode, "%s %s", asked.method, asked.path)
		assert.Equal(t, asked.method == "HEAD", len(body) == 0, "%s %s", asked.method, asked.path)
		if asked.status == http.StatusMethodNotAllowed {
			assert.Equal(t, "GET, HEAD", response.Header.Get("Allow"), asked.path)
		}
	}
}
