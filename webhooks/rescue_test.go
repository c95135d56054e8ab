package webhooks

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// left is a delivery that a dispatcher has claimed and will never send. Its lease was over as soon as it began.
func (w *world) left(url string) {
	w.t.Helper()
	e := w.endpoint(url)
	w.product("left")
	claim := outbox.DeliveryClaim{PendingEndpoint: outbox.PendingEndpoint{AccountID: w.account, EndpointID: e.ID}, Limit: 1, AtMost: 1}
	x, err := w.Outbox.ExchangeDeliveries(w.t.Context(), nil, []outbox.DeliveryClaim{claim}, -time.Second)
	require.NoError(w.t, err)
	require.Len(w.t, x.Claimed, 1)
}

func TestRescue_HasSentAgainWhatADeadDispatcherLeft(t *testing.T) {
	eachBubble(t, func(t *testing.T, w *world) {
		in := &inbox{}
		w.left("http://left.test")
		w.dispatchTo(in, w.Outbox)
		require.Equal(t, "left", in.wait(t, 1)[0].event.Data.Name)
		require.Equal(t, []delivery{{State: "succeeded", Attempts: 2}}, w.settled())
	})
}

// It waits no longer than it may for a database that stands still. What was left is given back once that answers, by whoever asked.
func TestRescue_EndsThoughNothingIsAnswered(t *testing.T) {
	t.Parallel()
	proxy := database.NewProxy(t, database.URL(t, core.PostgreSQL))
	w := newWorld(t, proxy.URL)
	w.left("http://nobody.test")
	proxy.Freeze()
	ended := make(chan struct{})
	go func() { rescueOnce(t.Context(), w.Outbox, slog.New(slog.DiscardHandler)); close(ended) }()
	<-ended
	proxy.Thaw()
	require.Eventually(t, func() bool {
		rescueOnce(t.Context(), w.Outbox, slog.New(slog.DiscardHandler))
		return w.deliveries()[0].Attempts == 1 // the one that was lost
	}, time.Minute, 20*time.Millisecond)
}
