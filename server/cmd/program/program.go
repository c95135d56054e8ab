// Package program puts the program together: every room, what each is given of the others, and the workers beside the server. The command
// `tillwright serve` runs it, and the tests that need a whole program do, so that what is tested is what is shipped.
package program

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/ads/sandbox"
	"github.com/tillwright/tillwright/server"
	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/composer"
	"github.com/tillwright/tillwright/server/dashboard"
	"github.com/tillwright/tillwright/server/devmail"
	"github.com/tillwright/tillwright/server/handlers"
	"github.com/tillwright/tillwright/server/mail"
	"github.com/tillwright/tillwright/server/pages"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/server/payments/stripe"
	"github.com/tillwright/tillwright/server/payments/testpay"
	"github.com/tillwright/tillwright/server/picture"
	"github.com/tillwright/tillwright/server/reference"
	"github.com/tillwright/tillwright/server/transfer"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/webhooks"
)

// Options are what a program is made of.
type Options struct {
	Config  *server.Config // with a public URL
	Store   *store.Store   // opened with StoreOptions, with its schema
	Log     *slog.Logger
	Release string // what the server's document calls its version

	// Tests replace these, which are nil otherwise.
	Mailer   mail.Mailer    // sends letters instead of what is configured
	Stripe   *http.Client   // reaches Stripe past the guard
	Document []byte         // the API's document: see server.Deps
	Hasher   *person.Hasher // hashes passwords at less cost
}

// Program is the whole program. It does nothing until Serve is called.
type Program struct {
	Ads     *ads.Service
	Files   *transfer.Service
	Workers []Worker // that Serve runs

	api       *server.Server
	sites     *sites
	shop      *pages.Pages
	dashboard *dashboard.Dashboard
	sender    *webhooks.Sender
}

// New puts the program together. It listens on the address for sites' domains, if certificates are got for them. Transfers of files
// that are under way when ctx ends have some seconds left.
func New(ctx context.Context, o Options) (made *Program, err error) {
	config, s, log := o.Config, o.Store, o.Log
	warn(config, log)
	proxies, err := config.Proxies()
	if err != nil {
		return nil, err
	}
	allowed, err := config.Guard()
	if err != nil {
		return nil, err
	}
	guard := webhooks.NewGuard(allowed)
	p := &Program{sender: webhooks.NewSender(webhooks.SenderOptions{Service: config.ServiceName, Guard: guard, Standard: config.WebhookStandard})}
	defer func() {
		if err != nil {
			p.Close()
		}
	}()
	renderer := webhooks.NewRenderer(s.Outbox, config.PublicURL+"/v1")
	dispatcher := webhooks.NewDispatcher(webhooks.DispatcherOptions{Store: s.Outbox, Renderer: renderer, Sender: p.sender, Log: log})
	s.Outbox.OnEvent = dispatcher.Wake
	providers, authenticator := providers(o, guard)
	cashier := billing.New(s, providers)
	mailer, err := newMailer(o)
	if err != nil {
		return nil, err
	}
	post := mail.NewPost(s, mailer)
	cashier.Letters = post.SendLettersOf
	drivers, err := adDrivers(config, s.Advert, guard)
	if err != nil {
		return nil, err
	}
	p.Ads = ads.New(s.Advert, drivers, consents(config, s), log)
	bucket, err := OpenBucket(config)
	if err != nil {
		return nil, fmt.Errorf("TILLWRIGHT_FILES_URL: %w", err)
	}
	p.Files = transfer.New(ctx, s.Grant, bucket, log)
	if p.sites, err = newSites(config, s, guard, log); err != nil {
		return nil, fmt.Errorf("domains of sites: %w", err)
	}
	writer := composer.New(composer.Options{Store: s, URL: config.AIURL, Key: config.AIKey, Model: config.AIModel, Log: log})
	operations := handlers.New(s, cashier, p.Ads, post, guard, webhooks.NewTester(s.Outbox, renderer, p.sender), p.Files, p.sites.Service, writer)
	if p.shop, err = pages.New(s, cashier, post, authenticator, p.Ads, p.Files, p.sites.Service); err != nil {
		return nil, err
	}
	pictures := picture.New(s.Pictures, outbound(guard), log)
	develops := config.Env == server.Development
	if develops {
		p.shop.ShowPseudo()
	}
	inside := &server.Inside{}
	p.dashboard, err = dashboard.New(dashboard.Options{
		Store: s, API: inside, Files: p.Files, PublicURL: config.PublicURL, Service: config.ServiceName, SignUp: dashboard.SignUp(config.SignUp), Sends: post.Sends(), TestNews: post.SendTestNews, Develops: develops,
		Hasher: o.Hasher,
	})
	if err != nil {
		return nil, err
	}
	docs, err := reference.New(reference.Options{PublicURL: config.PublicURL, Develops: develops, Document: o.Document})
	if err != nil {
		return nil, err
	}
	letters, err := letterPages(mailer, config.PublicURL)
	if err != nil {
		return nil, err
	}
	deps := server.Deps{
		Store: s, Handlers: operations, Log: log, TrustedProxies: proxies, AccountQuota: config.AccountQuota,
		Pages: routes(p.shop.Routes(), p.dashboard.Routes(), docs.Routes(), letters), ErrorPage: p.shop.Refused, Inside: inside, LargeForms: []string{"/app/", "/checkout/", "/buy/"},
		Media: p.shop.Media(), Transfers: routes(p.Files.Routes(), p.dashboard.Uploads()), Hooks: operations.Hooks(),
		PublicURL: config.PublicURL, Release: o.Release, Document: o.Document,
	}
	if develops {
		deps.Development, deps.Prepare = true, sandbox.FromHeader
		for _, path := range []string{ui.GalleryPath, ui.DeskGalleryPath} {
			deps.Pages[path] = func(c echo.Context) error { return ui.ServeGallery(c.Response(), c.Request()) }
		}
	}
	if p.api, err = server.New(deps); err != nil {
		return nil, err
	}
	p.Workers = []Worker{
		{"webhooks", dispatcher.Run},
		{"rescue", func(ctx context.Context) { webhooks.Rescue(ctx, s.Outbox, log) }},
		{"retention", func(ctx context.Context) {
			webhooks.Retain(ctx, s.Outbox, webhooks.Retention(config.WebhookRetention), log)
		}},
		{"billing", cashier.Run},
		{WorkerAds, p.Ads.Run},
		{"files", p.Files.Run},
		{WorkerPictures, pictures.Run},
		{"sites", p.sites.Run},
		{"publication", func(ctx context.Context) { publishScheduled(ctx, s.Content, log) }},
		{"letters", func(ctx context.Context) { post.Run(ctx, log) }},
		{"housekeeping", func(ctx context.Context) { housekeep(ctx, s, config.ActivityRetention, log) }},
		{WorkerStatistics, func(ctx context.Context) { keepStatistics(ctx, s, log) }},
	}
	return p, nil
}

// routes returns the routes of several rooms.
func routes(rooms ...map[string]echo.HandlerFunc) map[string]echo.HandlerFunc {
	all := map[string]echo.HandlerFunc{}
	for _, room := range rooms {
		maps.Copy(all, room)
	}
	return all
}

// providers returns the payment providers that accounts may use, and the one whose buyers approve charges on our own page.
func providers(o Options, guard *webhooks.Guard) (*payments.Registry, payments.Authenticator) {
	client := o.Stripe
	if client == nil {
		client = outbound(guard)
	}
	live := stripe.New(stripe.Options{Client: client, BaseURL: o.Config.StripeURL, Credentials: stripe.Keys(o.Store), KeyRefused: o.Store.NoteKeyRefused})
	if !o.Config.TakesTestCards() {
		return payments.NewRegistry(live), nil
	}
	test := testpay.New(o.Store.TestBank)
	return payments.NewRegistry(test, live), test
}

// newMailer returns what hands letters over, nil if nothing does.
func newMailer(o Options) (mail.Mailer, error) {
	if o.Mailer != nil {
		return o.Mailer, nil
	}
	return o.Config.Mailer()
}

// letterPages returns the pages that show the letters which are written as files. It returns none if letters are sent, or if others may reach
// the server.
func letterPages(m mail.Mailer, publicURL string) (map[string]echo.HandlerFunc, error) {
	folder, ok := m.(mail.Folder)
	if !ok || !devmail.Serves(publicURL) {
		return nil, nil
	}
	box, err := devmail.New(folder)
	if err != nil {
		return nil, err
	}
	return box.Routes(), nil
}

// warn tells whoever runs the program what it does that he may not want.
func warn(config *server.Config, log *slog.Logger) {
	if config.Env == server.Production && config.TakesTestCards() {
		log.Warn("test cards are taken, which move no money, by accounts whose payments_provider is test", "setting", "TILLWRIGHT_TEST_PAYMENTS")
	}
	if config.Env == server.Production && config.AdsNetworks == "" {
		log.Warn("no real ads: every ad network is played by a sandbox, which shows nothing and spends nothing", "setting", "TILLWRIGHT_ADS_NETWORKS")
	}
	if warning := MetaWarning(config); warning != "" {
		log.Warn(warning, "setting", "TILLWRIGHT_META_VERSION")
	}
}
