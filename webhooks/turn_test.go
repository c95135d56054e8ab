package webhooks

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/store/tenant"
)

func TestDispatcher_DeadEndpointDelaysNobodyElse(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		released := make(chan struct{})
		dead := newInbox(t, func(http.ResponseWriter, *http.Request) { <-released })
		alive := newInbox(t, nil)
		for range 10 {
			w.endpoint(dead.URL)
		}
		w.endpoint(alive.URL)
		w.dispatch(w.Outbox, func(d *Dispatcher) { // the dead ones keep their slots until the others are through
			d.lease = 2 * time.Hour
			d.sender = NewSender(SenderOptions{Service: "Service", Guard: NewGuard(GuardOptions{Development: true}), Timeout: time.Hour})
		})
		for i := range 20 {
			w.product(fmt.Sprint("product ", i))
			alive.wait(t, i+1)
		}
		close(released)
		w.settled()
	})
}

func TestDispatcher_SendsOnlySoManyAtATimeToOneEndpoint(t *testing.T) {
	eachBubble(t, func(t *testing.T, w *world) {
		for took, limit := range map[time.Duration]int32{2 * briskAnswer: perEndpoint, briskAnswer / 5: perBrisk} {
			var now, most atomic.Int32
			in := &inbox{answer: func(http.ResponseWriter, *http.Request) {
				n := now.Add(1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
				time.Sleep(took)
				now.Add(-1)
			}}
			e := w.endpoint("http://busy.test")
			for i := range 48 {
				w.product(fmt.Sprint("product ", i))
			}
			stop := w.dispatchTo(in, w.Outbox)
			in.wait(t, 48)
			stop()
			require.Equal(t, limit, most.Load())
			_, err := w.Outbox.DeleteWebhookEndpoint(t.Context(), w.account, e.ID)
			require.NoError(t, err)
		}
	})
}

func TestDispatcher_EndpointsOfOneAccountTakeTurns(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		const endpoints = perAccount/perEndpoint + 3 // more than the account has slots for
		d := NewDispatcher(DispatcherOptions{Store: w.Outbox, Renderer: NewRenderer(w.Outbox, ""), Log: slog.New(slog.DiscardHandler)})
		for range endpoints {
			e := w.endpoint("https://example.com/")
			pending := outbox.PendingEndpoint{AccountID: w.account, EndpointID: e.ID}
			d.slots.judge(pending, briskAnswer, time.Now())
			d.waiting.find(pending)
		}
		served := map[string]bool{}
		for round := 0; len(served) < endpoints; round++ { // nothing is claimed meanwhile: every endpoint goes on waiting
			require.Less(t, round, 100)
			claims := d.choose(time.Now())
			require.Len(t, claims, perAccount/perEndpoint)
			for _, claim := range claims {
				served[claim.EndpointID] = true
				d.slots.free(claim.PendingEndpoint, claim.Limit)
				d.waiting[claim.EndpointID].asked = false
			}
		}
		require.Len(t, served, endpoints)
	})
}

// Five accounts have 40 endpoints each that never answer, and more events than can time out. What they take of the slots delays no other
// endpoint, of the same account or another. That holds from the first event on, before any of them has shown what it is.
func TestDispatcher_BlackHolesDelayNobody(t *testing.T) {
	eachBubble(t, func(t *testing.T, w *world) {
		const most, seconds = 250 * time.Millisecond, 12
		in := &inbox{}
		in.answer = func(_ http.ResponseWriter, r *http.Request) {
			if r.Host == "hole.test" {
				<-r.Context().Done()
			}
		}
		accounts := []*world{w}
		for range 4 {
			account, err := w.Tenant.CreateAccount(t.Context(), tenant.NewAccount{Name: "Other", Email: "other@example.com"})
			require.NoError(t, err)
			accounts = append(accounts, &world{Store: w.Store, t: t, url: w.url, account: account.ID})
		}
		w.dispatchTo(in, w.Outbox)
		for _, a := range accounts {
			for range 40 {
				a.endpointFor("http://hole.test", outbox.EventProductUpdated)
			}
		}
		w.endpointFor("http://healthy.test", outbox.EventProductCreated)
		for _, a := range accounts {
			for n := range 8 { // of as many objects, so that none waits for another
				a.rename(a.product("Before"), fmt.Sprint("After ", n))
			}
		}
		for n := range seconds * 5 {
			made := time.Now()
			name := fmt.Sprint("Steady ", n)
			w.product(name)
			in.arrived.until(t, func() bool { return in.has(name) })
			require.LessOrEqual(t, time.Since(made), most, name)
			time.Sleep(200 * time.Millisecond)
		}
		waiting := slices.DeleteFunc(w.deliveries(), func(d delivery) bool { return d.State != "pending" })
		require.Greater(t, len(waiting), 200, "they were no burden")
	})
}
