// Package pages serves the pages that people look at in a browser: checkouts, invoices, receipts and the customer portal. They
// are rendered on the server, run no scripts and load nothing from elsewhere, except where Stripe takes a card.
package pages

import (
	"bytes"
	"embed"
	"errors"
	"html/template"
	"math"
	"net/http"
	"strconv"
	"sync"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/server/invoicepdf"
	"github.com/tillwright/tillwright/server/mail"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

//go:embed *.html style.css stripe.js
var files embed.FS

// Pages serves the pages of a store.
type Pages struct {
	store         *store.Store
	billing       *billing.Billing
	post          *mail.Post
	letters       sync.WaitGroup // being sent after their request was answered
	authenticator payments.Authenticator
	documents     *documents
	exports       *turns // for reading a page of rows
	templates     *template.Template
	policy        string
	stripePolicy  string // for pages on which Stripe takes a card
}

// New returns the pages of a store. Provider a is the one whose buyers approve charges on our own pages, nil if every provider
// has a page of its own for that.
func New(s *store.Store, b *billing.Billing, post *mail.Post, a payments.Authenticator) (*Pages, error) {
	style, err := files.ReadFile("style.css")
	if err != nil {
		return nil, err
	}
	script, err := files.ReadFile("stripe.js")
	if err != nil {
		return nil, err
	}
	templates, err := template.New("").Funcs(template.FuncMap{
		"countries": countries,
		"money":     core.FormatAmount,
		"percent":   invoicepdf.Percent,
		"field":     newField,
		"date":      invoicepdf.Date,
		"times":     func(unit, quantity int64) int64 { return unit * quantity },
		"style":     func() template.CSS { return template.CSS(style) },
		"stripe":    func() template.JS { return template.JS(script) },

		"card": cardName, "day": day, "plan": planName, "price": planPrice, "standing": standing,
	}).ParseFS(files, "*.html")
	if err != nil {
		return nil, err
	}
	policy := "default-src 'none'; style-src " + hashOf(style) + "; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
	if a != nil {
		a = payments.OutsideAuthenticator(a)
	}
	return &Pages{
		store: s, billing: b, post: post, authenticator: a, documents: newDocuments(invoicepdf.New()), exports: newTurns(exportsAtOnce), templates: templates,
		policy: policy, stripePolicy: policy + stripePolicy(script),
	}, nil
}

// Wait waits for letters that are still being sent after their request was answered. No page may be asked for any more.
func (p *Pages) Wait() { p.letters.Wait() }

// Routes returns the handlers by route. A route that changes something begins with its method; the others are only looked at.
func (p *Pages) Routes() map[string]echo.HandlerFunc {
	return map[string]echo.HandlerFunc{
		"/checkout/:client_secret":                   p.checkout,
		"POST /checkout/:client_secret/authenticate": p.authenticate,
		"POST /checkout/:client_secret/pay":          p.pay,
		"POST /checkout/:client_secret/cancel":       p.cancelPayment,
		"/buy/:checkout_link":                        p.offer,
		"POST /buy/:checkout_link/pay":               p.follow,
		"POST /checkout/:client_secret/verify":       p.askWhose,
		"/verify/:token":                             p.verify,
		"POST /verify/:token":                        p.verified,
		"/files/:token":                              p.file,
		"/invoice/:token":                            p.ofInvoice(p.invoice),
		"/invoice/:token/pdf":                        p.ofInvoice(p.writeInvoice),
		"POST /invoice/:token/pay":                   p.ofInvoice(p.payInvoice),
		"POST /invoice/:token/authenticate":          p.ofInvoice(p.authenticateInvoice),
		"POST /invoice/:token/renew":                 p.renewInvoice,
		"/receipt/:token":                            p.ofOrder(p.receipt),
		"/receipt/:token/pdf":                        p.ofOrder(p.writeReceipt),
		"POST /receipt/:token/renew":                 p.renewReceipt,

		"/portal/:token":                                           p.portal(p.portalHome),
		"/portal/:token/orders":                                    p.portal(p.portalOrders),
		"/portal/:token/subscriptions/:subscription":               p.portal(p.portalSubscription),
		"POST /portal/:token/subscriptions/:subscription/cancel":   p.portal(p.cancelSubscription),
		"POST /portal/:token/subscriptions/:subscription/uncancel": p.portal(p.keepSubscription),
		"POST /portal/:token/subscriptions/:subscription/card":     p.portal(p.chargeSubscription),
		"/portal/:token/cards/new":                                 p.portal(p.newCard),
		"POST /portal/:token/cards":                                p.portal(p.addCard),
		"POST /portal/:token/cards/:card/default":                  p.portal(p.defaultCard),
		"POST /portal/:token/cards/:card/remove":                   p.portal(p.removeCard),
		"POST /portal/:token/purchases/:checkout/accept":           p.portal(p.acceptPurchase),
		"POST /portal/:token/end":                                  p.portal(p.endPortal),
	}
}

// render answers with a page made from a template. The address of a page may be a secret, so browsers neither keep the page nor
// tell its address to others. A 422 that says when to try again becomes 429.
func (p *Pages) render(c echo.Context, status int, name string, data any) error {
	var page bytes.Buffer
	if err := p.templates.ExecuteTemplate(&page, name, data); err != nil {
		return err
	}
	p.private(c)
	if status == http.StatusUnprocessableEntity && c.Response().Header().Get(echo.HeaderRetryAfter) != "" {
		status = http.StatusTooManyRequests
	}
	if by, ok := data.(stripeTaker); ok && by.TakesStripe() {
		c.Response().Header().Set("Content-Security-Policy", p.stripePolicy)
	}
	return c.HTMLBlob(status, page.Bytes())
}

// stripeTaker is implemented by the data of pages on which Stripe may take a card. Such a page gets a policy that lets Stripe's
// script run.
type stripeTaker interface{ TakesStripe() bool }

// private sets the headers that keep an answer out of caches and search engines, and its address from other sites.
func (p *Pages) private(c echo.Context) {
	header := c.Response().Header()
	header.Set("Content-Security-Policy", p.policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Robots-Tag", "noindex")
}

// refuse answers 404 with a page if something is missing. Every other error is left to the server.
func (p *Pages) refuse(c echo.Context, err error) error {
	if isMissing(err) {
		return p.render(c, http.StatusNotFound, "missing.html", nil)
	}
	return err
}

// Refused answers with a page that says why the one that was asked for is not shown: too many visits, a form that cannot be
// read, or a failure of ours. After a failure, whoever sent a form does not know whether it arrived, and the page says how to
// find out.
func (p *Pages) Refused(c echo.Context, status int) error {
	return p.render(c, status, "refused.html", why(c.Request().Method, status))
}

// refusal is a page that only says why it is not the one that was asked for.
type refusal struct{ Title, Text string }

// why returns what the page says about a status. After a form, a failure of ours is explained with more care.
func why(method string, status int) refusal {
	switch {
	case status >= http.StatusInternalServerError && method == http.MethodPost:
		return refusal{"This does not work at the moment", "It is our fault, and usually over in a few seconds. " +
			"It is not known whether what you sent was done. Open the page again before you send it twice: it says what was done, and whether a payment arrived. Nothing is charged twice."}
	case status >= http.StatusInternalServerError:
		return refusal{"This does not work at the moment", "It is our fault, and usually over in a few seconds. Then open the page again. If you have just paid, it says whether your payment arrived."}
	case status == http.StatusTooManyRequests:
		return refusal{"Too many visits at once", "Too many came from your network within a minute. Nothing was done. Wait a minute, and open the address again."}
	}
	return refusal{"This could not be read", "What your browser sent is too large or damaged. Nothing was done. Go back and try again."}
}

// isMissing reports whether err is CodeMissing.
func isMissing(err error) bool {
	var e *core.Error
	return errors.As(err, &e) && e.Code == core.CodeMissing
}

// unpayable is what a buyer is told about an error that only the seller can do something about.
const unpayable = "This amount cannot be charged. Ask the seller how you can pay."

// isInvalid returns what a buyer is told if err says that what they sent is invalid. It returns false for every other error.
func isInvalid(err error) (string, bool) {
	var e *core.Error
	if !errors.As(err, &e) || e.Code != core.CodeInvalid {
		return "", false
	}
	if e.ForSeller {
		return unpayable, true
	}
	return e.Message, true
}

// whyNot is isInvalid that also takes CodeRateLimit, for which it sets Retry-After.
func whyNot(c echo.Context, err error) (string, bool) {
	var e *core.Error
	if errors.As(err, &e) && e.Code == core.CodeRateLimit {
		c.Response().Header().Set(echo.HeaderRetryAfter, strconv.Itoa(int(math.Ceil(e.After.Seconds()))))
		return e.Message, true
	}
	return isInvalid(err)
}

// buyer returns who pays on a page: all that is known is the network address.
func buyer(c echo.Context) store.Buyer {
	return store.Buyer{Address: caller.Address(c.Request().Context())}
}

// isOver reports whether a form came too late, because it was sent twice or the same was done in another window. The buyer has
// done nothing wrong, and the page says how things stand now.
func isOver(err error) bool {
	var e *core.Error
	return errors.As(err, &e) && e.Code == core.CodeInvalid && e.Param == "status"
}
