package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/spf13/cobra"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/ads/sandbox"
	"github.com/tillwright/tillwright/server"
	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/composer"
	"github.com/tillwright/tillwright/server/dashboard"
	"github.com/tillwright/tillwright/server/handlers"
	"github.com/tillwright/tillwright/server/mail"
	"github.com/tillwright/tillwright/server/pages"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/server/payments/stripe"
	"github.com/tillwright/tillwright/server/payments/testpay"
	"github.com/tillwright/tillwright/server/reference"
	"github.com/tillwright/tillwright/server/transfer"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/webhooks"
)

// serveCommand returns `tillwright serve`.
func serveCommand(settings *settings) *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the API",
		Long: "Serves the API and delivers webhooks until SIGTERM or an interrupt; then it finishes the requests and\n" +
			"deliveries under way and ends within ten seconds. A second signal ends it at once.\n\n" + describeSettings(),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := settings.load()
			if err != nil {
				return err
			}
			if err := config.CheckServing(); err != nil {
				return err
			}
			return serve(cmd.Context(), config, o, cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&o.migrate, "migrate", false, "migrate a PostgreSQL database first; an embedded one always is")
	cmd.Flags().BoolVar(&o.demo, "demo", false, "on an empty database, make a demo account and print its API key")
	return cmd
}

// serveOptions are the flags of serve alone.
type serveOptions struct{ migrate, demo bool }

// stopTime is how long everything may take to end after the signal to stop. Each part has a limit of its own, but added up
// these are more than ten seconds.
const stopTime = 9500 * time.Millisecond

// serve runs the server until ctx ends. It returns an error if something still hangs stopTime after that.
func serve(ctx context.Context, config *server.Config, o serveOptions, out io.Writer) error {
	lines := newLateWriter(os.Stderr)
	defer lines.Flush()
	log := server.NewLogger(lines, config.Log)
	slog.SetDefault(log)
	served := make(chan error, 1)
	go func() { served <- serveDatabase(ctx, config, o, out, log) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-served:
		return err
	case <-time.After(stopTime):
		return fmt.Errorf("something still hung %s after the signal to stop: what it was doing is repeated after the next start", stopTime)
	}
}

// serveDatabase listens before it opens the database, because the server's address may become part of what is stored.
func serveDatabase(ctx context.Context, config *server.Config, o serveOptions, out io.Writer, log *slog.Logger) error {
	listener, err := net.Listen("tcp", config.Addr)
	if err != nil {
		return err
	}
	defer listener.Close()
	if config.PublicURL == "" {
		config.PublicURL = "http://" + reachable(listener.Addr())
		if config.Env == server.Production {
			log.Warn("pages of buyers, receipts and exports are at this address, which only this machine may reach", "address", config.PublicURL, "setting", "TILLWRIGHT_PUBLIC_URL")
		}
	}
	s, err := openStore(ctx, config, true)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := prepareSchema(ctx, s, o.migrate); err != nil {
		return err
	}
	if err := ownSecretKeys(ctx, s, config.SecretKeyFile(), log); err != nil {
		return err
	}
	if o.demo {
		if err := welcome(ctx, out, s, config.PublicURL); err != nil {
			return err
		}
	}
	if err := inviteFirst(ctx, out, s, config.PublicURL, o.demo); err != nil {
		return err
	}
	log.Info("serving", "address", listener.Addr().String(), "public_url", config.PublicURL, "database", s.Engine(), "version", version())
	err = run(ctx, config, s, listener, log)
	log.Info("stopped")
	return err
}

// workerPause lies between the first looks of the workers: if all looked at once, each would open a connection of its own.
const workerPause = 20 * time.Millisecond

// run runs the server and its workers, which stop together. Events that are in the outbox then are sent after the next start,
// or by another replica.
func run(ctx context.Context, config *server.Config, s *store.Store, listener net.Listener, log *slog.Logger) error {
	proxies, err := config.Proxies()
	if err != nil {
		return err
	}
	allowed, err := config.Guard()
	if err != nil {
		return err
	}
	guard := webhooks.NewGuard(allowed)
	sender := webhooks.NewSender(webhooks.SenderOptions{Service: config.ServiceName, Guard: guard, Standard: config.WebhookStandard})
	defer sender.Close()
	renderer := webhooks.NewRenderer(s.Outbox, config.PublicURL+"/v1")
	dispatcher := webhooks.NewDispatcher(webhooks.DispatcherOptions{Store: s.Outbox, Renderer: renderer, Sender: sender, Log: log})
	s.Outbox.OnEvent = dispatcher.Wake
	keep := webhooks.Retention(config.WebhookRetention)
	if config.Env == server.Production && config.TakesTestCards() {
		log.Warn("test cards are taken, which move no money, by accounts whose payments_provider is test", "setting", "TILLWRIGHT_TEST_PAYMENTS")
	}
	providers, authenticator := providers(config, s, guard)
	cashier := billing.New(s, providers)
	mailer, err := config.Mailer()
	if err != nil {
		return err
	}
	post := mail.NewPost(s, mailer)
	cashier.Letters = post.SendLettersOf
	drivers, err := adDrivers(config, s.Advert, guard)
	if err != nil {
		return err
	}
	if config.Env == server.Production && config.AdsNetworks == "" {
		log.Warn("no real ads: every ad network is played by a sandbox, which shows nothing and spends nothing", "setting", "TILLWRIGHT_ADS_NETWORKS")
	}
	if warning := metaWarning(config); warning != "" {
		log.Warn(warning, "setting", "TILLWRIGHT_META_VERSION")
	}
	advertiser := ads.New(s.Advert, drivers, consents(config, s), log)
	bucket, err := openBucket(config)
	if err != nil {
		return fmt.Errorf("TILLWRIGHT_FILES_URL: %w", err)
	}
	files := transfer.New(ctx, s.Grant, bucket, log)
	named, err := newSites(config, s, guard, log)
	if err != nil {
		return fmt.Errorf("domains of sites: %w", err)
	}
	defer named.Close()
	writer := composer.New(composer.Options{Store: s, URL: config.AIURL, Key: config.AIKey, Model: config.AIModel, Log: log})
	shop, err := pages.New(s, cashier, post, authenticator, advertiser, files, named.Service)
	if err != nil {
		return err
	}
	if config.Env == server.Development {
		shop.ShowPseudo()
	}
	inside := &server.Inside{}
	desk, err := dashboard.New(dashboard.Options{Store: s, API: inside, Files: files, PublicURL: config.PublicURL, Service: config.ServiceName, SignUp: dashboard.SignUp(config.SignUp), Sends: post.Sends(), Develops: config.Env == server.Development})
	if err != nil {
		return err
	}
	docs, err := reference.New(reference.Options{PublicURL: config.PublicURL, Develops: config.Env == server.Development})
	if err != nil {
		return err
	}
	operations := handlers.New(s, cashier, advertiser, post, guard, webhooks.NewTester(s.Outbox, renderer, sender), files, named.Service, writer)
	deps := server.Deps{
		Store: s, Handlers: operations, Hooks: operations.Hooks(), Pages: allRoutes(shop.Routes(), desk.Routes(), docs.Routes()), Inside: inside, Transfers: allRoutes(files.Routes(), desk.Uploads()), ErrorPage: shop.Refused, Log: log, TrustedProxies: proxies,
		PublicURL: config.PublicURL, Release: version(),
	}
	if config.Env == server.Development {
		deps.Development, deps.Prepare = true, sandbox.FromHeader
	}
	api, err := server.New(deps)
	if err != nil {
		return err
	}

	debug.FreeOSMemory() // reading the specification leaves more garbage than the server needs memory
	releaseProgram()
	tuneMemory()
	background, stop := context.WithCancel(ctx)
	defer stop()
	var workers sync.WaitGroup
	for i, work := range []func(context.Context){
		dispatcher.Run,
		func(ctx context.Context) { webhooks.Retain(ctx, s.Outbox, keep, log) },
		cashier.Run,
		advertiser.Run,
		files.Run,
		named.Run,
		func(ctx context.Context) { publishScheduled(ctx, s.Content, log) },
		func(ctx context.Context) { post.Run(ctx, log) },
		func(ctx context.Context) { housekeep(ctx, s, config.ActivityRetention, log) },
		func(ctx context.Context) { keepStatistics(ctx, s, log) },
	} {
		workers.Go(func() {
			time.Sleep(time.Duration(i) * workerPause)
			work(background)
		})
	}

	requests, stopWriting := context.WithCancel(context.WithoutCancel(ctx)) // what is answered after the signal to stop is written down, too
	defer stopWriting()
	var written sync.WaitGroup
	written.Go(func() { api.WriteRequests(requests) })

	err = named.serve(ctx, api, listener)
	stop()
	stopWriting()
	shop.Wait()
	desk.Wait()
	workers.Wait()
	written.Wait()
	return err
}

// allRoutes returns the routes of several rooms.
func allRoutes(rooms ...map[string]echo.HandlerFunc) map[string]echo.HandlerFunc {
	all := map[string]echo.HandlerFunc{}
	for _, room := range rooms {
		maps.Copy(all, room)
	}
	return all
}

// providers returns the payment providers that accounts may use, and the one whose buyers approve charges on our own page.
func providers(config *server.Config, s *store.Store, guard *webhooks.Guard) (*payments.Registry, payments.Authenticator) {
	live := stripe.New(stripe.Options{Client: outbound(guard), BaseURL: config.StripeURL, Credentials: stripe.Keys(s)})
	if !config.TakesTestCards() {
		return payments.NewRegistry(live), nil
	}
	test := testpay.New(s.TestBank)
	return payments.NewRegistry(test, live), test
}

// reachable returns an address under which a listener can be reached. If it listens on all interfaces, that is one of this
// machine.
func reachable(address net.Addr) string {
	tcp, ok := address.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return address.String()
	}
	return (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: tcp.Port}).String()
}

// tuneMemory uses more memory to save time, once the server has started: requests leave short-lived garbage, and little else stays in memory. Settings in
// the environment are left as they are.
func tuneMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(512 << 20)
	}
}
