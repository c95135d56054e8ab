package locale

import (
	"strconv"
	"strings"
	"time"

	"github.com/bojanz/currency"

	"github.com/tillwright/tillwright/store/core"
)

// maxExponent is the most decimals that a currency has.
const maxExponent = 3

// Money returns an amount in the minor unit as people write it, such as €23.80 or 23,80 €.
func (l *Locale) Money(amount int64, code string) string {
	digits := core.ExponentOf(code)
	if l.byCode {
		return core.FormatAmount(amount, code)
	}
	a, err := currency.NewAmount(core.DecimalAmount(amount, code), strings.ToUpper(code))
	if err != nil { // no currency that anybody knows
		return core.FormatAmount(amount, code)
	}
	return l.money[digits].Format(a)
}

// Figure returns an amount as Money does, without its currency: for columns that name it in their head.
func (l *Locale) Figure(amount int64, code string) string {
	a, err := currency.NewAmount(core.DecimalAmount(amount, code), strings.ToUpper(code))
	if l.byCode || err != nil { // or no currency that anybody knows
		_, figure, _ := strings.Cut(core.FormatAmount(amount, code), "\u00a0")
		return figure
	}
	bare := *l.money[core.ExponentOf(code)]
	bare.CurrencyDisplay = currency.DisplayNone
	return bare.Format(a)
}

// Number returns a whole number.
func (l *Locale) Number(n int64) string {
	digits, negative := strings.CutPrefix(strconv.FormatInt(n, 10), "-")
	if least := len("0000"); len(digits) < least || len(digits) == least && l.Tag == "es" { // Spanish groups from five digits on
		return strconv.FormatInt(n, 10)
	}
	var grouped strings.Builder
	if negative {
		grouped.WriteString("-")
	}
	for i, digit := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			grouped.WriteString(l.T("format.group"))
		}
		grouped.WriteRune(digit)
	}
	return grouped.String()
}

// Percent returns basis points as a percentage.
func (l *Locale) Percent(basisPoints int64) string {
	number := strings.TrimSuffix(strings.TrimRight(core.DecimalAmount(basisPoints, "usd"), "0"), ".") // of two decimals too
	return l.T("format.percent", "number", strings.Replace(number, ".", l.T("format.decimal"), 1))
}

// Day returns the date of a moment, in the zone of t.
func (l *Locale) Day(t time.Time) string { return l.date("format.day", t) }

// Moment returns a date with its weekday and the time of day, in the zone of t.
func (l *Locale) Moment(t time.Time) string { return l.date("format.moment", t) }

func (l *Locale) date(pattern string, t time.Time) string {
	return l.T(pattern, "weekday", l.T("weekday."+strconv.Itoa(int(t.Weekday()))), "day", int64(t.Day()), "month", l.T("month."+strconv.Itoa(int(t.Month()))),
		"year", strconv.Itoa(t.Year()), "time", t.Format("15:04"))
}

// List returns parts with what the language writes between them.
func (l *Locale) List(parts ...string) string { return strings.Join(parts, l.T("format.separator")) }

// Gap returns what stands after a sentence, a colon or before a bracket: a space, and nothing in Japanese, whose signs have room in them.
func (l *Locale) Gap() string {
	if language, _ := l.language.Base(); language.String() == "ja" {
		return ""
	}
	return " "
}

// Every returns an interval, such as every month or every 3 weeks.
func (l *Locale) Every(interval string, count int64) string {
	if count == 1 {
		return l.T("every." + interval)
	}
	return l.T("every."+interval+"s", "count", count)
}

// Times returns an interval with how often it comes, such as every month, 5 times. Times is nil for no end.
func (l *Locale) Times(every string, times *int64) string {
	if times == nil {
		return every
	}
	return l.T("every.times", "every", every, "count", *times)
}

// Next says what is paid each time from a day on. IsUsual says that it is the price without a discount, and isTaxedLater that tax comes on top.
func (l *Locale) Next(every, amount, day string, isUsual, isTaxedLater bool) string {
	key := "next.then"
	switch {
	case isUsual && isTaxedLater:
		key = "next.usual_taxed"
	case isUsual:
		key = "next.usual"
	case isTaxedLater:
		key = "next.then_taxed"
	}
	return l.T(key, "amount", amount, "every", every, "day", day)
}
