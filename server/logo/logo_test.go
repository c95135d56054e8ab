package logo

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
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

// patient returns Logos that wait for as long as a slow machine needs.
func patient(client *http.Client) *Logos {
	l := New(client)
	l.patience = time.Hour
	return l
}

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
	logos := patient(s.Client())
	for path, want := range map[string]image.Point{"/logo": {480, 96}, "/tall": {10, 160}, "/tiny": {16, 16}, "/gif": {30, 20}} {
		address := s.URL + path
		about, err := png.DecodeConfig(bytes.NewReader(logos.Get(t.Context(), path, &address)))
		require.NoError(t, err, path)
		assert.Equal(t, want, image.Point{X: about.Width, Y: about.Height}, path)
	}
	assert.Equal(t, int64(4), asked.Load())
	address := s.URL + "/logo"
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() { assert.NotEmpty(t, logos.Get(t.Context(), "/logo", &address)) })
	}
	group.Wait()
	assert.Equal(t, int64(4), asked.Load(), "it is kept")
	logos.now = func() time.Time { return time.Now().Add(2 * keptTime) }
	assert.NotEmpty(t, logos.Get(t.Context(), "/logo", &address))
	assert.Eventually(t, func() bool { return asked.Load() == 5 }, time.Minute, time.Millisecond, "a seller may change it")
}

// A logo that was had stays while its server is away, which is asked again a minute later.
func TestHave_KeepsWhatItHas(t *testing.T) {
	t.Parallel()
	var status atomic.Int64
	status.Store(http.StatusOK)
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(int(status.Load()))
		if status.Load() == http.StatusOK {
			_, _ = w.Write(picture(t, 16, 16))
		}
	}))
	t.Cleanup(s.Close)
	logos, now, address := patient(s.Client()), time.Now(), s.URL+"/logo"
	logos.now = func() time.Time { return now }
	had := logos.Get(t.Context(), "acct_1", &address)
	require.NotEmpty(t, had)

	status.Store(http.StatusServiceUnavailable)
	for _, later := range []time.Duration{keptTime, failedTime} {
		now = now.Add(later)
		file, got := logos.have("acct_1", &address)
		assert.Equal(t, had, file)
		require.NotNil(t, got, "it is asked for again")
		<-got
		file, got = logos.have("acct_1", &address)
		assert.Equal(t, had, file)
		assert.Nil(t, got, "not at once")
	}

	status.Store(http.StatusGone)
	now = now.Add(failedTime)
	_, got := logos.have("acct_1", &address)
	<-got
	assert.Nil(t, logos.Have("acct_1", &address), "its seller took it down")
}

func TestGet_DoesWithoutWhatIsNoLogo(t *testing.T) {
	t.Parallel()
	bomb := picture(t, 16, 16)
	copy(bomb[16:24], []byte{0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff}) // says 65,535 x 65,535
	s, asked := seller(t, map[string][]byte{"/text": []byte("<svg onload=alert(1)>"), "/bomb": bomb, "/large": bytes.Repeat([]byte("x"), mostBytes+1), "/logo": picture(t, 16, 16)})
	logos := patient(s.Client())
	for _, path := range []string{"/text", "/bomb", "/large", "/missing", "/away"} {
		address := s.URL + path
		before := asked.Load()
		assert.Nil(t, logos.Get(t.Context(), path, &address), path)
		assert.Nil(t, logos.Get(t.Context(), path, &address), path)
		assert.Equal(t, int64(1), asked.Load()-before, "%s is not asked for again at once", path)
	}
	before, plain := asked.Load(), strings.Replace(s.URL, "https", "http", 1)+"/logo"
	for _, address := range []*string{nil, new(""), &plain, new("file:///etc/passwd"), new("https://%zz")} {
		assert.Nil(t, logos.Get(t.Context(), "acct_1", address))
	}
	assert.Equal(t, before, asked.Load())
	var none *Logos
	assert.Nil(t, none.Get(t.Context(), "acct_1", new(s.URL+"/logo")))
}

// A picture that would take long to read, or much memory to shrink, is refused before it is read.
func TestGet_RefusesWhatIsDear(t *testing.T) {
	t.Parallel()
	var photo bytes.Buffer
	require.NoError(t, jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 64, 64)), nil))
	scans := append(photo.Bytes(), bytes.Repeat([]byte{0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 0}, mostScans)...)
	s, _ := seller(t, map[string][]byte{"/photo": photo.Bytes(), "/scans": scans, "/line": picture(t, 1, 100_000), "/wide": picture(t, 100_000, 1)})
	logos := patient(s.Client())
	for path, isLogo := range map[string]bool{"/photo": true, "/scans": false, "/line": false, "/wide": false} {
		assert.Equal(t, isLogo, logos.Get(t.Context(), path, new(s.URL+path)) != nil, path)
	}
}

// A letter does not wait for a server that does not answer, nor does whoever has gone. Of an account one logo is got at a time.
func TestHave_WaitsForNothing(t *testing.T) {
	t.Parallel()
	answer := make(chan struct{})
	asked := &atomic.Int64{}
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		<-answer
		_, _ = w.Write(picture(t, 16, 16))
	}))
	t.Cleanup(s.Close)
	logos := patient(s.Client())
	address := s.URL + "/logo"
	for n := range 10 {
		assert.Nil(t, logos.Have("acct_1", &address))
		assert.Nil(t, logos.Have("acct_1", new(fmt.Sprintf("%s?%d", address, n))))
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	assert.Nil(t, logos.Get(gone, "acct_1", &address))
	close(answer)
	assert.Eventually(t, func() bool { return logos.Have("acct_1", &address) != nil }, time.Minute, time.Millisecond)
	assert.Equal(t, int64(1), asked.Load())
}

func TestLogos_KeepNoMoreThanTheyMay(t *testing.T) {
	t.Parallel()
	logos := New(http.DefaultClient)
	now := time.Now()
	logos.now = func() time.Time { return now }
	for n := range mostKept {
		logos.kept[fmt.Sprint(n)] = &kept{used: now.Add(time.Duration(-n) * time.Second)}
	}
	logos.kept["0"].got = make(chan struct{})
	_, _ = logos.have("new", new("https://127.0.0.1:1/logo"))
	assert.Len(t, logos.kept, mostKept)
	assert.NotContains(t, logos.kept, fmt.Sprint(mostKept-1), "the one that was not asked for the longest")
	for _, k := range logos.kept {
		logos.mu.Lock()
		if k.got == nil {
			k.got = make(chan struct{})
		}
		logos.mu.Unlock()
	}
	file, got := logos.have("newer", new("https://127.0.0.1:1/logo"))
	assert.Nil(t, file)
	assert.Nil(t, got, "all are being got")
}
