package contract

import (
	"strings"
	"testing"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// Every letter about what was bought at a checkout speaks the checkout's language, whatever its customer prefers, and gives the bank's reason in it.
func TestLetters_SpeakTheLanguageOfTheCheckout(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		german := ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{
			Customer: &member(t, c).ID, Locale: new("de"), LineItems: []sdk.CheckoutLine{{PriceVariant: monthly(t, c, 900).ID}},
		}))
		bought := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, german.ID, by("pm_card_visa"), sdk.Expand("order")))
		who, sub := bought.Customer.ID, bought.Order.Object.Subscription.ID
		ok[*sdk.Customer](t)(c.Customers.Update(background, who, &sdk.CustomerUpdate{PreferredLocale: sdk.Set("fr")}))
		says := func(kind sdk.LetterKind, texts ...string) {
			t.Helper()
			sent := arrived(s, becomes(t, c, kind, sdk.LetterStatusSent)[0].ID)
			for _, text := range texts {
				if !strings.Contains(sent.Subject+"\n"+sent.Text, text) {
					t.Errorf("%q is not in %q", text, sent.Text)
				}
			}
		}
		says("receipt", "Ihr Beleg von Test")
		ok[*sdk.Refund](t)(c.Refunds.Create(background, &sdk.RefundCreate{Order: bought.Order.ID, Amount: new(int64(100))}))
		says("refund", "Ihre Erstattung von Test")
		declined := ok[*sdk.SavedPaymentMethod](t)(c.Customers.CreatePaymentMethod(background, who, &sdk.SavedPaymentMethodCreate{PaymentMethod: sdk.PaymentMethod{Token: "pm_card_chargeCustomerFail"}}))
		ok[*sdk.Subscription](t)(c.Subscriptions.Update(background, sub, &sdk.SubscriptionUpdate{PaymentMethod: &declined.ID}))
		advance(t, c, 31*aDay)
		says("payment_failed", "Ihre Zahlung an Test", "Grund: Die Karte wurde abgelehnt")
	})
}
