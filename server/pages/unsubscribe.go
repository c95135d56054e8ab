package pages

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/tenant"
)

// unsubscribePage is the data of unsubscribe.html, on which the reader of a letter ends the news of a seller.
type unsubscribePage struct {
	Seller *tenant.Account
	Ended  bool
}

// unsubscribe serves the page that the link in a letter opens. It changes nothing, because programs that look for malice in mail follow links too.
func (p *Pages) unsubscribe(c echo.Context) error {
	account, ended, err := p.store.Lead.OpenUnsubscription(c.Request().Context(), c.Param("token"))
	return p.showUnsubscribe(c, account, ended, err)
}

// unsubscribed takes the form of that page, and what a mail program sends whose reader ends the news there (RFC 8058). Neither needs anything but the link.
func (p *Pages) unsubscribed(c echo.Context) error {
	account, err := p.store.Lead.Unsubscribe(c.Request().Context(), c.Param("token"))
	return p.showUnsubscribe(c, account, true, err)
}

func (p *Pages) showUnsubscribe(c echo.Context, account string, ended bool, err error) error {
	if err != nil {
		return p.refuse(c, err)
	}
	seller, err := p.store.Tenant.GetAccount(c.Request().Context(), account)
	if err != nil {
		return p.refuse(c, err)
	}
	l := p.speak(c, nil, seller.Locale)
	return p.render(c, http.StatusOK, "unsubscribe.html", ui.Frame{Title: l.T("unsubscribe.title"), Shop: shopOf(seller)}, unsubscribePage{seller, ended})
}
