package e2e

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// TestFiles_GoOnAtAnotherReplica kills a server under an upload, and the next one under a download. Each goes on at a replica where it broke off.
func TestFiles_GoOnAtAnotherReplica(t *testing.T) {
	t.Parallel()
	at := database.URL(t, "postgres")
	s := newSite(t, at)
	first, second := s.binary.Serve(t, ""), s.binary.Serve(t, "")
	content := make([]byte, 2*grant.PartSize+1000)
	_, _ = rand.NewChaCha8([32]byte{}).Read(content)
	file, err := s.client(first).SDK().Files.Create(t.Context(), &sdk.FileCreate{Name: "Course.zip", Size: int64(len(content))})
	require.NoError(t, err)

	in, out := io.Pipe()
	sent := make(chan error, 1)
	go func() {
		resp, err := ask(t, first, http.MethodPut, file.Upload.URL, in)
		if err == nil {
			_ = resp.Body.Close()
		}
		sent <- err
	}()
	_, err = out.Write(content[:grant.PartSize+5000])
	require.NoError(t, err)
	received := func() int {
		resp, err := ask(t, second, http.MethodHead, file.Upload.URL, nil)
		require.NoError(t, err)
		var n int
		_, err = fmt.Sscan(resp.Header.Get("Upload-Offset"), &n)
		require.NoError(t, err)
		return n
	}
	require.Eventually(t, func() bool { return received() == grant.PartSize }, harness.Patience, 20*time.Millisecond)
	first.Kill()
	require.NoError(t, out.CloseWithError(io.ErrUnexpectedEOF))
	require.Error(t, <-sent)
	harness.OpenDatabase(t, at).Must(t, `UPDATE uploads SET lease_until = 0`) // else for 90 seconds nobody knows that its writer is dead
	resp, err := ask(t, second, http.MethodPut, fmt.Sprint(file.Upload.URL, "?offset=", grant.PartSize), bytes.NewReader(content[grant.PartSize:]))
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusOK, resp.StatusCode)

	c := s.client(second).SDK()
	done, err := c.Files.Complete(t.Context(), file.ID)
	require.NoError(t, err)
	link, err := c.Files.Download(t.Context(), done.ID, nil)
	require.NoError(t, err)
	whole, err := ask(t, second, http.MethodGet, link.URL, nil)
	require.NoError(t, err)
	begin := make([]byte, 5000)
	_, err = io.ReadFull(whole.Body, begin)
	require.NoError(t, err)
	second.Kill()
	_ = whole.Body.Close()
	third := s.binary.Serve(t, "")
	rest, err := ask(t, third, http.MethodGet, link.URL, nil, "Range", "bytes=5000-", "If-Range", whole.Header.Get("ETag"))
	require.NoError(t, err)
	defer rest.Body.Close()
	require.Equal(t, http.StatusPartialContent, rest.StatusCode)
	end, err := io.ReadAll(rest.Body)
	require.NoError(t, err)
	require.True(t, bytes.Equal(content, append(begin, end...)), "the bytes are others")
}

// ask sends a request for a signed address to one of the servers.
func ask(t *testing.T, server *harness.Process, method, address string, body io.Reader, headers ...string) (*http.Response, error) {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	r, err := http.NewRequestWithContext(t.Context(), method, server.URL+u.RequestURI(), body)
	require.NoError(t, err)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return http.DefaultClient.Do(r)
}
