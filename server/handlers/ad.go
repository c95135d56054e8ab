package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store/core"
)

// actor returns who asks, for the audit trail.
func actor(ctx context.Context) ads.Actor {
	c := caller.Of(ctx)
	return ads.Actor{Account: c.Account, Key: c.KeyID, RequestID: c.RequestID}
}

// ListAds implements GET /ads.
func (h *Handlers) ListAds(ctx context.Context, r api.ListAdsRequestObject) (api.ListAdsResponseObject, error) {
	page, err := h.ads.ListAds(ctx, account(ctx), view.ListAds(r.Params))
	if err != nil {
		return nil, err
	}
	return api.ListAds200JSONResponse(view.CursorList("/v1/ads", page, view.Ad)), nil
}

// CreateAd implements POST /ads.
func (h *Handlers) CreateAd(ctx context.Context, r api.CreateAdRequestObject) (api.CreateAdResponseObject, error) {
	extra, err := extraFields(r.Body.AdditionalProperties)
	if err != nil {
		return nil, err
	}
	out, err := h.ads.CreateAd(ctx, actor(ctx), view.NewAd(r.Body, extra, r.Params.DryRun))
	switch {
	case err != nil:
		return nil, err
	case out.Plan != nil:
		return api.CreateAdPlanJSONResponse(view.AdPlan(out.Plan)), nil
	}
	return api.CreateAd201JSONResponse(view.AdOutcome(out)), nil
}

// BoostPost implements POST /ads/boost.
func (h *Handlers) BoostPost(ctx context.Context, r api.BoostPostRequestObject) (api.BoostPostResponseObject, error) {
	out, err := h.ads.BoostPost(ctx, actor(ctx), view.NewBoost(r.Body, r.Params.DryRun))
	switch {
	case err != nil:
		return nil, err
	case out.Plan != nil:
		return api.BoostPostPlanJSONResponse(view.AdPlan(out.Plan)), nil
	}
	return api.BoostPost201JSONResponse(view.Ad(out.Ad)), nil
}

// GetAd implements GET /ads/{id}.
func (h *Handlers) GetAd(ctx context.Context, r api.GetAdRequestObject) (api.GetAdResponseObject, error) {
	a, err := h.ads.GetAd(ctx, account(ctx), r.ID, view.AdObject(r.Params.Platform, r.Params.From, r.Params.To))
	if err != nil {
		return nil, err
	}
	return api.GetAd200JSONResponse(view.Ad(a)), nil
}

// UpdateAd implements PATCH /ads/{id}.
func (h *Handlers) UpdateAd(ctx context.Context, r api.UpdateAdRequestObject) (api.UpdateAdResponseObject, error) {
	out, err := h.ads.UpdateAd(ctx, actor(ctx), r.ID, view.AdChange(r.Body, r.Params.DryRun))
	switch {
	case err != nil:
		return nil, err
	case out.Plan != nil:
		return api.UpdateAdPlanJSONResponse(view.AdPlan(out.Plan)), nil
	}
	return api.UpdateAd200JSONResponse(view.Ad(out.Ad)), nil
}

// DeleteAd implements DELETE /ads/{id}.
func (h *Handlers) DeleteAd(ctx context.Context, r api.DeleteAdRequestObject) (api.DeleteAdResponseObject, error) {
	deleted, err := h.ads.DeleteAd(ctx, actor(ctx), r.ID, platform(r.Body.Platform))
	if err != nil {
		return nil, err
	}
	return api.DeleteAd200JSONResponse(view.DeletedAd(deleted)), nil
}

// PauseAd implements POST /ads/{id}/pause.
func (h *Handlers) PauseAd(ctx context.Context, r api.PauseAdRequestObject) (api.PauseAdResponseObject, error) {
	result, err := h.ads.PauseAd(ctx, actor(ctx), r.ID, platform(r.Body.Platform))
	if err != nil {
		return nil, err
	}
	return api.PauseAd200JSONResponse(view.AdStatusResult(result)), nil
}

// ResumeAd implements POST /ads/{id}/resume.
func (h *Handlers) ResumeAd(ctx context.Context, r api.ResumeAdRequestObject) (api.ResumeAdResponseObject, error) {
	result, err := h.ads.ResumeAd(ctx, actor(ctx), r.ID, platform(r.Body.Platform))
	if err != nil {
		return nil, err
	}
	return api.ResumeAd200JSONResponse(view.AdStatusResult(result)), nil
}

// How many unknown fields may be sent with an ad, and how large they may be together.
const (
	maxExtraFields = 50
	maxExtraBytes  = 16 << 10
)

// extraFields reads the fields of an ad that the specification does not name. Numbers keep every digit.
func extraFields(sent map[string]json.RawMessage) (map[string]any, error) {
	fields, size := map[string]any{}, 0
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		if size += len(name) + len(sent[name]); len(sent) > maxExtraFields || size > maxExtraBytes {
			return nil, core.Invalid(name, "Send at most 50 fields besides those of an ad, of 16 KiB together.")
		}
		var value any
		d := json.NewDecoder(bytes.NewReader(sent[name]))
		d.UseNumber()
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		fields[name] = value
	}
	return fields, nil
}
