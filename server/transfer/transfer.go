// Package transfer moves the bytes of files between clients and the bucket that keeps them. It has uploads that can be resumed, downloads, and the
// removal of what is not needed any more. Its routes are no part of the API, because their bodies are no JSON and may be large. Each transfer takes
// little memory, whatever its size is, and how many there are at once is bounded.
package transfer

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/blob"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
)

const (
	// patience is how long a client may send or take nothing before its transfer is given up.
	patience = time.Minute
	// stalled is how long a bucket may take nothing, or give nothing.
	stalled = 2 * time.Minute
	// holdEvery is how often the lease of an upload is prolonged while its bytes come.
	holdEvery = 20 * time.Second
	// grace is how long transfers go on once the server is told to stop. Then they are cut off, and go on where they were later.
	grace = 4 * time.Second
)

// How many transfers a server has at once, in all, and of one account's uploads or of one address's downloads. The last line is how many files it
// completes at once, in all and of one account. An upload takes a quarter of a MiB of memory, a download less.
const (
	uploadsAtOnce, uploadsOfOne     = 64, 16
	downloadsAtOnce, downloadsOfOne = 512, 32
	completeAtOnce, completeOfOne   = 64, 8
)

// Service moves bytes. It is safe for concurrent use.
type Service struct {
	store       *grant.Store
	bucket      blob.Bucket
	log         *slog.Logger
	uploads     *places
	downloads   *places
	completions *places
	stopped     chan struct{} // closed once transfers have to end
}

// New returns a service that keeps bytes in a bucket. A few seconds after ctx ends it cuts off what is still under way.
func New(ctx context.Context, s *grant.Store, b blob.Bucket, log *slog.Logger) *Service {
	t := &Service{
		store: s, bucket: b, log: log, stopped: make(chan struct{}),
		uploads: newPlaces(uploadsAtOnce, uploadsOfOne), downloads: newPlaces(downloadsAtOnce, downloadsOfOne),
		completions: newPlaces(completeAtOnce, completeOfOne),
	}
	context.AfterFunc(ctx, func() { time.AfterFunc(grace, func() { close(t.stopped) }) })
	return t
}

// Routes returns the handlers of uploads by route, as server.Deps.Transfers takes them. Downloads are among the pages.
func (s *Service) Routes() map[string]echo.HandlerFunc {
	return map[string]echo.HandlerFunc{
		"/uploads/:token":         s.state,
		"PUT /uploads/:token":     s.put,
		"PATCH /uploads/:token":   s.patch,
		"OPTIONS /uploads/:token": s.options,
	}
}

// busy is what is answered for want of a place.
func busy() error {
	return &core.Error{Code: core.CodeRateLimit, Message: "Too many files are being transferred. Try again in some seconds; what has arrived is kept.", After: 5 * time.Second}
}

// deadlines are those of one connection, which move with every byte: what is under way may last as long as it gets on.
type deadlines struct {
	controller *http.ResponseController
	stopped    chan struct{}
}

func (s *Service) deadlinesOf(c echo.Context) deadlines {
	return deadlines{http.NewResponseController(c.Response()), s.stopped}
}

// errStopped ends a transfer because the server does.
var errStopped = &core.Error{Code: core.CodeRateLimit, Message: "The server is about to restart. Go on at `received` in some seconds.", After: 5 * time.Second}

// move gives the client another while. Both deadlines move: an upload is answered after its last byte.
func (d deadlines) move() error {
	select {
	case <-d.stopped:
		return errStopped
	default:
	}
	now := time.Now()
	if err := d.controller.SetReadDeadline(now.Add(patience)); err != nil {
		return err
	}
	return d.controller.SetWriteDeadline(now.Add(patience + stalled))
}

// watch returns a context that ends if nobody calls alive for as long as a bucket may stall, and alive.
func watch(ctx context.Context) (watched context.Context, alive func(), stop func()) {
	watched, cancel := context.WithCancel(ctx)
	timer := time.AfterFunc(stalled, cancel)
	return watched, func() { timer.Reset(stalled) }, func() {
		timer.Stop()
		cancel()
	}
}
