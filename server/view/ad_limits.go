package view

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/oapi-codegen/nullable"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// AdLimits renders the limits of an account.
func AdLimits(l *advert.Limits) api.AdLimits {
	currencies := map[string]api.AdLimit{}
	for currency, limit := range l.Currencies.V {
		currencies[currency] = adLimit(limit)
	}
	return api.AdLimits{
		Object:                    "ad_limits",
		Currencies:                currencies,
		Default:                   adLimit(advert.DefaultLimit("usd")),
		MaxDailyBudgetIncreasePct: optionalRatio(l.MaxIncrease),
		BlockedOperations:         mapped(l.BlockedOperations.V, func(op advert.Op) api.AdOperation { return api.AdOperation(op) }),
		CreatedAt:                 atOrNever(l.CreatedAt),
		UpdatedAt:                 atOrNever(l.UpdatedAt),
	}
}

func adLimit(l advert.Limit) api.AdLimit {
	return api.AdLimit{
		MaxDailyBudgetPerCampaign: amount(l.MaxDailyPerCampaign),
		MaxTotalDailyBudget:       amount(l.MaxDailyTotal),
		MaxBidAmount:              optionalAmount(l.MaxBid),
	}
}

// AdLimitsChange reads the body of a PATCH. An amount or percentage that cannot be read is CodeInvalid on its field.
func AdLimitsChange(b *api.AdLimitsUpdate) (func(*advert.Limits), error) {
	var p core.Problems
	changes := map[string]func(*advert.Limit){}
	for currency, sent := range b.Currencies {
		changes[currency] = adLimitChange(&p, "currencies."+currency, sent)
	}
	increase, err := ratio(b.MaxDailyBudgetIncreasePct)
	p.Check(err == nil, "max_daily_budget_increase_pct", "Send a percentage such as 50, or null for any.")
	return func(l *advert.Limits) {
		limits := map[string]advert.Limit{}
		maps.Copy(limits, l.Currencies.V)
		for currency, change := range changes {
			if change == nil {
				delete(limits, currency)
				continue
			}
			limit := l.Of(currency)
			change(&limit)
			limits[currency] = limit
		}
		l.Currencies.V = limits
		if b.MaxDailyBudgetIncreasePct.IsSpecified() {
			l.MaxIncrease = increase
		}
		if b.BlockedOperations != nil {
			l.BlockedOperations.V = mapped(b.BlockedOperations, func(op api.AdOperation) advert.Op { return advert.Op(op) })
		}
	}, p.Err()
}

// adLimitChange returns what changes the limits of a currency, nil if they are to be the defaults again. An amount that cannot
// be read is noted in p.
func adLimitChange(p *core.Problems, at string, sent *api.AdLimitUpdate) func(*advert.Limit) {
	if sent == nil {
		return nil
	}
	perCampaign := limitAmount(p, at+".max_daily_budget_per_campaign", sent.MaxDailyBudgetPerCampaign)
	total := limitAmount(p, at+".max_total_daily_budget", sent.MaxTotalDailyBudget)
	var bid *advert.Amount // nil: any amount
	if sent.MaxBidAmount.IsSpecified() && !sent.MaxBidAmount.IsNull() {
		bid = limitAmount(p, at+".max_bid_amount", new(sent.MaxBidAmount.MustGet()))
	}
	return func(l *advert.Limit) {
		set(&l.MaxDailyPerCampaign, perCampaign)
		set(&l.MaxDailyTotal, total)
		if sent.MaxBidAmount.IsSpecified() {
			l.MaxBid = bid
		}
	}
}

// limitAmount reads an amount, which may be 0; nil if none was sent. One that cannot be read is noted in p.
func limitAmount(p *core.Problems, field string, sent *json.Number) *advert.Amount {
	if sent == nil {
		return nil
	}
	amount, err := advert.ParseAmount(string(*sent))
	isZero := strings.Trim(string(*sent), "0.") == ""
	p.Check(err == nil || isZero, field, "Send an amount in whole currency units, such as 500 or 500.50.")
	return &amount
}

// ratio reads a ratio, nil for null or if none was sent.
func ratio(sent nullable.Nullable[json.Number]) (*advert.Ratio, error) {
	if !sent.IsSpecified() || sent.IsNull() {
		return nil, nil
	}
	ratio, err := advert.ParseRatio(string(sent.MustGet()))
	return &ratio, err
}

func optionalAmount(a *advert.Amount) *json.Number {
	if a == nil {
		return nil
	}
	return new(amount(*a))
}

func optionalRatio(r *advert.Ratio) *json.Number {
	if r == nil {
		return nil
	}
	return new(json.Number(r.String()))
}
