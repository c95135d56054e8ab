package pages_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	chromium "github.com/tillwright/tillwright/tests/harness/browser"
)

// ours has a page stand for itself: it leads nowhere, and lets its buyer choose how many pieces and which code.
func (w *shop) ours(c *checkout.Checkout) *checkout.Checkout {
	w.t.Helper()
	c, err := w.Checkout.Update(w.t.Context(), w.account, c.ID, func(d *checkout.Draft) {
		d.SuccessURL, d.AllowQuantityChange, d.AllowDiscountCodes = nil, true, true
	})
	require.NoError(w.t, err)
	return c
}

// opens opens an address, and lets a Stripe take the card that does what the script says.
func opens(t *testing.T, page *chromium.Page, address, createPaymentMethod string) {
	t.Helper()
	page.Width(1440)
	page.Go(address)
	page.Wait(`document.readyState === 'complete' && document.querySelector('.pay')`)
	page.Value(`window.stays = true`)
	if createPaymentMethod != "" {
		page.Value(`window.Stripe = () => ({elements: () => ({create: () => ({mount() {}, on() {}})}), createPaymentMethod: ` + createPaymentMethod + `});
			document.querySelector('.pay').disabled = false; ` + scriptOf(t, "stripe.js") + `; 0`)
	}
}

// While Stripe is asked the total may be counted anew. The buyer saw the one of before when they pressed the button.
func TestCheckoutPage_ChargesNoTotalThatCameAfterThePressInABrowser(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.useStripe(publishableKey)
	page := chromium.Open(t, nil)
	opens(t, page, w.ours(w.checkout(catalog.PriceVariant{Amount: 1000})).URL, `() => new Promise(taken => window.takes = () => taken({paymentMethod: {id: 'pm_card_visa'}}))`)
	page.WaitText("Pay $20.00")
	page.Fill("#quantity\\.0", "3")
	page.Click("button.pay")
	page.Wait(`window.takes && document.querySelector('.pay').innerText.includes('$30.00')`)
	page.Value(`takes(), ''`)
	page.Wait(`document.readyState === 'complete' && document.body && !window.takes`)
	assert.Contains(t, page.Text(), "The total has changed")
	assert.Zero(t, w.bank.Taken())
}
