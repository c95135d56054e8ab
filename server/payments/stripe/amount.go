package stripe

import (
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store/tenant"
)

// inHundredths lists the currencies that have no minor unit, but whose amounts Stripe writes in hundredths. It is never
// changed.
var inHundredths = map[string]bool{"isk": true, "ugx": true}

// oursOf converts an amount from Stripe's minor unit to ours.
func oursOf(amount int64, currency string) *payments.Amount {
	if inHundredths[currency] {
		amount /= 100
	}
	return &payments.Amount{Value: amount, Currency: currency}
}

// amountOf converts an amount from our minor unit to Stripe's. An amount that Stripe does not take is a decline.
func amountOf(amount int64, currency string) (int64, *payments.Decline) {
	if inHundredths[currency] {
		return amount * 100, nil
	}
	if problem := tenant.PaymentsProviderStripe.Refuses(amount, currency); problem != "" {
		return 0, &payments.Decline{Code: "amount_not_supported", Message: problem, OfSeller: true}
	}
	return amount, nil
}
