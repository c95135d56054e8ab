package s3_test

import (
	"bytes"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/blob"
	"github.com/tillwright/tillwright/server/blob/s3"
	"github.com/tillwright/tillwright/tests/harness/s3signed"
)

// eachWire runs a test with a server of S3 that checks signatures. It does so through TLS, where bodies are not signed, and without, where each piece
// of them is.
func eachWire(t *testing.T, test func(t *testing.T, open func(secret string, way http.RoundTripper) blob.Bucket)) {
	t.Helper()
	t.Parallel()
	for name, start := range map[string]func(http.Handler) *httptest.Server{"https": httptest.NewTLSServer, "http": httptest.NewServer} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			backend := s3mem.New()
			require.NoError(t, backend.CreateBucket("files"))
			server := start(s3signed.Check(gofakes3.New(backend, gofakes3.WithTimeSkewLimit(0)).Server()))
			t.Cleanup(server.Close)
			test(t, func(secret string, way http.RoundTripper) blob.Bucket {
				if way == nil {
					way = server.Client().Transport
				}
				b, err := s3.Open(s3.Options{
					Bucket: "files", Prefix: "shop", Endpoint: server.URL, Region: "us-east-1", PathStyle: true, Transport: way,
					Credentials: credentials.NewStaticV4(s3signed.ID, secret, ""),
				})
				require.NoError(t, err)
				return b
			})
		})
	}
}

// store stores parts of a megabyte under a key, and returns them.
func store(t *testing.T, b blob.Bucket, key string) ([]byte, error) {
	t.Helper()
	content := bytes.Repeat([]byte("0123456789abcdef"), 10<<16) // ten megabytes, of which a server of S3 takes no smaller part but the last
	upload, err := b.Begin(t.Context(), key)
	if err != nil {
		return nil, err
	}
	var tags []string
	for _, p := range []blob.Part{{Number: 1, Size: 8 << 20}, {Number: 2, Offset: 8 << 20, Size: int64(len(content)) - 8<<20}} {
		tag, err := b.Put(t.Context(), key, upload, p, bytes.NewReader(content[p.Offset:p.Offset+p.Size]))
		if err != nil {
			return nil, err
		}
		tags = append(tags, tag)
	}
	return content, b.Complete(t.Context(), key, upload, int64(len(content)), tags)
}

// All that is asked of a bucket is signed, so that a server which checks signatures answers it.
func TestBucket_SignsAllThatItAsksFor(t *testing.T) {
	eachWire(t, func(t *testing.T, open func(string, http.RoundTripper) blob.Bucket) {
		b := open(s3signed.Secret, nil)
		content, err := store(t, b, "acct/a file+~ é/1")
		require.NoError(t, err)
		object, err := b.Open(t.Context(), "acct/a file+~ é/1", int64(len(content)))
		require.NoError(t, err)
		_, err = object.Seek(5<<20, io.SeekStart)
		require.NoError(t, err)
		rest, err := io.ReadAll(object)
		require.NoError(t, err)
		require.True(t, bytes.Equal(content[5<<20:], rest))
		require.NoError(t, object.Close())
		_, err = b.Begin(t.Context(), "acct/other/1")
		require.NoError(t, err)
		var entries []string
		require.NoError(t, b.Walk(t.Context(), func(e blob.Entry) error {
			entries = append(entries, e.Key)
			return nil
		}))
		require.Equal(t, []string{"acct/a file+~ é/1", "acct/other/1"}, entries)
		for _, key := range entries {
			require.NoError(t, b.Remove(t.Context(), key))
		}
		require.NoError(t, b.Walk(t.Context(), func(e blob.Entry) error { t.Errorf("%+v is left", e); return nil }))
	})
}

// Whoever does not know the secret gets nothing, and what is altered on its way is not stored: else the server above would not check.
func TestBucket_IsRefusedWithoutTheSecret(t *testing.T) {
	eachWire(t, func(t *testing.T, open func(string, http.RoundTripper) blob.Bucket) {
		_, err := store(t, open("guessed", nil), "acct/file/1")
		require.ErrorContains(t, err, "not signed with the secret")
		insecure := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} // the server's certificate is of the test
		_, err = store(t, open(s3signed.Secret, altering{insecure}), "acct/file/1")
		require.Error(t, err)
	})
}

// altering adds something to every address through TLS, and turns bytes of the bodies that are signed.
type altering struct{ http.RoundTripper }

func (a altering) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING") {
		r.Body = struct {
			io.Reader
			io.Closer
		}{&turned{r.Body}, r.Body}
	} else if r.URL.Scheme == "https" {
		r.URL.RawQuery += "&more=1"
	}
	return a.RoundTripper.RoundTrip(r)
}

// turned turns some of the bytes that are read.
type turned struct{ io.Reader }

func (u *turned) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	copy(p[:n], bytes.ReplaceAll(p[:n], []byte("0123456789abcdef0"), []byte("0123456789abcdee0")))
	return n, err
}
