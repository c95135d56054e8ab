package pages

import (
	"context"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/server/mail"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/activity"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/portal"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
)

const (
	portalOrders = 20  // orders on a page
	portalAll    = 100 // subscriptions, cards or invoices to pay in one status: hardly anybody has more
)

// visit is a request of a customer to the portal. The token in the address is all that says who they are. There is no cookie,
// which another site could have a browser send.
type visit struct {
	echo.Context
	Session  *portal.Session
	Customer *customer.Customer
	Seller   *tenant.Account
	Home     string // relative path from the request's address to the overview
	Ask      string // what ask returns, which ends the addresses on the pages
	l        *locale.Locale

	card          map[string]string // what is wrong with the card in this form, by the name of its field, nil if it is about something else
	authenticates bool              // buyers approve charges of the test provider on our pages
}

// portalPage is the data that every page of the portal has.
type portalPage struct {
	*visit
	Title   string
	Done    string // what the customer has just done
	Problem string // why they could not
	Forward string // to which the page sends them at once, else empty
	Key     string // publishable key with which Stripe takes a card on the page, else empty
}

// frame returns what stands around the page.
func (p portalPage) frame() ui.Frame {
	frame := ui.Frame{Title: p.Title, Shop: shopOf(p.Seller), Forward: p.Forward}
	if p.Problem != "" {
		frame.Problems = cardSummary(p.l, p.CardProblems())
	}
	return frame
}

// CardProblems returns what is wrong with the card that was typed into the page, by the name of its field.
func (p portalPage) CardProblems() map[string]string {
	if p.card == nil {
		return map[string]string{"": p.Problem}
	}
	return p.card
}

// TakesStripe reports whether Stripe takes a card on the page.
func (p portalPage) TakesStripe() bool { return p.Key != "" }

// TakesTestCards reports whether cards are typed into the pages: only test cards may pass through this server.
func (v *visit) TakesTestCards() bool {
	return v.Seller.PaymentsProvider == tenant.PaymentsProviderTest && v.authenticates
}

// CardKey returns the publishable key with which Stripe takes cards for the seller, empty if it does not.
func (v *visit) CardKey() string { return v.Seller.CardKey() }

// portal finds the session of the token in the address, and has serve answer its customer. An expired session is 410. It leads to the door of the
// portal, and so does a token that opens nothing: it tells of no shop.
func (p *Pages) portal(serve func(v *visit) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		ctx := c.Request().Context()
		session, expired, err := p.store.Portal.Open(ctx, c.Param("token"))
		if isMissing(err) {
			l := p.spoken(c)
			said := missing(l)
			said.Back, said.To = p.doorOf(c, l, nil), l.T("key.another")
			return p.tell(c, http.StatusNotFound, said)
		}
		if err != nil {
			return err
		}
		customer, err := p.store.Customer.Get(ctx, session.AccountID, session.CustomerID)
		if err != nil {
			return p.refuse(c, err)
		}
		seller, err := p.store.Tenant.GetAccount(ctx, session.AccountID)
		if err != nil {
			return err
		}
		if expired {
			return p.over(c, seller, customer.PreferredLocale)
		}
		below := strings.Count(c.Path(), "/") - len("//") // segments after the token
		return serve(&visit{c, session, customer, seller, strings.Repeat("../", below) + c.Param("token"), p.ask(c), p.speak(c, customer.PreferredLocale, seller.Locale), nil, p.authenticator != nil})
	}
}

// Asked returns the tag of the language that Ask names, for a form whose fields become the end of an address.
func (v *visit) Asked() string { return strings.TrimPrefix(v.Ask, "?"+localeField+"=") }

// And returns Ask for an address that has parameters already.
func (v *visit) And() template.URL { return template.URL(strings.Replace(v.Ask, "?", "&", 1)) } //nolint:gosec // the tag of a language

func (v *visit) ctx() context.Context { return v.Request().Context() }

// doing is the context of an operation, by its name in the API, that the customer does.
func (v *visit) doing(operation string) context.Context {
	return activity.Doing(v.ctx(), v.Customer.ID, operation)
}

// page returns the data of a portal page with its title and what went wrong. If nothing did, and the customer was sent here
// after a form, the page says what they have done.
func (v *visit) page(title, problem string) portalPage {
	page := portalPage{visit: v, Title: title, Problem: problem}
	if problem == "" {
		page.Done = v.l.T(portalDone[v.QueryParam("done")])
	}
	return page
}

// portalDone has the key of what a customer is told after a form, by the value of the parameter "done".
var portalDone = map[string]string{
	"canceled": "portal.done.canceled", "kept": "portal.done.kept", "charged": "portal.done.charged", "accepted": "portal.done.accepted", "added": "portal.done.added",
	"default": "portal.done.default", "removed": "portal.done.removed", "paused": "portal.done.paused", "resumed": "portal.done.resumed", "saved": "portal.done.saved", "freed": "portal.done.freed",
}

// done sends the customer to a page of the portal, which tells them what they have done. Below is the path below that of the
// overview.
func (v *visit) done(below, what string) error {
	return v.Redirect(http.StatusSeeOther, with(v.Home+below+v.Ask, "done", what))
}

// Credit returns the customer's credit, from which their next invoices are paid, by currency.
func (v *visit) Credit() []money {
	var all []money
	for _, currency := range slices.Sorted(maps.Keys(v.Customer.Balance.V)) {
		if amount := v.Customer.Balance.V[currency]; amount > 0 {
			all = append(all, money{amount, currency})
		}
	}
	return all
}

// DefaultCard returns the id of the card that is charged where no other is chosen, empty if there is none.
func (v *visit) DefaultCard() string { return text(v.Customer.DefaultPaymentMethodID) }

type money struct {
	Amount   int64
	Currency string
}

// portalHome is the data of portal.html, the overview with which a session begins.
type portalHome struct {
	portalPage
	Due           []invoice.Invoice
	Owed          []money // what all of them come to, by currency; empty if MoreDue
	MoreDue       bool    // there are more than Due
	Subscriptions []subscription.Subscription
	Prices        map[string]string // of each period of these, by id
	Orders        []portalOrder
	MoreOrders    bool
	Cards         []payment.SavedMethod
	PlanCards     []planCard // that are not saved, but charged for a subscription
	Once          string     // random, tells one form of a new card from the next

	Possessions []possession       // what the customer has
	Posts       []content.BlogPost // that they may read, and not everybody

	Purchases []portalPurchase // made by somebody who typed the customer's address
}

// HasKey reports whether the page shows a licence key.
func (p portalHome) HasKey() bool {
	return slices.ContainsFunc(p.Possessions, func(has possession) bool {
		return slices.ContainsFunc(has.Deliveries, func(d delivery) bool { return d.Key != nil })
	})
}

// planCard is a card that only a subscription is charged to.
type planCard struct {
	Card payment.Method
	Plan subscription.Subscription
}

// planCards returns the cards of subscriptions that go on, but those that are saved.
func planCards(all []subscription.Subscription) (cards []planCard) {
	for _, s := range all {
		if m := s.Method.V; s.EndedAt == nil && m != nil && m.ID == nil && m.Card.Last4 != "" {
			cards = append(cards, planCard{m.Card, s})
		}
	}
	return cards
}

// portalOrder is an order with what the portal shows of it: what was bought in words, and its invoice, nil if it has none.
type portalOrder struct {
	order.Order
	Summary string
	Invoice *invoice.Invoice
}

// Standing returns the status of the order as badgeOf knows it.
func (o *portalOrder) Standing() string { return orderStatus(o.Status) }

// IsPaid reports whether the order was paid, so that it has a receipt.
func (o *portalOrder) IsPaid() bool { return o.PaidAt != nil }

// IsDue reports whether the customer still has to pay the order.
func (o *portalOrder) IsDue() bool { return o.Invoice != nil && isDue(o.Invoice) }

// isDue reports whether there is something to pay of an invoice.
func isDue(i *invoice.Invoice) bool {
	return i.AmountDue() > 0 && (i.Status == invoice.StatusOpen || i.Status == invoice.StatusPastDue)
}

func (p *Pages) portalHome(v *visit) error { return p.showPortal(v, http.StatusOK, "") }

// showPortal answers with the overview. Problem says why something could not be done, and may be empty.
func (p *Pages) showPortal(v *visit, status int, problem string) error {
	ctx, account := v.ctx(), v.Session.AccountID
	home := portalHome{portalPage: v.page(v.l.T("portal.title"), problem), Once: newOnce()}
	var err error
	if home.Due, home.Owed, home.MoreDue, err = p.dueInvoices(v); err != nil {
		return err
	}
	if home.Subscriptions, _, err = p.store.Subscription.List(ctx, account, subscription.List{Page: core.Page{Limit: portalAll}, Customer: v.Customer.ID, IsVerified: true}); err != nil {
		return err
	}
	if home.Prices, err = p.ownPrices(v, home.Subscriptions); err != nil {
		return err
	}
	slices.SortStableFunc(home.Subscriptions, goingFirst)
	home.PlanCards = planCards(home.Subscriptions)
	if home.Orders, home.MoreOrders, err = p.customerOrders(v, 5, ""); err != nil {
		return err
	}
	if home.Cards, _, err = p.store.Payment.ListMethods(ctx, account, v.Customer.ID, core.Page{Limit: portalAll}); err != nil {
		return err
	}
	if home.Purchases, err = p.purchases(v); err != nil {
		return err
	}
	if home.Possessions, err = p.possessions(v); err != nil {
		return err
	}
	if home.Posts, err = p.readable(v); err != nil {
		return err
	}
	return p.render(v, status, "portal.html", home.frame(), home)
}

// dueInvoices returns the invoices that the customer has to pay, those that are past due first, and what they come to by currency. If there are more it
// says so, and sums nothing.
func (p *Pages) dueInvoices(v *visit) (due []invoice.Invoice, owed []money, hasMore bool, err error) {
	sums := map[string]int64{}
	for _, status := range []invoice.Status{invoice.StatusPastDue, invoice.StatusOpen} {
		found, more, err := p.store.Invoice.List(v.ctx(), v.Session.AccountID, invoice.List{
			Page: core.Page{Limit: portalAll}, Customer: v.Customer.ID, Status: status, IsVerified: true,
		})
		if err != nil {
			return nil, nil, false, err
		}
		hasMore = hasMore || more
		for i := range found {
			if isDue(&found[i]) {
				due, sums[found[i].Currency] = append(due, found[i]), sums[found[i].Currency]+found[i].AmountDue()
			}
		}
	}
	for _, currency := range slices.Sorted(maps.Keys(sums)) {
		if !hasMore {
			owed = append(owed, money{sums[currency], currency})
		}
	}
	return due, owed, hasMore, nil
}

// customerOrders returns the customer's orders after one of them, newest first, with their lines in words and their invoices.
// It also reports whether there are more.
func (p *Pages) customerOrders(v *visit, limit int, after string) ([]portalOrder, bool, error) {
	ctx, account := v.ctx(), v.Session.AccountID
	orders, more, err := p.store.Order.List(ctx, account, order.List{
		Page: core.Page{Limit: limit, StartingAfter: after}, Customer: v.Customer.ID, IsVerified: true,
	})
	if err != nil {
		return nil, false, err
	}
	lines, err := p.store.Order.Lines(ctx, account, orders)
	if err != nil {
		return nil, false, err
	}
	var ids []string
	for i := range orders {
		if id := orders[i].InvoiceID; id != nil {
			ids = append(ids, *id)
		}
	}
	invoices, err := p.store.Invoice.ByID(ctx, account, ids)
	if err != nil {
		return nil, false, err
	}
	all := make([]portalOrder, len(orders))
	for i, o := range orders {
		all[i] = portalOrder{Order: o, Summary: bought(v.l, lines[o.ID])}
		if o.InvoiceID != nil {
			all[i].Invoice = invoices[*o.InvoiceID]
		}
	}
	return all, more, nil
}

// bought returns in words what an order is for. A name that is read from right to left turns nothing around but itself.
func bought(l *locale.Locale, items []lineitem.Item) string {
	all := make([]string, len(items))
	for i := range items {
		if all[i] = l.Isolated(mail.Describe(l, &items[i])); items[i].Quantity != 1 {
			all[i] = l.Number(items[i].Quantity) + " × " + all[i]
		}
	}
	return l.List(all...)
}

// portalOrderList is the data of portal_orders.html: a page of orders, and the id after which the older ones begin, empty for
// none.
type portalOrderList struct {
	portalPage
	Orders []portalOrder
	Older  string
}

// portalOrders serves the list of all orders, page by page.
func (p *Pages) portalOrders(v *visit) error {
	after := v.QueryParam("after")
	if _, isOrder := core.ParseID(core.KindOrder, after); after != "" && !isOrder {
		return p.tell(v, http.StatusNotFound, missing(p.spoken(v)))
	}
	orders, more, err := p.customerOrders(v, portalOrders, after)
	if err != nil {
		return err
	}
	list := portalOrderList{portalPage: v.page(v.l.T("portal.orders"), ""), Orders: orders}
	if more {
		list.Older = orders[len(orders)-1].ID
	}
	return p.render(v, http.StatusOK, "portal_orders.html", list.frame(), list)
}

// portalEnded is the data of portal_ended.html, which says that the session is over.
type portalEnded struct {
	portalPage
	Door string // where another link is asked for, empty for nowhere
}

// endPortal ends the session: its address opens nothing any more.
func (p *Pages) endPortal(v *visit) error {
	if err := p.store.Portal.EndSession(v.ctx(), v.Session); err != nil {
		return err
	}
	page := portalEnded{v.page(v.l.T("portal.signed_out"), ""), p.doorOf(v, v.l, v.Seller)}
	return p.render(v, http.StatusOK, "portal_ended.html", page.frame(), page)
}
