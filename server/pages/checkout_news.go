package pages

import (
	"log/slog"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/tenant"
)

// asksNews reports whether a seller has their buyers asked for news, which the server then sends.
func (p *Pages) asksNews(seller *tenant.Account) bool {
	return p.post.Sends() && seller.Writes(tenant.LetterCheckoutAbandoned)
}

// noteNews notes that the buyer ticked that they want news, in the words of the page. No purchase depends on it: what goes wrong is logged.
func (p *Pages) noteNews(c echo.Context, bought *checkout.Checkout, sent form) {
	if sent["news"] != "true" {
		return
	}
	ctx := c.Request().Context()
	seller, err := p.store.Tenant.GetAccount(ctx, bought.AccountID)
	if err == nil && p.asksNews(seller) {
		words := p.speak(c, bought.Locale, seller.Locale).T("checkout.news", "seller", seller.Name)
		err = p.store.AgreeToNews(ctx, bought.AccountID, bought.ID, caller.Address(ctx), words)
	}
	if err != nil {
		slog.WarnContext(ctx, "note that a buyer wants news", "checkout", bought.ID, "error", err)
	}
}
