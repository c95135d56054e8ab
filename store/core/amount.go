package core

import (
	"strconv"
	"strings"
)

// FormatAmount writes minor units with their currency for people: USD 1,900.00, JPY 1,900. The code and the number
// never come apart at the end of a line.
func FormatAmount(amount int64, currency string) string {
	digits, negative := strings.CutPrefix(strconv.FormatInt(amount, 10), "-")
	exponent := ExponentOf(currency)
	if missing := exponent + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	whole, minor := digits[:len(digits)-exponent], digits[len(digits)-exponent:]
	text := strings.ToUpper(currency) + "\u00a0"
	if negative {
		text += "-"
	}
	text += grouped(whole)
	if minor != "" {
		text += "." + minor
	}
	return text
}

// ExponentOf also knows the currencies of no and of three digits that prices may not be in: being wrong by a factor
// of ten is worse than a short list. ISO 4217 gives nearly all others two.
func ExponentOf(currency string) int {
	if known, ok := LookupCurrency(currency); ok {
		return known.Exponent
	}
	switch currency {
	case "bif", "djf", "gnf", "kmf", "pyg", "rwf", "ugx", "vuv", "xaf", "xof", "xpf":
		return 0
	case "iqd", "lyd":
		return 3
	}
	return 2
}

// grouped puts a comma between every three digits.
func grouped(digits string) string {
	first := (len(digits)-1)%3 + 1
	groups := []string{digits[:first]}
	for rest := digits[first:]; rest != ""; rest = rest[3:] {
		groups = append(groups, rest[:3])
	}
	return strings.Join(groups, ",")
}

// DecimalAmount writes minor units for programs: 1900.00, 1900 in JPY.
func DecimalAmount(amount int64, currency string) string {
	_, figure, _ := strings.Cut(FormatAmount(amount, currency), "\u00a0")
	return strings.ReplaceAll(figure, ",", "")
}
