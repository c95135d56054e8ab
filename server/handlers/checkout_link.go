package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// ListCheckoutLinks implements GET /checkout_links.
func (h *Handlers) ListCheckoutLinks(ctx context.Context, r api.ListCheckoutLinksRequestObject) (api.ListCheckoutLinksResponseObject, error) {
	links, more, err := h.store.Checkout.ListLinks(ctx, account(ctx), view.ListCheckoutLinks(r.Params))
	if err != nil {
		return nil, err
	}
	out, err := showList(ctx, h, "/v1/checkout_links", links, more, view.CheckoutLink, r.Params.Expand)
	return api.ListCheckoutLinks200JSONResponse(out), err
}

// ExportCheckoutLinks implements GET /checkout_links/export.
func (h *Handlers) ExportCheckoutLinks(ctx context.Context, r api.ExportCheckoutLinksRequestObject) (api.ExportCheckoutLinksResponseObject, error) {
	u, err := h.export(ctx, "checkout_links", r.Params)
	return api.ExportCheckoutLinks200JSONResponse(u), err
}

// CreateCheckoutLink implements POST /checkout_links.
func (h *Handlers) CreateCheckoutLink(ctx context.Context, r api.CreateCheckoutLinkRequestObject) (api.CreateCheckoutLinkResponseObject, error) {
	l, err := h.store.Checkout.CreateLink(ctx, account(ctx), view.NewCheckoutLink(r.Body))
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, l, view.CheckoutLink, r.Params.Expand)
	return api.CreateCheckoutLink201JSONResponse(out), err
}

// GetCheckoutLink implements GET /checkout_links/{id}.
func (h *Handlers) GetCheckoutLink(ctx context.Context, r api.GetCheckoutLinkRequestObject) (api.GetCheckoutLinkResponseObject, error) {
	l, err := h.store.Checkout.GetLink(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, l, view.CheckoutLink, r.Params.Expand)
	return api.GetCheckoutLink200JSONResponse(out), err
}

// UpdateCheckoutLink implements PATCH /checkout_links/{id}.
func (h *Handlers) UpdateCheckoutLink(ctx context.Context, r api.UpdateCheckoutLinkRequestObject) (api.UpdateCheckoutLinkResponseObject, error) {
	l, err := h.store.Checkout.UpdateLink(ctx, account(ctx), r.ID, view.CheckoutLinkChange(r.Body))
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, l, view.CheckoutLink, r.Params.Expand)
	return api.UpdateCheckoutLink200JSONResponse(out), err
}

// DeleteCheckoutLink implements DELETE /checkout_links/{id}.
func (h *Handlers) DeleteCheckoutLink(ctx context.Context, r api.DeleteCheckoutLinkRequestObject) (api.DeleteCheckoutLinkResponseObject, error) {
	l, err := h.store.Checkout.DeleteLink(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.DeleteCheckoutLink200JSONResponse(view.Deleted("checkout_link", l.ID)), nil
}
