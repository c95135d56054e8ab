package pages

import (
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRefused_SaysWhatToDo(t *testing.T) {
	t.Parallel()
	p, err := New(nil, nil, nil, nil, nil, nil, nil)
	require.NoError(t, err)
	for _, c := range []struct {
		method string
		status int
		text   string
	}{
		{"GET", 429, "Wait a minute"}, {"POST", 413, "too large"}, {"GET", 500, "our fault"}, {"GET", 503, "our fault"},
		{"POST", 500, "not known whether what you sent was done"}, {"POST", 503, "not known whether what you sent was done"},
	} {
		w := httptest.NewRecorder()
		require.NoError(t, p.Refused(echo.New().NewContext(httptest.NewRequest(c.method, "/checkout/x", nil), w), c.status))
		assert.Equal(t, c.status, w.Code)
		assert.Contains(t, w.Body.String(), c.text)
		assert.Equal(t, "no-store", w.Header().Get("Cache-Control"))
		assert.Contains(t, w.Header().Get("Content-Security-Policy"), "default-src 'none'")
	}
}
