package pages_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// Whoever buys a subscription knows what it will cost, and when, before they pay and after.
func TestCheckoutPage_SaysWhatIsPaidNext(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.now = time.Date(2039, 1, 31, 12, 0, 0, 0, time.UTC)
	every := func(cycles *int64, trial int64) *checkout.Checkout {
		return w.checkout(catalog.PriceVariant{Type: catalog.PriceVariantTypeRecurring, Amount: 1900, Interval: new("month"), IntervalCount: new(int64(1)), BillingCycles: cycles, TrialDays: trial})
	}
	assert.Contains(t, w.page(every(nil, 0).URL, http.StatusOK), "<small>Then $38.00 every month, from 28 February 2039</small>")
	assert.Contains(t, w.page(every(nil, 14).URL, http.StatusOK), "<small>Then $38.00 every month, from 14 February 2039</small>")
	assert.Contains(t, w.page(every(new(int64(5)), 14).URL, http.StatusOK), "Then $38.00 every month, 5 times, from")
	assert.Contains(t, w.page(every(new(int64(5)), 0).URL, http.StatusOK), "Then $38.00 every month, 4 times, from")
	assert.NotContains(t, w.page(every(new(int64(1)), 0).URL, http.StatusOK), "Then $")
	assert.NotContains(t, w.page(w.checkout(catalog.PriceVariant{Amount: 1900}).URL, http.StatusOK), "Then $")
	assert.Contains(t, w.page(w.link(catalog.PriceVariant{Type: catalog.PriceVariantTypeRecurring, Amount: 1900, Interval: new("year")}, nil).URL, http.StatusOK), "Then $19.00 every year, from 31 January 2040")

	c := every(nil, 0)
	assert.Contains(t, w.post(c, http.StatusOK, card("4242424242424242", "3800")), "<small>Then $38.00 every month, from 28 February 2039</small>")
	w.now = w.now.Add(48 * time.Hour)
	assert.Contains(t, w.page(c.URL, http.StatusOK), "from 28 February 2039", "it was bought two days ago")
}

func TestCheckoutPage_SaysWhatIsPaidNextWithoutDiscountsAndWithTax(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.now = time.Date(2039, 1, 15, 12, 0, 0, 0, time.UTC)
	_, err := w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) {
		a.Tax.V = tenant.TaxSettings{Mode: tenant.TaxModeFlatTable, Behavior: tenant.TaxBehaviorExclusive, Rates: []tenant.TaxRate{{Country: new("DE"), RateBps: 1000, Name: "VAT"}}}
	})
	require.NoError(t, err)
	_, err = w.Discount.Create(t.Context(), w.account, discount.Discount{Name: "Half", Code: new("HALF"), Type: discount.TypePercent, PercentBps: new(int64(5000)), Duration: discount.DurationOnce})
	require.NoError(t, err)
	c := w.checkout(catalog.PriceVariant{Type: catalog.PriceVariantTypeRecurring, Amount: 1000, Interval: new("month"), IntervalCount: new(int64(1))})
	c, err = w.Checkout.Update(t.Context(), w.account, c.ID, func(d *checkout.Draft) { d.AllowDiscountCodes = true })
	require.NoError(t, err)
	assert.Contains(t, w.page(c.URL, http.StatusOK), "Then $20.00 every month plus tax, from 15 February 2039")
	assert.Contains(t, w.post(c, http.StatusOK, url.Values{"do": {"update"}, "discount_code": {"half"}}), "Without the discount: $20.00 every month plus tax, from")
	assert.Contains(t, w.post(c, http.StatusOK, url.Values{"do": {"update"}, "discount_code": {"half"}, "country": {"DE"}}), "Without the discount: $22.00 every month, from")
	assert.Contains(t, w.post(c, http.StatusOK, url.Values{"do": {"update"}, "discount_code": {""}, "country": {"DE"}}), "Then $22.00 every month, from")
}

// The receipt's letter says what was bought and what is paid next, in the words of the checkout. But a discount that is used up is over.
func TestReceiptLetter_SaysWhatWasBoughtAndWhatIsPaidNext(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newShopOn(t, url)
		w.now = time.Date(2039, 1, 31, 12, 0, 0, 0, time.UTC)
		_, err := w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) {
			a.Tax.V = tenant.TaxSettings{Mode: tenant.TaxModeFlatTable, Behavior: tenant.TaxBehaviorExclusive, Rates: []tenant.TaxRate{{Country: new("DE"), RateBps: 1900, Name: "VAT"}}}
		})
		require.NoError(t, err)
		receipt := func(v catalog.PriceVariant, shown string, codes ...string) string {
			t.Helper()
			c := w.checkout(v)
			for _, code := range codes {
				_, err := w.Checkout.Update(t.Context(), w.account, c.ID, func(d *checkout.Draft) { d.AllowDiscountCodes = true; d.EnterDiscountCode(&code) })
				require.NoError(t, err)
			}
			form := card("4242424242424242", shown)
			form.Set("country", "DE")
			assert.Contains(t, w.post(c, http.StatusOK, form), "Thank you for your order")
			w.letters = nil
			require.NoError(t, w.mails(mailServer{w}))
			require.Len(t, w.letters, 1)
			return w.letters[0].Text
		}
		monthly := catalog.PriceVariant{Type: catalog.PriceVariantTypeRecurring, Amount: 1900, Interval: new("month"), IntervalCount: new(int64(1)), BillingCycles: new(int64(5)), TrialDays: 14}
		assert.Contains(t, receipt(monthly, "0 4522 4522"), "\n2 × Handbook, trial until 14 February 2039: $0.00\nThen $45.22 every month, 5 times, from 14 February 2039\nVAT 19%: $0.00\nTotal: $0.00\n")
		monthly.TrialDays = 0
		assert.Contains(t, receipt(monthly, "4522"), "\n2 × Handbook: $38.00\nThen $45.22 every month, 4 times, from 28 February 2039\nVAT 19%: $7.22\nTotal: $45.22\n")
		for code, says := range map[string]string{"once": "Then $45.22 every month, 4 times, from 28 February 2039", "forever": "Without the discount: $45.22 every month, 4 times, from 28 February 2039"} {
			_, err := w.Discount.Create(t.Context(), w.account, discount.Discount{Name: "Half", Code: &code, Type: discount.TypePercent, PercentBps: new(int64(5000)), Duration: discount.Duration(code)})
			require.NoError(t, err)
			assert.Contains(t, receipt(monthly, "2261 2261 4522", code), "\n2 × Handbook: $38.00\n"+says+"\nDiscount: -$19.00\nVAT 19%: $3.61\nTotal: $22.61\n")
		}
		orders, _, err := w.Order.List(t.Context(), w.account, order.List{Page: core.Page{Limit: 1}})
		require.NoError(t, err)
		lines, err := w.OrderLines(t.Context(), &orders[0])
		require.NoError(t, err)
		require.NotNil(t, lines[0].Next)
		_, err = w.billing.ChangeSubscription(t.Context(), w.account, *lines[0].SubscriptionID, store.ChangeSubscription{PriceVariant: *lines[0].PriceVariantID, Quantity: new(int64(3)), Behavior: tenant.ProrationBehaviorNextInvoice})
		require.NoError(t, err)
		lines, err = w.OrderLines(t.Context(), &orders[0])
		require.NoError(t, err)
		assert.Nil(t, lines[0].Next, "three are paid next, and the line is of two")
		assert.Contains(t, receipt(catalog.PriceVariant{Amount: 1900}, "4522"), "\n2 × Handbook: $38.00\nVAT 19%: $7.22\nTotal: $45.22\n")
	})
}
