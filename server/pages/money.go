package pages

import (
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/store"
)

// money writes an amount of minor units with its currency: USD 1,900.00, JPY 1,900.
func money(amount int64, currency string) string {
	exponent := 2
	if known, ok := store.LookupCurrency(currency); ok {
		exponent = known.Exponent
	}
	digits := strconv.FormatInt(amount, 10)
	if missing := exponent + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	whole, minor := digits[:len(digits)-exponent], digits[len(digits)-exponent:]
	text := strings.ToUpper(currency) + "\u00a0" + grouped(whole)
	if minor != "" {
		text += "." + minor
	}
	return text
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
