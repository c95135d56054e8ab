package tiktok

import (
	"context"
	"encoding/json"
	"math/big"
	"slices"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// The most days of a report (T10).
const (
	mostDays    = 365 // in sum
	mostDailies = 30  // one by one
)

// figures are the figures of a row. TikTok writes them as texts, and "-" for what it does not know.
type figures struct {
	Spend       string `json:"spend"`
	Impressions string `json:"impressions"`
	Reach       string `json:"reach"`
	Clicks      string `json:"clicks"` // to where the ad leads
	Engagements string `json:"engagements"`
	Conversion  string `json:"conversion"`
	Sales       string `json:"total_complete_payment_rate"` // which is the value of the payments, whatever it is called
	Views       string `json:"video_play_actions"`
}

// metrics are the figures of a report, counted those that a report by audience has.
var (
	metrics = []string{
		"spend", "impressions", "reach", "clicks", "engagements", "conversion", "total_complete_payment_rate", "video_play_actions",
	}
	audienceMetrics = []string{"spend", "impressions", "clicks", "conversion"}
)

// row is a row of a report: what it is about, and its figures.
type row struct {
	Dimensions map[string]json.RawMessage `json:"dimensions"`
	Metrics    figures                    `json:"metrics"`
}

// of returns what a row is about in one dimension.
func (r row) of(dimension string) string {
	var text string
	if json.Unmarshal(r.Dimensions[dimension], &text) != nil {
		return string(r.Dimensions[dimension])
	}
	return text
}

// dataLevels are TikTok's words for the levels of a report.
var dataLevels = map[advert.Level]string{
	advert.LevelCampaign: "AUCTION_CAMPAIGN", advert.LevelGroup: "AUCTION_ADGROUP", advert.LevelAd: "AUCTION_AD",
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
	for id, r := range reports {
		r.Metrics = noMetrics()
		reports[id] = r
	}
	heard := map[string]bool{}
	for _, p := range spans(from, to, mostDays) {
		rows, err := d.rows(ctx, c, adAccount, level, ids, p, metrics)
		if err != nil {
			return nil, err
		}
		for _, one := range rows {
			id := one.of(kinds[level] + "_id")
			r, known := reports[id]
			if !known {
				continue
			}
			if heard[id] {
				r.Metrics.Add(one.Metrics.metrics())
			} else {
				r.Metrics = one.Metrics.metrics()
			}
			heard[id], reports[id] = true, r
		}
	}
	return reports, nil
}

// noMetrics are the figures of what nobody saw. TikTok has no counts by other names.
func noMetrics() advert.Metrics {
	none := advert.NoMetrics()
	none.Actions = nil
	return none
}

// spans cuts days into stretches that one report can cover.
func spans(from, to ads.Date, most int) []ads.Period {
	var all []ads.Period
	for from.Compare(to) <= 0 {
		last := from.AddDays(most - 1)
		if last.Compare(to) > 0 {
			last = to
		}
		all = append(all, ads.Period{From: from, To: last})
		from = last.AddDays(1)
	}
	return all
}

// rows asks for a report of some things in some days, divided by more dimensions. What had no figures has no row. Deleted things are
// counted only if they are asked for.
func (d *Driver) rows(
	ctx context.Context, c ads.Conn, adAccount string, level advert.Level, ids []string, p ads.Period, metrics []string, more ...string,
) ([]row, error) {
	kind, report := kinds[level], "BASIC"
	if slices.ContainsFunc(more, func(dimension string) bool { return dimension != day }) {
		report = "AUDIENCE"
	}
	var found []row
	for chunk := range slices.Chunk(ids, idsPerCall) {
		some, err := all[row](ctx, d, c, "report/integrated/get", fields{
			"advertiser_id": adAccount, "service_type": "AUCTION", "report_type": report, "data_level": dataLevels[level],
			"dimensions": append([]string{kind + "_id"}, more...), "metrics": metrics, "start_date": p.From.String(), "end_date": p.To.String(),
			"filtering": []fields{only(kind+"_ids", chunk), only(kind+"_status", []string{everyStatus})},
		}, mostRows)
		if err != nil {
			return nil, err
		}
		found = append(found, some...)
	}
	return found, nil
}

// only is the filter of a report for values, which it takes as a text.
func only(name string, values []string) fields {
	return fields{"field_name": name, "filter_type": "IN", "filter_value": string(advert.NewObject(values))}
}

// states returns a report for each row of a level, with its state and without figures.
func states(b advert.Batch, level advert.Level, now core.Time) map[string]ads.Report {
	reports := map[string]ads.Report{}
	switch level {
	case advert.LevelCampaign:
		for _, r := range b.Campaigns {
			reports[r.PlatformID] = ads.Report{Status: r.Status, Configured: r.ConfiguredStatus, PlatformStatus: r.PlatformStatus, SyncedAt: now,
				BudgetSpent: r.BudgetType == advert.BudgetTypeLifetime && r.PlatformStatus == "CAMPAIGN_STATUS_BUDGET_EXCEED"}
		}
	case advert.LevelGroup:
		for _, r := range b.Groups {
			reports[r.PlatformID] = ads.Report{Status: r.Status, Configured: r.ConfiguredStatus, PlatformStatus: r.PlatformStatus, SyncedAt: now,
				Review: r.ReviewStatus, BudgetSpent: r.BudgetType == advert.BudgetTypeLifetime && r.PlatformStatus == "ADGROUP_STATUS_BUDGET_EXCEED"}
		}
	case advert.LevelAd:
		for _, r := range b.Ads {
			reports[r.PlatformID] = ads.Report{Status: r.Status, Configured: r.ConfiguredStatus, PlatformStatus: r.PlatformStatus, SyncedAt: now, Review: r.ReviewStatus}
		}
	}
	return reports
}

// metrics converts a row.
func (f figures) metrics() advert.Metrics {
	return advert.Metrics{
		Spend: scaled[advert.Amount](f.Spend, int64(advert.AmountUnit)), Impressions: scaled[int64](f.Impressions, 1), Reach: scaled[int64](f.Reach, 1),
		Clicks: scaled[int64](f.Clicks, 1), Engagement: scaled[int64](f.Engagements, 1), Conversions: scaled[int64](f.Conversion, 1000),
		PurchaseValue: scaled[advert.Amount](f.Sales, int64(advert.AmountUnit)), VideoViews: scaled[int64](f.Views, 1),
	}
}

// scaled reads a number and returns its whole part after multiplying it by factor, exactly. What is no number, or too large, is unknown.
func scaled[N ~int64](text string, factor int64) *N {
	number, ok := new(big.Rat).SetString(text)
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
