// Package s3signed checks the signatures of requests to an S3 server, which gofakes3 does not. It is written from Amazon's description of version 4, not
// from the library that the program signs with.
package s3signed

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The keys that a request is to be signed with.
const (
	ID     = "id"
	Secret = "secret"
)

// mostSigned is how much of a body a hash in the headers stands for, which is read before anything is done. What is larger is signed in pieces, or sent
// through TLS.
const mostSigned = 1 << 20

// Check passes on the requests that are signed with Secret, and answers others as Amazon does. A body of which each piece is signed is passed on without
// the signatures; reading a piece that is signed wrongly fails.
func Check(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := check(r); err != nil {
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(http.StatusForbidden)
			_, _ = fmt.Fprintf(w, "<Error><Code>SignatureDoesNotMatch</Code><Message>%s</Message></Error>", err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// signature is what the header of a request says.
type signature struct {
	scope  string // date/region/s3/aws4_request
	names  []string
	is     string
	key    []byte
	moment string
}

func check(r *http.Request) error {
	s, err := read(r)
	if err != nil {
		return err
	}
	hash := r.Header.Get("X-Amz-Content-Sha256")
	var headers strings.Builder
	for _, name := range s.names {
		value := strings.Join(r.Header.Values(name), ",")
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = strconv.FormatInt(r.ContentLength, 10)
		}
		headers.WriteString(name + ":" + strings.Join(strings.Fields(value), " ") + "\n")
	}
	canonical := strings.Join([]string{r.Method, escaped(r.URL.Path, true), query(r.URL), headers.String(), strings.Join(s.names, ";"), hash}, "\n")
	if want := s.sign("AWS4-HMAC-SHA256", digest([]byte(canonical))); want != s.is {
		return fmt.Errorf("%s %s is not signed with the secret", r.Method, r.URL.Path)
	}
	return s.body(r, hash)
}

// read reads the header of a request, and refuses one that leaves out what has to be signed.
func read(r *http.Request) (*signature, error) {
	kind, rest, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	parts := map[string]string{}
	for part := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		parts[name] = value
	}
	id, scope, _ := strings.Cut(parts["Credential"], "/")
	s := &signature{scope: scope, names: strings.Split(parts["SignedHeaders"], ";"), is: parts["Signature"], moment: r.Header.Get("X-Amz-Date")}
	at, err := time.Parse("20060102T150405Z", s.moment)
	steps := strings.Split(scope, "/")
	switch {
	case kind != "AWS4-HMAC-SHA256" || id != ID:
		return nil, errors.New("no signature of version 4 by the id")
	case err != nil || time.Since(at).Abs() > 15*time.Minute:
		return nil, errors.New("not signed now")
	case len(steps) != 4 || steps[0] != s.moment[:8] || steps[2] != "s3" || steps[3] != "aws4_request":
		return nil, errors.New("not signed for today and for s3")
	case !slices.IsSorted(s.names):
		return nil, errors.New("the signed headers are not in order")
	}
	for _, name := range []string{"host", "x-amz-content-sha256", "x-amz-date"} {
		if !slices.Contains(s.names, name) {
			return nil, fmt.Errorf("%s is not signed", name)
		}
	}
	for name := range r.Header {
		if name = strings.ToLower(name); strings.HasPrefix(name, "x-amz-") && !slices.Contains(s.names, name) {
			return nil, fmt.Errorf("%s is not signed", name)
		}
	}
	s.key = []byte("AWS4" + Secret)
	for _, step := range steps {
		s.key = sum(s.key, step)
	}
	return s, nil
}

// sign returns the signature of lines under a name.
func (s *signature) sign(name string, lines ...string) string {
	return hex.EncodeToString(sum(s.key, strings.Join(append([]string{name, s.moment, s.scope}, lines...), "\n")))
}

// body holds the body of a request against what is signed of it.
func (s *signature) body(r *http.Request, hash string) error {
	switch hash {
	case "UNSIGNED-PAYLOAD":
		if r.TLS == nil && r.ContentLength != 0 {
			return errors.New("a body that nothing protects has to be signed")
		}
		return nil
	case "STREAMING-AWS4-HMAC-SHA256-PAYLOAD":
		length, err := strconv.ParseInt(r.Header.Get("X-Amz-Decoded-Content-Length"), 10, 64)
		if err != nil {
			return errors.New("no X-Amz-Decoded-Content-Length")
		}
		r.Body = io.NopCloser(&pieces{signature: s, in: bufio.NewReader(r.Body), before: s.is})
		r.ContentLength = length
		r.Header.Set("Content-Length", strconv.FormatInt(length, 10))
		r.Header.Del("X-Amz-Content-Sha256")
		return nil
	}
	all, err := io.ReadAll(io.LimitReader(r.Body, mostSigned))
	if err != nil {
		return err
	}
	if digest(all) != hash {
		return errors.New("the body is not the one that is signed")
	}
	r.Body = io.NopCloser(bytes.NewReader(all))
	return nil
}

// pieces reads a body whose pieces are signed, each together with the signature of the one before.
type pieces struct {
	*signature
	in     *bufio.Reader
	before string
	piece  []byte
	ended  bool
}

func (p *pieces) Read(b []byte) (int, error) {
	for len(p.piece) == 0 {
		if p.ended {
			return 0, io.EOF
		}
		if err := p.next(); err != nil {
			return 0, err
		}
	}
	n := copy(b, p.piece)
	p.piece = p.piece[n:]
	return n, nil
}

// next reads a piece: its length in hex, its signature, its bytes. One without bytes is the last.
func (p *pieces) next() error {
	line, err := p.in.ReadString('\n')
	if err != nil {
		return io.ErrUnexpectedEOF
	}
	length, is, _ := strings.Cut(strings.TrimSpace(line), ";chunk-signature=")
	size, err := strconv.ParseUint(length, 16, 20)
	if err != nil {
		return fmt.Errorf("no piece begins with %q", line)
	}
	p.piece = make([]byte, size)
	if _, err := io.ReadFull(p.in, p.piece); err != nil {
		return io.ErrUnexpectedEOF
	}
	if _, err := p.in.Discard(len("\r\n")); err != nil {
		return io.ErrUnexpectedEOF
	}
	if want := p.sign("AWS4-HMAC-SHA256-PAYLOAD", p.before, digest(nil), digest(p.piece)); want != is {
		return errors.New("a piece of the body is not signed with the secret")
	}
	p.before, p.ended = is, size == 0
	return nil
}

func sum(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	_, _ = io.WriteString(h, text)
	return h.Sum(nil)
}

func digest(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// query returns the parameters of an address in order.
func query(u *url.URL) string {
	var all []string
	for name, values := range u.Query() {
		for _, value := range values {
			all = append(all, escaped(name, false)+"="+escaped(value, false))
		}
	}
	slices.Sort(all)
	return strings.Join(all, "&")
}

// escaped escapes all but letters, digits and -._~, and slashes of a path.
func escaped(text string, isPath bool) string {
	var out strings.Builder
	for _, c := range []byte(text) {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0 || isPath && c == '/' {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	return out.String()
}
