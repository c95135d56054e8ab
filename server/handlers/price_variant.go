package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// ListPriceVariants implements GET /price_variants.
func (h *Handlers) ListPriceVariants(ctx context.Context, r api.ListPriceVariantsRequestObject) (api.ListPriceVariantsResponseObject, error) {
	variants, more, err := h.store.Catalog.ListPriceVariants(ctx, account(ctx), view.ListPriceVariants(r.Params))
	if err != nil {
		return nil, err
	}
	out, err := showList(ctx, h, "/v1/price_variants", variants, more, view.PriceVariant, r.Params.Expand)
	return api.ListPriceVariants200JSONResponse(out), err
}

// ExportPriceVariants implements GET /price_variants/export.
func (h *Handlers) ExportPriceVariants(ctx context.Context, r api.ExportPriceVariantsRequestObject) (api.ExportPriceVariantsResponseObject, error) {
	u, err := h.export(ctx, "price_variants", r.Params)
	return api.ExportPriceVariants200JSONResponse(u), err
}

// CreatePriceVariant implements POST /price_variants.
func (h *Handlers) CreatePriceVariant(ctx context.Context, r api.CreatePriceVariantRequestObject) (api.CreatePriceVariantResponseObject, error) {
	v, err := h.store.Catalog.CreatePriceVariant(ctx, account(ctx), r.Body.Product, view.NewPriceVariant(r.Body))
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, v, view.PriceVariant, r.Params.Expand)
	return api.CreatePriceVariant201JSONResponse(out), err
}

// GetPriceVariant implements GET /price_variants/{id}.
func (h *Handlers) GetPriceVariant(ctx context.Context, r api.GetPriceVariantRequestObject) (api.GetPriceVariantResponseObject, error) {
	v, err := h.store.Catalog.GetPriceVariant(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, v, view.PriceVariant, r.Params.Expand)
	return api.GetPriceVariant200JSONResponse(out), err
}

// UpdatePriceVariant implements PATCH /price_variants/{id}.
func (h *Handlers) UpdatePriceVariant(ctx context.Context, r api.UpdatePriceVariantRequestObject) (api.UpdatePriceVariantResponseObject, error) {
	v, err := h.store.Catalog.UpdatePriceVariant(ctx, account(ctx), r.ID, view.PriceVariantChange(r.Body))
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, v, view.PriceVariant, r.Params.Expand)
	return api.UpdatePriceVariant200JSONResponse(out), err
}

// DeletePriceVariant implements DELETE /price_variants/{id}.
func (h *Handlers) DeletePriceVariant(ctx context.Context, r api.DeletePriceVariantRequestObject) (api.DeletePriceVariantResponseObject, error) {
	v, err := h.store.Catalog.DeletePriceVariant(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.DeletePriceVariant200JSONResponse(view.Deleted("price_variant", v.ID)), nil
}

// UpsertPriceVariant implements POST /price_variants/by_external_id.
func (h *Handlers) UpsertPriceVariant(ctx context.Context, r api.UpsertPriceVariantRequestObject) (api.UpsertPriceVariantResponseObject, error) {
	v, isNew, err := h.store.Catalog.UpsertPriceVariant(ctx, account(ctx), view.PriceVariantUpsert(r.Body))
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, v, view.PriceVariant, r.Params.Expand)
	if isNew {
		return api.UpsertPriceVariant201JSONResponse(out), err
	}
	return api.UpsertPriceVariant200JSONResponse(out), err
}

// BulkUpsertPriceVariants implements POST /price_variants/bulk_upsert.
func (h *Handlers) BulkUpsertPriceVariants(ctx context.Context, r api.BulkUpsertPriceVariantsRequestObject) (api.BulkUpsertPriceVariantsResponseObject, error) {
	done, err := h.store.Catalog.UpsertPriceVariants(ctx, account(ctx), view.PriceVariantUpserts(r.Body, refusals(ctx)))
	if err != nil {
		return nil, err
	}
	return api.BulkUpsertPriceVariants200JSONResponse(view.BulkUpsert(done)), nil
}
