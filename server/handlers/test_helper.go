package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// AdvanceTestClock implements POST /test_helpers/clock.
func (h *Handlers) AdvanceTestClock(ctx context.Context, r api.AdvanceTestClockRequestObject) (api.AdvanceTestClockResponseObject, error) {
	in, err := view.AdvanceTestClock(r.Body)
	if err != nil {
		return nil, err
	}
	clock, err := h.billing.AdvanceClock(ctx, account(ctx), in)
	if err != nil {
		return nil, err
	}
	return api.AdvanceTestClock200JSONResponse(view.TestClock(clock.Now, clock.Done, clock.Processed)), nil
}

// DriftAds implements POST /test_helpers/ads/drift.
func (h *Handlers) DriftAds(ctx context.Context, r api.DriftAdsRequestObject) (api.DriftAdsResponseObject, error) {
	campaign, err := h.ads.DriftAds(ctx, account(ctx), view.DriftAds(r.Body))
	if err != nil {
		return nil, err
	}
	return api.DriftAds200JSONResponse(view.AdDrift(campaign, r.Body.Kind)), nil
}
