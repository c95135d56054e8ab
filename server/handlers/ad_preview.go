package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// PreviewNewAd implements POST /ads/preview.
func (h *Handlers) PreviewNewAd(ctx context.Context, r api.PreviewNewAdRequestObject) (api.PreviewNewAdResponseObject, error) {
	extra, err := extraFields(r.Body.AdditionalProperties)
	if err != nil {
		return nil, err
	}
	shown, err := h.ads.PreviewNewAd(ctx, actor(ctx), view.NewAd(r.Body, extra, nil))
	if err != nil {
		return nil, err
	}
	return api.PreviewNewAd200JSONResponse(view.AdPreview(shown)), nil
}

// PreviewAd implements POST /ads/{id}/preview.
func (h *Handlers) PreviewAd(ctx context.Context, r api.PreviewAdRequestObject) (api.PreviewAdResponseObject, error) {
	shown, err := h.ads.PreviewAd(ctx, actor(ctx), r.ID, platform(r.Body.Platform))
	if err != nil {
		return nil, err
	}
	return api.PreviewAd200JSONResponse(view.AdPreview(shown)), nil
}
