package fault

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// TestFiles_TakeLittleMemory uploads four files at once, completes and downloads them; with TILLWRIGHT_SOAK one has 2 GiB. If each part were kept
// whole while it is stored, it would take 64 MiB before the collector comes by. It would take more if the file were.
func TestFiles_TakeLittleMemory(t *testing.T) {
	for _, is := range []struct {
		name, engine string
		settings     func(*testing.T) []string
	}{{"disk", "sqlite", func(*testing.T) []string { return nil }}, {"s3", "postgres", s3Server}} {
		t.Run(is.name, func(t *testing.T) {
			b := *harness.Build(t)
			b.Env = is.settings(t)
			s := newSite(t, &b, database.URL(t, is.engine), 1)
			program := s.binary.Serve(t, "")
			c := s.client(program, 0)
			moveFile(t, c, 0, 1000) // whatever is made once is there
			program.ForgetPeak(t)
			before := program.Memory(t, "VmRSS")
			var group sync.WaitGroup
			for n := range 4 {
				size := int64(grant.PartSize)
				if n == 0 {
					size *= int64(count(1, 128))
				}
				group.Go(func() { moveFile(t, c, byte(n), size) })
			}
			group.Wait()
			peak := program.Memory(t, "VmHWM")
			t.Logf("%d MiB before and at most %d", before, peak)
			if peak > before+64 {
				t.Errorf("files took %d MiB of memory", peak-before)
			}
		})
	}
}

// moveFile uploads bytes that look like nothing and downloads them. It keeps none of them itself.
func moveFile(t *testing.T, c *harness.Client, seed byte, size int64) {
	made := c.Must(t, http.MethodPost, "/v1/files", map[string]any{"name": fmt.Sprint(seed), "size": size})
	sent, got := sha256.New(), sha256.New()
	transferFile(t, c, http.MethodPut, made["upload"].(map[string]any)["url"].(string), io.TeeReader(io.LimitReader(rand.NewChaCha8([32]byte{seed}), size), sent), size, io.Discard)
	id := made["id"].(string)
	patient := *c
	patient.HTTP = &http.Client{Transport: c.HTTP.Transport} // the S3 server takes its time to put 2 GiB together
	done := patient.Do(t, http.MethodPost, "/v1/files/"+id+"/complete", nil)
	for end := time.Now().Add(10 * time.Minute); done.Status == http.StatusConflict && time.Now().Before(end); time.Sleep(time.Second) {
		done = patient.Do(t, http.MethodPost, "/v1/files/"+id+"/complete", nil)
	}
	if done.Status != http.StatusOK {
		t.Errorf("%d bytes are completed with %d %s", size, done.Status, done.Body)
	}
	link := c.Must(t, http.MethodGet, "/v1/files/"+id+"/download", nil)["url"].(string)
	transferFile(t, c, http.MethodGet, link, nil, 0, got)
	if text := func(h hash.Hash) string { return fmt.Sprintf("%x", h.Sum(nil)) }; text(sent) != text(got) {
		t.Errorf("%d bytes came back as others", size)
	}
}

// transferFile sends a body to a signed address, and writes the answer's to out.
func transferFile(t *testing.T, c *harness.Client, method, address string, body io.Reader, size int64, out io.Writer) {
	u, err := url.Parse(address)
	if err != nil {
		t.Error(err)
		return
	}
	r, err := http.NewRequestWithContext(t.Context(), method, c.URL+u.RequestURI(), body)
	if err != nil {
		t.Error(err)
		return
	}
	r.ContentLength = size
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return
	}
	defer resp.Body.Close()
	_, err = io.Copy(out, resp.Body)
	require.NoError(t, err, "%s of a file", method)
	assert.Equal(t, http.StatusOK, resp.StatusCode, "%s of a file", method)
}
