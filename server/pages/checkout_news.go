package pages

import (
	"context"
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

// newsAnswer returns what the buyer answered, nil if the form did not ask, or the seller sends no news any more.
func (p *Pages) newsAnswer(ctx context.Context, account string, f form) (*bool, error) {
	answer, asked := f["news"]
	if !asked {
		return nil, nil
	}
	agrees := answer == "true"
	if agrees {
		seller, err := p.store.Tenant.Seller(ctx, account)
		if err != nil || !p.asksNews(seller) {
			return nil, err
		}
	}
	return &agrees, nil
}

// noteNews notes that the buyer wants news, in the words of the page. No purchase depends on it: what goes wrong is logged.
func (p *Pages) noteNews(c echo.Context, bought *checkout.Checkout) {
	ctx := c.Request().Context()
	seller, err := p.store.Tenant.GetAccount(ctx, bought.AccountID)
	if err == nil {
		words := p.speak(c, bought.Locale, seller.Locale).T("checkout.news", "seller", seller.Name)
		err = p.store.AgreeToNews(ctx, bought.AccountID, bought.ID, caller.Address(ctx), words)
	}
	if err != nil {
		slog.WarnContext(ctx, "note that a buyer wants news", "checkout", bought.ID, "error", err)
	}
}
