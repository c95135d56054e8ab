package webhooks

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk/signature"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/outbox"
)

// What a server cannot sign it leaves, as it is, to one that can, and says so without filling the log.
func TestDispatcher_LeavesWhatItCannotSignToOthers(t *testing.T) {
	eachBubble(t, func(t *testing.T, w *world) {
		in, other := &inbox{}, &inbox{}
		all := hosts{"sealed.test": in, "other.test": other}
		e := w.endpoint("http://sealed.test")
		stranger := w.replica(1)
		var lines lockedBuffer
		stop := w.dispatchTo(all, stranger.Outbox, func(d *Dispatcher) { d.log = slog.New(slog.NewJSONHandler(&lines, nil)) })
		for n := range 3 {
			w.product(fmt.Sprint("sealed with another key ", n))
		}
		time.Sleep(2 * pollInterval)
		w.endpoint("http://sealed.test") // of which the log says nothing, so soon after the first
		_, err := stranger.Outbox.CreateWebhookEndpoint(t.Context(), w.account, outbox.WebhookEndpoint{URL: "http://other.test"})
		require.NoError(t, err)
		_, err = stranger.Catalog.CreateProduct(t.Context(), w.account, catalog.NewProduct{Product: catalog.Product{Name: "for both"}})
		require.NoError(t, err)
		other.wait(t, 1)
		time.Sleep(10 * pollInterval) // for what must not come
		require.Empty(t, in.received())
		waiting := 0
		for _, d := range w.deliveries() {
			if d == (delivery{"pending", "", 0}) {
				waiting++
			}
		}
		require.Equal(t, 5, waiting)
		require.Equal(t, 1, strings.Count(lines.String(), "\n"), lines.String())
		require.Contains(t, lines.String(), e.ID)
		stop()

		w.dispatchTo(all, w.Outbox)
		require.Len(t, in.wait(t, 5), 5)
		for _, d := range w.settled() {
			require.Equal(t, "succeeded", d.State)
		}
	})
}

// What only the secret before a rotation would sign too is sent, signed with the new one.
func TestDispatcher_SignsAloneWhatASecretBeforeIsMissingFor(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		in := newInbox(t, nil)
		e := w.endpoint(in.URL)
		both := w.replica(1, 0)
		rotated, err := both.Outbox.RotateWebhookSecret(t.Context(), w.account, e.ID, outbox.DefaultSecretOverlap)
		require.NoError(t, err)
		w.product("sent by who has the new key alone")
		w.dispatch(w.replica(1).Outbox)
		got := in.wait(t, 1)[0]
		require.True(t, signature.Verify([]byte(got.body), rotated.Secret, got.header.Get("X-Service-Hmac-SHA256")))
		require.Empty(t, got.header.Get("X-Service-Hmac-SHA256-Previous"))
	})
}

// lockedBuffer is a log that may be read while it is written.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
