package advert

import (
	"strconv"
	"strings"
)

// Ratio is a plain number of ads, such as a ROAS or a percentage, in millionths: 2.5 is 2,500,000.
type Ratio int64

// RatioOne is the ratio 1.
const RatioOne Ratio = 1_000_000

// ParseRatio reads a number as JSON writes it, without exponent and not below 0. A seventh decimal is refused.
func ParseRatio(decimal string) (Ratio, error) {
	whole, fraction, err := splitDecimal(decimal)
	if err == nil && len(fraction) > decimals {
		err = ErrAmountSyntax
	}
	if err != nil {
		return 0, err
	}
	millionths, err := joinDecimal(whole, fraction)
	return Ratio(millionths), err
}

// String writes the number without trailing zeros: "2.5", or "3".
func (r Ratio) String() string {
	magnitude, sign := uint64(r), ""
	if r < 0 {
		magnitude, sign = -magnitude, "-"
	}
	fraction := strings.TrimRight(strconv.FormatUint(uint64(RatioOne)+magnitude%uint64(RatioOne), 10)[1:], "0")
	if fraction != "" {
		fraction = "." + fraction
	}
	return sign + strconv.FormatUint(magnitude/uint64(RatioOne), 10) + fraction
}
