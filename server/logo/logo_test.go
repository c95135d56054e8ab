package logo

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func picture(t *testing.T, w, h int) []byte {
	t.Helper()
	var file bytes.Buffer
	require.NoError(t, png.Encode(&file, image.NewNRGBA(image.Rect(0, 0, w, h))))
	return file.Bytes()
}

// seller is a server with pictures, which counts how often it is asked.
func seller(t *testing.T, pictures map[string][]byte) (s *httptest.Server, asked *atomic.Int64) {
	t.Helper()
	asked = &atomic.Int64{}
	s = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		switch file := pictures[r.URL.Path]; {
		case r.URL.Path == "/away":
			http.Redirect(w, r, "http://"+r.Host+"/logo", http.StatusFound)
		case file == nil:
			w.WriteHeader(http.StatusNotFound)
		default:
			_, _ = w.Write(file)
		}
	}))
	t.Cleanup(s.Close)
	return s, asked
}

func TestGet_ReturnsASmallPictureOnce(t *testing.T) {
	t.Parallel()
	var moving bytes.Buffer
	require.NoError(t, gif.Encode(&moving, image.NewPaletted(image.Rect(0, 0, 30, 20), color.Palette{color.Black, color.White}), nil))
	s, asked := seller(t, map[string][]byte{"/logo": picture(t, 1000, 200), "/tall": picture(t, 100, 1600), "/tiny": picture(t, 16, 16), "/gif": moving.Bytes()})
	logos := New(s.Client())
	for path, want := range map[string]image.Point{"/logo": {480, 96}, "/tall": {10, 160}, "/tiny": {16, 16}, "/gif": {30, 20}} {
		address := s.URL + path
		about, err := png.DecodeConfig(bytes.NewReader(logos.Get(t.Context(), &address)))
		require.NoError(t, err, path)
		assert.Equal(t, want, image.Point{X: about.Width, Y: about.Height}, path)
	}
	assert.Equal(t, int64(4), asked.Load())
	address := s.URL + "/logo"
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() { assert.NotEmpty(t, logos.Get(t.Context(), &address)) })
	}
	group.Wait()
	assert.Equal(t, int64(4), asked.Load(), "it is kept")
	logos.now = func() time.Time { return time.Now().Add(2 * keptTime) }
	assert.NotEmpty(t, logos.Get(t.Context(), &address))
	assert.Equal(t, int64(5), asked.Load(), "a seller may change it")
}

func TestGet_DoesWithoutWhatIsNoLogo(t *testing.T) {
	t.Parallel()
	bomb := picture(t, 16, 16)
	copy(bomb[16:24], []byte{0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff}) // says 65,535 x 65,535
	s, asked := seller(t, map[string][]byte{"/text": []byte("<svg onload=alert(1)>"), "/bomb": bomb, "/large": bytes.Repeat([]byte("x"), mostBytes+1), "/logo": picture(t, 16, 16)})
	logos := New(s.Client())
	for _, path := range []string{"/text", "/bomb", "/large", "/missing", "/away"} {
		address := s.URL + path
		before := asked.Load()
		assert.Nil(t, logos.Get(t.Context(), &address), path)
		assert.Nil(t, logos.Get(t.Context(), &address), path)
		assert.Equal(t, int64(1), asked.Load()-before, "%s is not asked for again at once", path)
	}
	before, plain := asked.Load(), strings.Replace(s.URL, "https", "http", 1)+"/logo"
	for _, address := range []*string{nil, new(""), &plain, new("file:///etc/passwd"), new("https://%zz")} {
		assert.Nil(t, logos.Get(t.Context(), address))
	}
	assert.Equal(t, before, asked.Load())
	var none *Logos
	assert.Nil(t, none.Get(t.Context(), new(s.URL+"/logo")))
}

func TestGet_KeepsNoMoreThanItMay(t *testing.T) {
	t.Parallel()
	logos := New(http.DefaultClient)
	for n := range 2 * mostKept {
		logos.at("https://a.example/" + strings.Repeat("x", n))
	}
	assert.Len(t, logos.kept, mostKept)
}
