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
	patience   = 3 * time.Second // a document waits no longer for its logo
	mostBytes  = 2 << 20
	mostPixels = 4_000_000
	keptTime   = time.Hour   // after which a logo is looked at again
	failedTime = time.Minute // after which one that could not be had is asked for again
	mostKept   = 256
)

// A logo is at most so many pixels wide and high.
const (
	width  = 480
	height = 160
)

// Logos gets logos, and keeps them for a while. Each replica keeps its own.
type Logos struct {
	client *http.Client
	now    func() time.Time

	mu   sync.Mutex
	kept map[string]*kept
}

// kept is a logo. While it is being got, until is zero.
type kept struct {
	once  sync.Once
	png   []byte
	until time.Time
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
	return &Logos{client: &asking, now: time.Now, kept: map[string]*kept{}}
}

// Get returns the logo at an address as a small PNG without anything but its pixels. It is nil if there is none, if the address is not https, or if it
// cannot be had in a few seconds.
func (l *Logos) Get(ctx context.Context, address *string) []byte {
	if l == nil || address == nil || !strings.HasPrefix(*address, "https://") {
		return nil
	}
	k := l.at(*address)
	k.once.Do(func() {
		file, err := l.fetch(context.WithoutCancel(ctx), *address)
		lasts := keptTime
		if err != nil {
			lasts = failedTime
			slog.WarnContext(ctx, "a logo cannot be had", "address", *address, "error", err)
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		k.png, k.until = file, l.now().Add(lasts)
	})
	return k.png
}

// at returns what is kept of an address, to be got if it is new or too old.
func (l *Logos) at(address string) *kept {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k := l.kept[address]; k != nil && (k.until.IsZero() || l.now().Before(k.until)) {
		return k
	}
	for other := range l.kept {
		if len(l.kept) < mostKept {
			break
		}
		delete(l.kept, other)
	}
	l.kept[address] = &kept{}
	return l.kept[address]
}

func (l *Logos) fetch(ctx context.Context, address string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
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
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the answer is %s", response.Status)
	}
	file, err := io.ReadAll(io.LimitReader(response.Body, mostBytes+1))
	if err != nil {
		return nil, err
	}
	if len(file) > mostBytes {
		return nil, fmt.Errorf("it has more than %d bytes", mostBytes)
	}
	return small(file)
}

// small returns a picture as a PNG that fits.
func small(file []byte) ([]byte, error) {
	about, _, err := image.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	if about.Width < 1 || about.Height < 1 || about.Width > mostPixels/about.Height {
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
