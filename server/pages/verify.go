package pages

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/tenant"
)

// verifyPage is the data of verify.html, on which the reader of a letter says that a checkout is theirs. Nothing is shown of
// whoever typed their address into it.
type verifyPage struct {
	Seller   *tenant.Account
	Checkout *checkout.Checkout
	Summary  string
	Said     bool // the reader has just confirmed it
}

// IsBought reports whether the checkout was completed.
func (p verifyPage) IsBought() bool { return p.Checkout.Status == checkout.StatusCompleted }

// verify serves the page that the link in a letter opens. It changes nothing, because programs that look for malice in mail
// follow links too.
func (p *Pages) verify(c echo.Context) error {
	checkout, expired, err := p.store.Checkout.OpenVerification(c.Request().Context(), c.Param("token"))
	if err != nil {
		return p.refuse(c, err)
	}
	return p.showVerify(c, checkout, expired, false)
}

// verified takes the form with which the reader of a letter confirms that a checkout is theirs.
func (p *Pages) verified(c echo.Context) error {
	checkout, expired, err := p.store.Checkout.VerifyAddress(c.Request().Context(), c.Param("token"))
	if _, refused := isInvalid(p.spoken(c), err); refused { // it expired, or is being paid at this moment
		return p.tell(c, http.StatusUnprocessableEntity, outdated(p.spoken(c)))
	}
	if err != nil {
		return p.refuse(c, err)
	}
	return p.showVerify(c, checkout, expired, true)
}

// showVerify answers with the page of a letter's link; said tells whether its reader has just confirmed. An expired link is
// 410.
func (p *Pages) showVerify(c echo.Context, checkout *checkout.Checkout, expired, said bool) error {
	if expired {
		seller, err := p.store.Tenant.GetAccount(c.Request().Context(), checkout.AccountID)
		if err != nil {
			return p.refuse(c, err)
		}
		return p.over(c, seller, nil)
	}
	offer, err := p.store.Checkout.GetOffer(c.Request().Context(), checkout)
	if err != nil {
		return err
	}
	l := p.speak(c, checkout.Locale, offer.Seller.Locale)
	return p.render(c, http.StatusOK, "verify.html", ui.Frame{Title: l.T("verify.title"), Shop: shopOf(offer.Seller)}, verifyPage{Seller: offer.Seller, Checkout: checkout, Summary: bought(l, offer.Items), Said: said})
}

// askWhose has a letter sent to the address that was typed into a checkout, for its reader to confirm.
func (p *Pages) askWhose(c echo.Context) error {
	ctx := c.Request().Context()
	account, id, err := p.store.Checkout.OfSecret(ctx, c.Param("client_secret"))
	if err != nil {
		return p.refuse(c, err)
	}
	_, err = p.post.AskVerification(ctx, account, id, buyer(c).Address)
	if problem, refused := p.whyNot(c, err); refused {
		return p.showCheckout(c, http.StatusUnprocessableEntity, account, id, nil, map[string]string{"letter": problem})
	}
	if err != nil {
		return p.refuse(c, err)
	}
	return p.backTo(c, c.Param("client_secret"), letterSent, "1")
}

// letterSent is the parameter of the address of a checkout's page once its buyer has asked for a letter.
const letterSent = "letter"
