package view

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/openapi/wire"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// The decimals that figures of ads are shown with.
const (
	amountDecimals     = 2
	ratioDecimals      = 4
	conversionDecimals = 3
)

// fixed writes a number, which is given in millionths, with a fixed number of decimals. Halves are rounded up, away from zero.
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

// amount writes an amount in whole currency units.
func amount(a advert.Amount) json.Number { return fixed(a, amountDecimals) }

// amountOrNull returns an amount, nil for 0, which the store keeps for no amount.
func amountOrNull(a advert.Amount) *json.Number {
	if a == 0 {
		return nil
	}
	return new(amount(a))
}

// ratioOrNull returns a ratio, nil for 0, which the store keeps for no ratio.
func ratioOrNull(r advert.Ratio) *json.Number {
	if r == 0 {
		return nil
	}
	return new(json.Number(r.String()))
}

// over returns a ratio that was divided by divisor, nil if that is 0.
func over[N ~int64](divisor int64, ratio N) *json.Number {
	if divisor == 0 {
		return nil
	}
	return new(fixed(ratio, ratioDecimals))
}

// thousandths writes a count that is kept in thousandths, because networks report parts of a conversion.
func thousandths(count int64) json.Number { return fixed(count*1000, conversionDecimals) }

// budget renders a budget, nil for the amount 0, which the store keeps for no budget.
func budget(a advert.Amount, kind advert.BudgetType, currency string) *api.AdBudget {
	if a == 0 {
		return nil
	}
	return &api.AdBudget{Amount: amount(a), Type: api.AdBudgetType(kind), Formatted: a.Format(currency)}
}

// metrics renders what the network reported, nil if it was not asked.
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

// schedule renders the first and the last day of a period, in the ad account's time zone. Ends is the first moment after the
// last day.
func schedule(starts, ends *core.Time, a *advert.Account) api.AdSchedule {
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

// location returns the ad account's time zone, in which its days begin, or UTC if this server does not know it.
func location(a *advert.Account) *time.Location {
	where, err := time.LoadLocation(a.Timezone)
	if err != nil {
		return time.UTC
	}
	return where
}

// atOrNever returns a timestamp, nil for the zero time.
func atOrNever(t core.Time) *wire.Time {
	if t == 0 {
		return nil
	}
	return new(at(t))
}

// text returns a text, nil for an empty one, which the store keeps for none.
func text[T ~string](s T) *string {
	if s == "" {
		return nil
	}
	return new(string(s))
}

// word returns a value of an enum, nil for an empty one.
func word[T, S ~string](s S) *T {
	if s == "" {
		return nil
	}
	return new(T(s))
}
