package server

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/store/request"
)

// How many requests may wait to be written, and how many are written at most each time. On SQLite nobody else writes meanwhile, so there is an end to
// it. When a thousand were written at once, that took a sixth of the time, at 3,000 requests a second.
const (
	requestsWaiting = 1000
	requestsAtOnce  = 250
	requestsEvery   = time.Second
)

// requestLog takes down what programs ask for. No request waits for that: what finds no place is counted.
type requestLog struct {
	waiting chan noted
	mu      sync.Mutex
	dropped map[string]int64 // by account
}

// noted is a request that was answered.
type noted struct {
	request.Request
	pattern string // of its route
	refusal []byte // the envelope
}

func newRequestLog() *requestLog {
	return &requestLog{waiting: make(chan noted, requestsWaiting), dropped: map[string]int64{}}
}

// noteRequest takes down a request of a program. One that succeeded leaves half of the places to those that failed.
func (s *Server) noteRequest(c echo.Context, who *caller.Caller, began time.Time) {
	if who.KeyID == "" {
		return
	}
	r, status := c.Request(), c.Response().Status
	l := s.requests
	if status < http.StatusBadRequest && len(l.waiting) >= requestsWaiting/2 {
		l.drop(who.Account, 1)
		return
	}
	n := noted{pattern: c.Path(), refusal: who.Refusal, Request: request.Request{
		AccountID: who.Account, ID: who.RequestID, KeyID: who.KeyID, Method: r.Method, Path: r.URL.Path, Status: status, Address: who.Address,
		Duration: time.Since(began), CreatedAt: s.store.Now(),
	}}
	select {
	case l.waiting <- n:
	default:
		l.drop(who.Account, 1)
	}
}

func (l *requestLog) drop(account string, n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dropped[account] += n
}

// takeDropped returns how many were dropped since it was last called.
func (l *requestLog) takeDropped() map[string]int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	dropped := l.dropped
	l.dropped = map[string]int64{}
	return dropped
}

// WriteRequests writes down what programs ask for until ctx ends, and then what still waits. Nothing may be served any more by then.
func (s *Server) WriteRequests(ctx context.Context) {
	var trimmer request.Trimmer
	ticker := time.NewTicker(requestsEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			for len(s.requests.waiting) > 0 {
				s.writeRequests(context.WithoutCancel(ctx), &trimmer)
			}
			return
		case <-ticker.C:
			s.writeRequests(context.WithoutCancel(ctx), &trimmer)
		}
	}
}

// writeRequests writes one batch. One that cannot be written is lost, and counted.
func (s *Server) writeRequests(ctx context.Context, trimmer *request.Trimmer) {
	var batch []request.Request
	for range min(len(s.requests.waiting), requestsAtOnce) {
		n := <-s.requests.waiting
		n.Path = safePath(n.pattern, n.Path)
		method := n.Method
		if method == http.MethodHead {
			method = http.MethodGet
		}
		if op := s.operations.Find(method, strings.TrimPrefix(n.pattern, "/v1")); op != nil {
			n.Operation = op.ID
		}
		if n.refusal != nil {
			n.Error = new(masked(string(n.refusal)))
		}
		batch = append(batch, n.Request)
	}
	dropped := s.requests.takeDropped()
	if len(batch) == 0 && len(dropped) == 0 {
		return
	}
	if err := s.store.Requests.Write(ctx, batch, dropped); err != nil {
		for i := range batch {
			s.requests.drop(batch[i].AccountID, 1)
		}
		for account, n := range dropped {
			s.requests.drop(account, n)
		}
		s.log.WarnContext(ctx, "requests were not written down", "count", len(batch), "error", err)
		return
	}
	trimmer.Note(batch)
	if err := s.store.Requests.Trim(ctx, trimmer); err != nil {
		s.log.WarnContext(ctx, "old requests were not deleted", "error", err)
	}
}

var (
	objectID  = regexp.MustCompile(`^[a-z]{2,8}_[0-9a-z]{26}$`)
	pathWord  = regexp.MustCompile(`^[a-z][a-z_-]{0,29}$`)
	quoted    = regexp.MustCompile(` '[^']*'`) // how our messages repeat what was sent
	keyLike   = regexp.MustCompile(`[A-Za-z0-9_+/=-]{10,}|[0-9][0-9 -]{11,}[0-9]`)
	notSecret = regexp.MustCompile(`^([a-z]{2,8}_[0-9a-z]{26}|[A-Za-z_/+=-]{1,19}|[a-z]+(_[a-z]+)*)$`)
)

// safePath returns the path of a request without what may be a secret in it. Of parameters only ids of objects stay. Of a path that does not exist
// only what looks like one of ours stays.
func safePath(pattern, path string) string {
	names := strings.Split(pattern, "/")
	parts := strings.Split(path, "/")
	if len(parts) > 12 {
		parts = append(parts[:12], "…")
	}
	for i, part := range parts {
		isKnown := i < len(names) && names[i] == part
		isWild := i >= len(names)-1 && names[len(names)-1] == "*"
		switch {
		case isKnown, objectID.MatchString(part), isWild && (part == "" || pathWord.MatchString(part)):
		case i < len(names) && strings.HasPrefix(names[i], ":"):
			parts[i] = names[i]
		default:
			parts[i] = "…"
		}
	}
	return strings.Join(parts, "/")
}

// masked returns an envelope without what its messages repeat of the request, but for ids of objects. It also leaves out whatever else looks like a
// key or the number of a card.
func masked(envelope string) string {
	envelope = quoted.ReplaceAllStringFunc(envelope, func(found string) string {
		if objectID.MatchString(strings.Trim(found, " '")) {
			return found
		}
		return " '***'"
	})
	return keyLike.ReplaceAllStringFunc(envelope, func(found string) string {
		if notSecret.MatchString(found) {
			return found
		}
		return "***"
	})
}
