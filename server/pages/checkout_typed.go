package pages

import (
	"cmp"
	"maps"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/store"
)

// typedCookie is the cookie by which the browser into which somebody typed is known again. It has no path, so that it goes to the page of its
// checkout alone. Whoever only finds the address of the page learns nothing of its buyer.
const typedCookie = "tillwright_typed"

// keepTyped has the browser that sent a checkout's form see what it sent again.
func (p *Pages) keepTyped(c echo.Context, checkout *store.Checkout) {
	c.SetCookie(&http.Cookie{Name: typedCookie, Value: p.store.TypedBy(checkout), Secure: strings.HasPrefix(checkout.URL, "https:"), HttpOnly: true, SameSite: http.SameSiteLaxMode})
}

// hasTyped reports whether the browser that asks has sent the form of a checkout.
func (p *Pages) hasTyped(c echo.Context, checkout *store.Checkout) bool {
	cookie, err := c.Cookie(typedCookie)
	return err == nil && p.store.IsTypedBy(checkout, cookie.Value)
}

// keepStored has the form show what was typed into it before, where nothing is typed now.
func (p *checkoutPage) keepStored() {
	c, stored := p.Checkout, form{}
	keep := func(name string, value *string) {
		if value != nil {
			stored[name] = *value
		}
	}
	keep("email", c.CustomerEmail)
	keep("name", c.CustomerName)
	if a := c.BillingAddress.V; a != nil {
		keep("line1", a.Line1)
		keep("postal_code", a.PostalCode)
		keep("city", a.City)
		keep("state", a.State)
		if _, typed := p.Form["country"]; !typed && p.Country == "" {
			p.Country = text(a.Country)
		}
	}
	if c.TaxID.V != nil {
		stored["tax_id"] = c.TaxID.V.Value
	}
	for key, answer := range c.CustomFieldData.V {
		stored[answerField+key] = answer
	}
	if c.AdsConsent {
		stored["ads_consent"] = "true"
	}
	maps.Copy(stored, p.Form)
	p.Form = stored
}

// sayState has the page say what its buyer has just done, which the parameter told names, or why the last payment failed. What is wrong with what was
// sent just now is said alone.
func (p *checkoutPage) sayState(told string) {
	last := p.Checkout.LastPaymentError.V
	switch {
	case p.Problems != nil || p.State != string(store.CheckoutStatusOpen) || told == toldUpdate:
	case told == toldTotal:
		p.Problems = map[string]string{"": p.l.T("error.total_changed")}
	case last != nil && (p.TakesStripe() || p.TakesTestCard()):
		name := cmp.Or(cardFieldOf[text(last.DeclineCode)], cardFieldOf[last.Code], "card_number")
		p.Problems = map[string]string{name: declined(p.l, last)}
	case last != nil:
		p.Problems = map[string]string{"": declined(p.l, last)}
	}
}
