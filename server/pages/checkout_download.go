package pages

import (
	"errors"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
)

// linkFiles gives the files that a checkout has delivered the addresses by which its buyer gets them.
func (p *checkoutPage) linkFiles() {
	for i := range p.Deliveries {
		if d := &p.Deliveries[i]; d.FileID != nil {
			d.URL = new(p.Base + "downloads/" + d.GrantID + "/" + *d.FileID)
		}
	}
}

// checkoutDownload sends a buyer who presses the link of a file on the page of what they have just bought to the file. Only from there on it counts
// as a download. A grant that is over is 410, and one that the checkout did not give is missing. A file that was downloaded as often as it may be is
// 403 there, as it is for a customer on the portal.
func (p *Pages) checkoutDownload(c echo.Context) error {
	ctx := c.Request().Context()
	account, id, err := p.store.Checkout.OfSecret(ctx, c.Param("client_secret"))
	if err != nil {
		return p.refuse(c, err)
	}
	checkout, err := p.store.Checkout.Get(ctx, account, id)
	if err != nil {
		return p.refuse(c, err)
	}
	if checkout.OrderID == nil {
		return p.tell(c, http.StatusNotFound, missing(p.spoken(c)))
	}
	order, err := p.store.Order.Get(ctx, account, *checkout.OrderID)
	if err != nil {
		return p.refuse(c, err)
	}
	if !slices.Contains(order.GrantIDs.V, c.Param("grant")) {
		return p.tell(c, http.StatusNotFound, missing(p.spoken(c)))
	}
	signed, err := p.store.GetGrantDownload(ctx, account, c.Param("grant"), c.Param("file"), downloadTime)
	if e, ok := errors.AsType[*core.Error](err); ok && e.Code == core.CodeInvalid {
		return p.downloadOver(c, checkout)
	}
	if err != nil {
		return p.refuse(c, err)
	}
	p.private(c)
	return c.Redirect(http.StatusSeeOther, signed.URL)
}

// downloadOver answers 410: a file that a checkout gave is not open to its buyer any more. They are led to the door of the portal, where the rest is.
func (p *Pages) downloadOver(c echo.Context, checkout *checkout.Checkout) error {
	seller, err := p.store.Tenant.GetAccount(c.Request().Context(), checkout.AccountID)
	if err != nil {
		return err
	}
	l := p.speak(c, checkout.Locale, seller.Locale)
	over := said(l, "message.download_over")
	over.Back, over.To = p.doorOf(c, l, seller), l.T("portal.title")
	return p.tellAt(c, http.StatusGone, shopOf(seller), over)
}
