package ui

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAsset_IsSentAsItsReaderTakesIt(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a { color: var(--ink); }\n", 100)
	asset, err := NewAsset("page.css", []byte(text))
	require.NoError(t, err)
	assert.Regexp(t, `^/assets/page\.[0-9a-f]{16}\.css$`, asset.Address)
	ask := func(method string, headers ...string) *http.Response {
		r := httptest.NewRequest(method, asset.Address, nil)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		require.NoError(t, asset.Serve(w, r))
		return w.Result()
	}
	for accept, packed := range map[string]bool{"gzip": true, "br, gzip;q=0.5": true, "": false, "gzip;q=0": false, "gzip; q=0.0, br": false, "xgzip": false} {
		response := ask(http.MethodGet, "Accept-Encoding", accept)
		assert.Equal(t, 200, response.StatusCode)
		assert.Equal(t, "public, max-age=31536000, immutable", response.Header.Get("Cache-Control"))
		assert.Equal(t, "Accept-Encoding", response.Header.Get("Vary"))
		assert.Equal(t, "text/css; charset=utf-8", response.Header.Get("Content-Type"))
		body := io.Reader(response.Body)
		if packed {
			assert.Equal(t, "gzip", response.Header.Get("Content-Encoding"), accept)
			assert.Less(t, response.ContentLength, int64(200))
			body, err = gzip.NewReader(body)
			require.NoError(t, err)
		} else {
			assert.Empty(t, response.Header.Get("Content-Encoding"), accept)
			assert.EqualValues(t, len(text), response.ContentLength)
		}
		read, err := io.ReadAll(body)
		require.NoError(t, err)
		assert.Equal(t, text, string(read))
	}
	first := ask(http.MethodHead)
	assert.EqualValues(t, len(text), first.ContentLength)
	again := ask(http.MethodGet, "If-None-Match", `"other", `+first.Header.Get("ETag"))
	assert.Equal(t, http.StatusNotModified, again.StatusCode)

	other, err := NewAsset("page.css", []byte(text+" "))
	require.NoError(t, err)
	assert.NotEqual(t, asset.Address, other.Address)
}
