package customer

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/store/core"
)

// What a balance leaves of a total is nothing, or an amount that cards are charged.
func TestCredit_LeavesWhatCanBeCharged(t *testing.T) {
	for _, c := range []struct {
		currency             string
		balance, total, want int64
	}{
		{"usd", 1237, 5000, 1237},
		{"usd", 4970, 5000, 4950},
		{"usd", 0, 30, 30},
		{"kwd", 1237, 5000, 1230},
		{"kwd", 1240, 5000, 1240},
		{"kwd", 7, 5000, 0},
		{"kwd", 7000, 4239, 4239},
		{"kwd", 237, 4239, 229},
		{"kwd", 4993, 5000, 4840},
		{"kwd", 2, 4239, 2}, // it has not enough to help
		{"kwd", -5, 5000, 0},
	} {
		buyer := &Customer{Balance: core.JSONOf(map[string]int64{c.currency: c.balance})}
		assert.Equal(t, c.want, buyer.Credit(c.currency, c.total), "%+v", c)
	}
}
