package harness

import (
	"bytes"
	"image"
	"image/png"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/tillwright/tillwright/server/picture"
)

// FetchPictures does now what the worker does that Boot leaves out. Nobody is asked: there is a small picture at every address, but at one that ends in
// missing.
func (s *Server) FetchPictures(t testing.TB) {
	t.Helper()
	var small bytes.Buffer
	if err := png.Encode(&small, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	f := picture.New(s.store.Pictures, &http.Client{Transport: painter(small.Bytes())}, slog.New(slog.DiscardHandler))
	if err := f.Fetch(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// painter answers each request with a picture.
type painter []byte

func (p painter) RoundTrip(r *http.Request) (*http.Response, error) {
	status := http.StatusOK
	if strings.HasSuffix(r.URL.Path, "missing") {
		status = http.StatusNotFound
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(bytes.NewReader(p)), Request: r}, nil
}
