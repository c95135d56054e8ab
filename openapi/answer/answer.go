// Package answer writes the answers of the generated server.
package answer

import (
	"net/http"
	"sync"

	"github.com/segmentio/encoding/json"
)

// maxKept is the largest buffer that is kept for the next answer, in bytes. A page of 100 objects fits into it.
const maxKept = 256 << 10

var buffers = sync.Pool{New: func() any { return new(make([]byte, 0, 16<<10)) }}

// JSON writes a status and a body in one piece. The bytes are those that encoding/json would write in three times the time: a
// tenth of what a list takes.
func JSON(w http.ResponseWriter, status int, body any) error {
	buffer := buffers.Get().(*[]byte)
	text, err := json.Append((*buffer)[:0], body, json.EscapeHTML|json.SortMapKeys)
	if err != nil {
		return err
	}
	text = append(text, '\n')
	w.Header()["Content-Type"] = contentType
	w.WriteHeader(status)
	_, err = w.Write(text)
	if cap(text) <= maxKept {
		*buffer = text
		buffers.Put(buffer)
	}
	return err
}

var contentType = []string{"application/json"}
