package contract

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// keyOf returns the licence key that an order or a subscription gave.
func keyOf(t *testing.T, c *sdk.Client, grant string) *sdk.LicenseKey {
	t.Helper()
	g := ok[*sdk.Grant](t)(c.Grants.Get(background, grant))
	require.Len(t, g.Deliverables, 1, "the grant")
	require.EqualValues(t, "license_key", g.Deliverables[0].Type, "the grant")
	require.NotNil(t, g.Deliverables[0].LicenseKey, "the grant")
	return ok[*sdk.LicenseKey](t)(c.LicenseKeys.Get(background, *g.Deliverables[0].LicenseKey))
}

func TestPurchase_GivesALicenceKeyForAllItsPieces(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		terms := &sdk.PriceVariantLicense{ActivationLimit: new(int64(3)), ExpiresInDays: new(int64(365)), OfflineDays: new(int64(7))}
		product := licensed(t, c, nil, terms)
		made := ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{
			CustomerEmail: new("ada@example.com"), LineItems: []sdk.CheckoutLine{{PriceVariant: product.PriceVariants[0].ID, Quantity: new(int64(2))}},
		}))
		paid := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, made.ID, by("pm_card_visa")))
		order := ok[*sdk.Order](t)(c.Orders.Get(background, paid.Order.ID))
		if len(order.Grants) != 1 {
			t.Fatalf("the order gave %+v", order.Grants)
		}
		k := keyOf(t, c, order.Grants[0].ID)
		days := time.Until(k.ExpiresAt.Time()).Hours() / 24
		assert.EqualValues(t, 6, *k.ActivationLimit, "the key")
		assert.GreaterOrEqual(t, days, float64(364), "the key")
		assert.LessOrEqual(t, days, float64(365), "the key")
		assert.Equal(t, order.Customer.ID, k.Customer.ID, "the key")
		token := *ok[*sdk.LicenseActivation](t)(c.LicenseKeys.Activate(background, on(k, "mac"))).Token
		x := ok[*sdk.LicenseSigningKeyList](t)(c.LicenseKeys.ListSigningKeys(background, nil)).Data[0].Jwk.X
		if l := ok[*sdk.License](t)(sdk.VerifyLicense(token, x, "mac")); l.ExpiresAt.Sub(l.IssuedAt) != 7*24*time.Hour {
			t.Errorf("the token lasts from %s to %s", l.IssuedAt, l.ExpiresAt)
		}
		ok[*sdk.Refund](t)(c.Refunds.Create(background, &sdk.RefundCreate{Order: order.ID}))
		if got := ok[*sdk.LicenseKey](t)(c.LicenseKeys.Get(background, k.ID)); got.Status != "revoked" {
			t.Errorf("after a refund the key is %s", got.Status)
		}
	})
}

func TestPurchase_NeedsAnImportedKeyThatIsLeft(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		product := licensed(t, c, new("imported"), nil)
		checkout := func() (*sdk.Checkout, error) {
			return c.Checkouts.Create(background, &sdk.CheckoutCreate{
				CustomerEmail: new(unique() + "@example.com"), LineItems: []sdk.CheckoutLine{{PriceVariant: product.PriceVariants[0].ID}},
			})
		}
		_, err := checkout()
		refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "line_items")
		ok[*sdk.LicenseKeyImport](t)(c.LicenseKeys.Import(background, &sdk.LicenseKeyImportCreate{Product: product.ID, Keys: []sdk.LicenseKeyImportRow{{Key: "STOCK-1"}}}))
		first, second := ok[*sdk.Checkout](t)(checkout()), ok[*sdk.Checkout](t)(checkout())
		paid := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, first.ID, by("pm_card_visa")))
		if k := keyOf(t, c, ok[*sdk.Order](t)(c.Orders.Get(background, paid.Order.ID)).Grants[0].ID); *k.Key != "STOCK-1" {
			t.Errorf("the buyer got %s", *k.Key)
		}
		_, err = c.Checkouts.Confirm(background, second.ID, by("pm_card_visa"))
		refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "line_items")
	})
}

func TestPurchase_ForNothingTakesTheLastImportedKey(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		in := sellable("Program")
		in.Status = new(sdk.ProductStatusActive)
		in.Deliverables = []sdk.Deliverable{{Type: "license_key", Ref: new("imported")}}
		in.PriceVariants = []sdk.ProductPriceVariant{{AmountType: new(sdk.PriceVariantAmountTypeFree)}}
		product := ok[*sdk.Product](t)(c.Products.Create(background, in))
		ok[*sdk.LicenseKeyImport](t)(c.LicenseKeys.Import(background, &sdk.LicenseKeyImportCreate{Product: product.ID, Keys: []sdk.LicenseKeyImportRow{{Key: "STOCK-1"}}}))
		checkout := func() *sdk.Checkout {
			return ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{
				CustomerEmail: new(unique() + "@example.com"), LineItems: []sdk.CheckoutLine{{PriceVariant: product.PriceVariants[0].ID}},
			}))
		}
		first, second := checkout(), checkout()
		had := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, first.ID, nil))
		if k := keyOf(t, c, ok[*sdk.Order](t)(c.Orders.Get(background, had.Order.ID)).Grants[0].ID); *k.Key != "STOCK-1" {
			t.Errorf("the buyer got %s", *k.Key)
		}
		_, err := c.Checkouts.Confirm(background, second.ID, nil)
		refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "line_items")
	})
}

// TestPurchase_GivesTheKeyThatCameOnTheListMeanwhile begins a checkout and an invoice of a product that delivers nothing yet.
func TestPurchase_GivesTheKeyThatCameOnTheListMeanwhile(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		v := onSale(t, c, 1900)
		checkout := ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{
			CustomerEmail: new("ada@example.com"), LineItems: []sdk.CheckoutLine{{PriceVariant: v.ID}},
		}))
		invoice := draft(t, c, billed(t, c), sdk.InvoiceLineCreate{PriceVariant: &v.ID})
		ok[*sdk.Product](t)(c.Products.Update(background, v.Product.ID, &sdk.ProductUpdate{Deliverables: []sdk.Deliverable{{Type: "license_key"}}}))
		paid := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, checkout.ID, by("pm_card_visa")))
		bought := keyOf(t, c, ok[*sdk.Order](t)(c.Orders.Get(background, paid.Order.ID)).Grants[0].ID)
		ok[*sdk.Invoice](t)(c.Invoices.Finalize(background, invoice.ID))
		settled := ok[*sdk.Invoice](t)(c.Invoices.Pay(background, invoice.ID, &sdk.InvoicePay{OutOfBand: new(true)}))
		billed := keyOf(t, c, ok[*sdk.Order](t)(c.Orders.Get(background, settled.Order.ID)).Grants[0].ID)
		if bought.ID == billed.ID {
			t.Errorf("both got %s", bought.ID)
		}
	})
}

func TestSubscription_HasOneLicenceKeyAlsoWhenItIsBoughtAgain(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		in := sellable("Program")
		in.Status = new(sdk.ProductStatus("active"))
		in.PriceVariants = []sdk.ProductPriceVariant{
			{Type: new(sdk.PriceVariantType("recurring")), Interval: new(sdk.PriceVariantInterval("month")), Amount: new(int64(900)), License: &sdk.PriceVariantLicense{Enabled: true, ActivationLimit: new(int64(2))}},
			{Type: new(sdk.PriceVariantType("recurring")), Interval: new(sdk.PriceVariantInterval("month")), Amount: new(int64(500)), License: &sdk.PriceVariantLicense{Enabled: true, ActivationLimit: new(int64(1))}},
		}
		product := ok[*sdk.Product](t)(c.Products.Create(background, in))
		ada := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"})).ID
		buy := func() *sdk.Subscription {
			return ok[*sdk.Subscription](t)(c.Subscriptions.Create(background, &sdk.SubscriptionCreate{
				Customer: ada, PriceVariant: product.PriceVariants[0].ID, PaymentMethod: new("pm_card_visa"),
			}))
		}
		granted := func() string {
			grants := ok[*sdk.GrantList](t)(c.Grants.List(background, &sdk.ListGrantsParams{Customer: &ada})).Data
			return grants[0].ID
		}
		sub := buy()
		k := keyOf(t, c, granted())
		code := func() sdk.LicenseValidationCode {
			return ok[*sdk.LicenseValidation](t)(c.LicenseKeys.Validate(background, &sdk.LicenseKeyValidate{Key: *k.Key, Product: product.ID, Fingerprint: new("mac")})).Code
		}
		token := *ok[*sdk.LicenseActivation](t)(c.LicenseKeys.Activate(background, on(k, "mac"))).Token
		ok[*sdk.LicenseActivation](t)(c.LicenseKeys.Activate(background, on(k, "windows")))
		x := ok[*sdk.LicenseSigningKeyList](t)(c.LicenseKeys.ListSigningKeys(background, nil)).Data[0].Jwk.X
		if l := ok[*sdk.License](t)(sdk.VerifyLicense(token, x, "mac")); l.ExpiresAt.After(sub.CurrentPeriodEnd.Time().Add(3 * 24 * time.Hour)) {
			t.Errorf("the token ends at %s, the paid period at %s", l.ExpiresAt, sub.CurrentPeriodEnd)
		}
		ok[*sdk.Subscription](t)(c.Subscriptions.Change(background, sub.ID, &sdk.SubscriptionChangeCreate{PriceVariant: &product.PriceVariants[1].ID}))
		got := ok[*sdk.LicenseKey](t)(c.LicenseKeys.Get(background, k.ID))
		assert.EqualValues(t, 1, *got.ActivationLimit, "by the smaller plan the key")
		assert.EqualValues(t, 1, got.ActivationsCount, "by the smaller plan the key")
		if code() != "valid" {
			t.Errorf("the device that was first is %s", code())
		}
		ok[*sdk.Subscription](t)(c.Subscriptions.Cancel(background, sub.ID, &sdk.SubscriptionCancel{AtPeriodEnd: new(false)}))
		if code() != "revoked" {
			t.Errorf("after the subscription the key is %s", code())
		}
		buy()
		again := keyOf(t, c, granted())
		assert.Equal(t, k.ID, again.ID)
		assert.EqualValues(t, "valid", code())
		former := ok[*sdk.GrantList](t)(c.Grants.List(background, &sdk.ListGrantsParams{Source: &sub.ID})).Data[0].ID
		ok[*sdk.Grant](t)(c.Grants.Reinstate(background, former))
		other := keyOf(t, c, former)
		assert.NotEqual(t, k.ID, other.ID)
		assert.EqualValues(t, "granted", other.Status)
		assert.EqualValues(t, "valid", code())
	})
}

func TestSubscription_ThatWasRefundedGivesItsKeyToNoneThatIsBoughtLater(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		in := sellable("Program")
		in.Status = new(sdk.ProductStatus("active"))
		in.PriceVariants = []sdk.ProductPriceVariant{
			{Type: new(sdk.PriceVariantType("recurring")), Interval: new(sdk.PriceVariantInterval("month")), Amount: new(int64(900)), License: &sdk.PriceVariantLicense{Enabled: true}},
		}
		product := ok[*sdk.Product](t)(c.Products.Create(background, in))
		refund := func(sub *sdk.Subscription) {
			order := ok[*sdk.OrderList](t)(c.Orders.List(background, &sdk.ListOrdersParams{Customer: &sub.Customer.ID})).Data[0]
			ok[*sdk.Refund](t)(c.Refunds.Create(background, &sdk.RefundCreate{Order: order.ID, RevokeAccess: new(true)}))
		}
		cancel := func(sub *sdk.Subscription) {
			ok[*sdk.Subscription](t)(c.Subscriptions.Cancel(background, sub.ID, &sdk.SubscriptionCancel{AtPeriodEnd: new(false)}))
		}
		for when, end := range map[string][]func(*sdk.Subscription){"refunded, then canceled": {refund, cancel}, "canceled, then refunded": {cancel, refund}} {
			ada := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: unique() + "@example.com"})).ID
			buy := func() (*sdk.Subscription, *sdk.LicenseKey) {
				sub := ok[*sdk.Subscription](t)(c.Subscriptions.Create(background, &sdk.SubscriptionCreate{
					Customer: ada, PriceVariant: product.PriceVariants[0].ID, PaymentMethod: new("pm_card_visa"),
				}))
				return sub, keyOf(t, c, ok[*sdk.GrantList](t)(c.Grants.List(background, &sdk.ListGrantsParams{Customer: &ada})).Data[0].ID)
			}
			sub, first := buy()
			for _, step := range end {
				step(sub)
			}
			_, second := buy()
			assert.NotEqual(t, first.ID, second.ID, "%s: bought again the key", when)
			assert.EqualValues(t, "granted", second.Status, "%s: bought again the key", when)
			if got := ok[*sdk.LicenseKey](t)(c.LicenseKeys.Get(background, first.ID)); got.Status != "revoked" {
				t.Errorf("%s: the first key is %s", when, got.Status)
			}
		}
	})
}
