package pages

import (
	"context"
	"log/slog"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/tenant"
)

// asksNews reports whether a seller has the buyer of a checkout asked for news, which the server then sends. If the address is not proven, a letter has to be able
// to ask its reader.
func (p *Pages) asksNews(seller *tenant.Account, c *checkout.Checkout) bool {
	return p.post.Sends() && seller.Writes(tenant.LetterCheckoutAbandoned) && (c.EmailVerified || seller.LeadConfirmation != tenant.LeadConfirmationNone)
}

// newsAnswer returns what writes into a checkout whether its buyer wants news, nil if the form did not ask.
func (p *Pages) newsAnswer(ctx context.Context, account string, f form) (func(*checkout.Draft), error) {
	answer, asked := f["news"]
	if !asked {
		return nil, nil
	}
	seller, err := p.store.Tenant.GetAccount(ctx, account)
	return func(d *checkout.Draft) { d.AnswerNews(answer == "true" && p.asksNews(seller, d.Checkout)) }, err
}

// noteNews notes whether the buyer wants news, in the words of the page, also if they have closed it. No purchase depends on it: what goes wrong is logged.
func (p *Pages) noteNews(c echo.Context, bought *checkout.Checkout) {
	ctx := context.WithoutCancel(c.Request().Context())
	seller, err := p.store.Tenant.GetAccount(ctx, bought.AccountID)
	if err == nil {
		words := p.speak(c, bought.Locale, seller.Locale).T("checkout.news", "seller", seller.Name)
		err = p.store.NoteNews(ctx, bought.AccountID, bought.ID, caller.Address(ctx), words)
	}
	if err != nil {
		slog.WarnContext(ctx, "note that a buyer wants news", "checkout", bought.ID, "error", err)
	}
}
