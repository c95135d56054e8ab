package webhooks

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
)

// A panic is the one failure whose log shows what the program was doing; the tests of the whole program see the others.
func TestDispatcher_LogsAPanicWithoutWhatItWasSending(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		var lines bytes.Buffer
		stop := w.dispatch(w.Outbox, func(d *Dispatcher) {
			d.log = slog.New(slog.NewJSONHandler(&lines, nil))
			d.sender.client.Transport = explosive{}
		})
		e := w.endpoint("https://example.com/path-that-is-a-secret")
		w.product("Ada's private product")
		require.Equal(t, []delivery{{"failed", "aborted", 1}}, w.settled())
		stop()
		require.Contains(t, lines.String(), "delivery panicked")
		for _, secret := range []string{e.Secret, "whsec_", "path-that-is-a-secret", "Ada's private product"} {
			require.NotContains(t, lines.String(), secret)
		}
	})
}
