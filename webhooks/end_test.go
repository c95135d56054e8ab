package webhooks

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/tests/harness/database"
)

func TestDispatcher_SendsAgainWhatADeadOneClaimed(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		in := newInbox(t, nil)
		e := w.endpoint(in.URL)
		w.product("lost")
		claims := []outbox.DeliveryClaim{{PendingEndpoint: outbox.PendingEndpoint{AccountID: w.account, EndpointID: e.ID}, Limit: 4, AtMost: 4}}
		start := time.Now() // the lease runs from now on, or a little later, by the clock of the database
		exchange, err := w.Outbox.ExchangeDeliveries(t.Context(), nil, claims, 300*time.Millisecond)
		require.NoError(t, err)
		claimed := exchange.Claimed
		require.Len(t, claimed, 1)
		w.dispatch(w.Outbox)
		got := in.wait(t, 1)[0]
		require.GreaterOrEqual(t, time.Since(start), 200*time.Millisecond, "not before the lease has run out")
		require.Equal(t, claimed[0].Body, got.body)
		require.Equal(t, claimed[0].EventID, got.event.ID)
		require.Equal(t, "2", got.header.Get("X-Service-Attempt"))
		require.Equal(t, []delivery{{State: "succeeded", Attempts: 2}}, w.settled())
	})
}

func TestDispatcher_StopsGracefully(t *testing.T) {
	eachBubble(t, func(t *testing.T, w *world) {
		const took = 700 * time.Millisecond
		in := &inbox{answer: func(http.ResponseWriter, *http.Request) { time.Sleep(took) }}
		w.endpoint("http://slow.test")
		stop := w.dispatchTo(in, w.Outbox)
		w.product("under way")
		in.wait(t, 1)
		start := time.Now()
		stop()
		require.LessOrEqual(t, time.Since(start), took)
		require.Equal(t, []delivery{{State: "succeeded", Attempts: 1}}, w.deliveries(), "it waited for the answer and recorded it")
		w.product("too late")
		time.Sleep(10 * pollInterval)
		require.Len(t, in.received(), 1)
		require.Equal(t, delivery{State: "pending"}, w.deliveries()[1])
	})
}

// explosive is a transport that breaks its sender.
type explosive struct{}

func (explosive) RoundTrip(*http.Request) (*http.Response, error) { panic("boom") }

func TestDispatcher_SurvivesAPanic(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.dispatch(w.Outbox, func(d *Dispatcher) { d.sender.client.Transport = explosive{} })
		w.endpoint("https://example.com/")
		w.product("first")
		w.product("second")
		require.Equal(t, []delivery{{"failed", "aborted", 1}, {"failed", "aborted", 1}}, w.settled())
	})
}

// TestDispatcher_LeavesNoGoroutine is not parallel: it counts what it did not start.
func TestDispatcher_LeavesNoGoroutine(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Run("work", func(t *testing.T) {
		w := newWorld(t, database.URL(t, core.SQLite))
		released := make(chan struct{})
		hung := newInbox(t, func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-released:
			case <-r.Context().Done():
			}
		})
		in := newInbox(t, nil)
		w.endpoint(in.URL)
		w.endpoint(hung.URL)
		stop := w.dispatch(w.Outbox)
		for i := range 50 {
			w.product(fmt.Sprint("product ", i))
		}
		in.wait(t, 50)
		close(released)
		w.settled()
		stop()
	})
	goleak.VerifyNone(t, before)
}
