package catalog

import (
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
)

// maxIntervalCount is the greatest interval_count by interval: so many days, weeks, months or years may lie between two
// charges.
var maxIntervalCount = map[string]int64{"day": 365, "week": 52, "month": 36, "year": 10}

// check adds a problem for everything that is wrong with the variant by itself. Field names in the problems begin with at. An
// interval_count that is missing becomes 1.
func (v *PriceVariant) check(at string, p *core.Problems) {
	currency, ok := core.LookupCurrency(v.Currency)
	p.Check(ok, at+"currency", fmt.Sprintf("Currency '%s' is not supported. Send a lower-case ISO 4217 code such as usd.", v.Currency))
	if ok {
		v.checkAmount(at, p, currency)
		v.checkSetupFee(at, p, currency)
	}
	v.checkCurrencyAmounts(at, p)
	v.checkRecurring(at, p)
	p.Check(v.TaxBehavior == nil || *v.TaxBehavior == tenant.TaxBehaviorExclusive || *v.TaxBehavior == tenant.TaxBehaviorInclusive,
		at+"tax_behavior", "A tax behavior is exclusive or inclusive.")
	if v.CompareAtAmount != nil {
		p.Check(*v.CompareAtAmount > v.Amount, at+"compare_at_amount", "A former amount is higher than the amount.")
	}
	p.Check(v.QuantityMin >= 1, at+"quantity_min", "The least quantity is at least 1.")
	p.Check(v.QuantityMax == nil || *v.QuantityMax >= v.QuantityMin, at+"quantity_max", "The greatest quantity is at least quantity_min.")
	p.Check(v.Stock == nil || *v.Stock >= v.SoldCount+v.ReservedCount, at+"stock", "The stock is at least what was sold or is being paid for.")
	p.Check(core.HasAtMost(v.Name, 255), at+"name", "A name has at most 255 characters.")
	var metadata core.Problems
	v.Metadata.Check(&metadata)
	for field, messages := range metadata {
		for _, message := range messages {
			p.Add(at+field, message)
		}
	}
}

// checkAmount checks the amounts in the variant's own currency, by its amount type.
func (v *PriceVariant) checkAmount(at string, p *core.Problems, currency core.Currency) {
	switch v.AmountType {
	case PriceVariantAmountTypeFixed:
		v.checkCharge(at+"amount", v.Amount, p, currency)
	case PriceVariantAmountTypeFree:
		p.Check(v.Amount == 0, at+"amount", "A free price variant has the amount 0.")
	case PriceVariantAmountTypeCustom:
		v.checkCustom(at, p, currency)
		return
	default:
		p.Add(at+"amount_type", "An amount type is fixed, free or custom.")
	}
	const onlyCustom = "Only a price variant with amount_type custom has this."
	p.Check(v.MinAmount == nil, at+"min_amount", onlyCustom)
	p.Check(v.SuggestedAmount == nil, at+"suggested_amount", onlyCustom)
	p.Check(v.MaxAmount == nil, at+"max_amount", onlyCustom)
}

// checkCharge adds a problem to the field if its amount is one that cannot be charged in the currency.
func (v *PriceVariant) checkCharge(field string, amount int64, p *core.Problems, currency core.Currency) {
	problem := currency.Refuses(v.Currency, amount)
	p.Check(problem == "", field, problem)
}

// checkSetupFee checks that the set-up fee can be charged by itself, because during a trial it is all there is to pay. A fee
// has no amounts in further currencies, so a variant with one cannot have them.
func (v *PriceVariant) checkSetupFee(at string, p *core.Problems, currency core.Currency) {
	if v.SetupFeeAmount == 0 {
		return
	}
	v.checkCharge(at+"setup_fee_amount", v.SetupFeeAmount, p, currency)
	p.Check(len(v.CurrencyAmounts.V) == 0, at+"currency_amounts", "A price variant with a set-up fee has one currency.")
}

// checkCustom checks an amount that the buyer names: of min, suggested and max those that are set must not descend. A min of 0
// means that the buyer may also pay nothing.
func (v *PriceVariant) checkCustom(at string, p *core.Problems, currency core.Currency) {
	p.Check(v.Amount == 0, at+"amount", "With amount_type custom the buyer names the amount: send min_amount, suggested_amount and max_amount.")
	least := core.Deref(v.MinAmount)
	if least > 0 {
		v.checkCharge(at+"min_amount", least, p, currency)
	}
	if v.SuggestedAmount != nil {
		if *v.SuggestedAmount > 0 {
			v.checkCharge(at+"suggested_amount", *v.SuggestedAmount, p, currency)
		}
		p.Check(*v.SuggestedAmount >= least, at+"suggested_amount", "The suggested amount is at least min_amount.")
		least = *v.SuggestedAmount
	}
	if v.MaxAmount != nil {
		p.Check(*v.MaxAmount >= max(least, currency.Minimum), at+"max_amount", "The greatest amount is at least suggested_amount, min_amount and the least of the currency.")
	}
}

// checkCurrencyAmounts checks the amounts in further currencies, which only a fixed amount can have.
func (v *PriceVariant) checkCurrencyAmounts(at string, p *core.Problems) {
	p.Check(len(v.CurrencyAmounts.V) == 0 || v.AmountType == PriceVariantAmountTypeFixed, at+"currency_amounts", "Only a price variant with amount_type fixed has amounts in further currencies.")
	for code, amount := range v.CurrencyAmounts.V {
		field := at + "currency_amounts." + code
		currency, ok := core.LookupCurrency(code)
		p.Check(ok, field, fmt.Sprintf("Currency '%s' is not supported.", code))
		p.Check(code != v.Currency, field, "The amount in the variant's own currency is `amount`.")
		problem := currency.Refuses(code, amount)
		p.Check(!ok || problem == "", field, problem)
	}
}

// checkRecurring checks that a recurring variant has what it needs, and that a one-time variant has none of it.
func (v *PriceVariant) checkRecurring(at string, p *core.Problems) {
	switch v.Type {
	case PriceVariantTypeRecurring:
		v.checkInterval(at, p)
	case PriceVariantTypeOneTime:
		const onlyRecurring = "Only a recurring price variant has this. Send type recurring."
		p.Check(v.Interval == nil, at+"interval", onlyRecurring)
		p.Check(v.IntervalCount == nil, at+"interval_count", onlyRecurring)
		p.Check(v.TrialDays == 0, at+"trial_days", onlyRecurring)
		p.Check(v.SetupFeeAmount == 0, at+"setup_fee_amount", onlyRecurring)
		p.Check(v.BillingCycles == nil, at+"billing_cycles", onlyRecurring)
	default:
		p.Add(at+"type", "A type is one_time or recurring.")
	}
}

// checkInterval checks the interval, trial and billing cycles of a recurring variant. An interval_count that is missing becomes
// 1.
func (v *PriceVariant) checkInterval(at string, p *core.Problems) {
	if v.Interval == nil {
		p.Add(at+"interval", "A recurring price variant needs an interval: day, week, month or year.")
		return
	}
	most, ok := maxIntervalCount[*v.Interval]
	p.Check(ok, at+"interval", "An interval is day, week, month or year.")
	if v.IntervalCount == nil {
		one := int64(1)
		v.IntervalCount = &one
	}
	p.Check(!ok || *v.IntervalCount >= 1 && *v.IntervalCount <= most, at+"interval_count", fmt.Sprintf("The interval %s can be counted 1 to %d times.", *v.Interval, most))
	p.Check(v.TrialDays >= 0 && v.TrialDays <= 730, at+"trial_days", "A trial has 0 to 730 days.")
	p.Check(v.BillingCycles == nil || *v.BillingCycles >= 1, at+"billing_cycles", "There is at least 1 billing cycle.")
}
