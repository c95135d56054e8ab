package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// ListAdPixels implements GET /ads/pixels.
func (h *Handlers) ListAdPixels(ctx context.Context, r api.ListAdPixelsRequestObject) (api.ListAdPixelsResponseObject, error) {
	pixels, platform, err := h.ads.ListPixels(ctx, account(ctx), r.Params.AccountID, r.Params.AdAccountID)
	if err != nil {
		return nil, err
	}
	return api.ListAdPixels200JSONResponse(view.AdPixels(pixels, platform)), nil
}

// ListConversionDestinations implements GET /ads/conversion-destinations.
func (h *Handlers) ListConversionDestinations(ctx context.Context, r api.ListConversionDestinationsRequestObject) (api.ListConversionDestinationsResponseObject, error) {
	destinations, more, err := h.store.Advert.ListConversionDestinations(ctx, account(ctx), view.ListConversionDestinations(r.Params))
	if err != nil {
		return nil, err
	}
	return api.ListConversionDestinations200JSONResponse(view.List("/v1/ads/conversion-destinations", destinations, more, view.ConversionDestination)), nil
}

// ExportConversionDestinations implements GET /ads/conversion-destinations/export.
func (h *Handlers) ExportConversionDestinations(ctx context.Context, r api.ExportConversionDestinationsRequestObject) (api.ExportConversionDestinationsResponseObject, error) {
	u, err := h.export(ctx, "conversion-destinations", r.Params)
	return api.ExportConversionDestinations200JSONResponse(u), err
}

// CreateConversionDestination implements POST /ads/conversion-destinations.
func (h *Handlers) CreateConversionDestination(ctx context.Context, r api.CreateConversionDestinationRequestObject) (api.CreateConversionDestinationResponseObject, error) {
	if err := h.store.Catalog.CheckProducts(ctx, account(ctx), r.Body.ProductIDs, "product_ids"); err != nil {
		return nil, err
	}
	d, err := h.ads.CreateConversionDestination(ctx, account(ctx), view.CreateConversionDestination(r.Body))
	if err != nil {
		return nil, err
	}
	return api.CreateConversionDestination201JSONResponse(view.ConversionDestination(d)), nil
}

// GetConversionDestination implements GET /ads/conversion-destinations/{id}.
func (h *Handlers) GetConversionDestination(ctx context.Context, r api.GetConversionDestinationRequestObject) (api.GetConversionDestinationResponseObject, error) {
	d, err := h.store.Advert.GetConversionDestination(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.GetConversionDestination200JSONResponse(view.ConversionDestination(d)), nil
}

// UpdateConversionDestination implements PATCH /ads/conversion-destinations/{id}.
func (h *Handlers) UpdateConversionDestination(ctx context.Context, r api.UpdateConversionDestinationRequestObject) (api.UpdateConversionDestinationResponseObject, error) {
	change := view.UpdateConversionDestination(r.Body)
	if change.ProductIDs != nil && *change.ProductIDs != nil {
		if err := h.store.Catalog.CheckProducts(ctx, account(ctx), **change.ProductIDs, "product_ids"); err != nil {
			return nil, err
		}
	}
	d, err := h.ads.UpdateConversionDestination(ctx, account(ctx), r.ID, change)
	if err != nil {
		return nil, err
	}
	return api.UpdateConversionDestination200JSONResponse(view.ConversionDestination(d)), nil
}

// DeleteConversionDestination implements DELETE /ads/conversion-destinations/{id}.
func (h *Handlers) DeleteConversionDestination(ctx context.Context, r api.DeleteConversionDestinationRequestObject) (api.DeleteConversionDestinationResponseObject, error) {
	d, err := h.store.Advert.DeleteConversionDestination(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.DeleteConversionDestination200JSONResponse(view.Deleted("conversion_destination", d.ID)), nil
}
