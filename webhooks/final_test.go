package webhooks

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/outbox"
)

// Whatever went wrong, it went wrong once. Nothing is left that a dispatcher could find, this one or one that starts
// later. So nothing is sent again however long one waits.
func TestDispatcher_AFailureIsFinal(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		failing := map[outbox.Reason]*inbox{
			outbox.ReasonHTTPStatus: newInbox(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }),
			outbox.ReasonRedirect: newInbox(t, func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "/again", http.StatusTemporaryRedirect)
			}),
			outbox.ReasonConnectReset: newInbox(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }),
		}
		for _, in := range failing {
			w.endpoint(in.URL)
		}
		stop := w.dispatch(w.Outbox)
		w.product("failed")
		reasons := map[outbox.Reason]*inbox{}
		for _, d := range w.settled() {
			require.Equal(t, delivery{"failed", d.Reason, 1}, d)
			reasons[outbox.Reason(d.Reason)] = failing[outbox.Reason(d.Reason)]
		}
		require.Equal(t, failing, reasons)

		waiting, err := w.Outbox.PendingEndpoints(t.Context(), "", 100)
		require.NoError(t, err)
		require.Empty(t, waiting, "no scan finds it")
		released, err := w.Outbox.ReleaseExpiredDeliveries(t.Context())
		require.NoError(t, err)
		require.Zero(t, released, "no lease brings it back")
		stop()
		w.dispatch(w.Outbox)
		w.product("after a restart")
		for reason, in := range failing {
			require.Equal(t, "after a restart", in.wait(t, 2)[1].event.Data.Name, reason)
		}
		w.settled()
		for reason, in := range failing {
			require.Len(t, in.received(), 2, fmt.Sprint(reason))
		}
	})
}
