package ui

import (
	"bytes"
	"net/http"
	"strconv"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// packedFrom is the size from which a page is worth compressing: a smaller one goes in one packet anyway.
const packedFrom = 1 << 10

// packLevel takes two thirds of the time of the standard library's fastest level for a page, which comes out a little smaller.
const packLevel = 3

// packers are kept because each takes more than a megabyte. They are fast rather than thorough: the page waits for them.
var packers = sync.Pool{New: func() any {
	packer, _ := gzip.NewWriterLevel(nil, packLevel) // fails only for a level that does not exist
	return packer
}}

// WriteHTML answers a request with a page, compressed if its sender can read that. A page that shows a secret next to what a stranger can have
// put there must not be compressed: the size would tell of it.
func WriteHTML(w http.ResponseWriter, r *http.Request, status int, page []byte) error {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=UTF-8")
	h.Add("Vary", "Accept-Encoding")
	if len(page) >= packedFrom && r.Method != http.MethodHead && takesGzip(r) {
		h.Set("Content-Encoding", "gzip")
		page = packed(page)
	}
	h.Set("Content-Length", strconv.Itoa(len(page)))
	w.WriteHeader(status)
	_, err := w.Write(page)
	return err
}

// packed compresses a page as a whole, so that a browser which reads slowly keeps no packer.
func packed(page []byte) []byte {
	text := bytes.NewBuffer(make([]byte, 0, len(page)/2))
	packer := packers.Get().(*gzip.Writer)
	defer packers.Put(packer)
	packer.Reset(text)
	_, _ = packer.Write(page) // to memory, as is what Close writes: neither fails
	_ = packer.Close()
	return text.Bytes()
}
