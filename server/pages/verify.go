package pages

import (
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/store"
)

// verifyPage is where the reader of a letter says that a checkout is theirs. Of whoever typed the address nothing is shown.
type verifyPage struct {
	Seller   *store.Account
	Checkout *store.Checkout
	Summary  string
	Said     bool // they have
}

// IsBought tells whether the checkout was completed.
func (p verifyPage) IsBought() bool { return p.Checkout.Status == store.CheckoutStatusCompleted }

// verify serves the page of a letter's link. It changes nothing: programs that look for malice in mail follow links too.
func (p *Pages) verify(c echo.Context) error {
	checkout, expired, err := p.store.OpenVerification(c.Request().Context(), c.Param("token"))
	if err != nil {
		return p.refuse(c, err)
	}
	return p.showVerify(c, checkout, expired, false)
}

// verified is the word of whoever reads the mail to an address that a checkout is theirs.
func (p *Pages) verified(c echo.Context) error {
	checkout, expired, err := p.store.VerifyAddress(c.Request().Context(), c.Param("token"))
	if _, refused := isInvalid(err); refused { // it expired, or is being paid at this moment
		return p.render(c, http.StatusUnprocessableEntity, "expired.html", nil)
	}
	if err != nil {
		return p.refuse(c, err)
	}
	return p.showVerify(c, checkout, expired, true)
}

func (p *Pages) showVerify(c echo.Context, checkout *store.Checkout, expired, said bool) error {
	if expired {
		return p.render(c, http.StatusGone, "expired.html", nil)
	}
	offer, err := p.store.GetCheckoutOffer(c.Request().Context(), checkout)
	if err != nil {
		return err
	}
	return p.render(c, http.StatusOK, "verify.html", verifyPage{Seller: offer.Seller, Checkout: checkout, Summary: bought(offer.Items), Said: said})
}

// askWhose sends a letter to the address of a checkout.
func (p *Pages) askWhose(c echo.Context) error {
	ctx := c.Request().Context()
	account, id, err := p.store.CheckoutOfSecret(ctx, c.Param("client_secret"))
	if err != nil {
		return p.refuse(c, err)
	}
	_, err = p.post.SendVerification(ctx, account, id, buyer(c).Address)
	if problem, refused := whyNot(c, err); refused {
		return p.showCheckout(c, http.StatusUnprocessableEntity, account, id, nil, map[string]string{"letter": problem})
	}
	if err != nil {
		return p.refuse(c, err)
	}
	return c.Redirect(http.StatusSeeOther, "../"+url.PathEscape(c.Param("client_secret"))+"?"+letterSent+"=1")
}

// letterSent is the parameter of the page of a checkout whose buyer has asked for a letter.
const letterSent = "letter"
