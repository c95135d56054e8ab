package harness

import (
	"context"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/ads/sandbox"
	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server"
	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/blob/disk"
	"github.com/tillwright/tillwright/server/composer"
	"github.com/tillwright/tillwright/server/dashboard"
	"github.com/tillwright/tillwright/server/domains"
	"github.com/tillwright/tillwright/server/handlers"
	"github.com/tillwright/tillwright/server/mail"
	"github.com/tillwright/tillwright/server/pages"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/server/payments/stripe"
	"github.com/tillwright/tillwright/server/payments/testpay"
	"github.com/tillwright/tillwright/server/reference"
	"github.com/tillwright/tillwright/server/transfer"
	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/stripefake"
	"github.com/tillwright/tillwright/webhooks"
)

// Server is the whole program inside the test process: HTTP, the store, the sender of webhooks, ads, and the worker that bills.
type Server struct {
	*Database // the second way in
	URL       string
	Hooks     *Receiver // takes webhooks
	Clock     Clock     // what the store takes for the time
	Ads       *ads.Service
	Files     *transfer.Service // whose bytes are in a folder of the test
	Mail      Mailbox           // what was sent to customers

	store    *store.Store
	adWork   restful
	coverage *Coverage
	trace    func(statement string, args []any)
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
func Traced(trace func(statement string, args []any)) Option {
	return func(s *Server) { s.trace = trace }
}

// Boot runs the program until the test ends, on a database that is empty or the program's own.
func Boot(t testing.TB, url string, options ...Option) *Server {
	t.Helper()
	s := &Server{Hooks: NewReceiver(t)}
	for _, option := range options {
		option(s)
	}
	s.open(t, url)
	s.Database = OpenDatabase(t, url)

	log := slog.New(slog.DiscardHandler)
	guard := webhooks.NewGuard(webhooks.GuardOptions{Development: true})
	sender := webhooks.NewSender(webhooks.SenderOptions{Service: "Service", Guard: guard, Standard: true})
	renderer := webhooks.NewRenderer(s.store.Outbox, "http://shop.test/v1")
	dispatcher := webhooks.NewDispatcher(webhooks.DispatcherOptions{Store: s.store.Outbox, Renderer: renderer, Sender: sender, Log: log})
	s.store.Outbox.OnEvent = dispatcher.Wake
	money := billing.New(s.store, s.providers())
	s.Ads = ads.New(s.store.Advert, ads.Drivers{ads.DriverSandbox: sandbox.All(s.store.Advert, sandbox.Options{})}, ads.Consents{
		PublicURL: "http://shop.test", Development: true,
		Website: func(context.Context, string) (string, error) { return "https://shop.test", nil },
	}, log)
	s.Files = s.transfers(t, log)
	post := mail.NewPost(s.store, &s.Mail)
	money.Letters = post.SendLettersOf
	named := domains.New(domains.Options{Store: s.store.Content, DNS: "127.0.0.1:1", TLS: domains.TLSNone, Log: log})
	operations := handlers.New(s.store, money, s.Ads, post, guard, webhooks.NewTester(s.store.Outbox, renderer, sender), s.Files, named, composer.New(composer.Options{Store: s.store, Log: log}))
	seen, err := pages.New(s.store, money, post, nil, s.Ads, s.Files, named)
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]echo.HandlerFunc{}
	for _, route := range []string{"/files/:token", "POST /subscribe/:token", "POST /portal", "POST /portal/open/:token", "/sites/:subdomain"} {
		shown[route] = seen.Routes()[route]
	}
	inside := &server.Inside{}
	desk, err := dashboard.New(dashboard.Options{Store: s.store, API: inside, Files: s.Files, PublicURL: "http://shop.test", Service: "Service", SignUp: dashboard.SignUpOpen, Sends: true, Develops: true})
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(shown, desk.Routes())
	docs, err := reference.New(reference.Options{PublicURL: "http://shop.test", Develops: true, Document: s.document})
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(shown, docs.Routes())
	moved := s.Files.Routes()
	maps.Copy(moved, desk.Uploads())
	srv, err := server.New(server.Deps{
		Store: s.store, Handlers: operations, Hooks: operations.Hooks(), Transfers: moved, Log: log,
		Pages: shown, ErrorPage: seen.Refused, Inside: inside, Development: true, Prepare: sandbox.FromHeader, Document: s.document,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.adWork = restful{s.Ads.Run, make(chan rest)}
	s.run(t, srv, dispatcher.Run, money.Run, s.adWork.run, srv.WriteRequests, func(ctx context.Context) { post.Run(ctx, log) })
	t.Cleanup(desk.Wait) // before the store is closed
	return s
}

// transfers returns what moves the bytes of files.
func (s *Server) transfers(t testing.TB, log *slog.Logger) *transfer.Service {
	t.Helper()
	bucket, err := disk.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = bucket.Close() })
	return transfer.New(t.Context(), s.store.Grant, bucket, log)
}

// providers returns the test provider and, if the test has one, Stripe.
func (s *Server) providers() *payments.Registry {
	if s.bank == nil {
		return payments.NewRegistry(testpay.New(s.store.TestBank))
	}
	return payments.NewRegistry(testpay.New(s.store.TestBank), stripe.New(stripe.Options{
		Client: s.bank.Client(), BaseURL: s.bank.URL, Credentials: stripe.Keys(s.store),
	}))
}

// open migrates the database and opens the store.
func (s *Server) open(t testing.TB, url string) {
	t.Helper()
	sealer, err := core.NewSealer(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	s.store, err = store.Open(t.Context(), store.Options{
		CloseTime: time.Minute,
		URL:       url, Sealer: sealer, Synchronous: "normal", Exclusive: true, PublicURL: "http://shop.test", Now: s.Clock.Now, TestClock: true, Trace: s.trace,
		Render: func(kind string, v any) ([]byte, error) {
			if s.panics.Load() {
				panic("the test wants a panic")
			}
			return view.Event(kind, v)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.store.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// run runs the server and its workers until the test ends.
func (s *Server) run(t testing.TB, srv *server.Server, workers ...func(context.Context)) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.URL = "http://" + listener.Addr().String()
	ctx, stop := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() {
		if err := srv.Serve(ctx, listener); err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	for _, work := range workers {
		group.Go(func() { work(ctx) })
	}
	t.Cleanup(func() {
		stop()
		group.Wait()
		s.check(t)
		if err := s.store.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
}

// check fails the test if something in the database does not add up. It runs after every test.
func (s *Server) check(t testing.TB) {
	violations, err := s.store.Check(context.Background(), webhooks.Retention(24*time.Hour))
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
		deleted, err := s.store.Outbox.DeleteOldDeliveries(t.Context(), webhooks.Retention(24*time.Hour), 1000)
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
	for _, remove := range []func(context.Context, int) (int64, error){
		s.store.DeleteExpiredKeys, s.store.DeleteOldProviderEvents, s.store.DeleteOldGuards, s.store.DeleteExpiredPortalSessions, s.store.DeleteExpiredPortalLinks, s.store.DeleteOldLetterWindows, s.store.Person.DeleteOver, s.store.Requests.DeleteOld,
	} {
		if _, err := remove(t.Context(), 1000); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.store.Tenant.FlushKeyUse(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.store.Tenant.DeleteOldWindows(t.Context()); err != nil {
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
	c := s.client(t, scatter(t, s.transport(t, "127.0.0.1"))).As(s.Key(t, account.ID))
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
	if _, changed, err := s.store.Tenant.DisableAccount(t.Context(), account); err != nil || !changed {
		t.Fatalf("disable %s: %t, %v", account, changed, err)
	}
	return func() {
		t.Helper()
		if _, changed, err := s.store.Tenant.EnableAccount(t.Context(), account); err != nil || !changed {
			t.Fatalf("enable %s: %t, %v", account, changed, err)
		}
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

// SDK returns an SDK client with the same key.
func (c *Client) SDK() *sdk.Client {
	return sdk.New(c.Key, sdk.WithBaseURL(c.URL+"/v1"), sdk.WithHTTPClient(c.HTTP), sdk.WithRetries(0))
}
