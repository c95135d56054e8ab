package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store/advert"
)

// ListAdMetrics implements GET /ads/{id}/metrics.
func (h *Handlers) ListAdMetrics(ctx context.Context, r api.ListAdMetricsRequestObject) (api.ListAdMetricsResponseObject, error) {
	page, err := h.ads.ListMetrics(ctx, account(ctx), advert.LevelAd, r.ID, view.ListMetrics(r.Params))
	if err != nil {
		return nil, err
	}
	return api.ListAdMetrics200JSONResponse(view.CursorList("/v1/ads/"+r.ID+"/metrics", page, view.AdMetricsPeriod)), nil
}

// ListAdGroupMetrics implements GET /ads/ad-groups/{id}/metrics.
func (h *Handlers) ListAdGroupMetrics(ctx context.Context, r api.ListAdGroupMetricsRequestObject) (api.ListAdGroupMetricsResponseObject, error) {
	page, err := h.ads.ListMetrics(ctx, account(ctx), advert.LevelGroup, r.ID, view.ListMetrics(api.ListAdMetricsParams(r.Params)))
	if err != nil {
		return nil, err
	}
	return api.ListAdGroupMetrics200JSONResponse(view.CursorList("/v1/ads/ad-groups/"+r.ID+"/metrics", page, view.AdMetricsPeriod)), nil
}

// ListAdCampaignMetrics implements GET /ads/campaigns/{id}/metrics.
func (h *Handlers) ListAdCampaignMetrics(ctx context.Context, r api.ListAdCampaignMetricsRequestObject) (api.ListAdCampaignMetricsResponseObject, error) {
	page, err := h.ads.ListMetrics(ctx, account(ctx), advert.LevelCampaign, r.ID, view.ListMetrics(api.ListAdMetricsParams(r.Params)))
	if err != nil {
		return nil, err
	}
	return api.ListAdCampaignMetrics200JSONResponse(view.CursorList("/v1/ads/campaigns/"+r.ID+"/metrics", page, view.AdMetricsPeriod)), nil
}
