package pages

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/subscription"
)

// cardName returns the name by which a customer knows a card, such as "Visa ending in 4242".
func cardName(l *locale.Locale, m payment.Method) string {
	brand := brandOf(m)
	return l.T("card.named", "brand", brand, "last4", m.Last4)
}

// brandOf returns the brand of a card, such as "Visa".
func brandOf(m payment.Method) string {
	if m.Brand == "" {
		return ""
	}
	return strings.ToUpper(m.Brand[:1]) + m.Brand[1:]
}

// shortCardName returns the name of a card on a button, such as "Visa 4242".
func shortCardName(m payment.Method) string {
	return brandOf(m) + " " + m.Last4
}

// onceForm matches the field "once", a random value that tells one form from the next.
var onceForm = regexp.MustCompile(`^[0-9a-z]{1,40}$`)

// newOnce returns a new value of the field "once".
func newOnce() string { return strings.ToLower(rand.Text()) }

// saveCard saves the test card that was typed into a form. If it is refused, problem says why, and there is no error.
func (p *Pages) saveCard(v *visit, isDefault bool) (saved *payment.SavedMethod, problem string, err error) {
	if !v.TakesTestCards() {
		return nil, v.l.T("card.not_taken"), nil
	}
	once := v.FormValue("once")
	if !onceForm.MatchString(once) {
		return nil, v.l.T("card.incomplete"), nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(v.doing("createCustomerPaymentMethod")), payTime)
	defer cancel()
	saved, err = p.billing.SaveMethod(ctx, v.Session.AccountID, v.Customer.ID, billing.SaveMethod{Method: *typedCard(v), IsDefault: isDefault, Once: once, From: buyer(v)})
	if message, ok := p.whyNot(v, err); ok {
		if field := refusedCard(err); field != "" {
			v.card = p.cardProblems(v, v.l, field, message)
		}
		return nil, message, nil
	}
	return saved, "", err
}

// TypedCard reports whether this request is a form into which a card was typed, or should have been. Its page opens the card's form again, to be
// corrected.
func (v *visit) TypedCard() bool { return v.card != nil || v.FormValue("card_number") != "" }

// portalCard is the data of portal_card.html, the page on which Stripe takes another card of the customer's.
type portalCard struct {
	portalPage
	Subscription *subscription.Subscription // to be charged to the card, nil for none
	Defaults     bool                       // the card is to become the default one
	Next         string                     // bank's page where the customer has to confirm the card, else empty
	Waits        bool                       // the bank has not decided yet
}

// frame returns what stands around the page. While the bank decides, the page looks again.
func (p portalCard) frame() ui.Frame {
	frame := p.portalPage.frame()
	switch {
	case p.Waits:
		frame.Again = again("processing", "")
	case p.Next != "":
		frame.Again = again("elsewhere", p.Forward)
	}
	return frame
}

// Stripe returns the data of the part of the form in which Stripe takes a card.
func (p portalCard) Stripe() stripeForm { return stripeForm{p.Key, p.Problem} }

// Back returns the address of the page that the customer came from.
func (p portalCard) Back() string { return p.Home + p.below() + p.Ask }

// below returns the path, below that of the overview, of the page that the customer came from.
func (p portalCard) below() string {
	if p.Subscription == nil {
		return ""
	}
	return "/subscriptions/" + p.Subscription.ID
}

// done returns the key in portalDone of what the customer is told once the card is saved.
func (p portalCard) done() string {
	if p.Subscription == nil {
		return "added"
	}
	return "charged"
}

// setupIntent matches the id of a SetupIntent, with which Stripe lets a customer add a card.
var setupIntent = regexp.MustCompile(`^seti_[A-Za-z0-9_]{1,200}$`)

// cardPage returns the data of the page for a new card. If subscription is given, that is to be charged to it. It is
// CodeMissing if Stripe takes no cards for the seller, or if the customer has no such subscription.
func (p *Pages) cardPage(v *visit, subscription string) (*portalCard, error) {
	page := &portalCard{portalPage: v.page(v.l.T("portal.add_card"), "")}
	if v.CardKey() == "" {
		return nil, core.Missing("page", "", "")
	}
	if subscription != "" {
		sub, err := p.store.CustomerSubscription(v.ctx(), v.Session.AccountID, v.Customer.ID, subscription)
		if err != nil {
			return nil, err
		}
		page.Title, page.Subscription = v.l.T("subscription.new_card"), sub
	}
	return page, nil
}

// newCard serves the page on which Stripe takes a card. A customer who comes back from their bank gets the outcome. The card is
// saved, the bank wants to ask them (again), or it has not answered yet.
func (p *Pages) newCard(v *visit) error {
	page, err := p.cardPage(v, v.QueryParam("subscription"))
	if err != nil {
		return p.refuse(v, err)
	}
	ref := v.QueryParam("setup_intent")
	if ref == "" {
		return p.showCard(v, http.StatusOK, page)
	}
	if !setupIntent.MatchString(ref) {
		return p.tell(v, http.StatusNotFound, missing(p.spoken(v)))
	}
	given, err := p.billing.LookAtGivenMethod(v.doing("createCustomerPaymentMethod"), v.Session.AccountID, v.Customer.ID, ref, buyer(v))
	if problem, ok := p.whyNot(v, err); ok {
		page.Problem = problem
		return p.showCard(v, http.StatusOK, page)
	}
	if core.OutcomeOf(err) == core.Unknown {
		slog.WarnContext(v.ctx(), "find a card that a customer gives", "error", err)
		given, err = &billing.GivenMethod{Ref: ref}, nil
	}
	if err != nil {
		return p.refuse(v, err)
	}
	if given.Saved != nil {
		return v.done(page.below(), page.done())
	}
	page.Next, page.Waits = given.NextURL, given.NextURL == ""
	page.Forward = forward(v, page.Next)
	return p.showCard(v, http.StatusOK, page)
}

// showCard answers with the page for a card. Stripe takes one only if none is under way.
func (p *Pages) showCard(v *visit, status int, page *portalCard) error {
	if page.Next == "" && !page.Waits {
		page.Key = v.CardKey()
	}
	return p.render(v, status, "portal_card.html", page.frame(), page)
}

// giveCard takes the form with a card that was given to Stripe. The card is saved, or the customer is sent to their bank first.
func (p *Pages) giveCard(v *visit) error {
	page, err := p.cardPage(v, v.FormValue("subscription"))
	if err != nil {
		return p.refuse(v, err)
	}
	page.Defaults = v.FormValue("default") != ""
	method := stripeMethod(v.FormValue("payment_method"))
	if method == nil {
		page.Problem = v.l.T("error.no_card")
		return p.showCard(v, http.StatusUnprocessableEntity, page)
	}
	in := billing.GiveMethod{Method: *method, IsDefault: page.Defaults, Page: v.Session.URL + "/cards/new", From: buyer(v)}
	query := url.Values{}
	if page.Subscription != nil {
		in.Subscription = page.Subscription.ID
		query.Set("subscription", in.Subscription)
		in.Page += "?" + query.Encode()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(v.doing("createCustomerPaymentMethod")), payTime)
	defer cancel()
	given, err := p.billing.GiveMethod(ctx, v.Session.AccountID, v.Customer.ID, in)
	if problem, ok := p.whyNot(v, err); ok {
		page.Problem = problem
		return p.showCard(v, http.StatusUnprocessableEntity, page)
	}
	if core.OutcomeOf(err) == core.Unknown {
		slog.WarnContext(ctx, "keep a card that a customer gives", "error", err)
		page.Problem = v.l.T("card.silent")
		return p.showCard(v, http.StatusOK, page)
	}
	switch {
	case err != nil:
		return p.refuse(v, err)
	case given.Saved != nil:
		return v.done(page.below(), page.done())
	}
	query.Set("setup_intent", given.Ref)
	query.Set(toBank, "1")
	if l := p.askedByAddress(v); l != nil {
		query.Set(localeField, l.Tag)
	}
	return v.Redirect(http.StatusSeeOther, v.Home+"/cards/new?"+query.Encode())
}

// addCard takes the form with another card of the customer's, which was given to Stripe or typed into the page.
func (p *Pages) addCard(v *visit) error {
	if v.CardKey() != "" {
		return p.giveCard(v)
	}
	_, problem, err := p.saveCard(v, v.FormValue("default") != "")
	return p.portalChanged(v, problem, err, "added")
}

// defaultCard makes a card of the customer's their default one.
func (p *Pages) defaultCard(v *visit) error {
	id := v.Param("card")
	_, err := p.store.UpdateCustomer(v.doing("updateCustomer"), v.Session.AccountID, v.Customer.ID, func(c *customer.Customer) { c.DefaultPaymentMethodID = &id })
	return p.portalChanged(v, "", err, "default")
}

// portalCardRemoval is the data of portal_card_remove.html, which asks before a card is removed.
type portalCardRemoval struct {
	portalPage
	Card *payment.SavedMethod
}

// askRemoveCard serves the page that asks before a card is removed.
func (p *Pages) askRemoveCard(v *visit) error {
	card, err := p.store.Payment.Method(v.ctx(), v.Session.AccountID, v.Customer.ID, v.Param("card"))
	if err != nil {
		return p.refuse(v, err)
	}
	page := portalCardRemoval{portalPage: v.page(v.l.T("card.remove_title", "card", cardName(v.l, card.Card.V)), ""), Card: card}
	return p.render(v, http.StatusOK, "portal_card_remove.html", page.frame(), page)
}

// removeCard removes a card of the customer's.
func (p *Pages) removeCard(v *visit) error {
	_, err := p.store.RemovePaymentMethod(v.doing("deleteCustomerPaymentMethod"), v.Session.AccountID, v.Customer.ID, v.Param("card"))
	return p.portalChanged(v, "", err, "removed")
}

// portalChanged answers a form: it sends the customer to the overview, which tells them what they have done. If that was
// refused, the overview says why.
func (p *Pages) portalChanged(v *visit, problem string, err error, what string) error {
	if message, ok := p.whyNot(v, err); ok {
		problem, err = message, nil
	}
	if err != nil {
		return p.refuse(v, err)
	}
	if problem != "" {
		return p.showPortal(v, http.StatusUnprocessableEntity, problem)
	}
	return v.done("", what)
}
