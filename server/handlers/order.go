package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// ListOrders implements GET /orders.
func (h *Handlers) ListOrders(ctx context.Context, r api.ListOrdersRequestObject) (api.ListOrdersResponseObject, error) {
	orders, more, err := h.store.Order.List(ctx, account(ctx), view.ListOrders(r.Params))
	if err != nil {
		return nil, err
	}
	out, err := showList(ctx, h, "/v1/orders", orders, more, view.Order, r.Params.Expand)
	return api.ListOrders200JSONResponse(out), err
}

// GetOrder implements GET /orders/{id}.
func (h *Handlers) GetOrder(ctx context.Context, r api.GetOrderRequestObject) (api.GetOrderResponseObject, error) {
	o, err := h.store.Order.Get(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, o, view.Order, r.Params.Expand)
	return api.GetOrder200JSONResponse(out), err
}

// UpdateOrder implements PATCH /orders/{id}.
func (h *Handlers) UpdateOrder(ctx context.Context, r api.UpdateOrderRequestObject) (api.UpdateOrderResponseObject, error) {
	o, err := h.store.UpdateOrder(ctx, account(ctx), r.ID, view.OrderPatch(r.Body))
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, o, view.Order, r.Params.Expand)
	return api.UpdateOrder200JSONResponse(out), err
}

// ExportOrders implements GET /orders/export.
func (h *Handlers) ExportOrders(ctx context.Context, r api.ExportOrdersRequestObject) (api.ExportOrdersResponseObject, error) {
	u, err := h.export(ctx, "orders", r.Params)
	return api.ExportOrders200JSONResponse(u), err
}

// GetOrderReceipt implements GET /orders/{id}/receipt.
func (h *Handlers) GetOrderReceipt(ctx context.Context, r api.GetOrderReceiptRequestObject) (api.GetOrderReceiptResponseObject, error) {
	u, err := h.store.Order.Receipt(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.GetOrderReceipt200JSONResponse(view.SignedURL(u)), nil
}

// ResendOrderReceipt implements POST /orders/{id}/resend_receipt.
func (h *Handlers) ResendOrderReceipt(ctx context.Context, r api.ResendOrderReceiptRequestObject) (api.ResendOrderReceiptResponseObject, error) {
	o, err := h.post.ResendOrderReceipt(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.ResendOrderReceipt200JSONResponse(view.Order(o)), nil
}

// RevokeOrderLinks implements POST /orders/{id}/revoke_links.
func (h *Handlers) RevokeOrderLinks(ctx context.Context, r api.RevokeOrderLinksRequestObject) (api.RevokeOrderLinksResponseObject, error) {
	o, err := h.store.Order.RevokeLinks(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.RevokeOrderLinks200JSONResponse(view.Order(o)), nil
}

// VoidOrder implements POST /orders/{id}/void.
func (h *Handlers) VoidOrder(ctx context.Context, r api.VoidOrderRequestObject) (api.VoidOrderResponseObject, error) {
	o, err := h.store.VoidOrder(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, o, view.Order, r.Params.Expand)
	return api.VoidOrder200JSONResponse(out), err
}
