package transfer_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
)

const part = grant.PartSize

func TestUpload_GoesOnWhereItWasCutOff(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		content, hash := some(2*part + 1000)
		f := w.create("Course.zip", int64(len(content)))
		cut := io.MultiReader(bytes.NewReader(content[:part+5000]), &broken{})
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, w.at(f.UploadURL), cut)
		require.NoError(t, err)
		request.ContentLength = int64(len(content))
		_, err = http.DefaultClient.Do(request)
		require.Error(t, err)
		require.Eventually(t, func() bool { return w.received(f.UploadURL) == part }, time.Minute, 20*time.Millisecond)
		rest := f.UploadURL + "?offset=" + strconv.Itoa(part)
		require.Eventually(t, func() bool { // the server may not know yet that the first connection is gone
			return w.send(rest, bytes.NewReader(content[part:])).StatusCode == http.StatusOK
		}, time.Minute, 50*time.Millisecond)
		done, err := w.files.Complete(t.Context(), w.account, f.ID)
		require.NoError(t, err)
		require.Equal(t, hash, *done.SHA256)
		body, err := io.ReadAll(w.ask(http.MethodGet, w.link(done), nil).Body)
		require.NoError(t, err)
		require.True(t, bytes.Equal(content, body))
	})
}

// broken fails whoever reads it.
type broken struct{}

func (*broken) Read([]byte) (int, error) { return 0, errors.New("the line is cut") }

func TestUpload_RefusesWhatDoesNotFit(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		content, _ := some(part + 10)
		f := w.create("a", int64(len(content)))
		for name, is := range map[string]struct {
			address string
			body    io.Reader
			status  int
			code    string
		}{
			"another offset":           {f.UploadURL + "?offset=5", bytes.NewReader(content[5:]), 409, "upload_conflict"},
			"no number":                {f.UploadURL + "?offset=x", bytes.NewReader(content), 400, "bad_request"},
			"more, announced":          {f.UploadURL, bytes.NewReader(append(content, 1)), 413, "request_too_large"},
			"more, unannounced":        {f.UploadURL, io.MultiReader(bytes.NewReader(content), strings.NewReader("x")), 413, "request_too_large"},
			"a short piece":            {f.UploadURL, bytes.NewReader(content[:100]), 400, "bad_request"},
			"a short unannounced one":  {f.UploadURL, io.MultiReader(bytes.NewReader(content[:100])), 400, "bad_request"},
			"an altered address":       {altered(f.UploadURL), bytes.NewReader(content), 404, "resource_missing"},
			"another account's upload": {strings.Replace(f.UploadURL, strings.TrimPrefix(w.account, "acct_"), strings.TrimPrefix(core.NewID(core.KindAccount), "acct_"), 1), bytes.NewReader(content), 404, "resource_missing"},
		} {
			status, code := code(t, w.send(is.address, is.body))
			require.Equal(t, is.status, status, name)
			require.Equal(t, is.code, code, name)
		}
		_, err := w.files.Complete(t.Context(), w.account, f.ID)
		requireInvalid(t, err, "size")
		require.Equal(t, http.StatusOK, w.send(f.UploadURL, io.MultiReader(bytes.NewReader(content))).StatusCode, "unannounced, of the right size")
		done, err := w.files.Complete(t.Context(), w.account, f.ID)
		require.NoError(t, err)
		require.Equal(t, grant.FileStatusReady, done.Status)
		require.Equal(t, http.StatusGone, w.send(f.UploadURL, bytes.NewReader(content)).StatusCode)
	})
}

func requireInvalid(t *testing.T, err error, field string) {
	t.Helper()
	var e *core.Error
	require.ErrorAs(t, err, &e)
	require.Contains(t, e.Fields, field, e.Message)
}

func TestUpload_HasOneWriter(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		content, _ := some(part + 10)
		f := w.create("a", int64(len(content)))
		in, out := io.Pipe()
		first := make(chan int, 1)
		go func() { first <- w.send(f.UploadURL, in).StatusCode }()
		_, err := out.Write(content[:1000])
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			status, code := code(t, w.send(f.UploadURL, bytes.NewReader(content)))
			return status == http.StatusConflict && code == "upload_conflict"
		}, time.Minute, 10*time.Millisecond)
		_, err = out.Write(content[1000:])
		require.NoError(t, err)
		require.NoError(t, out.Close())
		require.Equal(t, http.StatusOK, <-first)
		require.EqualValues(t, len(content), w.received(f.UploadURL))
	})
}

func TestUpload_SpeaksTus(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		content, hash := some(part + 10)
		f := w.create("a", int64(len(content)))
		require.Equal(t, "1.0.0", w.ask(http.MethodOptions, f.UploadURL, nil).Header.Get("Tus-Version"))
		patch := func(offset string, body []byte) *http.Response {
			return w.ask(http.MethodPatch, f.UploadURL, bytes.NewReader(body), "Tus-Resumable", "1.0.0", "Content-Type", "application/offset+octet-stream", "Upload-Offset", offset)
		}
		require.Equal(t, http.StatusPreconditionFailed, w.ask(http.MethodPatch, f.UploadURL, nil).StatusCode)
		require.Equal(t, http.StatusUnsupportedMediaType, w.ask(http.MethodPatch, f.UploadURL, nil, "Tus-Resumable", "1.0.0").StatusCode)
		require.Equal(t, http.StatusConflict, patch("5", content[5:]).StatusCode)
		some := patch("0", content[:part])
		require.Equal(t, http.StatusNoContent, some.StatusCode)
		head := w.ask(http.MethodHead, f.UploadURL, nil)
		require.Equal(t, []string{strconv.Itoa(part), strconv.Itoa(part + 10), "no-store"}, []string{head.Header.Get("Upload-Offset"), head.Header.Get("Upload-Length"), head.Header.Get("Cache-Control")})
		require.Equal(t, http.StatusConflict, patch("0", content).StatusCode, "tus never starts again")
		require.Equal(t, strconv.Itoa(part+10), patch(strconv.Itoa(part), content[part:]).Header.Get("Upload-Offset"))
		done, err := w.files.Complete(t.Context(), w.account, f.ID)
		require.NoError(t, err)
		require.Equal(t, hash, *done.SHA256)
	})
}

func TestUpload_ExpiresAndItsBytesAreRemoved(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		content, _ := some(2 * part)
		f := w.create("a", int64(len(content)))
		require.Equal(t, http.StatusOK, w.send(f.UploadURL, bytes.NewReader(content[:part])).StatusCode)
		require.NotEmpty(t, w.entries())
		w.ahead.Add(int64(7*24*time.Hour + time.Minute))
		status, code := code(t, w.send(f.UploadURL, bytes.NewReader(content)))
		require.Equal(t, http.StatusGone, status)
		require.Equal(t, "resource_gone", code)
		require.NoError(t, w.files.Remove(t.Context()))
		w.ahead.Add(int64(time.Hour))
		require.NoError(t, w.files.Remove(t.Context()))
		require.Empty(t, w.entries())
		still, err := w.Grant.GetFile(t.Context(), w.account, f.ID)
		require.NoError(t, err)
		require.Nil(t, still.UploadID)
		_, err = w.files.Complete(t.Context(), w.account, f.ID)
		requireInvalid(t, err, "status")
		again, err := w.Grant.CreateFileVersion(t.Context(), w.account, f.ID, grant.NewVersion{Size: 3})
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, w.send(again.UploadURL, strings.NewReader("abc")).StatusCode)
	})
}

func TestDeletedFile_KeepsItsBytesForADay(t *testing.T) {
	eachWith(t, grant.Limits{Quota: 10}, func(t *testing.T, w *world) {
		f := w.whole("a", []byte("0123456789"))
		_, err := w.Grant.CreateFile(t.Context(), w.account, grant.NewFile{Name: "b", NewVersion: grant.NewVersion{Size: 1}})
		requireInvalid(t, err, "size")
		link := w.link(f)
		_, err = w.Grant.DeleteFile(t.Context(), w.account, f.ID)
		require.NoError(t, err)
		require.Equal(t, http.StatusGone, w.ask(http.MethodGet, link, nil).StatusCode)
		require.NoError(t, w.files.Remove(t.Context()))
		require.Len(t, w.entries(), 1)
		w.ahead.Add(int64(25 * time.Hour))
		require.NoError(t, w.files.Remove(t.Context()))
		require.Empty(t, w.entries())
		f = w.create("b", 10)
		_, err = w.Grant.DeleteFile(t.Context(), w.account, f.ID) // so that the next bucket finds the room free
		require.NoError(t, err)
		w.ahead.Add(int64(time.Hour))
		require.NoError(t, w.files.Remove(t.Context()))
	})
}

// altered returns an address with another last sign.
func altered(address string) string {
	last := "0"
	if strings.HasSuffix(address, last) {
		last = "h" // whose first bit is another, also where the others are not used
	}
	return address[:len(address)-1] + last
}
