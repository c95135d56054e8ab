package advert

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/store/core"
)

// Amount is an amount of an ad budget, a bid or an ad's spend, in MICROS of a whole currency unit: 20.00 USD is
// 20_000_000. It has its own type because prices are in minor units: neither converts silently into the other.
type Amount int64

// AmountUnit is one whole currency unit.
const AmountUnit Amount = 1_000_000

// decimals is how many decimals of a whole unit an amount in micros has.
const decimals = 6

// What ParseAmount and ParseSpend refuse. The texts say what to send, so that they can follow a field's name.
var (
	ErrAmountSyntax      = errors.New("must be a plain decimal number such as 20 or 20.50")
	ErrAmountDecimals    = errors.New("must have at most two decimals")
	ErrAmountNotPositive = errors.New("must be more than 0")
	ErrAmountTooLarge    = errors.New("is larger than any budget")
)

// ParseAmount reads an amount that somebody asks for, as JSON writes numbers: "20", "20.5" and "20.50" are the same.
// It refuses an exponent, NaN and infinity, and it refuses a third decimal, rather than rounding it. It refuses whatever is not more than 0, because
// that cannot be spent.
func ParseAmount(decimal string) (Amount, error) {
	digits, negative := strings.CutPrefix(decimal, "-")
	whole, fraction, err := splitDecimal(digits)
	switch {
	case err != nil:
		return 0, err
	case negative || strings.Trim(whole+fraction, "0") == "":
		return 0, ErrAmountNotPositive
	case len(fraction) > 2:
		return 0, ErrAmountDecimals
	}
	return joinDecimal(whole, fraction)
}

// ParseSpend reads an amount that a network reports, which may be 0. Decimals beyond a micro are cut off.
func ParseSpend(decimal string) (Amount, error) {
	whole, fraction, err := splitDecimal(decimal)
	if err != nil {
		return 0, err
	}
	return joinDecimal(whole, fraction[:min(len(fraction), decimals)])
}

// splitDecimal returns the digits before and after the point of a plain decimal number. There must be at least one digit
// on each side of a point, and no leading zero; anything else is ErrAmountSyntax.
func splitDecimal(decimal string) (whole, fraction string, err error) {
	whole, fraction, pointed := strings.Cut(decimal, ".")
	leadingZero := len(whole) > 1 && whole[0] == '0'
	if !isDigits(whole) || leadingZero || (pointed && !isDigits(fraction)) {
		return "", "", ErrAmountSyntax
	}
	return whole, fraction, nil
}

// joinDecimal makes an amount of the digits before and after the point. The caller has checked that they are digits and
// that the fraction has at most six. A number too large is ErrAmountTooLarge.
func joinDecimal(whole, fraction string) (Amount, error) {
	micros, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", decimals-len(fraction)), 10, 64)
	if err != nil { // only the range is left to be wrong
		return 0, ErrAmountTooLarge
	}
	return Amount(micros), nil
}

// isDigits reports whether text is one or more ASCII digits.
func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// String writes the amount exactly, with at least two decimals: "20.00", or "0.004137" for a part of a cent.
func (a Amount) String() string {
	magnitude, sign := uint64(a), ""
	if a < 0 {
		magnitude, sign = -magnitude, "-"
	}
	unit := uint64(AmountUnit)
	fraction := strconv.FormatUint(unit+magnitude%unit, 10)[1:]
	return sign + strconv.FormatUint(magnitude/unit, 10) + "." + fraction[:2] + strings.TrimRight(fraction[2:], "0")
}

// Format writes the amount with its currency: "20.00 USD", or "2000 JPY" for a currency without decimals. Spend can be a
// part of a yen; such decimals are written all the same.
func (a Amount) Format(currency string) string {
	text := a.String()
	if core.ExponentOf(currency) == 0 {
		text = strings.TrimSuffix(text, ".00")
	}
	return text + " " + strings.ToUpper(currency)
}

// Add returns the sum of two amounts, or the largest amount if the sum does not fit. A total that overflows must not look small to a limit.
func (a Amount) Add(b Amount) Amount {
	if b > 0 && a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
