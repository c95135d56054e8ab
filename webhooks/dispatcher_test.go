package webhooks

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk/signature"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
)

func TestDispatcher_DeliversSignedBytes(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		first, second := newInbox(t, nil), newInbox(t, nil)
		w.dispatch(w.Outbox)
		endpoint := w.endpoint(first.URL)
		w.endpoint(second.URL)
		p := w.product("Zoë <b> & \u2028 Söhne")
		got, same := first.wait(t, 1)[0], second.wait(t, 1)[0]
		require.Equal(t, "product.created", got.event.Type)
		require.Equal(t, p.Name, got.event.Data.Name)
		require.True(t, signature.Verify([]byte(got.body), endpoint.Secret, got.header.Get("X-Service-Hmac-SHA256")))
		require.Equal(t, got.event.ID, got.header.Get("X-Service-Event-Id"))
		require.Equal(t, "1", got.header.Get("X-Service-Attempt"))
		require.Equal(t, got.body, same.body, "every endpoint is sent the same bytes")
		for _, d := range w.settled() {
			require.Equal(t, delivery{State: "succeeded", Attempts: 1}, d)
		}
	})
}

func TestDispatcher_IsQuickToDeliver(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		in := newInbox(t, nil)
		w.dispatch(w.Outbox, func(d *Dispatcher) { d.interval = time.Hour }) // it is woken and does not wait for its look
		w.endpoint(in.URL)
		for i := range 6 {
			w.product(fmt.Sprint("quick ", i))
			in.wait(t, i+1)
		}
	})
}

func TestDispatcher_KeepsTheOrderOfOneObject(t *testing.T) {
	eachBubble(t, func(t *testing.T, w *world) {
		var turn atomic.Int32
		in := &inbox{answer: func(http.ResponseWriter, *http.Request) {
			time.Sleep(time.Duration(turn.Add(1)%3) * 4 * time.Millisecond)
		}}
		w.endpoint("http://uneven.test")
		p, q := w.product("p 00"), w.product("q 00")
		for i := 1; i <= 10; i++ {
			w.rename(p, fmt.Sprintf("p %02d", i))
			w.rename(q, fmt.Sprintf("q %02d", i))
		}
		w.dispatchTo(in, w.Outbox)
		last := map[string]string{}
		for _, got := range in.wait(t, 22) {
			require.Greater(t, got.event.Data.Name, last[got.event.Data.ID])
			last[got.event.Data.ID] = got.event.Data.Name
		}
	})
}

func TestDispatcher_DoesNotRetryAFailure(t *testing.T) {
	eachBubble(t, func(t *testing.T, w *world) {
		in := &inbox{answer: func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "broken", http.StatusInternalServerError) }}
		w.dispatchTo(in, w.Outbox)
		w.endpoint("http://broken.test")
		w.product("once")
		in.wait(t, 1)
		time.Sleep(10 * pollInterval)
		require.Len(t, in.received(), 1)
		require.Equal(t, []delivery{{"failed", "http_status", 1}}, w.deliveries())
	})
}

func TestDispatcher_InactiveEndpointIsNotCalled(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		in, other := newInbox(t, nil), newInbox(t, nil)
		e := w.endpoint(in.URL)
		w.endpoint(other.URL)
		w.product("before")
		set := func(status outbox.WebhookEndpointStatus) {
			_, err := w.Outbox.UpdateWebhookEndpoint(t.Context(), w.account, e.ID, func(e *outbox.WebhookEndpoint) { e.Status = status })
			require.NoError(t, err)
		}
		set(outbox.WebhookEndpointInactive)
		w.dispatch(w.Outbox)
		other.wait(t, 1)
		w.product("meanwhile")
		set(outbox.WebhookEndpointActive)
		w.product("after")
		other.wait(t, 3)
		w.settled()
		got := in.received()
		require.Len(t, got, 1)
		require.Equal(t, "after", got[0].event.Data.Name)
	})
}

func TestDispatcher_NothingIsSentOfARolledBackTransaction(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		in := newInbox(t, nil)
		w.dispatch(w.Outbox)
		w.endpoint(in.URL)
		for range 1000 {
			_, _, err := w.Request(t.Context(), nil, func(ctx context.Context) (*core.Answer, error) {
				_, err := w.Catalog.CreateProduct(ctx, w.account, catalog.NewProduct{Product: catalog.Product{Name: "never"}})
				require.NoError(t, err)
				return nil, errors.New("rolled back")
			})
			require.Error(t, err)
		}
		w.product("real")
		got := in.wait(t, 1)
		w.settled()
		require.Len(t, got, 1)
		require.Equal(t, "real", got[0].event.Data.Name)
		require.Len(t, w.deliveries(), 1)
	})
}

func TestDispatcher_TwoOnOneDatabaseDoNotSendTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database.URL(t, core.PostgreSQL))
	in := newInbox(t, nil)
	for range 3 {
		w.endpoint(in.URL)
	}
	w.dispatch(w.Outbox)
	w.dispatch(w.replica(0).Outbox)
	const products = 60
	for i := range products {
		w.product(fmt.Sprint("product ", i))
	}
	in.wait(t, 3*products)
	for _, d := range w.settled() {
		require.Equal(t, delivery{State: "succeeded", Attempts: 1}, d)
	}
	require.Len(t, in.received(), 3*products)
}

// Three dispatchers learn of it from the database alone: two of them run elsewhere.
func TestDispatcher_LetsDeliveriesOfADisabledAccountRest(t *testing.T) {
	eachBubble(t, func(t *testing.T, w *world) {
		in, bystander := &inbox{}, &inbox{}
		all := hosts{"rests.test": in, "bystander.test": bystander}
		w.endpoint("http://rests.test")
		w.dispatchTo(all, w.Outbox)
		if w.Engine() == core.PostgreSQL {
			w.dispatchTo(all, w.replica(0).Outbox)
			w.dispatchTo(all, w.replica(0).Outbox)
		}
		p := w.product("0")
		in.wait(t, 1)
		other := &world{Store: w.Store, t: t, url: w.url}
		account, err := w.Tenant.CreateAccount(t.Context(), tenant.NewAccount{Name: "Other", Email: "other@example.com"})
		require.NoError(t, err)
		other.account = account.ID
		other.endpoint("http://bystander.test")

		w.settled()
		_, _, err = w.Tenant.DisableAccount(t.Context(), w.account)
		require.NoError(t, err)
		for n := range 5 { // requests that were let in before
			w.rename(p, strconv.Itoa(n+1))
		}
		other.product("beside")
		bystander.wait(t, 1)
		time.Sleep(10 * pollInterval)
		require.Len(t, in.received(), 1)
		pending := 0
		for _, d := range w.deliveries() {
			if d == (delivery{"pending", "", 0}) {
				pending++
			}
		}
		require.Equal(t, 5, pending)

		_, _, err = w.Tenant.EnableAccount(t.Context(), w.account)
		require.NoError(t, err)
		in.wait(t, 6)
		w.settled()
		var names []string
		for _, post := range in.received() {
			names = append(names, post.event.Data.Name)
		}
		require.Equal(t, []string{"0", "1", "2", "3", "4", "5"}, names, "in order, each once")
		for _, d := range w.deliveries() {
			require.Equal(t, delivery{"succeeded", "", 1}, d)
		}
	})
}
