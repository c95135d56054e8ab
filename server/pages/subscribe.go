package pages

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/lead"
	"github.com/tillwright/tillwright/store/tenant"
)

// subscribePage is the data of subscribe.html, on which the reader of a letter agrees to more of them. Nothing is shown that somebody
// typed into the form.
type subscribePage struct {
	Seller *tenant.Account
	Said   bool // the reader has agreed, and nothing more follows from their saying it
	Ads    bool // so that ad networks are told, as was agreed in the form
}

// subscribe serves the page that the link in a letter to a lead opens. It changes nothing, because programs that look for malice in mail
// follow links too.
func (p *Pages) subscribe(c echo.Context) error {
	lead, expired, err := p.store.Lead.OpenConfirmation(c.Request().Context(), c.Param("token"))
	return p.showSubscribe(c, lead, expired, err)
}

// subscribed takes the form with which the reader of a letter agrees.
func (p *Pages) subscribed(c echo.Context) error {
	lead, expired, err := p.store.Lead.Confirm(c.Request().Context(), c.Param("token"))
	return p.showSubscribe(c, lead, expired, err)
}

// showSubscribe answers with the page of a letter to a lead. An expired link is 410.
func (p *Pages) showSubscribe(c echo.Context, lead *lead.Lead, expired bool, err error) error {
	if err != nil {
		return p.refuse(c, err)
	}
	if expired {
		return p.tell(c, http.StatusGone, outdated(p.spoken(c)))
	}
	seller, err := p.store.Tenant.GetAccount(c.Request().Context(), lead.AccountID)
	if err != nil {
		return err
	}
	l := p.speak(c, lead.Locale, seller.Locale)
	tells, err := p.store.Lead.TellsOnceConfirmed(c.Request().Context(), lead)
	if err != nil {
		return err
	}
	return p.render(c, http.StatusOK, "subscribe.html", ui.Frame{Title: l.T("verify.title"), Shop: shopOf(seller)}, subscribePage{Seller: seller, Said: lead.Consent.V.ConfirmedAt != nil && !tells, Ads: tells})
}
