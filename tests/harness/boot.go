package harness

import (
	"context"
	"encoding/base64"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server"
	"github.com/tillwright/tillwright/server/cmd/program"
	"github.com/tillwright/tillwright/server/transfer"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/stripefake"
	"github.com/tillwright/tillwright/webhooks"
)

// Server is the whole program inside the test process, as tillwright serve runs it.
type Server struct {
	*Database // the second way in
	URL       string
	Hooks     *Receiver // takes webhooks
	Clock     Clock     // what the store takes for the time
	Ads       *ads.Service
	Files     *transfer.Service // whose bytes are in a folder of the test
	Mail      Mailbox           // what was sent to customers

	config   *server.Config
	store    *store.Store
	without  []string
	adWork   restful
	coverage *Coverage
	trace    func(ctx context.Context, statement string, args []any)
	waited   func(ctx context.Context, account string, turns int)
	unshared bool
	shared   bool             // with other tests, see SharedServers
	bank     *stripefake.Fake // nil: none is paid through Stripe
	document []byte
	panics   atomic.Bool
}

// Option changes how Boot starts a server.
type Option func(*Server)

// Checked checks every answer against the specification, and counts it.
func Checked(c *Coverage) Option { return func(s *Server) { s.coverage = c } }

// StoppedAt starts the server with a clock that stands still.
func StoppedAt(at time.Time) Option { return func(s *Server) { s.Clock.StopAt(at) } }

// Document starts the server with another document, which has the same operations.
func Document(text []byte) Option { return func(s *Server) { s.document = text } }

// Stripe lets accounts be paid through a fake of Stripe.
func Stripe(bank *stripefake.Fake) Option { return func(s *Server) { s.bank = bank } }

// Traced has every statement of the store told to a function, which many goroutines call.
func Traced(trace func(ctx context.Context, statement string, args []any)) Option {
	return func(s *Server) { s.trace = trace }
}

// Waited has everybody who waited for a connection told to a function, which many goroutines call, with how many were let in meanwhile.
func Waited(waited func(ctx context.Context, account string, turns int)) Option {
	return func(s *Server) { s.waited = waited }
}

// WithoutShares is wrong on purpose: whoever comes first is served first, whose account it may be.
func WithoutShares() Option { return func(s *Server) { s.unshared = true } }

// WithoutStatistics leaves it to the test what PostgreSQL knows of its tables.
func WithoutStatistics() Option {
	return func(s *Server) { s.without = append(s.without, program.WorkerStatistics) }
}

// Boot runs the program until the test ends, on a database that is empty or the program's own.
func Boot(t testing.TB, url string, options ...Option) *Server {
	t.Helper()
	s := &Server{Hooks: NewReceiver(t), without: []string{program.WorkerPictures}} // which would ask for what the tests only name
	for _, option := range options {
		option(s)
	}
	s.config = s.configure(t, url)
	s.Clock.shared = s.shared
	s.open(t)
	s.Database = OpenDatabase(t, url)

	o := program.Options{Config: s.config, Store: s.store, Log: failures(), Mailer: &s.Mail, Document: s.document, Hasher: person.NewQuickHasher()}
	if s.bank != nil {
		o.Stripe = s.bank.Client()
	}
	p, err := program.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	s.Ads, s.Files = p.Ads, p.Files
	p.Workers = slices.DeleteFunc(p.Workers, func(w program.Worker) bool { return slices.Contains(s.without, w.Name) })
	for i, w := range p.Workers {
		if w.Name == program.WorkerAds {
			s.adWork = restful{w.Run, make(chan rest)}
			p.Workers[i].Run = s.adWork.run
		}
	}
	s.run(t, p)
	return s
}

// failures returns a logger of what the program could not do, which the output of the tests shows. A test alone would say that it got a 503.
func failures() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
}

// nowhere is an address at which nobody listens: what a test does not play is not asked in earnest.
const nowhere = "127.0.0.1:1"

// configure returns the settings of a development server, whose files are in a folder of the test.
func (s *Server) configure(t testing.TB, url string) *server.Config {
	t.Helper()
	settings := map[string]string{
		"TILLWRIGHT_DATA_DIR": t.TempDir(), "TILLWRIGHT_DATABASE_URL": url, "TILLWRIGHT_DATABASE_SYNCHRONOUS": "normal",
		"TILLWRIGHT_SECRET_KEY": base64.StdEncoding.EncodeToString(make([]byte, 32)), "TILLWRIGHT_PUBLIC_URL": "http://shop.test",
		"TILLWRIGHT_SITES_DNS": nowhere, "TILLWRIGHT_STRIPE_URL": "http://" + nowhere,
	}
	if s.bank != nil {
		settings["TILLWRIGHT_STRIPE_URL"] = s.bank.URL
	}
	config, err := server.LoadConfig(settings)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// open migrates the database and opens the store.
func (s *Server) open(t testing.TB) {
	t.Helper()
	options, err := program.StoreOptions(s.config)
	if err != nil {
		t.Fatal(err)
	}
	render := options.Render
	options.Render = func(kind string, v any) ([]byte, error) {
		if s.panics.Load() {
			panic("the test wants a panic")
		}
		return render(kind, v)
	}
	options.Exclusive, options.CloseTime, options.Now, options.Trace = true, time.Minute, s.Clock.Now, s.trace
	options.Waited = s.waited
	if s.unshared {
		options.Whose = nil
	}
	if s.store, err = store.Open(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	if err := s.store.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// run serves the program until the test ends.
func (s *Server) run(t testing.TB, p *program.Program) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.URL = "http://" + listener.Addr().String()
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- p.Serve(ctx, listener) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
		p.Close()
		s.check(t)
		if err := s.store.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
		// The package testing keeps this function, and with it what it knows, until all tests have ended. That would be hundreds of servers, which
		// collecting garbage would go through again and again.
		p, s.store, s.Ads, s.Files, s.adWork = nil, nil, nil, nil, restful{}
	})
}

// check fails the test if something in the database does not add up. It runs after every test.
func (s *Server) check(t testing.TB) {
	violations, err := s.store.Audit.Check(context.Background(), webhooks.Retention(s.config.WebhookRetention))
	if err != nil {
		t.Errorf("check the invariants: %v", err)
	}
	for _, v := range violations {
		t.Errorf("the test leaves behind: %s", v)
	}
}

// DeleteOldDeliveries does now what the program does every ten minutes.
func (s *Server) DeleteOldDeliveries(t testing.TB) {
	t.Helper()
	for {
		deleted, err := s.store.Outbox.DeleteOldDeliveries(t.Context(), webhooks.Retention(s.config.WebhookRetention), 1000)
		if err != nil {
			t.Fatal(err)
		}
		if deleted == 0 {
			return
		}
	}
}

// Housekeep does now what the program does every minute.
func (s *Server) Housekeep(t testing.TB) {
	t.Helper()
	if err := program.Housekeep(t.Context(), s.store, s.config.ActivityRetention); err != nil {
		t.Fatal(err)
	}
}

// PanicOnEvent makes every use case that emits an event panic, or ends that.
func (s *Server) PanicOnEvent(on bool) { s.panics.Store(on) }

// Account makes an account on the pro plan and returns a client with a key of it that may do everything.
func (s *Server) Account(t testing.TB) *Client { return s.AccountOn(t, tenant.PlanPro) }

// AccountOn does what Account does, on another plan.
func (s *Server) AccountOn(t testing.TB, plan tenant.Plan) *Client {
	t.Helper()
	account, err := s.store.Tenant.CreateAccount(t.Context(), tenant.NewAccount{Name: "Test", Email: "test@example.com", Plan: plan})
	if err != nil {
		t.Fatal(err)
	}
	c := s.client(t, scatter(t, s.transport(t, s.address()))).As(s.Key(t, account.ID))
	c.Account = account.ID
	return c
}

// Key makes another key of an account, with these scopes or, if none is named, all of them.
func (s *Server) Key(t testing.TB, account string, scopes ...string) string {
	t.Helper()
	_, token, err := s.store.Tenant.CreateAPIKey(t.Context(), account, tenant.Granted{}, tenant.NewAPIKey{Name: "test", Scopes: scopes})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// Disable switches an account off, as the program's command does, and returns what switches it on again.
func (s *Server) Disable(t testing.TB, account string) (enable func()) {
	t.Helper()
	_, changed, err := s.store.Tenant.DisableAccount(t.Context(), account)
	require.NoError(t, err, "disable %s", account)
	require.True(t, changed, "disable %s", account)
	return func() {
		t.Helper()
		_, changed, err := s.store.Tenant.EnableAccount(t.Context(), account)
		require.NoError(t, err, "enable %s", account)
		require.True(t, changed, "enable %s", account)
	}
}

// From returns a client without a key that connects from an address of the loopback network.
func (s *Server) From(t testing.TB, address string) *Client {
	return s.client(t, s.transport(t, address))
}

func (s *Server) client(t testing.TB, base http.RoundTripper) *Client {
	t.Helper()
	if s.coverage != nil {
		base = &Transport{T: t, Coverage: s.coverage, Base: base}
	}
	return &Client{URL: s.URL, HTTP: &http.Client{Transport: base, Timeout: time.Minute}}
}

// address returns where somebody new connects from. A shared server counts what one address may do for each of them.
func (s *Server) address() string {
	if s.shared {
		return apart()
	}
	return "127.0.0.1"
}

// transport connects from an address of the loopback network.
func (s *Server) transport(t testing.TB, address string) *http.Transport {
	t.Helper()
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	base := &http.Transport{DialContext: dialer.DialContext, MaxIdleConnsPerHost: 64}
	t.Cleanup(base.CloseIdleConnections)
	return base
}

// SDK returns an SDK client of a new account. It does not retry: a test wants to see the first answer.
func (s *Server) SDK(t testing.TB) *sdk.Client { return s.Account(t).SDK() }
