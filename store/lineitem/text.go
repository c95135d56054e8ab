package lineitem

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/tillwright/tillwright/store/core"
)

// The texts that a line gets beside the names of its product and price variant. They are stored in English, as the API has them. Trial and PlanChange read
// them again, for pages that speak other languages.
const (
	setupFeeText = ", set-up fee"
	trialText    = ", trial until "
	changeText   = "Change from "
	toText       = " to "
	untilText    = ", until "
)

// PlanChange is what a line says of a change of plan, which it bills until a day. A plan has its price beside it where both have one name.
type PlanChange struct {
	From, To           string
	FromPrice, ToPrice *PlanPrice
	Until              time.Time
}

// PlanPrice is what a piece of a plan costs in each of its periods, without taxes and discounts.
type PlanPrice struct {
	Amount        int64
	Currency      string
	Interval      string
	IntervalCount int64
}

// pricedName is the name of a plan with what priceText has put after it.
var pricedName = regexp.MustCompile(`^(.+), ([A-Z]{3})\x{a0}([\d,]+(?:\.\d+)?) every (?:(\d+) )?(day|week|month|year)s?$`)

// priceText returns what follows the name of a plan: ", USD 29.00 every month". It is empty for a plan without a price.
func priceText(p *PlanPrice) string {
	switch {
	case p == nil:
		return ""
	case p.IntervalCount == 1:
		return fmt.Sprintf(", %s every %s", core.FormatAmount(p.Amount, p.Currency), p.Interval)
	}
	return fmt.Sprintf(", %s every %d %ss", core.FormatAmount(p.Amount, p.Currency), p.IntervalCount, p.Interval)
}

// splitPrice reads the name of a plan with its price, nil if there is none.
func splitPrice(text string) (name string, p *PlanPrice) {
	parts := pricedName.FindStringSubmatch(text)
	if parts == nil {
		return text, nil
	}
	p = &PlanPrice{Currency: strings.ToLower(parts[2]), Interval: parts[5], IntervalCount: 1}
	amount, problem := core.ReadAmount(strings.ReplaceAll(parts[3], ",", ""), p.Currency)
	if problem != "" {
		return text, nil
	}
	if parts[4] != "" {
		var err error
		if p.IntervalCount, err = strconv.ParseInt(parts[4], 10, 64); err != nil {
			return text, nil
		}
	}
	p.Amount = amount
	return parts[1], p
}

// Name returns the names of product and price variant.
func (l *Item) Name() string {
	if l.PriceVariantName != nil {
		return l.ProductName + " (" + *l.PriceVariantName + ")"
	}
	return l.ProductName
}

// Describe returns a text that says what the line is about: its description, or else the names of product and price variant.
func (l *Item) Describe() string {
	if l.Description != nil {
		return *l.Description
	}
	return l.Name()
}

// DescribeSetupFee has the line say that it is a set-up fee.
func (l *Item) DescribeSetupFee() { l.Description = new(l.Name() + setupFeeText) }

// DescribeTrial has the line say on which day its trial ends, which is the day of end in its zone.
func (l *Item) DescribeTrial(end time.Time) {
	l.Description = new(l.Name() + trialText + end.Format(time.DateOnly))
}

// DescribeChange has the line say which plans it is between, and until which day, which is that of c.Until in its zone.
func (l *Item) DescribeChange(c PlanChange) {
	l.Description = new(changeText + c.From + priceText(c.FromPrice) + toText + c.To + priceText(c.ToPrice) + untilText + c.Until.Format(time.DateOnly))
}

// Trial returns the day on which a trial ends, if that is what the line says.
func (l *Item) Trial() (end time.Time, ok bool) {
	day, ok := strings.CutPrefix(l.Describe(), l.Name()+trialText)
	if !ok || l.Kind != KindPrice {
		return end, false
	}
	end, err := time.Parse(time.DateOnly, day)
	return end, err == nil
}

// PlanChange returns the change of plan of which the line speaks, if it does. A text of which it is not sure where one name ends is none.
func (l *Item) PlanChange() (c PlanChange, ok bool) {
	text, is := strings.CutPrefix(l.Describe(), changeText)
	at := strings.LastIndex(text, untilText)
	if !is || l.Kind != KindProration || at < 0 {
		return c, false
	}
	until, err := time.Parse(time.DateOnly, text[at+len(untilText):])
	if err != nil {
		return c, false
	}
	from, to, _ := strings.Cut(text[:at], toText)
	c.Until = until
	c.From, c.FromPrice = splitPrice(from)
	c.To, c.ToPrice = splitPrice(to)
	return c, strings.Count(text[:at], toText) == 1
}
