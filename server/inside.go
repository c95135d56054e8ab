package server

import (
	"bytes"
	"errors"
	"io"
	"net/http"

	"github.com/tillwright/tillwright/server/caller"
)

// Inside is a transport by which pages of this server ask its API for the person who is signed in. The caller.Caller of the request's context
// names them, their account, and what their role may do. All rules of the API hold but that no key is needed and none is counted: the page was.
// Nothing goes over a network. It leads nowhere until New was given it.
type Inside struct{ server *Server }

// RoundTrip implements http.RoundTripper.
func (t *Inside) RoundTrip(r *http.Request) (*http.Response, error) {
	who := *caller.Of(r.Context())
	if t.server == nil || who.PersonID == "" || who.Account == "" {
		return nil, errors.New("the API can be asked from inside for a person and their account alone")
	}
	who.Needed, who.Made = nil, caller.Object{}
	rec := &recorder{header: http.Header{}}
	r = r.WithContext(caller.With(r.Context(), &who))
	r.RequestURI = r.URL.RequestURI()
	if r.Body == nil {
		r.Body = http.NoBody
	}
	t.server.echo.ServeHTTP(rec, r)
	return &http.Response{
		StatusCode: rec.status, Status: http.StatusText(rec.status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: rec.header, Body: io.NopCloser(bytes.NewReader(rec.body.Bytes())), ContentLength: int64(rec.body.Len()), Request: r,
	}, nil
}
