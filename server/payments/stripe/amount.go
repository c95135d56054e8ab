package stripe

import (
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
)

// inHundredths are the currencies that have no minor unit, and amounts at Stripe in hundredths all the same. It is a constant.
var inHundredths = map[string]bool{"isk": true, "ugx": true}

// oursOf turns an amount in Stripe's minor unit into ours.
func oursOf(amount int64, currency string) *payments.Amount {
	if inHundredths[currency] {
		amount /= 100
	}
	return &payments.Amount{Value: amount, Currency: currency}
}

// amountOf turns an amount in our minor unit into Stripe's, or declines it.
func amountOf(amount int64, currency string) (int64, *payments.Decline) {
	if inHundredths[currency] {
		return amount * 100, nil
	}
	if problem := store.PaymentsProviderStripe.Refuses(amount, currency); problem != "" {
		return 0, &payments.Decline{Code: "amount_not_supported", Message: problem}
	}
	return amount, nil
}
