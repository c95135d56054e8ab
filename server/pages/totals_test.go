package pages_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/tenant"
	chromium "github.com/tillwright/tillwright/tests/harness/browser"
)

// The tax is there before anybody pays, and the card that was typed stays.
func TestCheckoutPage_CountsTheTotalAnewInABrowser(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	_, err := w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) {
		a.Tax.V = tenant.TaxSettings{Mode: tenant.TaxModeFlatTable, Behavior: tenant.TaxBehaviorExclusive, Rates: []tenant.TaxRate{{Country: new("DE"), RateBps: 1950, Name: "MwSt."}}}
	})
	require.NoError(t, err)
	page, checkout := chromium.Open(t, nil), w.checkout(catalog.PriceVariant{Amount: 1000})
	_, err = w.UpdateCheckout(t.Context(), w.account, checkout.ID, func(d *store.CheckoutDraft) { d.SuccessURL = nil }) // which the page would lead to
	require.NoError(t, err)
	page.Go(checkout.URL)
	page.WaitText("Total before tax")
	page.Fill("#email", "grace@example.com")
	page.Fill("#card_number", "4242424242424242")
	page.Value(`(document.querySelector('#country').value = 'DE', document.querySelector('#country').dispatchEvent(new Event('change', {bubbles: true})), '')`)
	page.WaitText("MwSt. 19.5")
	page.WaitText("Pay $23.90")
	assert.Equal(t, "4242424242424242", page.Value(`document.querySelector('#card_number').value`))
	page.Fill("#card_expiry", "12/40")
	page.Fill("#card_cvc", "123")
	page.Click("button.pay")
	page.WaitText("Thank you for your order")
	assert.Empty(t, page.Refused())
}
