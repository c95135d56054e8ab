package discount

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/tillwright/tillwright/store/core"
)

// codeFormat matches an acceptable code.
var codeFormat = regexp.MustCompile(`^[A-Za-z0-9_-]{3,64}$`)

// maxMonths is how many months a repeating discount may stay with a subscription.
const maxMonths = 999

// check sets CodeKey, and returns CodeInvalid with every field that is not acceptable.
func (d *Discount) check() error {
	var p core.Problems
	p.Check(strings.TrimSpace(d.Name) != "" && core.HasAtMost(&d.Name, 255), "name", "Send a name of 1 to 255 characters, or a code.")
	d.CodeKey = nil
	if d.Code != nil {
		key := strings.ToLower(*d.Code)
		d.CodeKey = &key
		p.Check(codeFormat.MatchString(*d.Code), "code", "A code has 3 to 64 letters, digits, hyphens and underscores.")
	}
	d.checkRate(&p)
	d.checkRules(&p)
	d.checkDuration(&p)
	d.checkLimits(&p)
	d.Metadata.Check(&p)
	return p.Err()
}

// checkRate checks that a percent discount has basis points and no amounts, and a fixed one amounts and no basis points.
func (d *Discount) checkRate(p *core.Problems) {
	if d.Currency != nil {
		_, known := core.LookupCurrency(*d.Currency)
		p.Check(known, "currency", fmt.Sprintf("Currency '%s' is not supported. Send a lower-case ISO 4217 code such as usd.", *d.Currency))
	}
	switch d.Type {
	case TypePercent:
		p.Check(d.PercentBps != nil && *d.PercentBps >= 1 && *d.PercentBps <= 10_000, "percent_bps", "A percent discount has percent_bps from 1 to 10000, which is all of it.")
		const onlyFixed = "Only a discount of type fixed has amounts. Send percent_bps."
		p.Check(d.Amount == nil, "amount", onlyFixed)
		p.Check(len(d.Amounts.V) == 0, "amounts", onlyFixed)
	case TypeFixed:
		p.Check(d.PercentBps == nil, "percent_bps", "Only a discount of type percent has this. Send amount and currency.")
		p.Check(d.Amount != nil || len(d.Amounts.V) > 0, "amount", "A fixed discount has amount and currency, or amounts by currency.")
		p.Check(d.Amount == nil || *d.Amount >= 1 && *d.Amount <= core.MaxAmount, "amount", fmt.Sprintf("An amount is 1 to %d.", core.MaxAmount))
		d.checkAmounts("amounts", d.Amounts.V, 1, p)
	default:
		p.Add("type", "A type is percent or fixed.")
	}
}

// checkAmounts checks amounts in currencies other than the discount's own. Each is at least least.
func (d *Discount) checkAmounts(field string, amounts map[string]int64, least int64, p *core.Problems) {
	for code, amount := range amounts {
		_, known := core.LookupCurrency(code)
		p.Check(known, field+"."+code, fmt.Sprintf("Currency '%s' is not supported.", code))
		p.Check(d.Currency == nil || code != *d.Currency, field+"."+code, "The amount in `currency` is not among those in further currencies.")
		p.Check(amount >= least && amount <= core.MaxAmount, field+"."+code, fmt.Sprintf("An amount is %d to %d.", least, core.MaxAmount))
	}
}

// checkRules checks that each rule says the same kind of rate as the discount: basis points, or an amount in each of its
// currencies.
func (d *Discount) checkRules(p *core.Problems) {
	seen := map[string]bool{}
	for i, r := range d.Rules.V {
		at := fmt.Sprintf("rules.%d.", i)
		p.Check(!seen[r.PriceVariantID], at+"price_variant", "A price variant has one rule.")
		seen[r.PriceVariantID] = true
		if d.Type == TypePercent {
			p.Check(r.PercentBps != nil && *r.PercentBps >= 0 && *r.PercentBps <= 10_000, at+"percent_bps", "A rule of a percent discount has percent_bps from 0 to 10000.")
			p.Check(r.Amount == nil && len(r.Amounts) == 0, at+"amount", "A rule of a percent discount has percent_bps, not an amount.")
			continue
		}
		p.Check(r.PercentBps == nil, at+"percent_bps", "A rule of a fixed discount has an amount.")
		p.Check((r.Amount == nil) == (d.Amount == nil), at+"amount", "A rule has an amount where the discount has one.")
		p.Check(r.Amount == nil || *r.Amount >= 0 && *r.Amount <= core.MaxAmount, at+"amount", fmt.Sprintf("An amount is 0 to %d.", core.MaxAmount))
		d.checkAmounts(at+"amounts", r.Amounts, 0, p)
		for code := range d.Amounts.V {
			_, has := r.Amounts[code]
			p.Check(has, at+"amounts", fmt.Sprintf("The discount has an amount in %s, so the rule needs one too.", code))
		}
		p.Check(len(r.Amounts) <= len(d.Amounts.V), at+"amounts", "A rule has amounts in the currencies of the discount.")
	}
}

func (d *Discount) checkDuration(p *core.Problems) {
	months := d.DurationInMonths
	switch d.Duration {
	case DurationRepeating:
		p.Check(months != nil && *months >= 1 && *months <= maxMonths, "duration_in_months", fmt.Sprintf("A repeating discount has duration_in_months from 1 to %d.", maxMonths))
	case DurationOnce, DurationForever:
		p.Check(months == nil, "duration_in_months", "Only a repeating discount has this. Send duration repeating.")
	default:
		p.Add("duration", "A duration is once, repeating or forever.")
	}
}

func (d *Discount) checkLimits(p *core.Problems) {
	p.Check(d.MinSubtotalAmount == nil || *d.MinSubtotalAmount >= 1 && *d.MinSubtotalAmount <= core.MaxAmount, "min_subtotal_amount", fmt.Sprintf("The least subtotal is 1 to %d.", core.MaxAmount))
	d.checkAmounts("min_subtotal_amounts", d.MinSubtotalAmounts.V, 1, p)
	p.Check(d.StartsAt == nil || d.EndsAt == nil || *d.StartsAt < *d.EndsAt, "ends_at", "A discount ends after it starts.")
	p.Check(d.MaxRedemptions == nil || *d.MaxRedemptions >= max(d.RedemptionsCount, 1), "max_redemptions", "The most redemptions are at least 1, and those that there were.")
	p.Check(d.MaxRedemptionsPerCustomer == nil || *d.MaxRedemptionsPerCustomer >= 1, "max_redemptions_per_customer", "The most redemptions per customer are at least 1.")
}

// Rate returns the fields that cannot change once the discount was redeemed: the JSON text of each, by its name.
func (d *Discount) rate() map[string]string {
	return map[string]string{
		"type": core.JSONText(d.Type), "percent_bps": core.JSONText(d.PercentBps), "amount": core.JSONText(d.Amount), "currency": core.JSONText(d.Currency),
		"amounts": core.JSONText(d.Amounts), "rules": core.JSONText(d.Rules), "duration": core.JSONText(d.Duration),
		"duration_in_months": core.JSONText(d.DurationInMonths),
	}
}

// checkRedeemed returns CodeInvalid with every field of the rate that is not what it was when the discount was redeemed.
func (d *Discount) checkRedeemed(redeemed map[string]string) error {
	var p core.Problems
	for field, text := range d.rate() {
		p.Check(text == redeemed[field], field, "This discount has been redeemed: what it takes off cannot change. Create a new discount and disable this one.")
	}
	return p.Err()
}
