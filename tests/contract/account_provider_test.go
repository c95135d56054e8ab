package contract

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

const stripeKey, stripeWebhookSecret = "sk_test_4eC39HqLyjWDarjtT1zdp7dc", "whsec_0123456789abcdefKp2x"

func TestUpdateAccount_KeepsTheSecretsOfStripeToItself(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		a := ok[*sdk.Account](t)(c.Account.Get(background))
		assert.Equal(t, sdk.PaymentsProviderTest, a.PaymentsProvider, "a new account is paid")
		require.Nil(t, a.StripeSecretKeyLast4, "a new account is paid")
		assert.Nil(t, a.StripeWebhookSecretLast4, "a new account is paid")
		a = ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{
			PaymentsProvider: new(sdk.PaymentsProviderStripe), StripeSecretKey: sdk.Set(stripeKey), StripeWebhookSecret: sdk.Set(stripeWebhookSecret),
		}))
		assert.Equal(t, sdk.PaymentsProviderStripe, a.PaymentsProvider, "the account is paid")
		assert.Equal(t, "p7dc", *a.StripeSecretKeyLast4, "the account is paid")
		assert.Equal(t, "Kp2x", *a.StripeWebhookSecretLast4, "the account is paid")
		a = ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{Name: new("Ada")}))
		require.NotNil(t, a.StripeSecretKeyLast4, "another change took the secrets away")
		assert.NotNil(t, a.StripeWebhookSecretLast4, "another change took the secrets away")
		a = ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{StripeSecretKey: sdk.Null[string]()}))
		require.Nil(t, a.StripeSecretKeyLast4, "the account is paid")
		assert.NotNil(t, a.StripeWebhookSecretLast4, "the account is paid")
	})
}

func TestUpdateAccount_RefusesWhatIsNoSecretOfStripe(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		for param, body := range map[string]*sdk.AccountUpdate{
			"stripe_publishable_key": {StripePublishableKey: sdk.Set("sk_test_4eC39HqLyjWDarjtT1zdp7dc")},
			"stripe_secret_key":      {StripeSecretKey: sdk.Set("pk_test_4eC39HqLyjWDarjtT1zdp7dc")},
			"stripe_webhook_secret":  {StripeWebhookSecret: sdk.Set("sk_test_4eC39HqLyjWDarjtT1zdp7dc")},
			"payments_provider":      {PaymentsProvider: new(sdk.PaymentsProvider("barter"))},
		} {
			_, err := c.Account.Update(background, body)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, param)
			if strings.Contains(err.Error(), "4eC39") {
				t.Errorf("the answer says what was sent: %v", err)
			}
		}
	})
}

// The publishable key is for everybody to see, and of the mode of the secret one.
func TestUpdateAccount_TakesThePublishableKeyOfStripe(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		const publishable = "pk_test_TYooMQauvdEDq54NiTphI7jx"
		a := ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{StripeSecretKey: sdk.Set(stripeKey), StripePublishableKey: sdk.Set(publishable)}))
		require.NotNil(t, a.StripePublishableKey, "the account")
		assert.Equal(t, publishable, *a.StripePublishableKey, "the account")
		_, err := c.Account.Update(background, &sdk.AccountUpdate{StripePublishableKey: sdk.Set("pk_live_TYooMQauvdEDq54NiTphI7jx")})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "stripe_publishable_key")
		if a = ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{StripePublishableKey: sdk.Null[string]()})); a.StripePublishableKey != nil {
			t.Errorf("the account is %+v", a)
		}
	})
}

// An account that chose Stripe and gave no key is told so, not charged by somebody else.
func TestConfirmCheckout_NeedsTheKeyOfTheProvider(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		open := checkout(t, c, "grace@example.com", onSale(t, c, 1900))
		ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{PaymentsProvider: new(sdk.PaymentsProviderStripe)}))
		_, err := c.Checkouts.Confirm(background, open.ID, by("pm_card_visa"))
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "payment_method")
		if again := ok[*sdk.Checkout](t)(c.Checkouts.Get(background, open.ID)); again.Status != sdk.CheckoutStatusOpen {
			t.Errorf("the checkout is %s", again.Status)
		}
	})
}
