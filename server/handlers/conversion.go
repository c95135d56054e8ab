package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// ListConversions implements GET /ads/conversions.
func (h *Handlers) ListConversions(ctx context.Context, r api.ListConversionsRequestObject) (api.ListConversionsResponseObject, error) {
	conversions, more, err := h.store.Advert.ListConversions(ctx, account(ctx), view.ListConversions(r.Params))
	if err != nil {
		return nil, err
	}
	return api.ListConversions200JSONResponse(view.List("/v1/ads/conversions", conversions, more, view.Conversion)), nil
}

// ExportConversions implements GET /ads/conversions/export.
func (h *Handlers) ExportConversions(ctx context.Context, r api.ExportConversionsRequestObject) (api.ExportConversionsResponseObject, error) {
	u, err := h.export(ctx, "conversions", r.Params)
	return api.ExportConversions200JSONResponse(u), err
}

// CreateConversions implements POST /ads/conversions.
func (h *Handlers) CreateConversions(ctx context.Context, r api.CreateConversionsRequestObject) (api.CreateConversionsResponseObject, error) {
	results, err := h.ads.CreateConversions(ctx, account(ctx), r.Body.DestinationID, view.CreateConversions(r.Body))
	if err != nil {
		return nil, err
	}
	return api.CreateConversions200JSONResponse(view.ConversionsResult(r.Body.DestinationID, results)), nil
}

// GetConversion implements GET /ads/conversions/{id}.
func (h *Handlers) GetConversion(ctx context.Context, r api.GetConversionRequestObject) (api.GetConversionResponseObject, error) {
	c, err := h.store.Advert.GetConversion(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.GetConversion200JSONResponse(view.Conversion(c)), nil
}
