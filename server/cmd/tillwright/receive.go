package main

import (
	"io"
	"net/http"

	"github.com/tillwright/tillwright/sdk"
)

// stillHere is what a receiver answers to a GET of its path, which nobody else knows. It shows that a run still goes on.
const stillHere = http.StatusNoContent

// largestBody is larger than any event, in bytes.
const largestBody = 8 << 20

// receiver takes deliveries, prints those with a valid signature, and hands them to the forwarder.
type receiver struct {
	path    string
	secret  string
	out     *liveOutput
	forward *forwarder
}

// ServeHTTP answers 200 before the event is passed on. If too many events wait for that, it answers 503, which the server
// records as a failed delivery.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	switch {
	case req.URL.Path != r.path:
		http.NotFound(w, req)
		return
	case req.Method == http.MethodGet:
		w.WriteHeader(stillHere)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, largestBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	event, err := sdk.VerifyWebhook(body, req.Header, r.secret)
	if err != nil {
		r.out.note("refused a request from %s: %s", req.RemoteAddr, err)
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	r.out.event(event, body)
	if !r.forward.add(delivery{event: event, header: req.Header, body: body}) {
		r.out.note("%s is not passed on: too many events wait for an answer already", event.ID)
		http.Error(w, "busy", http.StatusServiceUnavailable)
	}
}
