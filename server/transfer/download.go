package transfer

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/blob"
	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/store/grant"
)

// ErrBusy says that too many downloads are under way.
var ErrBusy = errors.New("transfer: too many downloads are under way")

// Serve answers with the bytes of a version under the file's name, or with the range of them that is asked for. It asks permit once there is
// a place and the bytes are there. ErrBusy, and an error of permit, are returned before anything is sent.
func (s *Service) Serve(c echo.Context, f *grant.File, v *grant.FileVersion, permit func() error) error {
	r := c.Request()
	leave, ok := s.downloads.take(caller.Address(r.Context()))
	if !ok {
		return ErrBusy
	}
	defer leave()
	ctx, alive, stop := watch(r.Context())
	defer stop()
	object, err := s.bucket.Open(ctx, v.Key(), v.Size)
	if errors.Is(err, blob.ErrMissing) || errors.Is(err, blob.ErrDamaged) {
		s.log.ErrorContext(ctx, "the bucket does not have a file's bytes", "account", v.AccountID, "file", v.FileID, "version", v.Version)
	}
	if err != nil {
		return err
	}
	defer object.Close()
	if err := permit(); err != nil {
		return err
	}
	describe(c.Response().Header(), f, v)
	if strings.Contains(r.Header.Get("Range"), ",") { // several parts: the whole is an answer too, and opens the object once
		r.Header.Del("Range")
	}
	out := &outgoing{ResponseWriter: c.Response(), deadlines: s.deadlinesOf(c)}
	in := &stored{ReadSeeker: object, alive: alive}
	http.ServeContent(out, r, "", time.Time{}, in)
	return errors.Join(in.err, out.err)
}

// laterRange is a range that does not begin with the first byte.
var laterRange = regexp.MustCompile(`^bytes=0*[1-9][0-9]*-[0-9]*$`)

// IsFirst reports whether the answer to a request begins with the first byte of a version, as far as its headers tell. Whatever is no plain range
// further on counts as such.
func IsFirst(r *http.Request, v *grant.FileVersion) bool {
	condition := r.Header.Get("If-Range")
	return r.Method == http.MethodGet && (!laterRange.MatchString(r.Header.Get("Range")) || condition != "" && condition != etag(v))
}

// etag returns the strong validator of a version.
func etag(v *grant.FileVersion) string { return `"` + *v.SHA256 + `"` }

// describe sets the headers of a download. Whatever the bytes are, a browser saves them: nothing in them runs on this server's origin.
func describe(h http.Header, f *grant.File, v *grant.FileVersion) {
	h.Set("Content-Type", servedType(v.ContentType))
	h.Set("Content-Disposition", disposition(f.Name))
	h.Set("ETag", etag(v))
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "private, no-store")
	h.Set("X-Robots-Tag", "noindex")
}

// servedType returns the media type under which bytes are served. What a browser would run or render as a page is sent as bytes.
func servedType(stored string) string {
	stored = strings.ToLower(stored)
	for _, active := range []string{"html", "/xml", "+xml", "-xml", "script", "flash", "wasm", "x-sh", "multipart/", "message/"} {
		if strings.Contains(stored, active) {
			return anyBytes
		}
	}
	return stored
}

// disposition returns the Content-Disposition of a file that is saved under a name: in ASCII for old programs, and as RFC 6266 has it.
func disposition(name string) string {
	plain := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || strings.ContainsRune(`"\%`, r) {
			return '_'
		}
		return r
	}, name)
	return `attachment; filename="` + plain + `"; filename*=UTF-8''` + strings.ReplaceAll(url.QueryEscape(name), "+", "%20")
}

// outgoing writes as long as the client takes bytes.
type outgoing struct {
	http.ResponseWriter
	deadlines deadlines
	err       error
}

func (o *outgoing) Write(b []byte) (int, error) {
	if err := o.deadlines.move(); err != nil {
		o.err = err
		return 0, err
	}
	return o.ResponseWriter.Write(b)
}

// stored reads an object, and remembers why it could not be read.
type stored struct {
	io.ReadSeeker
	alive func()
	err   error
}

func (s *stored) Read(b []byte) (int, error) {
	s.alive()
	n, err := s.ReadSeeker.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}
