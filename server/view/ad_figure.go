package view

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/sdk/wire"
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

// known writes a figure that is given in millionths, nil for one that is not known.
func known[N ~int64](millionths *N, decimals int) *json.Number {
	if millionths == nil {
		return nil
	}
	return new(fixed(*millionths, decimals))
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
	return &api.AdMetrics{
		Spend:             known(m.Spend, amountDecimals),
		Impressions:       m.Impressions,
		Reach:             m.Reach,
		Clicks:            m.Clicks,
		CTR:               known(m.CTR(), ratioDecimals),
		CPC:               known(m.CPC(), ratioDecimals),
		CPM:               known(m.CPM(), ratioDecimals),
		Engagement:        m.Engagement,
		Conversions:       thousandthsOrNull(m.Conversions),
		CostPerConversion: known(m.CostPerConversion(), ratioDecimals),
		PurchaseValue:     known(m.PurchaseValue, amountDecimals),
		ROAS:              known(m.ROAS(), ratioDecimals),
		VideoViews:        m.VideoViews,
		Actions:           actions(m.Actions),
		From:              dateOrNull(shown.Days.From),
		To:                dateOrNull(shown.Days.To),
		Warnings:          list(shown.Days.Warnings),
		LastSyncedAt:      atOrNever(shown.SyncedAt),
	}
}

// actions renders counts by their names, nil if they are not known.
func actions(counts map[string]int64) map[string]json.Number {
	if counts == nil {
		return nil
	}
	shown := map[string]json.Number{}
	for name, count := range counts {
		shown[name] = thousandths(count)
	}
	return shown
}

func thousandthsOrNull(count *int64) *json.Number {
	if count == nil {
		return nil
	}
	return new(thousandths(*count))
}

// dateOrNull writes a day, nil for none.
func dateOrNull(d ads.Date) *string {
	if d.IsZero() {
		return nil
	}
	return new(d.String())
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

// textOrNil returns a text, nil for an empty one, which the store keeps for none.
func textOrNil[T ~string](s T) *string {
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
