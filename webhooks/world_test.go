package webhooks

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
	_ "github.com/tillwright/tillwright/tests/harness/migrated"
)

// world is a database with one account, and whatever dispatchers a test starts on it.
type world struct {
	*store.Store
	t       *testing.T
	url     string
	account string
	rounds  signal // a round of one of its dispatchers is over
}

func eachWorld(t *testing.T, test func(t *testing.T, w *world)) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) { test(t, newWorld(t, url)) })
}

// eachBubble is eachWorld with a clock that stands still while anybody works, the database included: see inBubble. Only what
// dispatchTo sends arrives.
func eachBubble(t *testing.T, test func(t *testing.T, w *world)) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		synctest.Test(t, func(t *testing.T) { test(t, newWorld(t, url)) })
	})
}

func newWorld(t *testing.T, url string) *world {
	t.Helper()
	w := &world{t: t, url: url}
	w.Store = w.replica(0)
	require.NoError(t, w.Migrate(t.Context()))
	account, err := w.Tenant.CreateAccount(t.Context(), tenant.NewAccount{Name: "Ada's Shop", Email: "ada@example.com"})
	require.NoError(t, err)
	w.account = account.ID
	return w
}

// replica opens the database once more, with secret keys of 32 times each byte.
func (w *world) replica(keys ...byte) *store.Store {
	w.t.Helper()
	var all [][]byte
	for _, key := range keys {
		all = append(all, bytes.Repeat([]byte{key}, 32))
	}
	sealer, err := core.NewSealer(all...)
	require.NoError(w.t, err)
	s, err := store.Open(w.t.Context(), store.Options{
		CloseTime: time.Minute,
		URL:       w.url, Sealer: sealer, Synchronous: "normal",
		Render: func(_ string, v any) ([]byte, error) { return json.Marshal(v.(*catalog.ProductDetail).Product) },
	})
	require.NoError(w.t, err)
	w.t.Cleanup(func() { require.NoError(w.t, s.Close()) })
	return s
}

// dispatch runs a dispatcher until the test ends, or until the returned function is called.
func (w *world) dispatch(s *outbox.Store, prepare ...func(*Dispatcher)) (stop func()) {
	w.t.Helper()
	sender := NewSender(SenderOptions{Service: "Service", Guard: NewGuard(GuardOptions{Development: true}), Standard: true, Timeout: patience})
	d := NewDispatcher(DispatcherOptions{
		Store: s, Renderer: NewRenderer(s, "https://shop.example/v1"), Sender: sender, Log: slog.New(slog.DiscardHandler), Lease: 2 * patience,
	})
	d.over = w.rounds.send
	for _, p := range prepare {
		p(d)
	}
	s.OnEvent = d.Wake
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		var rescue sync.WaitGroup
		rescue.Go(func() { Rescue(ctx, s, d.log) })
		d.Run(ctx)
		rescue.Wait()
		sender.Close()
	}()
	stop = sync.OnceFunc(func() { cancel(); <-ended })
	w.t.Cleanup(stop)
	return stop
}

// dispatchTo is dispatch in a bubble. Whatever the URL of an endpoint, the receiver gets it.
func (w *world) dispatchTo(receiver http.Handler, s *outbox.Store, prepare ...func(*Dispatcher)) (stop func()) {
	w.t.Helper()
	sender := onWire(w.t, handled(receiver.ServeHTTP))
	return w.dispatch(s, append(prepare, func(d *Dispatcher) { d.sender = sender })...)
}

// hosts are the inboxes of a bubble by the host in the URL of their endpoint.
type hosts map[string]*inbox

func (h hosts) ServeHTTP(w http.ResponseWriter, r *http.Request) { h[r.Host].ServeHTTP(w, r) }

func (w *world) endpoint(url string) *outbox.WebhookEndpoint { return w.endpointFor(url) }

// endpointFor returns an endpoint for events, or for all of them when none are named.
func (w *world) endpointFor(url string, events ...string) *outbox.WebhookEndpoint {
	w.t.Helper()
	e, err := w.Outbox.CreateWebhookEndpoint(w.t.Context(), w.account, outbox.WebhookEndpoint{URL: url, EnabledEvents: core.JSON[[]string]{V: events}})
	require.NoError(w.t, err)
	return e
}

func (w *world) product(name string) *catalog.Product {
	w.t.Helper()
	p, err := w.Catalog.CreateProduct(w.t.Context(), w.account, catalog.NewProduct{Product: catalog.Product{Name: name}})
	require.NoError(w.t, err)
	return p
}

func (w *world) rename(p *catalog.Product, name string) {
	w.t.Helper()
	_, err := w.Catalog.UpdateProduct(w.t.Context(), w.account, p.ID, func(p *catalog.Product) { p.Name = name })
	require.NoError(w.t, err)
}

type delivery struct {
	State    string `db:"state"`
	Reason   string `db:"reason"`
	Attempts int    `db:"attempts"`
}

// deliveries reads the table behind the store's back.
func (w *world) deliveries() []delivery {
	w.t.Helper()
	driver, source := w.Engine(), w.url
	if driver == core.SQLite {
		source = strings.TrimPrefix(source, "sqlite://") + "?_pragma=busy_timeout(5000)"
	}
	db, err := sqlx.Open(driver, source)
	require.NoError(w.t, err)
	defer func() { _ = db.Close() }()
	var rows []delivery
	require.NoError(w.t, db.Select(&rows, `SELECT state, COALESCE(reason, '') AS reason, attempts FROM webhook_deliveries ORDER BY id`))
	return rows
}

// settled waits until no delivery is under way.
func (w *world) settled() []delivery {
	w.t.Helper()
	var rows []delivery
	w.rounds.until(w.t, func() bool {
		rows = w.deliveries()
		return !slices.ContainsFunc(rows, func(d delivery) bool { return d.State == "pending" })
	})
	return rows
}

// inbox is a receiver that remembers what it was sent.
type inbox struct {
	*httptest.Server
	mu      sync.Mutex
	posts   []post
	arrived signal
	answer  func(http.ResponseWriter, *http.Request)
}

type post struct {
	at     time.Time
	header http.Header
	body   string
	event  struct {
		ID, Type string
		Data     catalog.Product
	}
}

func newInbox(t *testing.T, answer func(http.ResponseWriter, *http.Request)) *inbox {
	t.Helper()
	i := &inbox{answer: answer}
	i.Server = httptest.NewServer(i)
	t.Cleanup(i.Close)
	return i
}

func (i *inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	p := post{at: time.Now(), header: r.Header, body: string(body)}
	_ = json.Unmarshal(body, &p.event)
	i.mu.Lock()
	i.posts = append(i.posts, p)
	i.mu.Unlock()
	i.arrived.send()
	if i.answer != nil {
		i.answer(w, r)
	}
}

func (i *inbox) received() []post {
	i.mu.Lock()
	defer i.mu.Unlock()
	return append([]post(nil), i.posts...)
}

// has reports whether an event of a product of this name has arrived.
func (i *inbox) has(name string) bool {
	return slices.ContainsFunc(i.received(), func(p post) bool { return p.event.Data.Name == name })
}

// wait waits until at least n posts have arrived, and returns all of them.
func (i *inbox) wait(t *testing.T, n int) []post {
	t.Helper()
	i.arrived.until(t, func() bool { return len(i.received()) >= n })
	return i.received()
}
