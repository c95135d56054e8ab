package webhooks

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/outbox"
)

func TestRetain_DeletesAndEnds(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		in := newInbox(t, nil)
		stop := w.dispatch(w.Outbox)
		w.endpoint(in.URL)
		w.product("old")
		w.settled()
		stop()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			Retain(ctx, w.Outbox, outbox.DeliveryRetention{Failed: time.Hour}, slog.New(slog.DiscardHandler))
		}()
		require.Eventually(t, func() bool { return len(w.deliveries()) == 0 }, time.Minute, 10*time.Millisecond)
		cancel()
		<-ended
	})
}
