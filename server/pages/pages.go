// Package pages serves the pages that people look at in a browser: checkouts, invoices, receipts, the customer portal and sites. It also serves
// what a seller sees who comes back from an ad network. The pages are rendered on the server and load nothing from elsewhere, except the pictures
// of sites, and where Stripe takes a card. They run no scripts, but there, on an open checkout and beside a licence key: script.go. Without ours a button
// counts the total anew, and a key is copied by hand.
package pages

import (
	"bytes"
	"crypto/rand"
	"embed"
	"errors"
	"html/template"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/server/domains"
	"github.com/tillwright/tillwright/server/invoicepdf"
	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/server/mail"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/server/transfer"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/payment"
)

//go:embed *.html *.js site.css
var files embed.FS

// Pages serves the pages of a store.
type Pages struct {
	store         *store.Store
	billing       *billing.Billing
	post          *mail.Post
	letters       sync.WaitGroup // being sent after their request was answered
	authenticator payments.Authenticator
	advertiser    *ads.Service
	transfer      *transfer.Service
	domains       *domains.Service
	documents     *documents[invoicepdf.Document] // PDFs
	sites         *documents[sitePage]
	proses        *documents[[]string] // the texts of an experience
	exports       *workTurns           // for reading a page of rows
	templates     map[*locale.Locale]func() (*ui.Templates, error)
	showsPseudo   bool
	siteTemplates map[string]func() (*template.Template, error) // by the tag of the language of what is ours
	forms         *http.CrossOriginProtection                   // knows ours
	style         string                                        // what a policy says of the style sheet
	policy        string
	scripts       scripts
	siteStyle     string // the hash of the style of sites
	formToken     string // stands in pages that are kept where their forms' tokens belong
	formClicks    string // stands there where what ad networks appended to the address belongs
}

// New returns the pages of a store. Provider a is the one whose buyers approve charges on our own pages, nil if every provider
// has a page of its own for that. F has the bytes of stored files, and d looks at the domains of sites.
func New(s *store.Store, b *billing.Billing, post *mail.Post, a payments.Authenticator, advertiser *ads.Service, f *transfer.Service, d *domains.Service) (*Pages, error) {
	scripts, err := readScripts()
	if err != nil {
		return nil, err
	}
	siteRules, err := files.ReadFile("site.css")
	if err != nil {
		return nil, err
	}
	siteStyle := ui.SheetWith(string(siteRules))
	siteTemplates, err := parseSites(siteStyle)
	if err != nil {
		return nil, err
	}
	templates := map[*locale.Locale]func() (*ui.Templates, error){}
	for _, l := range append(locale.All(), locale.Accented, locale.Mirrored) {
		templates[l] = sync.OnceValues(func() (*ui.Templates, error) { return parse(l, scripts) })
	}
	if _, err := templates[locale.English](); err != nil {
		return nil, err
	}
	style := "style-src " + ui.SheetHash()
	policy := "default-src 'none'; " + style + "; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
	if a != nil {
		a = payments.OutsideAuthenticator(a)
	}
	p := &Pages{
		store: s, billing: b, post: post, authenticator: a, advertiser: advertiser, transfer: f, domains: d, documents: newDocuments(invoicepdf.New().Write), proses: newDocuments(writeProse), exports: newWorkTurns(exportsAtOnce), templates: templates, siteTemplates: siteTemplates,
		forms: caller.NewForms(s.PublicURL()), style: style, policy: policy, scripts: scripts,
		siteStyle: ui.HashOf([]byte(siteStyle)),
	}
	p.sites, p.formToken, p.formClicks = newDocuments(p.writeSite), rand.Text(), rand.Text()
	return p, nil
}

// Wait waits for letters that are still being sent after their request was answered. No page may be asked for any more.
func (p *Pages) Wait() { p.letters.Wait() }

// Media returns the handlers of files that pages show.
func (p *Pages) Media() map[string]echo.HandlerFunc {
	return map[string]echo.HandlerFunc{"/media/:account/:file": p.media}
}

// Routes returns the handlers by route. A route that changes something begins with its method; the others are only looked at.
func (p *Pages) Routes() map[string]echo.HandlerFunc {
	routes := map[string]echo.HandlerFunc{
		"/checkout/:client_secret":                   p.checkout,
		"POST /checkout/:client_secret/authenticate": p.authenticate,

		"/checkout/:client_secret/downloads/:grant/:file": p.checkoutDownload,

		"POST /checkout/:client_secret/pay":    p.pay,
		"POST /checkout/:client_secret/cancel": p.cancelPayment,
		"/buy/:checkout_link":                  p.offer,
		"POST /buy/:checkout_link/pay":         p.follow,
		"POST /checkout/:client_secret/verify": p.askWhose,
		"/verify/:token":                       p.verify,
		"/subscribe/:token":                    p.subscribe,
		"POST /subscribe/:token":               p.subscribed,
		"/unsubscribe/:token":                  p.unsubscribe,
		"POST /unsubscribe/:token":             p.unsubscribed,
		"POST /verify/:token":                  p.verified,
		"GET /connect/:platform":               p.connect,
		"/connect/:platform/sandbox":           p.sandboxConsent,
		"/files/:token":                        p.file,
		"/invoice/:token":                      p.ofInvoice(p.invoice),
		"/invoice/:token/pdf":                  p.ofInvoice(p.writeInvoice),
		"POST /invoice/:token/pay":             p.ofInvoice(p.payInvoice),
		"POST /invoice/:token/authenticate":    p.ofInvoice(p.authenticateInvoice),
		"POST /invoice/:token/cancel":          p.ofInvoice(p.cancelInvoicePayment),
		"POST /invoice/:token/renew":           p.renewInvoice,
		"/":                                    p.siteOfDomain,
		"/sites/:subdomain":                    p.site,
		"/posts/:account/:slug":                p.blogPost,
		"POST /leads/:account/:site/:block":    p.leaveLead,
		"/sites/ask":                           p.askDomain,
		"/sites/preview/:token":                p.sitePreview,
		"/receipt/:token":                      p.ofOrder(p.receipt),
		domains.ProbePath + ":nonce":           p.answerProbe,
		"/receipt/:token/pdf":                  p.ofOrder(p.writeReceipt),
		"POST /receipt/:token/renew":           p.renewReceipt,

		"/portal":                                                  p.door(p.portalDoor),
		"POST /portal":                                             p.door(p.knock),
		"/portal/open/:token":                                      p.portalKey,
		"POST /portal/open/:token":                                 p.turnKey,
		"/portal/:token":                                           p.portal(p.portalHome),
		"/portal/:token/posts/:post":                               p.portal(p.portalRead),
		"/portal/:token/experiences/:experience":                   p.portal(p.portalExperience),
		"/portal/:token/downloads/:grant/:file":                    p.portal(p.portalDownload),
		"/portal/:token/orders":                                    p.portal(p.portalOrders),
		"/portal/:token/subscriptions/:subscription":               p.portal(p.portalSubscription),
		"POST /portal/:token/subscriptions/:subscription/cancel":   p.portal(p.cancelSubscription),
		"POST /portal/:token/subscriptions/:subscription/uncancel": p.portal(p.keepSubscription),
		"POST /portal/:token/subscriptions/:subscription/card":     p.portal(p.chargeSubscription),
		"/portal/:token/subscriptions/:subscription/cancel":        p.portal(p.askCancel),
		"POST /portal/:token/subscriptions/:subscription/pause":    p.portal(p.pauseSubscription),
		"POST /portal/:token/subscriptions/:subscription/resume":   p.portal(p.resumeSubscription),
		"/portal/:token/subscriptions/:subscription/plan":          p.portal(p.portalPlan),
		"POST /portal/:token/subscriptions/:subscription/plan":     p.portal(p.changePlan),
		"POST /portal/:token/subscriptions/:subscription/unchange": p.portal(p.keepPlan),
		"/portal/:token/licenses/:license":                         p.portal(p.portalLicense),
		"POST /portal/:token/licenses/:license/:activation/remove": p.portal(p.removeActivation),
		"/portal/:token/details":                                   p.portal(p.portalDetails),
		"POST /portal/:token/details":                              p.portal(p.saveDetails),
		"/portal/:token/cards/:card/remove":                        p.portal(p.askRemoveCard),
		"/portal/:token/cards/new":                                 p.portal(p.newCard),
		"POST /portal/:token/cards":                                p.portal(p.addCard),
		"POST /portal/:token/cards/:card/default":                  p.portal(p.defaultCard),
		"POST /portal/:token/cards/:card/remove":                   p.portal(p.removeCard),
		"POST /portal/:token/purchases/:checkout/accept":           p.portal(p.acceptPurchase),
		"POST /portal/:token/end":                                  p.portal(p.endPortal),
	}
	for route, serve := range routes {
		if strings.HasPrefix(route, http.MethodPost+" ") {
			routes[route] = p.unforged(whole(serve))
		}
	}
	return routes
}

// whole has serve answer a form of which all has come. One that was cut off, is too large, or came while too much is under way is left to the
// server. The server refuses it before anything is done. What stands in the form is left to serve.
func whole(serve echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if r.Body == nil || r.Body == http.NoBody {
			return serve(c)
		}
		form, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		r.Body = io.NopCloser(bytes.NewReader(form))
		return serve(c)
	}
}

// private sets the headers that keep an answer out of caches and search engines, and its address from other pages. These may be told which server it is
// on. Without that, and without https, browsers would not say of a form that it is from here.
func (p *Pages) private(c echo.Context) {
	header := c.Response().Header()
	header.Set("Content-Security-Policy", p.policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "strict-origin")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Robots-Tag", "noindex")
}

// isMissing reports whether err is CodeMissing.
func isMissing(err error) bool {
	var e *core.Error
	return errors.As(err, &e) && e.Code == core.CodeMissing
}

// explanation refuses what a buyer asked for, in their language.
type explanation string

func (e explanation) Error() string { return string(e) }

// isInvalid returns what a buyer is told if err says that what they sent is invalid. It returns false for every other error. Only in English are they
// told what a program is told of a refusal without a message of its own.
func isInvalid(l *locale.Locale, err error) (string, bool) {
	if said, ok := errors.AsType[explanation](err); ok {
		return string(said), true
	}
	var e *core.Error
	if !errors.As(err, &e) || e.Code != core.CodeInvalid {
		return "", false
	}
	if e.ForSeller {
		return l.T("error.unpayable"), true
	}
	if text, known := explained(l, e, e.Param); known {
		return text, true
	}
	switch {
	case l.Tag == locale.English.Tag:
		return e.Message, true
	case e.Outcome == core.Recorded && e.Param == "payment_method": // for a reason of the provider's
		return l.T("decline.card_declined"), true
	}
	return l.T("error.again"), true
}

// whyNot is isInvalid that also takes CodeRateLimit, for which it sets Retry-After.
func (p *Pages) whyNot(c echo.Context, err error) (string, bool) {
	var e *core.Error
	if errors.As(err, &e) && e.Code == core.CodeRateLimit {
		c.Response().Header().Set(echo.HeaderRetryAfter, strconv.Itoa(int(math.Ceil(e.After.Seconds()))))
		return tooMany(p.spoken(c), e), true
	}
	return isInvalid(p.spoken(c), err)
}

// buyer returns who pays on a page: all that is known is the network address.
func buyer(c echo.Context) payment.Buyer {
	return payment.Buyer{Address: caller.Address(c.Request().Context())}
}

// isOver reports whether a form came too late, because it was sent twice or the same was done in another window. The buyer has
// done nothing wrong, and the page says how things stand now. A refusal with a reason is told: the page alone does not say that.
func isOver(err error) bool {
	var e *core.Error
	return errors.As(err, &e) && e.Code == core.CodeInvalid && e.Param == "status" && e.Reason == ""
}
