package pages

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

// cardName is how a customer knows a card: Visa ending in 4242.
func cardName(m store.PaymentMethod) string {
	brand := m.Brand
	if brand != "" {
		brand = strings.ToUpper(brand[:1]) + brand[1:]
	}
	return fmt.Sprintf("%s ending in %s", brand, m.Last4)
}

// onceForm is what may stand in a form to tell it from the next.
var onceForm = regexp.MustCompile(`^[0-9a-z]{1,40}$`)

func newOnce() string { return strings.ToLower(rand.Text()) }

// saveCard keeps the card that was typed into a form. What is wrong with it is the problem.
func (p *Pages) saveCard(v *visit, isDefault bool) (saved *store.SavedMethod, problem string, err error) {
	if !v.TakesTestCards() {
		return nil, "Cards are not taken on this page.", nil
	}
	once := v.FormValue("once")
	if !onceForm.MatchString(once) {
		return nil, "The form is incomplete. Try again.", nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(v.ctx()), payTime)
	defer cancel()
	saved, err = p.billing.SaveMethod(ctx, v.Session.AccountID, v.Customer.ID, billing.SaveMethod{Method: *typedCard(v), IsDefault: isDefault, Once: once, From: buyer(v)})
	if message, ok := whyNot(v, err); ok {
		return nil, message, nil
	}
	return saved, "", err
}

// TypedCard says whether this answers a form into which a card was typed, so that it is there to be corrected.
func (v *visit) TypedCard() bool { return v.FormValue("card_number") != "" }

// portalCard is the page on which Stripe takes another card of the customer's.
type portalCard struct {
	portalPage
	Subscription *store.Subscription // that is to be charged to it, nil for none
	Defaults     bool                // it was to become the default card
	Next         string              // where the bank wants to be told that the card is theirs
	Waits        bool                // for the bank
}

// Stripe is the part of the form in which Stripe takes a card.
func (p portalCard) Stripe() stripeForm { return stripeForm{p.Key, p.Problem} }

// Back is where the customer came from.
func (p portalCard) Back() string { return p.Home + p.below() }

func (p portalCard) below() string {
	if p.Subscription == nil {
		return ""
	}
	return "/subscriptions/" + p.Subscription.ID
}

// done is what the customer is told when the card is kept.
func (p portalCard) done() string {
	if p.Subscription == nil {
		return "added"
	}
	return "charged"
}

// setupIntent is what Stripe calls the giving of a card.
var setupIntent = regexp.MustCompile(`^seti_[A-Za-z0-9_]{1,200}$`)

// cardPage is the page for a card, of the seller whom Stripe takes cards for, and of the subscription that is named.
func (p *Pages) cardPage(v *visit, subscription string) (*portalCard, error) {
	page := &portalCard{portalPage: v.page("Add a card", "")}
	if v.CardKey() == "" {
		return nil, core.Missing("page", "", "")
	}
	if subscription != "" {
		sub, err := p.store.CustomerSubscription(v.ctx(), v.Session.AccountID, v.Customer.ID, subscription)
		if err != nil {
			return nil, err
		}
		page.Title, page.Subscription = "Use a new card", sub
	}
	return page, nil
}

// newCard serves the page on which Stripe takes a card, also to a customer who comes back from their bank.
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
		return p.render(v, http.StatusNotFound, "missing.html", nil)
	}
	given, err := p.billing.FindGivenMethod(v.ctx(), v.Session.AccountID, v.Customer.ID, ref, buyer(v))
	if problem, ok := whyNot(v, err); ok {
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

// showCard answers with the page for a card. Stripe takes one as long as none is under way.
func (p *Pages) showCard(v *visit, status int, page *portalCard) error {
	if page.Next == "" && !page.Waits {
		page.Key = v.CardKey()
	}
	return p.render(v, status, "portal_card.html", page)
}

// giveCard keeps what Stripe made of a card, or sends the customer to their bank first.
func (p *Pages) giveCard(v *visit) error {
	page, err := p.cardPage(v, v.FormValue("subscription"))
	if err != nil {
		return p.refuse(v, err)
	}
	page.Defaults = v.FormValue("default") != ""
	method := stripeMethod(v.FormValue("payment_method"))
	if method == nil {
		page.Problem = "Enter a card."
		return p.showCard(v, http.StatusUnprocessableEntity, page)
	}
	in := billing.GiveMethod{Method: *method, IsDefault: page.Defaults, Page: v.Session.URL + "/cards/new", From: buyer(v)}
	query := url.Values{}
	if page.Subscription != nil {
		in.Subscription = page.Subscription.ID
		query.Set("subscription", in.Subscription)
		in.Page += "?" + query.Encode()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(v.ctx()), payTime)
	defer cancel()
	given, err := p.billing.GiveMethod(ctx, v.Session.AccountID, v.Customer.ID, in)
	if problem, ok := whyNot(v, err); ok {
		page.Problem = problem
		return p.showCard(v, http.StatusUnprocessableEntity, page)
	}
	if core.OutcomeOf(err) == core.Unknown {
		slog.WarnContext(ctx, "keep a card that a customer gives", "error", err)
		page.Problem = "Your bank has not answered. Look in a minute whether the card is saved, or enter it again."
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
	return v.Redirect(http.StatusSeeOther, v.Home+"/cards/new?"+query.Encode())
}

// addCard keeps another card of the customer's.
func (p *Pages) addCard(v *visit) error {
	if v.CardKey() != "" {
		return p.giveCard(v)
	}
	_, problem, err := p.saveCard(v, v.FormValue("default") != "")
	return p.portalChanged(v, problem, err, "added")
}

// defaultCard makes one of the customer's cards the one that is charged where no other is chosen.
func (p *Pages) defaultCard(v *visit) error {
	id := v.Param("card")
	_, err := p.store.UpdateCustomer(v.ctx(), v.Session.AccountID, v.Customer.ID, func(c *store.Customer) { c.DefaultPaymentMethodID = &id })
	return p.portalChanged(v, "", err, "default")
}

// removeCard forgets one of the customer's cards.
func (p *Pages) removeCard(v *visit) error {
	_, err := p.store.RemovePaymentMethod(v.ctx(), v.Session.AccountID, v.Customer.ID, v.Param("card"))
	return p.portalChanged(v, "", err, "removed")
}

// portalChanged goes back to the overview, or says on it what is wrong.
func (p *Pages) portalChanged(v *visit, problem string, err error, what string) error {
	if message, ok := whyNot(v, err); ok {
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
