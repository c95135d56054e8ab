// Package dashboard serves the pages on which people run their shops: signing in, and what stands behind it. It asks the API of this server for
// everything that an account has, through the SDK and inside the process (server.Inside). So a page can do what a program can and no more. The rules,
// what a role may do, the messages about wrong fields and the lines of activity are those of the API. Of its own it has people, their sessions and
// their roles, which store/person keeps.
package dashboard

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/server/transfer"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/person"
)

// SignUp says who may make an account of their own.
type SignUp string

// Who may.
const (
	SignUpOpen   SignUp = "open"   // everybody
	SignUpInvite SignUp = "invite" // who was invited to an account by a member
	SignUpClosed SignUp = "closed" // nobody, and members can invite nobody either
)

// Options are what New needs.
type Options struct {
	Store     *store.Store
	API       http.RoundTripper // leads to the API, and asks for the caller of a request's context
	Files     *transfer.Service // takes the bytes of uploads
	PublicURL string
	Service   string // in the names of the headers of webhooks
	SignUp    SignUp
	Sends     bool // the server sends letters
	TestNews  TestNews
	Develops  bool           // there is a test clock
	Hasher    *person.Hasher // of passwords; nil is one at the usual cost
}

// TestNews sends news about a product to an address of somebody on the team, as customers would get it.
type TestNews func(ctx context.Context, account, to string, in store.NewProductNews) error

// Dashboard serves the pages.
type Dashboard struct {
	store     *store.Store
	api       *sdk.Client
	files     *transfer.Service
	hasher    *person.Hasher
	templates *ui.Templates
	sheet     *ui.Asset
	forms     *http.CrossOriginProtection // knows ours
	policy    string
	publicURL string
	service   string
	cookie    string // its name
	isSecure  bool   // browsers reach us by https
	signUp    SignUp
	sends     bool
	testNews  TestNews
	develops  bool
	asked     sync.WaitGroup // what is done after its request was answered
}

// New returns the dashboard of a store.
func New(o Options) (*Dashboard, error) {
	sheet, err := ui.DeskSheet()
	if err != nil {
		return nil, err
	}
	templates, err := ui.NewDesk()
	if err != nil {
		return nil, err
	}
	d := &Dashboard{
		store: o.Store, files: o.Files, sheet: sheet, hasher: cmp.Or(o.Hasher, person.NewHasher()), templates: templates, forms: caller.NewForms(o.PublicURL), publicURL: o.PublicURL, service: o.Service,
		api:    sdk.New("inside", sdk.WithBaseURL("http://inside/v1"), sdk.WithHTTPClient(&http.Client{Transport: o.API}), sdk.WithRetries(0)),
		policy: "default-src 'none'; style-src 'self'; img-src " + ui.FaviconPolicy + "; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
		cookie: "tillwright", isSecure: strings.HasPrefix(o.PublicURL, "https:"), signUp: o.SignUp, sends: o.Sends, testNews: o.TestNews, develops: o.Develops,
	}
	if d.isSecure {
		d.cookie = "__Host-" + d.cookie
	}
	return d, nil
}

// Wait waits for what is still being done after its request was answered. No page may be asked for any more.
func (d *Dashboard) Wait() { d.asked.Wait() }

// Routes returns the handlers by route. A route that changes something begins with its method; the others are only looked at.
func (d *Dashboard) Routes() map[string]echo.HandlerFunc {
	routes := map[string]echo.HandlerFunc{
		d.sheet.Address:           func(c echo.Context) error { return d.sheet.Serve(c.Response(), c.Request()) },
		"/setup/:token":           d.open(d.setup),
		"POST /setup/:token":      d.open(d.setUp),
		"/sign-up":                d.open(d.signUpForm),
		"POST /sign-up":           d.open(d.signedUp),
		"/recover":                d.open(d.forgot),
		"POST /recover":           d.open(d.sendRecovery),
		"/recover/:token":         d.open(d.recovery),
		"POST /recover/:token":    d.open(d.recovered),
		"/sign-in":                d.open(d.signInForm),
		"POST /sign-in":           d.open(d.signIn),
		"/invitation/:token":      d.open(d.invitation),
		"POST /invitation/:token": d.open(d.acceptInvitation),
	}
	for route, serve := range routes {
		if strings.HasPrefix(route, http.MethodPost+" ") {
			routes[route] = d.readable(serve)
		}
	}
	for route, p := range d.pages() {
		if strings.HasPrefix(route, http.MethodPost+" ") { // read once it is known who sends it
			serve := p.serve
			p.serve = func(v *visit) error { return d.readable(func(echo.Context) error { return serve(v) })(v.Context) }
		}
		if d.develops || !strings.HasSuffix(route, clockPage) {
			routes[route] = d.signedIn(p)
		}
	}
	return routes
}

// page is a page for people who are signed in.
type page struct {
	scope string // of the API that is needed to see it; empty: everybody may
	serve func(*visit) error
	alone bool // it needs no account
	fresh bool // a credential must have been given just now
}

// pages returns these pages by route.
func (d *Dashboard) pages() map[string]page {
	return map[string]page{
		"/app":                   {serve: d.home},
		"POST /app/sign-out":     {serve: d.signOut, alone: true},
		"/app/you":               {serve: d.you, alone: true},
		"POST /app/you/account":  {serve: d.lookAt, alone: true},
		"POST /app/you/sessions": {serve: d.endOthers, alone: true},
		"POST /app/you/password": {serve: d.changePassword, alone: true},

		"/app/confirm-identity":      {serve: d.confirmForm, alone: true},
		"POST /app/confirm-identity": {serve: d.confirm, alone: true},

		"/app/orders":                  {scope: "orders:read", serve: d.orders},
		"/app/orders/:id":              {scope: "orders:read", serve: d.order},
		"POST /app/orders/:id/receipt": {scope: "orders:write", serve: d.resendReceipt},
		"/app/orders/:id/refund":       {scope: "refunds:write", serve: d.refund},
		"POST /app/orders/:id/refund":  {scope: "refunds:write", serve: d.createRefund},

		"/app/products":                 {scope: "products:read", serve: d.products},
		"/app/products/new":             {scope: "products:write", serve: d.newProduct},
		"POST /app/products/new":        {scope: "products:write", serve: d.createProduct},
		"/app/products/:id":             {scope: "products:read", serve: d.product},
		"POST /app/products/:id":        {scope: "products:write", serve: d.saveProduct},
		"POST /app/products/:id/prices": {scope: "products:write", serve: d.addPrice},
		"POST /app/products/:id/:move":  {scope: "products:write", serve: d.moveProduct},
		"/app/products/:id/files/:file": {scope: "files:write", serve: d.newVersion},

		"/app/emails":                 {scope: "customers:read", serve: d.emails},
		"/app/emails/:id":             {scope: "customers:read", serve: d.email},
		"POST /app/emails/:id/resend": {scope: "customers:write", serve: d.resendEmail},

		newsPage:                             {scope: "customers:read", serve: d.newsList},
		newsPage + "/:id":                    {scope: "customers:read", serve: d.news},
		"POST " + newsPage + "/:id/cancel":   {scope: "customers:write", serve: d.cancelNews},
		productsPage + "/:id/news":           {scope: "products:write", serve: d.newNews},
		"POST " + productsPage + "/:id/news": {scope: "products:write", serve: d.createNews},

		"/app/analytics": {scope: "metrics:read", serve: d.analytics},

		sitesPage:                                 {scope: "sites:read", serve: d.sites},
		sitesPage + "/new":                        {scope: "sites:write", serve: d.newSite},
		"POST " + sitesPage + "/new":              {scope: "sites:write", serve: d.createSite},
		sitesPage + "/:id":                        {scope: "sites:read", serve: d.site},
		"POST " + sitesPage + "/:id":              {scope: "sites:write", serve: d.saveSite},
		"POST " + sitesPage + "/:id/unpublish":    {scope: "sites:write", serve: d.unpublishSite},
		"POST " + sitesPage + "/:id/default":      {scope: "sites:write", serve: d.makeSiteDefault},
		sitesPage + "/:id/domain":                 {scope: "sites:read", serve: d.siteDomain},
		"POST " + sitesPage + "/:id/domain":       {scope: "sites:write", serve: d.saveSiteDomain},
		"POST " + sitesPage + "/:id/domain/check": {scope: "sites:write", serve: d.checkSiteDomain},
		sitesPage + "/:id/delete":                 {scope: "sites:write", serve: d.deleteSiteForm},
		"POST " + sitesPage + "/:id/delete":       {scope: "sites:write", serve: d.deleteSite},

		"/app/discounts":                  {scope: "discounts:read", serve: d.discounts},
		"/app/discounts/new":              {scope: "discounts:write", serve: d.newDiscount},
		"POST /app/discounts/new":         {scope: "discounts:write", serve: d.createDiscount},
		"/app/discounts/:id":              {scope: "discounts:read", serve: d.discount},
		"POST /app/discounts/:id/disable": {scope: "discounts:write", serve: d.disableDiscount},
		"POST /app/discounts/:id/enable":  {scope: "discounts:write", serve: d.enableDiscount},

		"/app/invoices":                {scope: "invoices:read", serve: d.invoices},
		"/app/invoices/:id":            {scope: "invoices:read", serve: d.invoice},
		"POST /app/invoices/:id/:move": {scope: "invoices:write", serve: d.moveInvoice},

		"/app/links":                 {scope: "checkouts:read", serve: d.links},
		"/app/links/new":             {scope: "checkouts:write", serve: d.newLink},
		"POST /app/links/new":        {scope: "checkouts:write", serve: d.createLink},
		"/app/links/:id":             {scope: "checkouts:read", serve: d.link},
		"POST /app/links/:id/active": {scope: "checkouts:write", serve: d.switchLink},

		customersPage:                                {scope: "customers:read", serve: d.customers},
		customersPage + "/:id":                       {scope: "customers:read", serve: d.customer},
		customersPage + "/:id/edit":                  {scope: "customers:write", serve: d.editCustomer},
		"POST " + customersPage + "/:id/edit":        {scope: "customers:write", serve: d.saveCustomer},
		customersPage + "/:id/delete":                {scope: "customers:write", serve: d.deleteCustomerForm, fresh: true},
		"POST " + customersPage + "/:id/delete":      {scope: "customers:write", serve: d.deleteCustomer, fresh: true},
		customersPage + "/:id/cards/:card":           {scope: "customers:write", serve: d.removeCardForm},
		"POST " + customersPage + "/:id/cards/:card": {scope: "customers:write", serve: d.removeCard},
		customersPage + "/:id/balance":               {scope: "customers:read", serve: d.balance},
		"POST " + customersPage + "/:id/balance":     {scope: "refunds:write", serve: d.changeBalance},
		"POST " + customersPage + "/:id/portal":      {scope: "customers:write", serve: d.customerPortal},

		subscriptionsPage:                           {scope: "subscriptions:read", serve: d.subscriptions},
		subscriptionsPage + "/:id":                  {scope: "subscriptions:read", serve: d.subscription},
		subscriptionsPage + "/:id/cancel":           {scope: "subscriptions:write", serve: d.cancelForm},
		"POST " + subscriptionsPage + "/:id/cancel": {scope: "subscriptions:write", serve: d.cancel},
		"POST " + subscriptionsPage + "/:id/:move":  {scope: "subscriptions:write", serve: d.moveSubscription},

		contentPage:                         {scope: "content:read", serve: d.postList},
		postsPage + "/new":                  {scope: "content:write", serve: d.newPost},
		"POST " + postsPage + "/new":        {scope: "content:write", serve: d.createPost},
		postsPage + "/:id":                  {scope: "content:read", serve: d.post},
		"POST " + postsPage + "/:id":        {scope: "content:write", serve: d.savePost},
		postsPage + "/:id/delete":           {scope: "content:write", serve: d.deletePieceForm(d.posts())},
		"POST " + postsPage + "/:id/delete": {scope: "content:write", serve: d.deletePiece(d.posts())},
		"POST " + postsPage + "/:id/:move":  {scope: "content:write", serve: d.movePiece(d.posts())},

		legalPagesPage:                            {scope: "content:read", serve: d.legalPageList},
		legalPagesPage + "/new":                   {scope: "content:write", serve: d.newLegal},
		"POST " + legalPagesPage + "/new":         {scope: "content:write", serve: d.createLegal},
		legalPagesPage + "/:id":                   {scope: "content:read", serve: d.legalOf},
		"POST " + legalPagesPage + "/:id":         {scope: "content:write", serve: d.saveLegal},
		legalPagesPage + "/:id/versions/:version": {scope: "content:read", serve: d.legalVersion},
		legalPagesPage + "/:id/delete":            {scope: "content:write", serve: d.deletePieceForm(d.legalPages())},
		"POST " + legalPagesPage + "/:id/delete":  {scope: "content:write", serve: d.deletePiece(d.legalPages())},
		"POST " + legalPagesPage + "/:id/:move":   {scope: "content:write", serve: d.movePiece(d.legalPages())},

		experiencesPage:                             {scope: "content:read", serve: d.experienceList},
		experiencesPage + "/new":                    {scope: "content:write", serve: d.newExperience},
		"POST " + experiencesPage + "/new":          {scope: "content:write", serve: d.createExperience},
		experiencesPage + "/:id":                    {scope: "content:read", serve: d.experience},
		"POST " + experiencesPage + "/:id":          {scope: "content:write", serve: d.saveExperience},
		"POST " + experiencesPage + "/:id/products": {scope: "content:write", serve: d.openExperience},
		experiencesPage + "/:id/delete":             {scope: "content:write", serve: d.deletePieceForm(d.experiences())},
		"POST " + experiencesPage + "/:id/delete":   {scope: "content:write", serve: d.deletePiece(d.experiences())},
		"POST " + experiencesPage + "/:id/:move":    {scope: "content:write", serve: d.movePiece(d.experiences())},

		adsPage:                    {scope: "ads:read", serve: d.campaigns},
		adsPage + "/campaigns/:id": {scope: "ads:read", serve: ofThing("campaigns", d.adThing)},
		"POST " + adsPage + "/campaigns/:id/pause":  {scope: "ads:write", serve: ofThing("campaigns", d.pauseThing)},
		adsPage + "/campaigns/:id/resume":           {scope: "ads:write", serve: ofThing("campaigns", d.resumeForm), fresh: true},
		"POST " + adsPage + "/campaigns/:id/resume": {scope: "ads:write", serve: ofThing("campaigns", d.resume), fresh: true},
		adsPage + "/ad-groups/:id":                  {scope: "ads:read", serve: ofThing("ad-groups", d.adThing)},
		"POST " + adsPage + "/ad-groups/:id/pause":  {scope: "ads:write", serve: ofThing("ad-groups", d.pauseThing)},
		adsPage + "/ad-groups/:id/resume":           {scope: "ads:write", serve: ofThing("ad-groups", d.resumeForm), fresh: true},
		"POST " + adsPage + "/ad-groups/:id/resume": {scope: "ads:write", serve: ofThing("ad-groups", d.resume), fresh: true},
		adsPage + "/ads/:id":                        {scope: "ads:read", serve: ofThing("ads", d.adThing)},
		"POST " + adsPage + "/ads/:id/pause":        {scope: "ads:write", serve: ofThing("ads", d.pauseThing)},
		adsPage + "/ads/:id/resume":                 {scope: "ads:write", serve: ofThing("ads", d.resumeForm), fresh: true},
		"POST " + adsPage + "/ads/:id/resume":       {scope: "ads:write", serve: ofThing("ads", d.resume), fresh: true},

		channelsPage:                               {scope: "ads:read", serve: d.channelList},
		channelsPage + "/new":                      {scope: "ads:write", serve: d.newChannel, fresh: true},
		"POST " + channelsPage + "/new":            {scope: "ads:write", serve: d.connectChannel, fresh: true},
		channelsPage + "/:id":                      {scope: "ads:read", serve: d.channel},
		channelsPage + "/:id/disconnect":           {scope: "ads:write", serve: d.disconnectForm, fresh: true},
		"POST " + channelsPage + "/:id/disconnect": {scope: "ads:write", serve: d.disconnect, fresh: true},
		"POST " + channelsPage + "/:id/:move":      {scope: "ads:write", serve: d.moveChannel},

		audiencesPage:                           {scope: "ads:read", serve: d.audiences},
		audiencesPage + "/new":                  {scope: "ads:write", serve: d.newAudience},
		"POST " + audiencesPage + "/new":        {scope: "ads:write", serve: d.createAudience},
		audiencesPage + "/:id":                  {scope: "ads:read", serve: d.audience},
		"POST " + audiencesPage + "/:id/people": {scope: "ads:write", serve: d.addPeople},
		audiencesPage + "/:id/delete":           {scope: "ads:write", serve: d.deletePieceForm(d.audiencePiece())},
		"POST " + audiencesPage + "/:id/delete": {scope: "ads:write", serve: d.deletePiece(d.audiencePiece())},

		adLimitsPage:                     {scope: "ads:read", serve: d.adLimits},
		adLimitsPage + "/edit":           {scope: "ad_limits:write", serve: d.adLimitForm, fresh: true},
		"POST " + adLimitsPage + "/edit": {scope: "ad_limits:write", serve: d.saveAdLimit, fresh: true},
		adLogPage:                        {scope: "ads:read", serve: d.adLog},

		"/app/search":          {serve: d.search},
		"/app/settings":        {serve: d.settings},
		businessPage:           {scope: "account:write", serve: d.business},
		"POST " + businessPage: {scope: "account:write", serve: d.saveBusiness},
		brandingPage:           {scope: "account:write", serve: d.branding},
		"POST " + brandingPage: {scope: "account:write", serve: d.saveBranding},
		paymentsPage:           {scope: "account:write", serve: d.payments, fresh: true},
		"POST " + paymentsPage: {scope: "account:write", serve: d.savePayments, fresh: true},
		lettersPage:            {scope: "account:read", serve: d.letters},
		"POST " + lettersPage:  {scope: "account:write", serve: d.saveLetters},
		"/app/activity":        {scope: "account:read", serve: d.activity},

		"/app/team":                      {serve: d.team},
		"/app/team/invite":               {scope: "account:write", serve: d.inviteForm, fresh: true},
		"POST /app/team/invite":          {scope: "account:write", serve: d.invite, fresh: true},
		"/app/team/invitations/:id":      {scope: "account:write", serve: d.takeBackForm, fresh: true},
		"POST /app/team/invitations/:id": {scope: "account:write", serve: d.takeBack, fresh: true},
		"/app/team/leave":                {serve: d.leaveForm, fresh: true},
		"POST /app/team/leave":           {serve: d.leave, fresh: true},
		"/app/team/:id":                  {scope: "account:write", serve: d.member, fresh: true},
		"POST /app/team/:id":             {scope: "account:write", serve: d.setRole, fresh: true},
		"/app/team/:id/remove":           {scope: "account:write", serve: d.removeForm, fresh: true},
		"POST /app/team/:id/remove":      {scope: "account:write", serve: d.remove, fresh: true},

		"/app/developers":                        {serve: d.developers},
		"/app/developers/tokens":                 {scope: "keys:read", serve: d.tokens},
		"/app/developers/tokens/new":             {scope: "keys:write", serve: d.newToken, fresh: true},
		"POST /app/developers/tokens/new":        {scope: "keys:write", serve: d.createToken, fresh: true},
		"/app/developers/tokens/:id/revoke":      {scope: "keys:write", serve: d.revokeForm},
		"POST /app/developers/tokens/:id/revoke": {scope: "keys:write", serve: d.revoke},

		requestsPage:          {scope: "keys:read", serve: d.requests},
		requestsPage + "/:id": {scope: "keys:read", serve: d.request},

		clockPage:           {scope: "account:read", serve: d.clock},
		"POST " + clockPage: {scope: "account:write", serve: d.moveClock},

		"/app/developers/webhooks":                                  {scope: "webhooks:read", serve: d.webhooks},
		"/app/developers/webhooks/new":                              {scope: "webhooks:write", serve: d.newWebhook},
		"POST /app/developers/webhooks/new":                         {scope: "webhooks:write", serve: d.createWebhook},
		"/app/developers/webhooks/:id":                              {scope: "webhooks:read", serve: d.webhook},
		"/app/developers/webhooks/:id/edit":                         {scope: "webhooks:write", serve: d.editWebhook},
		"POST /app/developers/webhooks/:id/edit":                    {scope: "webhooks:write", serve: d.saveWebhook},
		"POST /app/developers/webhooks/:id/status":                  {scope: "webhooks:write", serve: d.setWebhookStatus},
		"POST /app/developers/webhooks/:id/test":                    {scope: "webhooks:write", serve: d.testWebhook},
		"/app/developers/webhooks/:id/rotate":                       {scope: "webhooks:write", serve: d.rotateForm},
		"POST /app/developers/webhooks/:id/rotate":                  {scope: "webhooks:write", serve: d.rotate},
		"/app/developers/webhooks/:id/delete":                       {scope: "webhooks:write", serve: d.deleteWebhookForm},
		"POST /app/developers/webhooks/:id/delete":                  {scope: "webhooks:write", serve: d.deleteWebhook},
		"/app/developers/webhooks/:id/redeliver":                    {scope: "webhooks:write", serve: d.redeliverForm},
		"POST /app/developers/webhooks/:id/redeliver":               {scope: "webhooks:write", serve: d.redeliver},
		"/app/developers/webhooks/:id/events/:event":                {scope: "webhooks:read", serve: d.delivery},
		"POST /app/developers/webhooks/:id/events/:event/redeliver": {scope: "webhooks:write", serve: d.redeliverEvent},
	}
}

// write answers with a page.
func (d *Dashboard) write(c echo.Context, status int, frame ui.Frame, p ui.Page) error {
	frame.Sheet, frame.Title = d.sheet.Address, p.Heading
	var text bytes.Buffer
	if err := d.templates.Write(&text, ui.Desk, frame, p); err != nil {
		return err
	}
	header := c.Response().Header()
	header.Set("Content-Security-Policy", d.policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "same-origin")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Robots-Tag", "noindex")
	if len(p.Secrets) > 0 { // see ui.WriteHTML
		return c.HTMLBlob(status, text.Bytes())
	}
	return ui.WriteHTML(c.Response(), c.Request(), status, text.Bytes())
}
