package zernio

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// turned is what came of a switch. Without a status nothing was written: the network has no such switch, and nothing below has to be turned.
type turned struct {
	Status  string   `json:"status"`
	Updated int      `json:"updated"`
	Skipped int      `json:"skipped"`
	Reasons []string `json:"skippedReasons"`
	Message string   `json:"message"`
}

// SetStatus implements ads.Network. It looks each thing up, turns its switch, and looks again how it and what is below it stands. Only an
// error of the first one that is about the request as a whole is returned.
func (d *Driver) SetStatus(ctx context.Context, c ads.Conn, refs []ads.Ref, to advert.Configured) ([]ads.ItemResult, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	results := make([]ads.ItemResult, len(refs))
	for i, ref := range refs {
		results[i] = d.turn(ctx, c, ref, to)
		if i == 0 && isOfAll(results[i].Err) {
			return nil, results[i].Err
		}
	}
	return results, nil
}

// turn turns one switch.
func (d *Driver) turn(ctx context.Context, c ads.Conn, ref ads.Ref, to advert.Configured) ads.ItemResult {
	result := ads.ItemResult{Ref: ref}
	at, err := d.find(ctx, c, ref)
	if err != nil {
		result.Err = err
		return result
	}
	body := map[string]string{"status": string(to), "platform": at.campaign.Platform}
	target := path("ads", "campaigns", ref.ID, "status")
	switch ref.Level {
	case advert.LevelGroup:
		target = path("ads", "ad-sets", ref.ID, "status")
	case advert.LevelAd:
		target = path("ads", at.ad.Own, "status")
		delete(body, "platform")
	case advert.LevelCampaign:
	}
	var w turned
	if result.Err = d.write(ctx, request{method: http.MethodPut, path: target, body: body}, &w); result.Err != nil {
		return result
	}
	if ref.Level == advert.LevelGroup && w.Status == "" {
		result.Err = refused("status", "%s", orDefault(w.Message, "There was nothing to switch."))
		return result
	}
	if ref.Level != advert.LevelAd {
		result.Updated, result.Skipped, result.Reasons = w.Updated, w.Skipped, w.Reasons
	}
	result.Message = d.message(ref)
	if now, err := d.campaignNamed(ctx, c, ref.AdAccount, at.campaign.ID); err == nil { // else it stays without it: the switch was turned
		result.State = ref.Part(d.batch([]campaign{*now}))
	}
	return result
}

// message says that an ad group was switched by way of its ads, where the network has no switch for it.
func (d *Driver) message(ref ads.Ref) string {
	if ref.Level != advert.LevelGroup || d.isMeta() || d.platform == advert.PlatformLinkedIn {
		return ""
	}
	return "The ad group has no switch of its own through Zernio: the ads in it were switched."
}

// isOfAll reports whether an error says that no other switch could be turned either.
func isOfAll(err error) bool {
	var limited *ads.RateLimited
	return errors.Is(err, ads.ErrUnauthorized) || errors.Is(err, ads.ErrOperator) || errors.Is(err, ads.ErrUnavailable) || errors.As(err, &limited)
}

// Delete implements ads.Network. Zernio deletes campaigns on Meta alone, and ads everywhere. What is cancelled already is
// ads.ErrNotFound.
func (d *Driver) Delete(ctx context.Context, c ads.Conn, ref ads.Ref) (ads.Deleted, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	at, err := d.find(ctx, c, ref)
	if err != nil {
		return ads.Deleted{}, err
	}
	if ref.Level == advert.LevelAd {
		if at.ad.Status == cancelled {
			return ads.Deleted{}, fmt.Errorf("zernio: ad %s: %w", ref.ID, ads.ErrNotFound)
		}
		return ads.Deleted{Ads: 1}, d.write(ctx, request{method: http.MethodDelete, path: path("ads", at.ad.Own)}, nil)
	}
	if ref.Level != advert.LevelCampaign || !d.isMeta() {
		return ads.Deleted{}, fmt.Errorf("zernio: %w", ads.ErrUnsupported)
	}
	if at.campaign.Status == cancelled {
		return ads.Deleted{}, fmt.Errorf("zernio: campaign %s: %w", ref.ID, ads.ErrNotFound)
	}
	var gone ads.Deleted
	for _, set := range at.campaign.AdSets {
		if set.Status != cancelled {
			gone.AdGroups++
		}
		for _, one := range set.Ads {
			if one.Status != cancelled {
				gone.Ads++
			}
		}
	}
	body := map[string]string{"platform": at.campaign.Platform, "accountId": c.PlatformID}
	return gone, d.write(ctx, request{method: http.MethodDelete, path: path("ads", "campaigns", ref.ID), body: body}, nil)
}

// cancelled is Zernio's word for what was deleted.
const cancelled = string(advert.StatusCancelled)
