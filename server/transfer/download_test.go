package transfer_test

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/grant"
)

func TestDownload_GoesOnWithAFreshLink(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		content, hash := some(part + 1000)
		f := w.whole("Course.zip", content)
		first := w.ask(http.MethodGet, w.link(f), nil)
		require.Equal(t, `"`+hash+`"`, first.Header.Get("ETag"))
		_, err := io.ReadFull(first.Body, make([]byte, 5000))
		require.NoError(t, err)
		require.NoError(t, first.Body.Close())
		rest := w.ask(http.MethodGet, w.link(f), nil, "Range", "bytes=5000-", "If-Range", first.Header.Get("ETag"))
		require.Equal(t, http.StatusPartialContent, rest.StatusCode)
		require.Equal(t, fmt.Sprintf("bytes 5000-%d/%d", len(content)-1, len(content)), rest.Header.Get("Content-Range"))
		body, err := io.ReadAll(rest.Body)
		require.NoError(t, err)
		require.True(t, bytes.Equal(content[5000:], body))
		require.Equal(t, http.StatusRequestedRangeNotSatisfiable, w.ask(http.MethodGet, w.link(f), nil, "Range", "bytes=99999999-").StatusCode)
		require.Equal(t, http.StatusOK, w.ask(http.MethodGet, w.link(f), nil, "Range", "bytes=0-1,5-6").StatusCode, "several parts")
		require.Equal(t, http.StatusOK, w.ask(http.MethodGet, w.link(f), nil, "Range", "bytes=5000-", "If-Range", `"other"`).StatusCode)
		head := w.ask(http.MethodHead, w.link(f), nil)
		require.Equal(t, int64(len(content)), head.ContentLength)
	})
}

func TestDownload_GoesOnWhenTheBucketBreaks(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		content, _ := some(part)
		f := w.whole("a", content)
		w.broken.Store(2)
		defer w.broken.Store(0)
		body, err := io.ReadAll(w.ask(http.MethodGet, w.link(f), nil).Body)
		require.NoError(t, err)
		require.True(t, bytes.Equal(content, body))
	})
}

func TestDownload_LinksExpireAndCannotBeAltered(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		f := w.whole("a", []byte("hello"))
		link := w.link(f)
		require.Equal(t, http.StatusOK, w.ask(http.MethodGet, link, nil).StatusCode)
		altered := "AA"
		if strings.HasSuffix(link, altered) {
			altered = "BA"
		}
		require.Equal(t, http.StatusNotFound, w.ask(http.MethodGet, link[:len(link)-2]+altered, nil).StatusCode)
		w.ahead.Add(int64(time.Hour + time.Second))
		require.Equal(t, http.StatusGone, w.ask(http.MethodGet, link, nil).StatusCode)
	})
}

func TestDownload_IsOnlyEverSaved(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for name, is := range map[string]struct{ declared, content, served string }{
			"page.html":                 {"text/plain", "<!DOCTYPE html><html><script>alert(1)</script>", "text/plain"},
			"page":                      {"", "<!DOCTYPE html><html><script>alert(1)</script>", "application/octet-stream"},
			"picture.svg":               {"image/svg+xml", `<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>`, "application/octet-stream"},
			"a lie.png":                 {"image/png", "<!DOCTYPE html><html><script>alert(1)</script>", "application/octet-stream"},
			"true.png":                  {"image/png", "\x89PNG\r\n\x1a\n", "image/png"},
			"of a kind.xyz":             {"application/x-unknown", "\x00\x01\x02", "application/x-unknown"},
			`"><script>alert(1)é日.zip`:  {"", "PK\x03\x04", "application/zip"},
			`a"; filename="b.exe`:       {"", "hello", "text/plain"},
			"100%; attachment*=x'y.txt": {"", "hello", "text/plain"},
		} {
			f, err := w.Grant.CreateFile(t.Context(), w.account, grant.NewFile{Name: name, NewVersion: grant.NewVersion{Size: int64(len(is.content)), ContentType: is.declared}})
			require.NoError(t, err)
			require.Equal(t, http.StatusOK, w.send(f.UploadURL, bytes.NewReader([]byte(is.content))).StatusCode)
			f, err = w.files.Complete(t.Context(), w.account, f.ID)
			require.NoError(t, err)
			h := w.ask(http.MethodGet, w.link(f), nil).Header
			require.Equal(t, is.served, h.Get("Content-Type"), name)
			require.Equal(t, "nosniff", h.Get("X-Content-Type-Options"))
			require.Contains(t, h.Get("Content-Security-Policy"), "sandbox")
			kind, parameters, err := mime.ParseMediaType(h.Get("Content-Disposition"))
			require.NoError(t, err, h.Get("Content-Disposition"))
			require.Equal(t, "attachment", kind)
			require.Equal(t, name, parameters["filename"], "the extended form wins")
			for _, sign := range []byte(h.Get("Content-Disposition")) {
				require.GreaterOrEqual(t, sign, byte(' '), h.Get("Content-Disposition"))
				require.LessOrEqual(t, sign, byte('~'), h.Get("Content-Disposition"))
			}
		}
	})
}
