package stripe

import (
	"fmt"

	"github.com/tillwright/tillwright/server/payments"
)

// Stripe counts a few currencies otherwise than we do. Both tables are constants.
var (
	// inHundredths have no minor unit, and amounts in hundredths all the same.
	inHundredths = map[string]bool{"isk": true, "ugx": true}
	// inTens have three decimals, of which Stripe takes two.
	inTens = map[string]bool{"bhd": true, "jod": true, "kwd": true, "omr": true, "tnd": true}
)

// amountOf turns an amount in our minor unit into Stripe's, or declines it.
func amountOf(amount int64, currency string) (int64, *payments.Decline) {
	switch {
	case inHundredths[currency]:
		return amount * 100, nil
	case inTens[currency] && amount%10 != 0:
		return 0, &payments.Decline{Code: "amount_not_supported", Message: fmt.Sprintf(
			"Stripe takes amounts in %s only in steps of 10 thousandths, not %d. Price it so that the total ends in 0.", currency, amount)}
	}
	return amount, nil
}
