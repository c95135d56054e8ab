// Package logo gets the logos that sellers chose, for what is no page: documents and letters.
package logo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // a logo may be one
	_ "image/jpeg" // as above
	"image/png"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // as above
)

const (
	patience   = 3 * time.Second // for a server to send a logo, and for a document to wait for it
	mostBytes  = 2 << 20
	mostPixels = 4_000_000
	mostSide   = 4000        // pixels: of a line of pixels each would be made from very many
	mostScans  = 50          // of a JPEG, which has ten
	keptTime   = time.Hour   // after which a logo is looked at again
	failedTime = time.Minute // after which one that could not be had is asked for again
	mostKept   = 512
	atOnce     = 8 // so many are waited for, of which one is read
)

// A logo is at most so many pixels wide and high.
const (
	width  = 480
	height = 160
)

// Logos gets logos, and keeps one of each account for a while. Each replica keeps its own.
type Logos struct {
	client   *http.Client
	now      func() time.Time
	patience time.Duration

	asking, reading chan struct{} // places of those that are being got

	mu   sync.Mutex
	kept map[string]*kept // by account
}

// kept is a logo.
type kept struct {
	address     string
	png         []byte
	until, used time.Time
	got         chan struct{} // closed once it was got; nil if nobody gets it
}

// New returns Logos that asks with a client, which decides what addresses it reaches.
func New(client *http.Client) *Logos {
	asking := *client
	asking.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if r.URL.Scheme != "https" || len(via) > 3 {
			return errors.New("the address leads on to one that is not asked for")
		}
		return nil
	}
	return &Logos{client: &asking, now: time.Now, patience: patience, asking: make(chan struct{}, atOnce), reading: make(chan struct{}, 1), kept: map[string]*kept{}}
}

// Get returns the logo of an account, which is at an address, as a small PNG without anything but its pixels. It is nil if there is none, if the address
// is not https, or if it cannot be had in a few seconds. One that was kept for long is returned once more, and got anew meanwhile.
func (l *Logos) Get(ctx context.Context, account string, address *string) []byte {
	if l == nil {
		return nil
	}
	file, got := l.have(account, address)
	if file != nil || got == nil {
		return file
	}
	over := time.NewTimer(l.patience)
	defer over.Stop()
	select {
	case <-got:
	case <-over.C:
	case <-ctx.Done():
	}
	return l.Have(account, address)
}

// Have does what Get does, but waits for nothing: a logo that is not kept is there the next time.
func (l *Logos) Have(account string, address *string) []byte {
	if l == nil {
		return nil
	}
	file, _ := l.have(account, address)
	return file
}

// have returns what is kept of an account, and has it got if it is new or too old. Of an account one is got at a time.
func (l *Logos) have(account string, address *string) (file []byte, got <-chan struct{}) {
	if address == nil || !strings.HasPrefix(*address, "https://") {
		return nil, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.kept[account]
	if k == nil || k.address != *address && k.got == nil {
		if k == nil && len(l.kept) >= mostKept && !l.forget() {
			return nil, nil
		}
		k = &kept{address: *address}
		l.kept[account] = k
	}
	if k.address != *address { // another one is being got
		return nil, nil
	}
	k.used = l.now()
	if k.got == nil && !k.used.Before(k.until) {
		k.got = make(chan struct{})
		go l.get(k)
	}
	return k.png, k.got
}

// forget forgets the logo that was not asked for the longest, and reports whether there is one that nobody is getting. The caller holds l.mu.
func (l *Logos) forget() bool {
	oldest := ""
	for account, k := range l.kept {
		if k.got == nil && (oldest == "" || k.used.Before(l.kept[oldest].used)) {
			oldest = account
		}
	}
	delete(l.kept, oldest)
	return oldest != ""
}

// get gets a logo. The one that was had before stays while its server is away or fails, and goes if there is none any more.
func (l *Logos) get(k *kept) {
	file, err := l.fetch(k.address)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		k.png, k.until = file, l.now().Add(keptTime)
	} else {
		if gone := new(goneError); errors.As(err, gone) {
			k.png = nil
		}
		k.until = l.now().Add(failedTime)
		slog.Warn("a logo cannot be had", "address", k.address, "error", err)
	}
	close(k.got)
	k.got = nil
}

// fetch asks for a logo, and reads it.
func (l *Logos) fetch(address string) (small []byte, err error) {
	file, err := l.ask(address)
	if err != nil {
		return nil, err
	}
	l.reading <- struct{}{}
	defer func() { <-l.reading }()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it cannot be read: %v", p)
		}
	}()
	small, err = shrink(file)
	if err != nil {
		err = goneError{err}
	}
	return small, err
}

// goneError says that an address was answered, and that there is no logo at it.
type goneError struct{ error }

func (l *Logos) ask(address string) ([]byte, error) {
	l.asking <- struct{}{}
	defer func() { <-l.asking }()
	ctx, cancel := context.WithTimeout(context.Background(), l.patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	response, err := l.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode == http.StatusNotFound || response.StatusCode == http.StatusGone:
		return nil, goneError{fmt.Errorf("the answer is %s", response.Status)}
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("the answer is %s", response.Status)
	}
	file, err := io.ReadAll(io.LimitReader(response.Body, mostBytes+1))
	if err != nil {
		return nil, err
	}
	if len(file) > mostBytes {
		return nil, goneError{fmt.Errorf("it has more than %d bytes", mostBytes)}
	}
	return file, nil
}

// shrink returns a picture as a PNG that fits. What would take very long, or much memory, is refused before it is read.
func shrink(file []byte) ([]byte, error) {
	if bytes.Count(file, []byte{0xff, 0xda}) > mostScans && bytes.HasPrefix(file, []byte{0xff, 0xd8}) {
		return nil, fmt.Errorf("it has more than %d scans", mostScans)
	}
	about, _, err := image.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	if about.Width < 1 || about.Height < 1 || max(about.Width, about.Height) > mostSide || about.Width > mostPixels/about.Height {
		return nil, fmt.Errorf("it has %d x %d pixels", about.Width, about.Height)
	}
	picture, _, err := image.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	size := picture.Bounds().Size()
	if size.X > width {
		size.X, size.Y = width, max(1, size.Y*width/size.X)
	}
	if size.Y > height {
		size.X, size.Y = max(1, size.X*height/size.Y), height
	}
	fits := image.NewNRGBA(image.Rectangle{Max: size})
	draw.CatmullRom.Scale(fits, fits.Rect, picture, picture.Bounds(), draw.Src, nil)
	var out bytes.Buffer
	err = png.Encode(&out, fits)
	return out.Bytes(), err
}
