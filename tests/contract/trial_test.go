package contract

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// tryable is a plan with a fortnight that costs nothing, of an account that gives each customer one.
func tryable(t *testing.T, c *sdk.Client) *sdk.PriceVariant {
	t.Helper()
	if a := ok[*sdk.Account](t)(c.Account.Get(background)); a.TrialOncePerCustomer {
		t.Error("a new account gives each customer one trial")
	}
	if a := ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{TrialOncePerCustomer: new(true)})); !a.TrialOncePerCustomer {
		t.Error("the setting is not kept")
	}
	return variantOnSale(t, c, sdk.ProductPriceVariant{
		Type: new(sdk.PriceVariantTypeRecurring), Interval: new(sdk.PriceVariantIntervalMonth), Amount: new(int64(900)), Currency: new("usd"), TrialDays: new(int64(14)),
	})
}

// untold is a checkout of somebody who only typed an address.
func untold(t *testing.T, c *sdk.Client, email string, v *sdk.PriceVariant) *sdk.Checkout {
	t.Helper()
	return ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{CustomerEmail: &email, LineItems: lines(v)}))
}

func TestCreateSubscription_HasOneTrialPerCustomer(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		who, v := member(t, c).ID, tryable(t, c)
		create := func(end *sdk.Time) (*sdk.Subscription, error) {
			return c.Subscriptions.Create(background, &sdk.SubscriptionCreate{Customer: who, PriceVariant: v.ID, PaymentMethod: new("pm_card_visa"), TrialEnd: end}, sdk.Expand("latest_invoice"))
		}
		if sub := ok[*sdk.Subscription](t)(create(nil)); sub.Status != sdk.SubscriptionStatusTrialing {
			t.Errorf("the first is %+v", sub)
		}
		sub := ok[*sdk.Subscription](t)(create(nil))
		assert.Equal(t, sdk.SubscriptionStatusActive, sub.Status, "the second")
		assert.EqualValues(t, 900, sub.LatestInvoice.Object.AmountPaid, "the second")
		until := in(10)
		_, err := create(&until)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "trial_end")
	})
}

func TestConfirmCheckout_OfATrialNeedsAConfirmedAddress(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		v := tryable(t, c)
		open := untold(t, c, "ada@example.com", v)
		_, err := c.Checkouts.Confirm(background, open.ID, by("pm_card_visa"))
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "customer_email")
		verify := &sdk.CheckoutUpdate{CustomerEmail: sdk.Set("ada@example.com"), CustomerEmailVerified: new(true)}
		ok[*sdk.Checkout](t)(c.Checkouts.Update(background, open.ID, verify))
		if done := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, open.ID, by("pm_card_visa"))); done.AmountDueNow != 0 {
			t.Errorf("it is %+v", done)
		}
		again := untold(t, c, "Ada@Example.com", v)
		if again.AmountDueNow != 0 {
			t.Errorf("whoever types an address learns of its owner's trial: %+v", again)
		}
		verify.CustomerEmail = sdk.Set("Ada@Example.com")
		if shown := ok[*sdk.Checkout](t)(c.Checkouts.Update(background, again.ID, verify)); shown.AmountDueNow != 900 {
			t.Errorf("the owner is shown %+v", shown)
		}
	})
}
