package adwalk

import (
	"fmt"
	"testing"

	"github.com/tillwright/tillwright/sdk"
)

func (w *World) figures(t *testing.T) {
	ad := w.made(t)
	for _, interval := range words("AdMetricsInterval") {
		for _, by := range append(words("AdMetricsBreakdown"), "") {
			params := &sdk.ListAdMetricsParams{Platform: &w.Can.Platform, From: new(day(-6)), To: new(day(0)), Interval: new(sdk.AdMetricsInterval(interval))}
			field, can := "interval", has(w.Can.Figures.Intervals, interval)
			if by != "" {
				params.Breakdown = new(sdk.AdMetricsBreakdown(by))
				if can {
					field, can = "breakdown", has(w.Can.Figures.Breakdowns, by)
				}
			}
			_, err := w.Ads.ListMetrics(background, ad.ID, params)
			w.is(t, can, field, fmt.Sprintf("figures of each %s by %q", interval, by), err)
		}
	}
}

// switches turns what the network is said to have a switch for.
func (w *World) switches(t *testing.T) {
	ad := w.made(t)
	body := &sdk.AdPlatformBody{Platform: &w.Can.Platform}
	_, resumed := w.Ads.Resume(background, ad.ID, body)
	_, paused := w.Ads.Pause(background, ad.ID, body)
	for _, err := range []error{resumed, paused} {
		w.is(t, has(w.Can.PauseLevels, "ad"), "platform", "a switch of an ad", err)
	}
	for _, turn := range []func() error{
		func() error { _, err := w.AdGroups.Resume(background, ad.AdGroupID, body); return err },
		func() error { _, err := w.AdGroups.Pause(background, ad.AdGroupID, body); return err },
	} {
		w.yes(t, "a switch of an ad group, or of its ads", turn())
	}
	all := &sdk.AdCampaignBulk{Campaigns: []sdk.AdCampaignRef{{ID: ad.CampaignID, Platform: string(w.Can.Platform)}}}
	for _, turn := range []func() (*sdk.AdBulkResult, error){
		func() (*sdk.AdBulkResult, error) { return w.AdCampaigns.BulkResume(background, all) },
		func() (*sdk.AdBulkResult, error) { return w.AdCampaigns.BulkPause(background, all) },
	} {
		result, err := turn()
		if err == nil && result.Totals.Updated != 1 {
			err = fmt.Errorf("%+v", result.Results)
		}
		w.is(t, has(w.Can.PauseLevels, "campaign"), "", "a switch of a campaign", err)
	}
}

func (w *World) centers(t *testing.T) {
	_, err := w.BusinessCenters.List(background, &sdk.ListBusinessCentersParams{AccountID: w.Channel})
	w.is(t, w.Can.BusinessCenters, "account_id", "business centers", err)
}
