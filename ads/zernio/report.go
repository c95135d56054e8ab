package zernio

import (
	"context"
	"encoding/json"
	"math/big"
	"net/http"
	"net/url"
	"time"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// metrics are figures as Zernio writes them. What a network does not give is 0 there.
type metrics struct {
	Spend       json.Number            `json:"spend"` // whole units
	Impressions json.Number            `json:"impressions"`
	Reach       json.Number            `json:"reach"`
	Clicks      json.Number            `json:"clicks"`
	Engagement  json.Number            `json:"engagement"`
	Conversions json.Number            `json:"conversions"`
	Actions     map[string]json.Number `json:"actions"`
	Sales       json.Number            `json:"purchaseValue"`
	Plays       json.Number            `json:"videoPlayActions"`
	SyncedAt    *time.Time             `json:"lastSyncedAt"`
}

// dailyMetrics are the figures of a day.
type dailyMetrics struct {
	metrics
	Date string `json:"date"`
}

// figures converts figures. Zernio's description says which of them it has of which network; all others are unknown.
func (d *Driver) figures(w metrics) advert.Metrics {
	m := advert.Metrics{
		Spend: scaled[advert.Amount](w.Spend, int64(advert.AmountUnit)), Impressions: scaled[int64](w.Impressions, 1), Clicks: scaled[int64](w.Clicks, 1),
		Engagement: scaled[int64](w.Engagement, 1), Conversions: scaled[int64](w.Conversions, 1000),
	}
	if d.isMeta() {
		m.PurchaseValue = scaled[advert.Amount](w.Sales, int64(advert.AmountUnit))
	}
	if d.isMeta() || d.platform == advert.PlatformTikTok {
		m.Reach, m.VideoViews = scaled[int64](w.Reach, 1), scaled[int64](w.Plays, 1)
	}
	if d.platform != advert.PlatformGoogle && d.platform != advert.PlatformPinterest {
		m.Actions = map[string]int64{}
		for name, count := range w.Actions {
			if n := scaled[int64](count, 1000); n != nil {
				m.Actions[name] = *n
			}
		}
	}
	return m
}

// unseen are the figures of what nobody saw. It is never changed.
var unseen = metrics{Spend: "0", Impressions: "0", Reach: "0", Clicks: "0", Engagement: "0", Conversions: "0", Sales: "0", Plays: "0"}

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

// Report implements ads.Network. While Zernio is still fetching a part of the days, the figures are unknown.
func (d *Driver) Report(
	ctx context.Context, c ads.Conn, adAccount string, level advert.Level, ids []string, from, to ads.Date,
) (map[string]ads.Report, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	query, err := within(c, adAccount)
	if err != nil {
		return nil, err
	}
	from, to, counts := d.caps.Figures.Counted(from, to, c.Now())
	if counts {
		query.Set("fromDate", from.String())
		query.Set("toDate", to.String())
	}
	wanted := map[string]bool{}
	for _, id := range ids {
		wanted[id] = true
	}
	reports := map[string]ads.Report{}
	for number := 1; len(reports) < len(wanted); number++ {
		all, last, status, err := d.page(ctx, c, adAccount, query, number)
		if err != nil {
			return nil, err
		}
		d.report(reports, wanted, level, all, counts && status == http.StatusOK, core.TimeOf(c.Now()))
		if last {
			break
		}
	}
	return reports, nil
}

// report adds reports of what is wanted among campaigns.
func (d *Driver) report(into map[string]ads.Report, wanted map[string]bool, level advert.Level, all []campaign, counts bool, now core.Time) {
	figures := map[string]metrics{}
	for _, w := range all {
		figures["c"+w.ID] = w.Metrics
		for _, set := range w.AdSets {
			figures["g"+set.ID] = set.Metrics
			for _, one := range set.Ads {
				figures["a"+one.ID] = one.Metrics
			}
		}
	}
	put := func(kind, id string, r ads.Report) {
		if !wanted[id] {
			return
		}
		w := figures[kind+id]
		if r.SyncedAt = now; w.SyncedAt != nil {
			r.SyncedAt = core.TimeOf(*w.SyncedAt)
		}
		if counts {
			r.Metrics = d.figures(w)
		}
		into[id] = r
	}
	b := d.batch(all)
	switch level {
	case advert.LevelCampaign:
		for _, r := range b.Campaigns {
			put("c", r.PlatformID, ads.Report{Status: r.Status, Configured: r.ConfiguredStatus, Review: r.ReviewStatus, PlatformStatus: r.PlatformStatus})
		}
	case advert.LevelGroup:
		for _, r := range b.Groups {
			put("g", r.PlatformID, ads.Report{Status: r.Status, Configured: r.ConfiguredStatus, PlatformStatus: r.PlatformStatus})
		}
	case advert.LevelAd:
		for _, r := range b.Ads {
			put("a", r.PlatformID, ads.Report{Status: r.Status, Configured: r.ConfiguredStatus, Review: r.ReviewStatus, PlatformStatus: r.PlatformStatus, RejectionReason: r.RejectionReason})
		}
	}
}

// dailyLevels are Zernio's words for the level whose days it is asked for.
var dailyLevels = map[advert.Level]string{advert.LevelCampaign: "campaign", advert.LevelGroup: "adset", advert.LevelAd: "ad"}

// Series implements ads.Network. Weeks and months are made of days here, and their reach is not known then. Zernio has no series of one
// thing, but of the channel's campaigns; the one is looked for among them.
func (d *Driver) Series(ctx context.Context, c ads.Conn, adAccount string, q ads.SeriesQuery) ([]ads.PeriodFigures, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	query, err := within(c, adAccount)
	if err != nil {
		return nil, err
	}
	days := q.Days()
	query.Set("fromDate", days.From.String())
	query.Set("toDate", days.To.String())
	if q.Interval != ads.IntervalTotal {
		query.Set("timeIncrement", "1")
		query.Set("dailyLevel", dailyLevels[q.Level])
	}
	total, daily, complete, err := d.seek(ctx, c, adAccount, query, q)
	if err != nil {
		return nil, err
	}
	var all []ads.PeriodFigures
	for _, p := range q.Periods {
		row := ads.PeriodFigures{Period: p}
		switch {
		case !complete: // the figures are unknown
		case q.Interval == ads.IntervalTotal:
			row.Metrics = d.figures(total)
		default:
			row.Metrics = d.sum(daily, p)
		}
		all = append(all, row)
	}
	return all, nil
}

// seek returns the figures of one thing, in all and by day, and whether they are complete. Of what is not there they are 0.
func (d *Driver) seek(ctx context.Context, c ads.Conn, adAccount string, query url.Values, q ads.SeriesQuery) (total metrics, daily []dailyMetrics, complete bool, err error) {
	if q.Level == advert.LevelCampaign {
		query.Set("campaignId", q.ID)
	}
	for number := 1; ; number++ {
		all, last, status, err := d.page(ctx, c, adAccount, query, number)
		if err != nil {
			return total, nil, false, err
		}
		for _, w := range all {
			if q.Level == advert.LevelCampaign && w.ID == q.ID {
				return w.Metrics, w.Daily, status == http.StatusOK, nil
			}
			for _, set := range w.AdSets {
				if q.Level == advert.LevelGroup && set.ID == q.ID {
					return set.Metrics, set.Daily, status == http.StatusOK, nil
				}
				for _, one := range set.Ads {
					if q.Level == advert.LevelAd && one.ID == q.ID {
						return one.Metrics, one.Daily, status == http.StatusOK, nil
					}
				}
			}
		}
		if last {
			return unseen, nil, true, nil
		}
	}
}

// sum adds up the days of a period. A day that has no row had nothing.
func (d *Driver) sum(daily []dailyMetrics, p ads.Period) advert.Metrics {
	var sum *advert.Metrics
	for _, row := range daily {
		day, err := ads.ParseDate(row.Date)
		if err != nil || day.Compare(p.From) < 0 || day.Compare(p.To) > 0 {
			continue
		}
		m := d.figures(row.metrics)
		if sum == nil {
			sum = &m
		} else {
			sum.Add(m)
		}
	}
	if sum == nil {
		return d.figures(unseen)
	}
	return *sum
}
