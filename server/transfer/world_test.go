package transfer_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server"
	"github.com/tillwright/tillwright/server/blob"
	"github.com/tillwright/tillwright/server/blob/disk"
	"github.com/tillwright/tillwright/server/blob/s3"
	"github.com/tillwright/tillwright/server/handlers"
	"github.com/tillwright/tillwright/server/mail"
	"github.com/tillwright/tillwright/server/pages"
	"github.com/tillwright/tillwright/server/transfer"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
	_ "github.com/tillwright/tillwright/tests/harness/migrated" // the database that every test gets has its tables
	"github.com/tillwright/tillwright/tests/harness/s3signed"
)

// world is a server with an account that has files, in a bucket of one kind.
type world struct {
	*store.Store
	t       *testing.T
	files   *transfer.Service
	bucket  blob.Bucket
	account string
	address string       // where the server listens
	ahead   atomic.Int64 // how far the store's clock is ahead
	broken  atomic.Int64 // how many requests the S3 server is going to fail
	late    atomic.Pointer[func()]
	behind  atomic.Bool // the S3 server does not say that it puts objects together, and does it later
}

// each runs a test for both kinds of bucket, on both engines.
func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	eachWith(t, grant.Limits{}, test)
}

func eachWith(t *testing.T, limits grant.Limits, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newWorld(t, url, limits)
		for name, open := range map[string]func() blob.Bucket{"disk": w.disk, "s3": w.s3} {
			t.Run(name, func(t *testing.T) {
				w.t = t
				w.bucket = open()
				w.serve()
				test(t, w)
			})
		}
	})
}

func newWorld(t *testing.T, url string, limits grant.Limits) *world {
	t.Helper()
	w := &world{t: t}
	sealer, err := core.NewSealer(make([]byte, 32))
	require.NoError(t, err)
	w.Store, err = store.Open(t.Context(), store.Options{
		URL: url, Sealer: sealer, Synchronous: "normal", Files: limits, PublicURL: "http://shop.test",
		Now:    func() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) },
		Render: func(_ string, v any) ([]byte, error) { return json.Marshal(v) },
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	require.NoError(t, w.Migrate(t.Context()))
	account, err := w.Tenant.CreateAccount(t.Context(), tenant.NewAccount{Name: "Ada", Email: "ada@example.com"})
	require.NoError(t, err)
	w.account = account.ID
	return w
}

func (w *world) disk() blob.Bucket {
	b, err := disk.Open(w.t.TempDir())
	require.NoError(w.t, err)
	w.t.Cleanup(func() { _ = b.Close() })
	return b
}

// s3 runs an S3 server, which fails as many requests as broken says after it has read the beginning of their bodies.
func (w *world) s3() blob.Bucket {
	backend := s3mem.New()
	require.NoError(w.t, backend.CreateBucket("files"))
	fake := s3signed.Check(gofakes3.New(backend, gofakes3.WithTimeSkewLimit(0)).Server())
	server := httptest.NewTLSServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if w.broken.Load() > 0 && w.broken.Add(-1) >= 0 {
			_, _ = io.CopyN(io.Discard, r.Body, 1<<20)
			out.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if w.behind.Load() && r.Method == http.MethodPost && r.URL.Query().Has("uploadId") {
			body, _ := io.ReadAll(r.Body)
			late := r.Clone(context.Background())
			late.Body = io.NopCloser(bytes.NewReader(body))
			w.late.Store(new(func() { fake.ServeHTTP(httptest.NewRecorder(), late) }))
			out.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(out, "<Error><Code>NoSuchUpload</Code></Error>")
			return
		}
		fake.ServeHTTP(out, r)
		if late := w.late.Load(); late != nil && r.Method == http.MethodHead && w.late.CompareAndSwap(late, nil) { // somebody has looked, and will again
			(*late)()
		}
	}))
	w.t.Cleanup(server.Close)
	b, err := s3.Open(s3.Options{
		Bucket: "files", Prefix: "shop", Endpoint: server.URL, Region: "us-east-1", PathStyle: true, Settle: 2 * time.Second, Transport: server.Client().Transport, Credentials: credentials.NewStaticV4(s3signed.ID, s3signed.Secret, ""),
	})
	require.NoError(w.t, err)
	return b
}

// serve runs the whole server on the bucket until the test ends.
func (w *world) serve() {
	log := w.log()
	ctx, stop := context.WithCancel(context.Background())
	w.files = transfer.New(ctx, w.Grant, w.bucket, log)
	shop, err := pages.New(w.Store, nil, mail.NewPost(w.Store, nil), nil, nil, w.files, nil)
	require.NoError(w.t, err)
	srv, err := server.New(server.Deps{
		Store: w.Store, Handlers: handlers.New(w.Store, nil, nil, nil, nil, nil, w.files, nil, nil), Pages: shop.Routes(), Transfers: w.files.Routes(), ErrorPage: shop.Refused, Log: log,
	})
	require.NoError(w.t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(w.t, err)
	w.address = listener.Addr().String()
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ctx, listener) }()
	w.t.Cleanup(func() {
		stop()
		require.NoError(w.t, <-served)
	})
}

func (w *world) log() *slog.Logger {
	return slog.New(slog.NewTextHandler(w.t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// some returns bytes that look like nothing, with their hash.
func some(size int) (content []byte, hash string) {
	content = make([]byte, size)
	source := rand.NewChaCha8([32]byte{1})
	_, _ = source.Read(content)
	sum := sha256.Sum256(content)
	return content, hex.EncodeToString(sum[:])
}

func (w *world) create(name string, size int64) *grant.File {
	w.t.Helper()
	f, err := w.Grant.CreateFile(w.t.Context(), w.account, grant.NewFile{Name: name, NewVersion: grant.NewVersion{Size: size}})
	require.NoError(w.t, err)
	return f
}

// whole makes a file with these bytes.
func (w *world) whole(name string, content []byte) *grant.File {
	w.t.Helper()
	f := w.create(name, int64(len(content)))
	require.Equal(w.t, http.StatusOK, w.send(f.UploadURL, bytes.NewReader(content)).StatusCode)
	f, err := w.files.Complete(w.t.Context(), w.account, f.ID)
	require.NoError(w.t, err)
	return f
}

// at returns an address of the shop where it is really.
func (w *world) at(address string) string {
	return "http://" + w.address + strings.TrimPrefix(address, "http://shop.test")
}

// patient waits for the answer to Expect: 100-continue, however busy the machine is. The standard client sends the body after a second all the same.
// Then it may hear of a refusal only that the connection was reset.
var patient = sync.OnceValue(func() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ExpectContinueTimeout = time.Minute
	return &http.Client{Transport: t}
})

// ask sends a request with headers, given in pairs.
func (w *world) ask(method, address string, body io.Reader, headers ...string) *http.Response {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), method, w.at(address), body)
	require.NoError(w.t, err)
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := patient().Do(request)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

func (w *world) send(address string, body io.Reader) *http.Response {
	w.t.Helper()
	return w.ask(http.MethodPut, address, body, "Expect", "100-continue") // so that a refusal comes before the bytes
}

// received asks how much of an upload is there.
func (w *world) received(address string) int64 {
	w.t.Helper()
	var state struct{ Received int64 }
	require.NoError(w.t, json.NewDecoder(w.ask(http.MethodGet, address, nil).Body).Decode(&state))
	return state.Received
}

// code returns the code of a refusal, with its status.
func code(t *testing.T, response *http.Response) (int, string) {
	t.Helper()
	var body struct{ Error struct{ Code string } }
	require.NoError(t, json.NewDecoder(response.Body).Decode(&body))
	return response.StatusCode, body.Error.Code
}

// link returns an address that downloads a file's current version.
func (w *world) link(f *grant.File) string {
	w.t.Helper()
	u, err := w.GetFileDownload(w.t.Context(), w.account, f.ID, 0, time.Hour)
	require.NoError(w.t, err)
	return u.URL
}

// entries returns all that the bucket has.
func (w *world) entries() (all []blob.Entry) {
	w.t.Helper()
	require.NoError(w.t, w.bucket.Walk(w.t.Context(), func(e blob.Entry) error {
		all = append(all, e)
		return nil
	}))
	return all
}
