package contract

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// What has no card of its own any more is charged to its customer's default. They are told of that card in the middle of a long period, too.
func TestLetters_ACardExpiresThatIsTheDefaultSince(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		sub := subscription(t, c, yearly(t, c))
		var last time.Time
		hasDefault := func(token string) {
			card := ok[*sdk.SavedPaymentMethod](t)(c.Customers.CreatePaymentMethod(background, sub.Customer.ID, &sdk.SavedPaymentMethodCreate{PaymentMethod: sdk.PaymentMethod{Token: token}}))
			last = expiresSoon(t, s, sub)
			ok[*sdk.Customer](t)(c.Customers.Update(background, sub.Customer.ID, &sdk.CustomerUpdate{DefaultPaymentMethod: sdk.Set(card.ID)}))
		}
		hasDefault("pm_card_mastercard")
		ok[*sdk.Deleted](t)(c.Customers.DeletePaymentMethod(background, sub.Customer.ID, sub.PaymentMethod.ID))
		advance(t, c, time.Until(last)-30*aDay-time.Hour)
		none(t, c, "card_expiring")
		advance(t, c, 2*time.Hour)
		sent := sentOf(t, c, "card_expiring")
		require.Len(t, sent, 1)
		tells(t, s, sent[0], "Your card for Test expires soon", "Mastercard card ending in 4444")
		hasDefault("pm_card_amex")
		advance(t, c, time.Hour)
		sent = sentOf(t, c, "card_expiring")
		require.Len(t, sent, 2)
		tells(t, s, sent[0], "Your card for Test expires soon", "ending in 0005")

		of := *sub
		of.Customer.ID = member(t, c).ID
		card := ok[*sdk.SavedPaymentMethod](t)(c.Customers.CreatePaymentMethod(background, of.Customer.ID, &sdk.SavedPaymentMethodCreate{PaymentMethod: sdk.PaymentMethod{Token: "pm_card_discover"}}))
		ok[*sdk.Customer](t)(c.Customers.Update(background, of.Customer.ID, &sdk.CustomerUpdate{DefaultPaymentMethod: sdk.Set(card.ID)}))
		expiresSoon(t, s, &of)
		ok[*sdk.Customer](t)(c.Customers.Merge(background, of.Customer.ID, &sdk.CustomerMerge{From: sub.Customer.ID}))
		advance(t, c, time.Hour)
		sent = sentOf(t, c, "card_expiring")
		require.Len(t, sent, 3, "the default is another one since two customers became one")
		tells(t, s, sent[0], "Your card for Test expires soon", "ending in 1117")
	})
}
