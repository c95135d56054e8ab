package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// ListDiscounts implements GET /discounts.
func (h *Handlers) ListDiscounts(ctx context.Context, r api.ListDiscountsRequestObject) (api.ListDiscountsResponseObject, error) {
	discounts, more, err := h.store.Discount.List(ctx, account(ctx), view.ListDiscounts(r.Params))
	if err != nil {
		return nil, err
	}
	return api.ListDiscounts200JSONResponse(view.List("/v1/discounts", discounts, more, view.Discount)), nil
}

// ExportDiscounts implements GET /discounts/export.
func (h *Handlers) ExportDiscounts(ctx context.Context, r api.ExportDiscountsRequestObject) (api.ExportDiscountsResponseObject, error) {
	u, err := h.export(ctx, "discounts", r.Params)
	return api.ExportDiscounts200JSONResponse(u), err
}

// CreateDiscount implements POST /discounts.
func (h *Handlers) CreateDiscount(ctx context.Context, r api.CreateDiscountRequestObject) (api.CreateDiscountResponseObject, error) {
	d, err := h.store.Discount.Create(ctx, account(ctx), view.NewDiscount(r.Body))
	if err != nil {
		return nil, err
	}
	return api.CreateDiscount201JSONResponse(view.Discount(d)), nil
}

// LookupDiscount implements GET /discounts/lookup.
func (h *Handlers) LookupDiscount(ctx context.Context, r api.LookupDiscountRequestObject) (api.LookupDiscountResponseObject, error) {
	d, err := h.store.Discount.Lookup(ctx, account(ctx), r.Params.Code)
	if err != nil {
		return nil, err
	}
	return api.LookupDiscount200JSONResponse(view.Discount(d)), nil
}

// GetDiscount implements GET /discounts/{id}.
func (h *Handlers) GetDiscount(ctx context.Context, r api.GetDiscountRequestObject) (api.GetDiscountResponseObject, error) {
	d, err := h.store.Discount.Get(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.GetDiscount200JSONResponse(view.Discount(d)), nil
}

// UpdateDiscount implements PATCH /discounts/{id}.
func (h *Handlers) UpdateDiscount(ctx context.Context, r api.UpdateDiscountRequestObject) (api.UpdateDiscountResponseObject, error) {
	d, err := h.store.Discount.Update(ctx, account(ctx), r.ID, view.DiscountChange(r.Body))
	if err != nil {
		return nil, err
	}
	return api.UpdateDiscount200JSONResponse(view.Discount(d)), nil
}

// DeleteDiscount implements DELETE /discounts/{id}.
func (h *Handlers) DeleteDiscount(ctx context.Context, r api.DeleteDiscountRequestObject) (api.DeleteDiscountResponseObject, error) {
	d, err := h.store.Discount.Delete(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.DeleteDiscount200JSONResponse(view.Deleted("discount", d.ID)), nil
}

// DisableDiscount implements POST /discounts/{id}/disable.
func (h *Handlers) DisableDiscount(ctx context.Context, r api.DisableDiscountRequestObject) (api.DisableDiscountResponseObject, error) {
	d, err := h.store.Discount.Disable(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.DisableDiscount200JSONResponse(view.Discount(d)), nil
}

// EnableDiscount implements POST /discounts/{id}/enable.
func (h *Handlers) EnableDiscount(ctx context.Context, r api.EnableDiscountRequestObject) (api.EnableDiscountResponseObject, error) {
	d, err := h.store.Discount.Enable(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.EnableDiscount200JSONResponse(view.Discount(d)), nil
}

// ListDiscountRedemptions implements GET /discounts/{id}/redemptions.
func (h *Handlers) ListDiscountRedemptions(ctx context.Context, r api.ListDiscountRedemptionsRequestObject) (api.ListDiscountRedemptionsResponseObject, error) {
	redemptions, more, err := h.store.Discount.ListRedemptions(ctx, account(ctx), r.ID, view.ListDiscountRedemptions(r.Params))
	if err != nil {
		return nil, err
	}
	list, err := showList(ctx, h, "/v1/discounts/"+r.ID+"/redemptions", redemptions, more, view.DiscountRedemption, r.Params.Expand)
	if err != nil {
		return nil, err
	}
	return api.ListDiscountRedemptions200JSONResponse(list), nil
}
