package webhooks

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/outbox"
)

func TestRetain_DeletesAndEnds(t *testing.T) {
	eachBubble(t, func(t *testing.T, w *world) {
		stop := w.dispatchTo(&inbox{}, w.Outbox)
		w.endpoint("http://old.test")
		w.product("old")
		w.settled()
		stop()
		time.Sleep(time.Second) // then it is older than none at all
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			Retain(ctx, w.Outbox, outbox.DeliveryRetention{Failed: time.Hour}, slog.New(slog.DiscardHandler))
		}()
		synctest.Wait()
		require.Empty(t, w.deliveries())
		cancel()
		<-ended
	})
}
