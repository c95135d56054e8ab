package pages

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/store"
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
	takes, err := p.takesCards(v)
	if err != nil || !takes {
		return nil, "Cards are not taken on this page.", err
	}
	once := v.FormValue("once")
	if !onceForm.MatchString(once) {
		return nil, "The form is incomplete. Try again.", nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(v.ctx()), payTime)
	defer cancel()
	saved, err = p.billing.SaveMethod(ctx, v.Session.AccountID, v.Customer.ID, billing.SaveMethod{Method: *typedCard(v), IsDefault: isDefault, Once: once})
	if message, ok := isInvalid(err); ok {
		return nil, message, nil
	}
	return saved, "", err
}

// TypedCard says whether this answers a form into which a card was typed, so that it is there to be corrected.
func (v *visit) TypedCard() bool { return v.FormValue("number") != "" }

// addCard keeps another card of the customer's.
func (p *Pages) addCard(v *visit) error {
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
	if message, ok := isInvalid(err); ok {
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
