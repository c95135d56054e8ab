package store

import (
	"strconv"
	"strings"
)

// AdRatio is a plain number of ads, such as a ROAS or a percentage, in millionths: 2.5 is 2,500,000.
type AdRatio int64

// AdRatioOne is the ratio 1.
const AdRatioOne AdRatio = 1_000_000

// ParseAdRatio reads a number as JSON writes it, without exponent and not below 0. A seventh decimal is refused.
func ParseAdRatio(decimal string) (AdRatio, error) {
	whole, fraction, err := splitDecimal(decimal)
	if err == nil && len(fraction) > adDecimals {
		err = ErrAdAmountSyntax
	}
	if err != nil {
		return 0, err
	}
	millionths, err := joinDecimal(whole, fraction)
	return AdRatio(millionths), err
}

// String writes the number without trailing zeros: "2.5", or "3".
func (r AdRatio) String() string {
	magnitude, sign := uint64(r), ""
	if r < 0 {
		magnitude, sign = -magnitude, "-"
	}
	fraction := strings.TrimRight(strconv.FormatUint(uint64(AdRatioOne)+magnitude%uint64(AdRatioOne), 10)[1:], "0")
	if fraction != "" {
		fraction = "." + fraction
	}
	return sign + strconv.FormatUint(magnitude/uint64(AdRatioOne), 10) + fraction
}
