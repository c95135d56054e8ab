package contract

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// rented is a price of a program that is had as long as it is paid for.
func rented(t *testing.T, c *sdk.Client) *sdk.Product {
	t.Helper()
	in := sellable("Program")
	in.Status = new(sdk.ProductStatus("active"))
	in.PriceVariants = []sdk.ProductPriceVariant{{
		Type: new(sdk.PriceVariantType("recurring")), Interval: new(sdk.PriceVariantInterval("month")), Amount: new(int64(900)),
		License: &sdk.PriceVariantLicense{Enabled: true, ActivationLimit: new(int64(2))},
	}}
	return ok[*sdk.Product](t)(c.Products.Create(background, in))
}

// validated makes sure of what a program on the device mac is told of a key: a token only if the key is valid.
func validated(t *testing.T, c *sdk.Client, k *sdk.LicenseKey, want sdk.LicenseValidationCode, when string) {
	t.Helper()
	v := ok[*sdk.LicenseValidation](t)(c.LicenseKeys.Validate(background, &sdk.LicenseKeyValidate{Key: *k.Key, Product: k.Product.ID, Fingerprint: new("mac")}))
	isActive := v.Activation != nil && v.Activation.Fingerprint == "mac"
	assert.Equal(t, want, v.Code, "%s the key", when)
	assert.Equal(t, want == "valid", v.Valid, "%s the key", when)
	assert.Equal(t, want == "valid", v.Token != nil, "%s the key", when)
	assert.Equal(t, want != "not_activated", isActive, "%s the key", when)
	assert.Nil(t, v.LicenseKey.Key, "%s the key", when)
	_, err := c.LicenseKeys.Activate(background, on(k, "windows"))
	if want == "valid" || want == "not_activated" {
		if err != nil {
			t.Errorf("%s it cannot be activated: %v", when, err)
		}
		return
	}
	refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "key")
}

// TestValidateLicenseKey_SaysWhatBecameOfItsSubscription takes a key through all that a subscription and a seller do with it.
func TestValidateLicenseKey_SaysWhatBecameOfItsSubscription(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		product := rented(t, c)
		sub := subscription(t, c, &sdk.PriceVariant{ID: product.PriceVariants[0].ID})
		k := keyOf(t, c, had(t, c, sub.Customer.ID)[0].ID)
		validated(t, c, k, "not_activated", "before it is active on the device")
		ok[*sdk.LicenseActivation](t)(c.LicenseKeys.Activate(background, on(k, "mac")))
		validated(t, c, k, "valid", "at first")
		ok[*sdk.Subscription](t)(c.Subscriptions.Pause(background, sub.ID, &sdk.SubscriptionPause{AtPeriodEnd: new(false)}))
		validated(t, c, k, "suspended", "while the subscription is paused")
		if got := ok[*sdk.LicenseKey](t)(c.LicenseKeys.Get(background, k.ID)); got.Status != "granted" {
			t.Errorf("the key of a paused subscription is %s", got.Status)
		}
		ok[*sdk.LicenseKey](t)(c.LicenseKeys.Update(background, k.ID, &sdk.LicenseKeyUpdate{ExpiresAt: sdk.Set(sdk.Time("2020-01-01T00:00:00Z"))}))
		validated(t, c, k, "suspended", "paused and expired")
		ok[*sdk.LicenseKey](t)(c.LicenseKeys.Disable(background, k.ID))
		validated(t, c, k, "disabled", "paused and disabled")
		ok[*sdk.LicenseKey](t)(c.LicenseKeys.Enable(background, k.ID))
		ok[*sdk.Subscription](t)(c.Subscriptions.Resume(background, sub.ID))
		validated(t, c, k, "expired", "resumed and expired")
		ok[*sdk.LicenseKey](t)(c.LicenseKeys.Update(background, k.ID, &sdk.LicenseKeyUpdate{ExpiresAt: sdk.Null[sdk.Time]()}))
		validated(t, c, k, "valid", "once it is resumed")
		ok[*sdk.Subscription](t)(c.Subscriptions.Cancel(background, sub.ID, &sdk.SubscriptionCancel{AtPeriodEnd: new(false)}))
		validated(t, c, k, "revoked", "once it is canceled")
		for what, use := range map[string]*sdk.LicenseKeyValidate{
			"another product": {Key: *k.Key, Product: program(t, c)}, "no key": {Key: "AAAAA-AAAAA", Product: product.ID},
		} {
			v := ok[*sdk.LicenseValidation](t)(c.LicenseKeys.Validate(background, use))
			assert.EqualValues(t, "not_found", v.Code, "of %s", what)
			assert.False(t, v.Valid, "of %s", what)
			assert.Nil(t, v.LicenseKey, "of %s", what)
		}
	})
}

func TestValidateLicenseKey_IsSuspendedWhilePastDueIfTheSellerSaysSo(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		for access, want := range map[sdk.PastDueAccess]sdk.LicenseValidationCode{"keep": "valid", "suspend": "suspended"} {
			ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{PastDueAccess: &access}))
			sub := ok[*sdk.Subscription](t)(c.Subscriptions.Create(background, &sdk.SubscriptionCreate{
				Customer: member(t, c).ID, PriceVariant: rented(t, c).PriceVariants[0].ID, PaymentMethod: new("tok_fail_on_renewal"),
			}))
			k := keyOf(t, c, had(t, c, sub.Customer.ID)[0].ID)
			ok[*sdk.LicenseActivation](t)(c.LicenseKeys.Activate(background, on(k, "mac")))
			endPeriod(t, c, sub)
			if got := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID)); got.Status != "past_due" {
				t.Fatalf("the subscription is %s", got.Status)
			}
			validated(t, c, k, want, "past due with "+string(access))
			saved := ok[*sdk.SavedPaymentMethod](t)(c.Customers.CreatePaymentMethod(background, sub.Customer.ID, &sdk.SavedPaymentMethodCreate{PaymentMethod: sdk.PaymentMethod{Token: "pm_card_visa"}}))
			ok[*sdk.Subscription](t)(c.Subscriptions.Update(background, sub.ID, &sdk.SubscriptionUpdate{PaymentMethod: &saved.ID}))
			advance(t, c, 0)
			validated(t, c, k, "valid", "paid again with "+string(access))
		}
	})
}

// TestMergeCustomer_GivesOneTheKeysOfBoth merges customers who both have keys of one product, one of whom waits for another one.
func TestMergeCustomer_GivesOneTheKeysOfBoth(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		product, boxed, service := licensed(t, c, nil, nil), licensed(t, c, new("imported"), nil), rented(t, c)
		ada, bob := member(t, c).ID, member(t, c).ID
		keys := []*sdk.LicenseKey{keyOf(t, c, given(t, c, ada, product.ID).ID), keyOf(t, c, given(t, c, bob, product.ID).ID)}
		keys = append(keys, ok[*sdk.LicenseKey](t)(c.LicenseKeys.Create(background, &sdk.LicenseKeyCreate{Product: product.ID, Customer: &bob})))
		waits := given(t, c, bob, boxed.ID)
		subscribed := func(customer string) *sdk.Subscription {
			return ok[*sdk.Subscription](t)(c.Subscriptions.Create(background, &sdk.SubscriptionCreate{
				Customer: customer, PriceVariant: service.PriceVariants[0].ID, PaymentMethod: new("pm_card_visa"),
			}))
		}
		ended := subscribed(bob)
		everything := had(t, c, bob)
		former := keyOf(t, c, everything[len(everything)-1].ID)
		ok[*sdk.Subscription](t)(c.Subscriptions.Cancel(background, ended.ID, &sdk.SubscriptionCancel{AtPeriodEnd: new(false)}))
		for _, k := range keys {
			ok[*sdk.LicenseActivation](t)(c.LicenseKeys.Activate(background, on(k, "mac")))
		}
		ok[*sdk.Customer](t)(c.Customers.Merge(background, ada, &sdk.CustomerMerge{From: bob}))

		found := map[string]bool{}
		for _, k := range ok[*sdk.LicenseKeyList](t)(c.LicenseKeys.List(background, &sdk.ListLicenseKeysParams{Customer: &ada})).Data {
			found[k.ID] = true
		}
		for i, k := range append(keys, former) {
			got := ok[*sdk.LicenseKey](t)(c.LicenseKeys.Get(background, k.ID))
			assert.Equal(t, ada, got.Customer.ID, "after the merge key %d", i)
			assert.True(t, found[k.ID], "after the merge key %d", i)
			assert.Equal(t, *k.Key, *got.Key, "after the merge key %d", i)
		}
		for i, k := range keys {
			validated(t, c, k, "valid", []string{"her own", "his", "the one by hand"}[i]+" after the merge")
		}
		_, err := c.LicenseKeys.List(background, &sdk.ListLicenseKeysParams{Customer: &bob})
		refused(t, err, http.StatusNotFound, "resource_missing", "customer")
		ok[*sdk.LicenseKeyImport](t)(c.LicenseKeys.Import(background, &sdk.LicenseKeyImportCreate{Product: boxed.ID, Keys: []sdk.LicenseKeyImportRow{{Key: "STOCK-1"}}}))
		got := keyOf(t, c, waits.ID)
		assert.Equal(t, "STOCK-1", *got.Key, "who waited before the merge")
		assert.Equal(t, ada, got.Customer.ID, "who waited before the merge")
		again := subscribed(ada)
		bought := ok[*sdk.GrantList](t)(c.Grants.List(background, &sdk.ListGrantsParams{Source: &again.ID})).Data[0]
		if got := keyOf(t, c, bought.ID); got.ID != former.ID {
			t.Errorf("bought again after the merge it has the key %+v", got)
		}
		ok[*sdk.Subscription](t)(c.Subscriptions.Cancel(background, again.ID, &sdk.SubscriptionCancel{AtPeriodEnd: new(false)}))
		ok[*sdk.Deleted](t)(c.Customers.Delete(background, ada, nil))
		for i, k := range append(keys, former) {
			if got := ok[*sdk.LicenseKey](t)(c.LicenseKeys.Get(background, k.ID)); got.Status != "revoked" {
				t.Errorf("once she is deleted key %d is %s", i, got.Status)
			}
		}
	})
}
