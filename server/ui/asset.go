package ui

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// Packed is an answer that stays the same while the program runs. It is kept compressed.
type Packed struct {
	media, tag string
	packed     []byte
	size       int // as it was
}

// Pack returns text of a media type as an answer.
func Pack(media string, text []byte) (*Packed, error) {
	var packed bytes.Buffer
	writer, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := writer.Write(text); err != nil {
		return nil, err
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	return &Packed{media: media, tag: `W/"` + digest(text) + `"`, packed: bytes.Clone(packed.Bytes()), size: len(text)}, nil
}

func digest(text []byte) string {
	hash := sha256.Sum256(text)
	return hex.EncodeToString(hash[:8])
}

// Write answers a request: with a status, or with 304 if its sender has a good answer already.
func (p *Packed) Write(w http.ResponseWriter, r *http.Request, status int) error {
	h := w.Header()
	h.Set("Vary", "Accept-Encoding")
	if status == http.StatusOK {
		h.Set("ETag", p.tag)
		if Has(r, p.tag) {
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	h.Set("Content-Type", p.media)
	size, isPacked := p.size, takesGzip(r)
	if isPacked {
		size = len(p.packed)
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Length", strconv.Itoa(size))
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return nil
	}
	if isPacked {
		_, err := w.Write(p.packed)
		return err
	}
	reader, err := gzip.NewReader(bytes.NewReader(p.packed))
	if err != nil {
		return err
	}
	_, err = io.Copy(w, reader)
	return err
}

// Has reports whether the sender of a request has an answer with a tag already: If-None-Match names it, among others too, or any by *. Tags
// are compared without W/, as RFC 9110 wants it.
func Has(r *http.Request, tag string) bool {
	tag = strings.TrimPrefix(tag, "W/")
	for _, line := range r.Header["If-None-Match"] {
		if strings.Trim(line, " \t") == "*" {
			return true
		}
		for line != "" {
			line = strings.TrimLeft(line, " \t,")
			line = strings.TrimPrefix(line, "W/")
			if !strings.HasPrefix(line, `"`) {
				break // no tag
			}
			end := strings.IndexByte(line[1:], '"') + 2
			if end < 2 {
				break
			}
			if line[:end] == tag {
				return true
			}
			line = line[end:]
		}
	}
	return false
}

// takesGzip reports whether the sender of a request can read gzip. A q of 0 says that it cannot.
func takesGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, quality, _ := strings.Cut(strings.ReplaceAll(coding, " ", ""), ";q=")
		if name == "gzip" {
			return strings.Trim(quality, "0.") != "" || quality == ""
		}
	}
	return false
}

// Asset is a file that pages load. Its address changes with what it says, so that browsers keep it for ever.
type Asset struct {
	Address string // such as /assets/reference.0123456789abcdef.css
	*Packed
}

// media are the types of assets by the end of their name.
var media = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".json": "application/json"}

// NewAsset returns a file as an asset. Its name ends in .css, .js or .json.
func NewAsset(name string, text []byte) (*Asset, error) {
	packed, err := Pack(media[path.Ext(name)], text)
	if err != nil {
		return nil, err
	}
	return &Asset{"/assets/" + strings.TrimSuffix(name, path.Ext(name)) + "." + digest(text) + path.Ext(name), packed}, nil
}

// Serve answers a request for the asset.
func (a *Asset) Serve(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	return a.Write(w, r, http.StatusOK)
}
