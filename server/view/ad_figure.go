package view

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/openapi/wire"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

// The decimals that figures of ads are shown with.
const (
	amountDecimals     = 2
	ratioDecimals      = 4
	conversionDecimals = 3
)

// fixed writes a number of millionths with so many decimals, rounded half up.
func fixed[N ~int64](millionths N, decimals int) json.Number {
	sign, magnitude := "", uint64(millionths)
	if millionths < 0 {
		sign, magnitude = "-", -magnitude
	}
	one, step := uint64(1), uint64(1_000_000)
	for range decimals {
		one, step = one*10, step/10
	}
	units := magnitude / step
	if magnitude%step >= (step+1)/2 && step > 1 {
		units++
	}
	fraction := strconv.FormatUint(one+units%one, 10)[1:]
	return json.Number(sign + strconv.FormatUint(units/one, 10) + "." + fraction)
}

// amount writes whole currency units.
func amount(a store.AdAmount) json.Number { return fixed(a, amountDecimals) }

// amountOrNull is null for an amount that stands for none.
func amountOrNull(a store.AdAmount) *json.Number {
	if a == 0 {
		return nil
	}
	return new(amount(a))
}

// ratioOrNull is null for a ratio that stands for none.
func ratioOrNull(r store.AdRatio) *json.Number {
	if r == 0 {
		return nil
	}
	return new(json.Number(r.String()))
}

// over is a ratio, null if it divides by nothing.
func over[N ~int64](divisor int64, ratio N) *json.Number {
	if divisor == 0 {
		return nil
	}
	return new(fixed(ratio, ratioDecimals))
}

// thousandths writes a count that may have parts.
func thousandths(count int64) json.Number { return fixed(count*1000, conversionDecimals) }

// budget is null for an amount that stands for none.
func budget(a store.AdAmount, kind store.BudgetType, currency string) *api.AdBudget {
	if a == 0 {
		return nil
	}
	return &api.AdBudget{Amount: amount(a), Type: api.AdBudgetType(kind), Formatted: a.Format(currency)}
}

// metrics renders what was reported, null if the network was not asked.
func metrics[T any](shown *ads.Reported[T]) *api.AdMetrics {
	m := shown.Metrics
	if m == nil {
		return nil
	}
	actions := map[string]json.Number{}
	for name, count := range m.Actions {
		actions[name] = thousandths(count)
	}
	return &api.AdMetrics{
		Spend:             amount(m.Spend),
		Impressions:       m.Impressions,
		Reach:             m.Reach,
		Clicks:            m.Clicks,
		CTR:               over(m.Impressions, m.CTR()),
		CPC:               over(m.Clicks, m.CPC()),
		CPM:               over(m.Impressions, m.CPM()),
		Engagement:        m.Engagement,
		Conversions:       thousandths(m.Conversions),
		CostPerConversion: over(m.Conversions, m.CostPerConversion()),
		PurchaseValue:     amount(m.PurchaseValue),
		ROAS:              over(int64(m.Spend), m.ROAS()),
		VideoViews:        m.VideoViews,
		Actions:           actions,
		From:              shown.From.String(),
		To:                shown.To.String(),
		LastSyncedAt:      atOrNever(shown.SyncedAt),
	}
}

// schedule writes the days between two moments, as they are in the ad account's time zone. The second is the first
// moment after the last day.
func schedule(starts, ends *core.Time, a *store.AdAccount) api.AdSchedule {
	where := location(a)
	var out api.AdSchedule
	if starts != nil {
		out.StartDate = new(ads.DateOf(starts.Time().In(where)).String())
	}
	if ends != nil {
		out.EndDate = new(ads.DateOf(ends.Time().Add(-1).In(where)).String())
	}
	return out
}

// location is where the days of an ad account begin; UTC if its time zone has no rules here.
func location(a *store.AdAccount) *time.Location {
	where, err := time.LoadLocation(a.Timezone)
	if err != nil {
		return time.UTC
	}
	return where
}

// atOrNever is null for the zero time.
func atOrNever(t core.Time) *wire.Time {
	if t == 0 {
		return nil
	}
	return new(at(t))
}

// text is null for an empty text, which stands for what there is not.
func text[T ~string](s T) *string {
	if s == "" {
		return nil
	}
	return new(string(s))
}

// word is null for an empty word of a vocabulary.
func word[T, S ~string](s S) *T {
	if s == "" {
		return nil
	}
	return new(T(s))
}
