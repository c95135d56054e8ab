package pinterest

import (
	"context"
	"encoding/json"
	"math/big"
	"net/url"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// figures is a row of a report. It has one of the three ids, that of the level that the report is about.
type figures struct {
	CampaignID  string      `json:"CAMPAIGN_ID"`
	AdGroupID   string      `json:"AD_GROUP_ID"`
	AdID        string      `json:"AD_ID"`
	Spend       json.Number `json:"SPEND_IN_MICRO_DOLLAR"` // of the ad account's currency, whatever it is called
	Impressions json.Number `json:"TOTAL_IMPRESSION"`
	Reach       json.Number `json:"TOTAL_IMPRESSION_USER"`
	Clicks      json.Number `json:"TOTAL_CLICKTHROUGH"`
	Engagement  json.Number `json:"TOTAL_ENGAGEMENT"`
	Conversions json.Number `json:"TOTAL_CONVERSIONS"`
	Sales       json.Number `json:"TOTAL_CHECKOUT_VALUE_IN_MICRO_DOLLAR"`
	Views       json.Number `json:"TOTAL_VIDEO_MRC_VIEWS"`
}

// columns are the columns of a report besides the ids.
var columns = []string{
	"SPEND_IN_MICRO_DOLLAR", "TOTAL_IMPRESSION", "TOTAL_IMPRESSION_USER", "TOTAL_CLICKTHROUGH", "TOTAL_ENGAGEMENT",
	"TOTAL_CONVERSIONS", "TOTAL_CHECKOUT_VALUE_IN_MICRO_DOLLAR", "TOTAL_VIDEO_MRC_VIEWS",
}

// filters are the names of the parameters for ids of a level.
var filters = map[advert.Level]string{
	advert.LevelCampaign: "campaign_ids", advert.LevelGroup: "ad_group_ids", advert.LevelAd: "ad_ids",
}

// Report implements ads.Network.
func (d *Driver) Report(
	ctx context.Context, c ads.Conn, adAccount string, level advert.Level, ids []string, from, to ads.Date,
) (map[string]ads.Report, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	t, err := d.above(ctx, c, adAccount, level, ids)
	if err != nil {
		return nil, err
	}
	b, err := d.batch(t)
	if err != nil {
		return nil, err
	}
	reports := states(b, level, core.TimeOf(c.Now()))
	from, to, counts := d.caps.Figures.Counted(from, to, c.Now())
	if !counts {
		return reports, nil
	}
	sums, err := d.figures(ctx, c, adAccount, level, ids, from, to)
	if err != nil {
		return nil, err
	}
	for id, r := range reports {
		r.Metrics = advert.NoMetrics()
		r.Metrics.Actions = nil // Pinterest has no counts by other names
		reports[id] = r
	}
	for _, f := range sums {
		id := f.CampaignID + f.AdGroupID + f.AdID
		if r, known := reports[id]; known {
			r.Metrics = f.metrics()
			reports[id] = r
		}
	}
	return reports, nil
}

// above returns the things of a level with what they are in, because their state depends on that.
func (d *Driver) above(ctx context.Context, c ads.Conn, adAccount string, level advert.Level, ids []string) (t tree, err error) {
	if level == advert.LevelAd {
		if t.ads, err = filtered[ad](ctx, d, c, inAccount(adAccount, "ads"), "ad_ids", ids); err != nil {
			return t, err
		}
		ids = distinct(t.ads, func(w ad) string { return w.AdGroupID })
	}
	if level != advert.LevelCampaign {
		if t.groups, err = filtered[group](ctx, d, c, inAccount(adAccount, "ad_groups"), "ad_group_ids", ids); err != nil {
			return t, err
		}
		ids = distinct(t.groups, func(w group) string { return w.CampaignID })
	}
	t.campaigns, err = filtered[campaign](ctx, d, c, inAccount(adAccount, "campaigns"), "campaign_ids", ids)
	return t, err
}

// distinct returns the keys of items, sorted and each once.
func distinct[T any](items []T, key func(T) string) []string {
	var keys []string
	for _, item := range items {
		keys = append(keys, key(item))
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// states returns a report for each row of a level, with its state and without figures. Only ads are reviewed, so only
// they have a review.
func states(b advert.Batch, level advert.Level, now core.Time) map[string]ads.Report {
	reports := map[string]ads.Report{}
	switch level {
	case advert.LevelCampaign:
		for _, r := range b.Campaigns {
			reports[r.PlatformID] = ads.Report{Status: r.Status, Configured: r.ConfiguredStatus, PlatformStatus: r.PlatformStatus, SyncedAt: now}
		}
	case advert.LevelGroup:
		for _, r := range b.Groups {
			reports[r.PlatformID] = ads.Report{Status: r.Status, Configured: r.ConfiguredStatus, PlatformStatus: r.PlatformStatus, SyncedAt: now}
		}
	case advert.LevelAd:
		for _, r := range b.Ads {
			reports[r.PlatformID] = ads.Report{
				Status: r.Status, Configured: r.ConfiguredStatus, PlatformStatus: r.PlatformStatus, SyncedAt: now,
				Review: r.ReviewStatus, RejectionReason: r.RejectionReason,
			}
		}
	}
	return reports
}

// figures asks for the rows of a report. What had no figures in these days has no row.
func (d *Driver) figures(
	ctx context.Context, c ads.Conn, adAccount string, level advert.Level, ids []string, from, to ads.Date,
) ([]figures, error) {
	var rows []figures
	for chunk := range slices.Chunk(ids, idsPerCall) {
		query := url.Values{
			"start_date": {from.String()}, "end_date": {to.String()}, filters[level]: chunk,
			"columns": {strings.Join(columns, ",")}, "granularity": {"TOTAL"},
		}
		var some []figures
		if err := d.read(ctx, c, inAccount(adAccount, kinds[level], "analytics"), query, &some); err != nil {
			return nil, err
		}
		rows = append(rows, some...)
	}
	return rows, nil
}

// metrics converts a row. Pinterest leaves out the columns that it has no value for. It counts people for exactly what was asked
// for, so the reach is known at every level.
func (f figures) metrics() advert.Metrics {
	return advert.Metrics{
		Spend: scaled[advert.Amount](f.Spend, 1), Impressions: scaled[int64](f.Impressions, 1), Reach: scaled[int64](f.Reach, 1),
		Clicks: scaled[int64](f.Clicks, 1), Engagement: scaled[int64](f.Engagement, 1), Conversions: scaled[int64](f.Conversions, 1000),
		PurchaseValue: scaled[advert.Amount](f.Sales, 1), VideoViews: scaled[int64](f.Views, 1),
	}
}

// scaled reads a number and returns its whole part after multiplying it by factor, exactly. The number may have decimals
// or an exponent. What is no number, or too large, is unknown.
func scaled[N ~int64](wire json.Number, factor int64) *N {
	number, ok := new(big.Rat).SetString(wire.String())
	if !ok {
		return nil
	}
	number.Mul(number, big.NewRat(factor, 1))
	whole := new(big.Int).Quo(number.Num(), number.Denom())
	if !whole.IsInt64() {
		return nil
	}
	return new(N(whole.Int64()))
}
