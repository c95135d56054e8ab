package core

import (
	"regexp"
	"strconv"
	"strings"
)

// MaxAmount bounds every amount of an order or an invoice that somebody asks for, in the currency's minor unit. It is far below the numbers
// that a program which counts in doubles cannot tell apart. What a subscription bills by itself may be more, by a tax that came later or by debits
// that waited. It is billed all the same.
const MaxAmount = 1_000_000_000_000

// FormatAmount writes an amount in minor units with its currency for people: USD 1,900.00, JPY 1,900. Between code and number
// is a no-break space, so that a line never ends between them.
func FormatAmount(amount int64, currency string) string {
	digits, negative := strings.CutPrefix(strconv.FormatInt(amount, 10), "-")
	exponent := ExponentOf(currency)
	if missing := exponent + 1 - len(digits); missing > 0 { // 5 cents are 005, of which 0 is the whole
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

// ExponentOf returns how many decimals a currency has. It also knows currencies of none and of three that prices may not be in. A short list is
// better than being wrong by a factor of ten. Any other has two, as nearly all in ISO 4217.
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

// grouped puts a comma between every three digits, counted from the right.
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

// decimal is an amount as people write it, with a point or a comma.
var decimal = regexp.MustCompile(`^(\d{1,13})(?:[.,](\d+))?$`)

// ReadAmount returns an amount that somebody wrote in the minor unit of a currency: 1250 of 12.50. Problem says why it is none, and is empty if it
// is one.
func ReadAmount(text, currency string) (amount int64, problem string) {
	parts := decimal.FindStringSubmatch(text)
	if parts == nil {
		return 0, "Send an amount like 12.50: this is " + text + "."
	}
	exponent := ExponentOf(currency)
	whole, rest := parts[1], strings.TrimRight(parts[2], "0")
	if len(rest) > exponent {
		return 0, "There are no such parts of " + strings.ToUpper(currency) + ": this is " + text + "."
	}
	amount, err := strconv.ParseInt(whole+rest+strings.Repeat("0", exponent-len(rest)), 10, 64)
	if err != nil {
		return 0, "This is too much: " + text + "."
	}
	return amount, ""
}
