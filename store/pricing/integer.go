package pricing

import (
	"math"
	"math/bits"
)

// basis is the number of basis points in a whole.
const basis = 10_000

// rounding says how a division is rounded.
type rounding bool

const (
	down    rounding = false
	nearest rounding = true // half up
)

// mulDiv returns a * b / c, rounded. The product has 128 bits, so that only the result has to fit into an int64. It returns
// ErrRange if that does not, if a or b is negative, or if c is not above 0.
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

// divide returns a * b / c rounded down, and the remainder. The errors are those of mulDiv.
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

// add returns a + b for two amounts that are not negative, or ErrRange if the sum does not fit.
func add(a, b int64) (int64, error) {
	if a > math.MaxInt64-b {
		return 0, ErrRange
	}
	return a + b, nil
}
