package server

import (
	"bytes"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/store/core"
)

var contentTypeJSON = []string{echo.MIMEApplicationJSON}

func setContent(h http.Header, length int) {
	h["Content-Type"], h["Content-Length"] = contentTypeJSON, []string{strconv.Itoa(length)}
}

// recorder keeps the answer of a write back until it is committed. Its headers go to the response itself.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) { r.status = status }

func (r *recorder) Write(p []byte) (int, error) { return r.body.Write(p) }

// answer returns what was written, nil if nothing was.
func (r *recorder) answer() *core.Answer {
	if r.status == 0 {
		return nil
	}
	return &core.Answer{Status: r.status, Body: r.body.Bytes()}
}

// whole is the response of a read. The generated code writes a body in one piece, so its length can be sent before it. Without
// the length, a longer body would be sent in chunks.
type whole struct {
	http.ResponseWriter
	status int // kept back until the body is there
}

func (w *whole) WriteHeader(status int) { w.status = status }

func (w *whole) Write(p []byte) (int, error) {
	if w.status != 0 {
		w.Header()["Content-Length"] = []string{strconv.Itoa(len(p))}
		w.flush()
	}
	return w.ResponseWriter.Write(p)
}

// flush sends the status of a response that has no body.
func (w *whole) flush() {
	if w.status != 0 {
		w.ResponseWriter.WriteHeader(w.status)
		w.status = 0
	}
}

// wholeBody has the handler of a read write into a whole response.
func wholeBody(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		response := c.Response()
		writer := &whole{ResponseWriter: response.Writer}
		response.Writer = writer
		err := next(c)
		writer.flush()
		response.Writer = writer.ResponseWriter
		return err
	}
}
