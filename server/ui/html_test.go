package ui

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWriteHTML_CompressesForWhoCanReadIt(t *testing.T) {
	t.Parallel()
	long := "<p>" + strings.Repeat("Thank you. ", 1000)
	for name, c := range map[string]struct {
		page, takes string
		packed      bool
	}{
		"long": {long, "br, gzip", true}, "short": {"<p>Thank you.", "gzip", false}, "none": {long, "", false}, "refused": {long, "gzip;q=0", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, w := httptest.NewRequest(http.MethodGet, "/", nil), httptest.NewRecorder()
			r.Header.Set("Accept-Encoding", c.takes)
			require.NoError(t, WriteHTML(w, r, http.StatusTeapot, []byte(c.page)))
			assert.Equal(t, http.StatusTeapot, w.Code)
			assert.Equal(t, "Accept-Encoding", w.Header().Get("Vary"))
			assert.Equal(t, strconv.Itoa(w.Body.Len()), w.Header().Get("Content-Length"))
			body := io.Reader(w.Body)
			assert.Equal(t, c.packed, w.Header().Get("Content-Encoding") == "gzip")
			if c.packed {
				assert.Less(t, w.Body.Len(), len(c.page)/10)
				var err error
				body, err = gzip.NewReader(w.Body)
				require.NoError(t, err)
			}
			read, err := io.ReadAll(body)
			require.NoError(t, err)
			assert.Equal(t, c.page, string(read))
		})
	}
}
