package pages

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

const (
	portalOrders = 20  // on a page
	portalDue    = 10  // invoices to pay
	portalAll    = 100 // of what nobody has many
)

// visit is a customer on the portal. Who has the token is who it was made for: there is no cookie that another site could
// let a browser send.
type visit struct {
	echo.Context
	Session  *store.PortalSession
	Customer *store.Customer
	Seller   *store.Account
	Home     string // what leads from the address of the request to that of the portal

	authenticates bool // the server has test cards
}

// portalPage is what every page of the portal shows.
type portalPage struct {
	*visit
	Title   string
	Done    string // what the customer has just done
	Problem string // why they could not
	Forward string // where they go at once
	Key     string // with which Stripe takes a card on the page, empty if it does not
}

// TakesStripe tells whether Stripe takes a card on the page.
func (p portalPage) TakesStripe() bool { return p.Key != "" }

// TakesTestCards says whether test cards are typed into the pages: only one of the test provider may pass through.
func (v *visit) TakesTestCards() bool {
	return v.Seller.PaymentsProvider == store.PaymentsProviderTest && v.authenticates
}

// CardKey is the key with which Stripe takes cards for the seller, empty if it does not.
func (v *visit) CardKey() string { return v.Seller.CardKey() }

// portal lets a handler serve whoever has the token of a session.
func (p *Pages) portal(serve func(v *visit) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		ctx := c.Request().Context()
		session, customer, expired, err := p.store.OpenPortal(ctx, c.Param("token"))
		if err != nil {
			return p.refuse(c, err)
		}
		if expired {
			return p.render(c, http.StatusGone, "expired.html", nil)
		}
		seller, err := p.store.GetAccount(ctx, session.AccountID)
		if err != nil {
			return err
		}
		below := strings.Count(c.Path(), "/") - len("//") // segments after the token
		return serve(&visit{c, session, customer, seller, strings.Repeat("../", below) + c.Param("token"), p.authenticator != nil})
	}
}

func (v *visit) ctx() context.Context { return v.Request().Context() }

// page is the frame of a page. What the customer has done before they were sent here is told once.
func (v *visit) page(title, problem string) portalPage {
	page := portalPage{visit: v, Title: title, Problem: problem}
	if problem == "" {
		page.Done = portalDone[v.QueryParam("done")]
	}
	return page
}

// portalDone is what a customer is told after a form, by the name in the address that they are sent to.
var portalDone = map[string]string{
	"canceled": "Your subscription is cancelled.", "kept": "Your subscription goes on.", "charged": "Your subscription is charged to this card from now on.",
	"accepted": "It is on your account now.", "added": "Your card is saved.", "default": "This is your default card now.", "removed": "Your card is removed.",
}

// done sends the customer to a page that tells them what they did.
func (v *visit) done(below, what string) error {
	return v.Redirect(http.StatusSeeOther, v.Home+below+"?done="+what)
}

// Credit is what the customer's next invoices are paid from, by currency.
func (v *visit) Credit() []money {
	var all []money
	for _, currency := range slices.Sorted(maps.Keys(v.Customer.Balance.V)) {
		if amount := v.Customer.Balance.V[currency]; amount > 0 {
			all = append(all, money{amount, currency})
		}
	}
	return all
}

// DefaultCard is the id of the card that is charged where no other is chosen, empty if there is none.
func (v *visit) DefaultCard() string { return text(v.Customer.DefaultPaymentMethodID) }

type money struct {
	Amount   int64
	Currency string
}

// portalHome is the page that a session begins with.
type portalHome struct {
	portalPage
	Due           []store.Invoice
	Subscriptions []store.Subscription
	Orders        []portalOrder
	MoreOrders    bool
	Cards         []store.SavedMethod
	Once          string // tells one form of a new card from the next

	Purchases []portalPurchase // that somebody made who typed the customer's address
}

// portalOrder is an order with what belongs to it.
type portalOrder struct {
	store.Order
	Summary string
	Invoice *store.Invoice
}

// StatusText says how the order stands.
func (o *portalOrder) StatusText() string { return orderStatus(o.Status) }

// IsPaid reports whether there is a receipt.
func (o *portalOrder) IsPaid() bool { return o.PaidAt != nil }

// IsDue reports whether the customer is to pay it.
func (o *portalOrder) IsDue() bool { return o.Invoice != nil && isDue(o.Invoice) }

func isDue(i *store.Invoice) bool {
	return i.AmountDue() > 0 && (i.Status == store.InvoiceStatusOpen || i.Status == store.InvoiceStatusPastDue)
}

func (p *Pages) portalHome(v *visit) error { return p.showPortal(v, http.StatusOK, "") }

// showPortal answers with the overview, and with why something could not be done.
func (p *Pages) showPortal(v *visit, status int, problem string) error {
	ctx, account := v.ctx(), v.Session.AccountID
	home := portalHome{portalPage: v.page("Your account", problem), Once: newOnce()}
	var err error
	if home.Due, err = p.dueInvoices(v); err != nil {
		return err
	}
	if home.Subscriptions, _, err = p.store.ListSubscriptions(ctx, account, store.ListSubscriptions{Page: core.Page{Limit: portalAll}, Customer: v.Customer.ID, IsVerified: true}); err != nil {
		return err
	}
	slices.SortStableFunc(home.Subscriptions, goingFirst)
	if home.Orders, home.MoreOrders, err = p.customerOrders(v, 5, ""); err != nil {
		return err
	}
	if home.Cards, _, err = p.store.ListCustomerPaymentMethods(ctx, account, v.Customer.ID, core.Page{Limit: portalAll}); err != nil {
		return err
	}
	if home.Purchases, err = p.purchases(v); err != nil {
		return err
	}
	return p.render(v, status, "portal.html", home)
}

// dueInvoices are what the customer is to pay.
func (p *Pages) dueInvoices(v *visit) ([]store.Invoice, error) {
	var due []store.Invoice
	for _, status := range []store.InvoiceStatus{store.InvoiceStatusPastDue, store.InvoiceStatusOpen} {
		found, _, err := p.store.ListInvoices(v.ctx(), v.Session.AccountID, store.ListInvoices{
			Page: core.Page{Limit: portalDue}, Customer: v.Customer.ID, Status: status, IsVerified: true,
		})
		if err != nil {
			return nil, err
		}
		for i := range found {
			if isDue(&found[i]) {
				due = append(due, found[i])
			}
		}
	}
	return due, nil
}

// customerOrders returns orders of the customer, the newest first, with what was bought and their invoices.
func (p *Pages) customerOrders(v *visit, limit int, after string) ([]portalOrder, bool, error) {
	ctx, account := v.ctx(), v.Session.AccountID
	orders, more, err := p.store.ListOrders(ctx, account, store.ListOrders{
		Page: core.Page{Limit: limit, StartingAfter: after}, Customer: v.Customer.ID, IsVerified: true,
	})
	if err != nil {
		return nil, false, err
	}
	lines, err := p.store.OrderLines(ctx, account, orders)
	if err != nil {
		return nil, false, err
	}
	var ids []string
	for i := range orders {
		if id := orders[i].InvoiceID; id != nil {
			ids = append(ids, *id)
		}
	}
	invoices, err := p.store.InvoicesByID(ctx, account, ids)
	if err != nil {
		return nil, false, err
	}
	all := make([]portalOrder, len(orders))
	for i, o := range orders {
		all[i] = portalOrder{Order: o, Summary: bought(lines[o.ID])}
		if o.InvoiceID != nil {
			all[i].Invoice = invoices[*o.InvoiceID]
		}
	}
	return all, more, nil
}

// bought is what an order is for.
func bought(items []store.LineItem) string {
	all := make([]string, len(items))
	for i := range items {
		if all[i] = items[i].Describe(); items[i].Quantity != 1 {
			all[i] = fmt.Sprintf("%d × %s", items[i].Quantity, all[i])
		}
	}
	return strings.Join(all, ", ")
}

// portalOrderList is a page of orders, and where the older ones are.
type portalOrderList struct {
	portalPage
	Orders []portalOrder
	Older  string
}

// portalOrders serves every order, page by page.
func (p *Pages) portalOrders(v *visit) error {
	after := v.QueryParam("after")
	if _, isOrder := core.ParseID(core.KindOrder, after); after != "" && !isOrder {
		return p.render(v, http.StatusNotFound, "missing.html", nil)
	}
	orders, more, err := p.customerOrders(v, portalOrders, after)
	if err != nil {
		return err
	}
	list := portalOrderList{portalPage: v.page("Orders and invoices", ""), Orders: orders}
	if more {
		list.Older = orders[len(orders)-1].ID
	}
	return p.render(v, http.StatusOK, "portal_orders.html", list)
}

// endPortal makes the address of the session open nothing any more.
func (p *Pages) endPortal(v *visit) error {
	if err := p.store.EndPortalSession(v.ctx(), v.Session); err != nil {
		return err
	}
	return p.render(v, http.StatusOK, "portal_ended.html", v.page("Goodbye", ""))
}
