package webhooks

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/tillwright/tillwright/store/outbox"
)

// Rescue has deliveries sent again that a dispatcher claimed and left without a result, because its process died. It looks for them
// about once a second until ctx ends. The scan of a dispatcher finds what it gives back. Any number of replicas may run it.
func Rescue(ctx context.Context, s *outbox.Store, log *slog.Logger) {
	for {
		rescueOnce(ctx, s, log)
		select {
		case <-ctx.Done():
			return
		case <-time.After(jittered(pollInterval)):
		}
	}
}

// rescueOnce gives back the deliveries whose lease is over.
func rescueOnce(ctx context.Context, s *outbox.Store, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), roundTimeout) // what it has begun it ends
	defer cancel()
	deliveries, err := await(ctx, func() (int64, error) { return s.ReleaseExpiredDeliveries(ctx) })
	switch {
	case err != nil:
		log.Error("release expired deliveries", "error", err)
	case deliveries > 0:
		log.Warn("deliveries without a result are sent again", "count", deliveries)
	}
}

// jittered returns a duration that is up to a fifth more or less, so that replicas do not all look at once.
func jittered(d time.Duration) time.Duration { return d*4/5 + rand.N(d*2/5) }

// await waits for a call on the database, but not longer than ctx: a context does not end a statement that is under way.
func await[T any](ctx context.Context, call func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	ended := make(chan outcome, 1)
	go func() {
		value, err := call()
		ended <- outcome{value, err}
	}()
	select {
	case o := <-ended:
		return o.value, o.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
