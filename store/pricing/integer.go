package pricing

import (
	"math"
	"math/bits"
)

// basis is the number of basis points in a whole.
const basis = 10_000

// The two ways in which a division ends.
type rounding bool

const (
	down    rounding = false
	nearest rounding = true // half up
)

// mulDiv is a * b / c over a product of 128 bits, so that only the result has to fit.
func mulDiv(a, b, c int64, r rounding) (int64, error) {
	quotient, remainder, err := divide(a, b, c)
	if err != nil {
		return 0, err
	}
	if r == nearest && remainder >= uint64(c)-remainder {
		return add(quotient, 1)
	}
	return quotient, nil
}

// divide is a * b / c and what is left of it.
func divide(a, b, c int64) (quotient int64, remainder uint64, err error) {
	if a < 0 || b < 0 || c <= 0 {
		return 0, 0, ErrRange
	}
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi >= uint64(c) {
		return 0, 0, ErrRange
	}
	q, remainder := bits.Div64(hi, lo, uint64(c))
	if q > math.MaxInt64 {
		return 0, 0, ErrRange
	}
	return int64(q), remainder, nil
}

// add is a + b of two amounts that are not negative.
func add(a, b int64) (int64, error) {
	if a > math.MaxInt64-b {
		return 0, ErrRange
	}
	return a + b, nil
}
