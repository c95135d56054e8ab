package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store/checkout"
)

// GetPublicCheckout implements GET /public/checkouts/{client_secret}.
func (h *Handlers) GetPublicCheckout(ctx context.Context, r api.GetPublicCheckoutRequestObject) (api.GetPublicCheckoutResponseObject, error) {
	account, id, err := h.store.Checkout.OfSecret(ctx, r.ClientSecret)
	if err != nil {
		return nil, err
	}
	c, err := h.store.Checkout.Get(ctx, account, id)
	if err != nil {
		return nil, err
	}
	out, err := h.publicCheckout(ctx, c)
	return api.GetPublicCheckout200JSONResponse(out), err
}

// UpdatePublicCheckout implements PATCH /public/checkouts/{client_secret}.
func (h *Handlers) UpdatePublicCheckout(ctx context.Context, r api.UpdatePublicCheckoutRequestObject) (api.UpdatePublicCheckoutResponseObject, error) {
	account, id, err := h.store.Checkout.OfSecret(ctx, r.ClientSecret)
	if err != nil {
		return nil, err
	}
	c, err := h.store.Checkout.Update(ctx, account, id, view.PublicCheckoutChange(r.Body))
	if err != nil {
		return nil, err
	}
	out, err := h.publicCheckout(ctx, c)
	return api.UpdatePublicCheckout200JSONResponse(out), err
}

// ConfirmPublicCheckout implements POST /public/checkouts/{client_secret}/confirm.
func (h *Handlers) ConfirmPublicCheckout(ctx context.Context, r api.ConfirmPublicCheckoutRequestObject) (api.ConfirmPublicCheckoutResponseObject, error) {
	account, id, err := h.store.Checkout.OfSecret(ctx, r.ClientSecret)
	if err != nil {
		return nil, err
	}
	in := confirmation(r.Body)
	in.IsPublic = true
	in.From.Address = caller.Address(ctx)
	c, err := h.billing.ConfirmCheckout(ctx, account, id, in)
	if err != nil {
		return nil, err
	}
	out, err := h.publicCheckout(ctx, c)
	return api.ConfirmPublicCheckout200JSONResponse(out), err
}

// VerifyPublicCheckoutEmail implements POST /public/checkouts/{client_secret}/verify_email.
func (h *Handlers) VerifyPublicCheckoutEmail(ctx context.Context, r api.VerifyPublicCheckoutEmailRequestObject) (api.VerifyPublicCheckoutEmailResponseObject, error) {
	account, id, err := h.store.Checkout.OfSecret(ctx, r.ClientSecret)
	if err != nil {
		return nil, err
	}
	c, err := h.post.AskVerification(ctx, account, id, caller.Address(ctx))
	if err != nil {
		return nil, err
	}
	out, err := h.publicCheckout(ctx, c)
	return api.VerifyPublicCheckoutEmail200JSONResponse(out), err
}

// publicCheckout renders a checkout for its buyer.
func (h *Handlers) publicCheckout(ctx context.Context, c *checkout.Checkout) (api.PublicCheckout, error) {
	offer, err := h.store.Checkout.GetOffer(ctx, c)
	if err != nil {
		return api.PublicCheckout{}, err
	}
	deliveries, err := h.store.CheckoutDeliveries(ctx, c)
	if err != nil {
		return api.PublicCheckout{}, err
	}
	return view.PublicCheckout(c, offer, deliveries), nil
}
