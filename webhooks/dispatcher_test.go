package webhooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
	"github.com/tillwright/tillwright/webhooks/signature"
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
	eachWorld(t, func(t *testing.T, w *world) {
		var turn atomic.Int32
		in := newInbox(t, func(http.ResponseWriter, *http.Request) {
			time.Sleep(time.Duration(turn.Add(1)%3) * 4 * time.Millisecond)
		})
		w.endpoint(in.URL)
		p, q := w.product("p 00"), w.product("q 00")
		for i := 1; i <= 10; i++ {
			w.rename(p, fmt.Sprintf("p %02d", i))
			w.rename(q, fmt.Sprintf("q %02d", i))
		}
		w.dispatch(w.Outbox)
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
		w.dispatchTo(in)
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

func TestDispatcher_SendsAgainWhatADeadOneClaimed(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		in := newInbox(t, nil)
		e := w.endpoint(in.URL)
		w.product("lost")
		claims := []outbox.DeliveryClaim{{PendingEndpoint: outbox.PendingEndpoint{AccountID: w.account, EndpointID: e.ID}, Limit: 4, AtMost: 4}}
		start := time.Now() // the lease runs from now on, or a little later
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

// Five accounts have 40 endpoints each that never answer, and more events than can time out. What they take of the slots delays no other
// endpoint, of the same account or another: from the first event on, before any of them has shown what it is.
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
		w.dispatchTo(in)
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
			require.Eventually(t, func() bool { return in.has(name) }, 2*most, time.Millisecond, "%s is not there", name)
			require.LessOrEqual(t, time.Since(made), most)
			time.Sleep(200 * time.Millisecond)
		}
		waiting := slices.DeleteFunc(w.deliveries(), func(d delivery) bool { return d.State != "pending" })
		require.Greater(t, len(waiting), 200, "they were no burden")
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
			stop := w.dispatchTo(in)
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

func TestDispatcher_StopsGracefully(t *testing.T) {
	eachBubble(t, func(t *testing.T, w *world) {
		const took = 700 * time.Millisecond
		in := &inbox{answer: func(http.ResponseWriter, *http.Request) { time.Sleep(took) }}
		w.endpoint("http://slow.test")
		stop := w.dispatchTo(in)
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

// What a server cannot sign it leaves, as it is, to one that can, and says so without filling the log.
func TestDispatcher_LeavesWhatItCannotSignToOthers(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		in, other := newInbox(t, nil), newInbox(t, nil)
		e := w.endpoint(in.URL)
		stranger := w.replica(1)
		var lines lockedBuffer
		stop := w.dispatch(stranger.Outbox, func(d *Dispatcher) { d.log = slog.New(slog.NewJSONHandler(&lines, nil)) })
		for n := range 3 {
			w.product(fmt.Sprint("sealed with another key ", n))
		}
		_, err := stranger.Outbox.CreateWebhookEndpoint(t.Context(), w.account, outbox.WebhookEndpoint{URL: other.URL})
		require.NoError(t, err)
		_, err = stranger.Catalog.CreateProduct(t.Context(), w.account, catalog.NewProduct{Product: catalog.Product{Name: "for both"}})
		require.NoError(t, err)
		other.wait(t, 1)
		require.Eventually(t, func() bool { return strings.Contains(lines.String(), e.ID) }, time.Minute, time.Millisecond)
		time.Sleep(3 * pollInterval) // for what must not come
		require.Empty(t, in.received())
		waiting := 0
		for _, d := range w.deliveries() {
			if d == (delivery{"pending", "", 0}) {
				waiting++
			}
		}
		require.Equal(t, 4, waiting)
		require.Equal(t, 1, strings.Count(lines.String(), "\n"), lines.String())
		require.Contains(t, lines.String(), e.ID)
		stop()

		w.dispatch(w.Outbox)
		require.Len(t, in.wait(t, 4), 4)
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

// A round ends in time although no context ends a statement that is under way.
func TestRound_LeavesADatabaseThatHangs(t *testing.T) {
	t.Parallel()
	proxy := database.NewProxy(t, database.URL(t, core.PostgreSQL))
	w := newWorld(t, proxy.URL)
	d := NewDispatcher(DispatcherOptions{Store: w.Outbox, Renderer: NewRenderer(w.Outbox, ""), Log: slog.New(slog.DiscardHandler)})
	lost := []outbox.DeliveryResult{{Account: w.account, ID: "whdl_of_this_round"}}
	d.done = lost
	proxy.Freeze()
	d.scan(t.Context())
	d.exchange(t.Context(), nil)
	failed, missed := <-d.rounds, <-d.scans
	require.ErrorIs(t, failed.err, context.DeadlineExceeded, "it is the round that ends, and not the statement")
	require.ErrorIs(t, missed.err, context.DeadlineExceeded)
	d.finish(t.Context(), failed)
	d.found(missed)
	require.Equal(t, lost, d.done, "the next round records them")
	require.True(t, d.rest.After(time.Now()))
	require.False(t, d.scanAt.IsZero(), "there is another scan")
	proxy.Thaw()
}

// A claim that the database is not done with in time holds up fewer other endpoints each time, and no result.
func TestRound_ThatFailsIsMadeSmaller(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database.URL(t, core.PostgreSQL))
	d := NewDispatcher(DispatcherOptions{Store: w.Outbox, Renderer: NewRenderer(w.Outbox, ""), Log: slog.New(slog.DiscardHandler)})
	for i := range 8 {
		d.waiting.find(outbox.PendingEndpoint{AccountID: fmt.Sprint("acct_", i), EndpointID: fmt.Sprint("we_", i)})
	}
	round := func(err error) (claimed int) {
		t.Helper()
		claims := d.choose(time.Now())
		d.underWay++
		d.finish(t.Context(), round{claims: claims, err: err})
		return len(claims)
	}
	slow := errors.New("no answer in time")
	for _, claimed := range []int{8, 4, 2, 1, 1} {
		require.Equal(t, claimed, round(slow))
		require.False(t, d.lookAt.IsZero(), "there is another round")
	}

	d.done, d.rest = []outbox.DeliveryResult{{Account: w.account, ID: "whdl_of_this_round"}}, time.Time{}
	d.lookBy(time.Now())
	d.last = time.Time{}
	d.act(t.Context())
	require.Equal(t, 2, d.underWay)
	for range 2 {
		r := <-d.rounds
		require.NoError(t, r.err)
		require.Equal(t, 1, len(r.results)+len(r.claims), "results go by themselves")
		d.finish(t.Context(), r)
	}
	require.Empty(t, d.done)
	for _, claimed := range []int{2, 4} {
		require.Equal(t, claimed, round(nil), "it recovers")
	}
}

// What is slow to release holds up nothing else.
func TestPoll_DoesNotWait(t *testing.T) {
	t.Parallel()
	proxy := database.NewProxy(t, database.URL(t, core.PostgreSQL))
	w := newWorld(t, proxy.URL)
	d := NewDispatcher(DispatcherOptions{Store: w.Outbox, Renderer: NewRenderer(w.Outbox, ""), Log: slog.New(slog.DiscardHandler)})
	proxy.Freeze()
	d.poll(t.Context())
	require.True(t, d.frees)
	d.poll(t.Context()) // one at a time
	proxy.Thaw()
	d.released(<-d.releases)
	require.False(t, d.frees)
	select {
	case <-d.releases:
		t.Error("it was asked twice at once")
	default:
	}
}

// Three dispatchers learn of it from the database alone: two of them run elsewhere.
func TestDispatcher_LetsDeliveriesOfADisabledAccountRest(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		in, bystander := newInbox(t, nil), newInbox(t, nil)
		w.endpoint(in.URL)
		w.dispatch(w.Outbox)
		if w.Engine() == core.PostgreSQL {
			w.dispatch(w.replica(0).Outbox)
			w.dispatch(w.replica(0).Outbox)
		}
		p := w.product("0")
		in.wait(t, 1)
		other := &world{Store: w.Store, t: t, url: w.url}
		account, err := w.Tenant.CreateAccount(t.Context(), tenant.NewAccount{Name: "Other", Email: "other@example.com"})
		require.NoError(t, err)
		other.account = account.ID
		other.endpoint(bystander.URL)

		w.settled()
		_, _, err = w.Tenant.DisableAccount(t.Context(), w.account)
		require.NoError(t, err)
		for n := range 5 { // requests that were let in before
			w.rename(p, strconv.Itoa(n+1))
		}
		other.product("beside")
		bystander.wait(t, 1)
		time.Sleep(2 * pollInterval)
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
