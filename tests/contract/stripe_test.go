package contract

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
	"github.com/tillwright/tillwright/tests/harness/stripefake"
)

// onStripe runs a test for an account that is paid through Stripe, on both engines.
func onStripe(t *testing.T, test func(t *testing.T, c *sdk.Client, s *harness.Server, fake *stripefake.Fake)) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		fake := stripefake.New(t)
		s := harness.Boot(t, url, harness.Stripe(fake))
		c := s.SDK(t)
		ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{
			PaymentsProvider: new(sdk.PaymentsProviderStripe), StripeSecretKey: sdk.Set(fake.Key), StripeWebhookSecret: sdk.Set(fake.WebhookSecret),
		}))
		test(t, c, s, fake)
	})
}

// tell delivers what happened at Stripe.
func tell(t *testing.T, s *harness.Server, fake *stripefake.Fake) {
	t.Helper()
	for _, e := range fake.Events() {
		status, err := fake.Deliver(s.URL+"/hooks/stripe", e)
		assert.Equal(t, http.StatusOK, status, "the answer to %s", e.Type)
		assert.NoError(t, err, "the answer to %s", e.Type)
	}
}

// A card whose bank asks its owner once is charged again while they are away, until the bank declines it.
func TestStripe_RenewsWhileTheBuyerIsAway(t *testing.T) {
	onStripe(t, func(t *testing.T, c *sdk.Client, s *harness.Server, fake *stripefake.Fake) {
		open := checkout(t, c, "grace@example.com", monthly(t, c, 900))
		waiting := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, open.ID, by("pm_card_authenticationRequiredOnSetup")))
		require.Equal(t, sdk.CheckoutStatusProcessing, waiting.Status, "the checkout")
		require.NotNil(t, waiting.NextAction, "the checkout")
		intent := s.Strings(t, `SELECT provider_ref FROM payments`)[0]
		fake.Settle(intent, true)
		tell(t, s, fake)
		sub := ok[*sdk.SubscriptionList](t)(c.Subscriptions.List(background, nil)).Data[0]

		advance(t, c, 32*24*time.Hour)
		renewed := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID))
		assert.EqualValues(t, 2, renewed.CyclesBilled)
		assert.Equal(t, sdk.SubscriptionStatusActive, renewed.Status)
		assert.EqualValues(t, 1800, fake.Taken())
		fake.Block(fake.Object(intent)["payment_method"].(string), "insufficient_funds")
		advance(t, c, 31*24*time.Hour)
		late := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID, sdk.Expand("latest_invoice")))
		assert.Equal(t, sdk.SubscriptionStatusPastDue, late.Status, "after a decline")
		assert.Equal(t, sdk.InvoiceStatusPastDue, late.LatestInvoice.Object.Status, "after a decline")
		assert.EqualValues(t, 1800, fake.Taken(), "after a decline")
	})
}
