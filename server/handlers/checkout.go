package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/checkout"
)

// conceal removes from a checkout what it can be paid with, unless the calling key could make a checkout. It is only for
// operations that read: whoever may write checkouts sees it.
func conceal(ctx context.Context, c *checkout.Checkout) {
	if !caller.Of(ctx).May("checkouts:write") {
		c.ClientSecret, c.URL, c.NextAction.V = "", "", nil // the next action may contain that URL
	}
}

// checkoutsByID returns a function that loads checkouts by id, as the calling key may see them.
func checkoutsByID(s *store.Store) func(ctx context.Context, account string, ids []string) (map[string]*checkout.Checkout, error) {
	return func(ctx context.Context, account string, ids []string) (map[string]*checkout.Checkout, error) {
		checkouts, err := s.Checkout.ByID(ctx, account, ids)
		for _, c := range checkouts {
			conceal(ctx, c)
		}
		return checkouts, err
	}
}

// ListCheckouts implements GET /checkouts.
func (h *Handlers) ListCheckouts(ctx context.Context, r api.ListCheckoutsRequestObject) (api.ListCheckoutsResponseObject, error) {
	checkouts, more, err := h.store.Checkout.List(ctx, account(ctx), view.ListCheckouts(r.Params))
	if err != nil {
		return nil, err
	}
	for i := range checkouts {
		conceal(ctx, &checkouts[i])
	}
	out, err := showList(ctx, h, "/v1/checkouts", checkouts, more, view.Checkout, r.Params.Expand)
	return api.ListCheckouts200JSONResponse(out), err
}

// ExportCheckouts implements GET /checkouts/export.
func (h *Handlers) ExportCheckouts(ctx context.Context, r api.ExportCheckoutsRequestObject) (api.ExportCheckoutsResponseObject, error) {
	u, err := h.export(ctx, "checkouts", r.Params)
	return api.ExportCheckouts200JSONResponse(u), err
}

// CreateCheckout implements POST /checkouts.
func (h *Handlers) CreateCheckout(ctx context.Context, r api.CreateCheckoutRequestObject) (api.CreateCheckoutResponseObject, error) {
	c, err := h.store.Checkout.Create(ctx, account(ctx), view.NewCheckout(r.Body))
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, c, view.Checkout, r.Params.Expand)
	return api.CreateCheckout201JSONResponse(out), err
}

// GetCheckout implements GET /checkouts/{id}.
func (h *Handlers) GetCheckout(ctx context.Context, r api.GetCheckoutRequestObject) (api.GetCheckoutResponseObject, error) {
	c, err := h.store.Checkout.Get(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	conceal(ctx, c)
	out, err := show(ctx, h, c, view.Checkout, r.Params.Expand)
	return api.GetCheckout200JSONResponse(out), err
}

// UpdateCheckout implements PATCH /checkouts/{id}.
func (h *Handlers) UpdateCheckout(ctx context.Context, r api.UpdateCheckoutRequestObject) (api.UpdateCheckoutResponseObject, error) {
	c, err := h.store.Checkout.Update(ctx, account(ctx), r.ID, view.CheckoutChange(r.Body))
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, c, view.Checkout, r.Params.Expand)
	return api.UpdateCheckout200JSONResponse(out), err
}

// ExpireCheckout implements POST /checkouts/{id}/expire.
func (h *Handlers) ExpireCheckout(ctx context.Context, r api.ExpireCheckoutRequestObject) (api.ExpireCheckoutResponseObject, error) {
	c, err := h.billing.ExpireCheckout(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.ExpireCheckout200JSONResponse(view.Checkout(c)), nil
}

// ConfirmCheckout implements POST /checkouts/{id}/confirm.
func (h *Handlers) ConfirmCheckout(ctx context.Context, r api.ConfirmCheckoutRequestObject) (api.ConfirmCheckoutResponseObject, error) {
	c, err := h.billing.ConfirmCheckout(ctx, account(ctx), r.ID, confirmation(r.Body))
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, c, view.Checkout, r.Params.Expand)
	return api.ConfirmCheckout200JSONResponse(out), err
}

// confirmation reads how a buyer wants to pay.
func confirmation(b *api.CheckoutConfirm) billing.CheckoutConfirm {
	in := billing.CheckoutConfirm{
		TermsAccepted: b.TermsAccepted != nil && *b.TermsAccepted, WithdrawalWaived: b.WithdrawalWaived != nil && *b.WithdrawalWaived, Save: b.SavePaymentMethod != nil && *b.SavePaymentMethod,
		AdsConsent: b.AdsConsent, AdsVisit: view.AdsVisit(b.AdsVisit),
	}
	if b.PaymentMethod != nil {
		in.Method = &payments.MethodInput{Ref: b.PaymentMethod.Token, Card: (*payments.Card)(b.PaymentMethod.Card)}
	}
	return in
}
