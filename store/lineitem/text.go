package lineitem

import (
	"strings"
	"time"
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

// PlanChange is what a line says of a change of plan, which it bills until a day.
type PlanChange struct {
	From, To string
	Until    time.Time
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
	l.Description = new(changeText + c.From + toText + c.To + untilText + c.Until.Format(time.DateOnly))
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
	return PlanChange{from, to, until}, strings.Count(text[:at], toText) == 1
}
