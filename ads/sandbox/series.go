package sandbox

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// values are what figures are divided by, with the share of each in percent.
var values = map[ads.Breakdown][]struct {
	name  string
	share int64
}{
	ads.BreakdownAge:       {{"18-24", 15}, {"25-34", 31}, {"35-44", 24}, {"45-54", 14}, {"55-64", 10}, {"65+", 6}},
	ads.BreakdownGender:    {{"female", 52}, {"male", 45}, {"unknown", 3}},
	ads.BreakdownCountry:   {{"DE", 20}, {"GB", 25}, {"US", 55}},
	ads.BreakdownPlacement: {{"feed", 61}, {"reels", 22}, {"stories", 17}},
	ads.BreakdownDevice:    {{"desktop", 21}, {"mobile", 79}},
}

// Series implements ads.Network. What was deleted is in it, too.
func (d *Driver) Series(ctx context.Context, c ads.Conn, adAccount string, q ads.SeriesQuery) ([]ads.PeriodFigures, error) {
	account, err := d.read(ctx, c, adAccount)
	if err != nil {
		return nil, err
	}
	found, err := d.store.GetSandboxCampaigns(ctx, c.Account, c.Channel, []string{q.ID})
	if err != nil {
		return nil, err
	}
	var all []ads.PeriodFigures
	zone := d.marketOf(&account).zone
	for _, p := range q.Periods {
		s, err := d.stateOf(&account, found, window{core.TimeOf(p.From.Start(zone)), core.TimeOf(p.To.End(zone))}, core.TimeOf(c.Now()))
		if err != nil {
			return nil, err
		}
		t, ok := s.byID[q.ID]
		if !ok || t.Kind != q.Level || t.AdAccountID != adAccount {
			return nil, fmt.Errorf("metrics of %s: %w", q.ID, ads.ErrNotFound)
		}
		whole := s.metrics(t)
		if q.Breakdown == "" {
			all = append(all, ads.PeriodFigures{Period: p, Metrics: whole})
			continue
		}
		for i, part := range s.divide(whole, q.Breakdown) {
			all = append(all, ads.PeriodFigures{Period: p, Value: values[q.Breakdown][i].name, Metrics: part})
		}
	}
	return all, nil
}

// divide divides figures by something. The parts add up to the whole, but for the reach: people are in several parts.
func (s *state) divide(m advert.Metrics, by ads.Breakdown) []advert.Metrics {
	parts := make([]advert.Metrics, len(values[by]))
	var before int64 // percent
	for i, v := range values[by] {
		from, to := before, before+v.share
		before = to
		part := func(n int64) int64 { return n*to/100 - n*from/100 }
		money := func(a *advert.Amount) *advert.Amount {
			return new(advert.Amount(part(int64(*a)/s.quantum) * s.quantum))
		}
		parts[i] = advert.Metrics{
			Spend: money(m.Spend), Impressions: new(part(*m.Impressions)), Clicks: new(part(*m.Clicks)),
			Engagement: new(part(*m.Engagement)), Conversions: new(part(*m.Conversions)), PurchaseValue: money(m.PurchaseValue),
			VideoViews: new(part(*m.VideoViews)), Actions: map[string]int64{},
		}
		for name, count := range m.Actions {
			parts[i].Actions[name] = part(count)
		}
	}
	return parts
}
