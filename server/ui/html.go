package ui

import (
	"net/http"
	"strconv"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// packedFrom is the size from which a page is worth compressing: a smaller one goes in one packet anyway.
const packedFrom = 1 << 10

// packLevel takes two thirds of the time of the standard library's fastest level for a page, which comes out a little smaller.
const packLevel = 3

// packers are kept because each takes some hundred kilobytes. They are fast rather than thorough: the page waits for them.
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
	if len(page) < packedFrom || r.Method == http.MethodHead || !takesGzip(r) {
		h.Set("Content-Length", strconv.Itoa(len(page)))
		w.WriteHeader(status)
		_, err := w.Write(page)
		return err
	}
	h.Set("Content-Encoding", "gzip")
	w.WriteHeader(status)
	packer := packers.Get().(*gzip.Writer)
	defer packers.Put(packer)
	packer.Reset(w)
	if _, err := packer.Write(page); err != nil {
		return err
	}
	return packer.Close()
}
