package pages_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/tenant"
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
	page.Click("button.pay")
	page.Wait(`window.takes`)
	page.Fill("#quantity\\.0", "3")
	page.Key("Tab")
	page.WaitText("Pay $30.00")
	page.Value(`takes(), ''`)
	page.Wait(`document.readyState === 'complete' && document.body && !window.takes`)
	assert.Contains(t, page.Text(), "The total has changed")
	assert.Zero(t, w.bank.Taken())
}

// holdsCount lets the page wait for the answer to its first count until the function is called that it returns.
func holdsCount(page *chromium.Page) (lets func()) {
	page.Value(`(() => { const asks = fetch, held = new Promise(lets => window.letsCount = lets); let first = true;
		window.fetch = async (...of) => { if (first) { first = false; await held; } return asks(...of); }; })(), ''`)
	return func() { page.Value(`letsCount(), ''`) }
}

// Who presses Pay while the total is counted has seen the one of before. They are told the new one where they are, and their card stays.
func TestCheckoutPage_KeepsTheCardWhileTheTotalIsCountedInABrowser(t *testing.T) {
	t.Parallel()
	for _, provider := range []string{"test", "stripe"} {
		w, script := newShop(t), ""
		if provider == "stripe" {
			w.useStripe(publishableKey)
			script = `async () => ({error: {message: 'Stripe was asked.'}})`
		}
		page := chromium.Open(t, nil)
		opens(t, page, w.ours(w.checkout(catalog.PriceVariant{Amount: 1000})).URL, script)
		page.WaitText("Pay $20.00")
		lets := holdsCount(page)
		page.Fill("#email", "ada@example.com")
		if provider == "test" {
			typesCard(page, "4242424242424242")
		}
		page.Fill("#quantity\\.0", "3")
		page.Click("button.pay")
		page.WaitText("The total has changed")
		page.WaitText("Pay $30.00")
		lets()
		assert.Equal(t, "true", page.Value(`window.stays`))
		assert.NotContains(t, page.Text(), "Stripe was asked.")
		assert.NotContains(t, page.Text(), "Enter a card.")
		page.Wait(`document.activeElement.matches('.problems') && document.querySelector('.pay').ariaBusy !== 'true'`)
		page.Click("button.pay")
		if provider == "stripe" {
			page.WaitText("Stripe was asked.")
			continue
		}
		page.WaitText("Thank you for your order")
		assert.Contains(t, page.Text(), "Paid: $30.00.")
		assert.Empty(t, page.Refused())
	}
}

// What is counted need not change the total. Then the buyer pays with the first press.
func TestCheckoutPage_PaysWhileTheSameTotalIsCountedInABrowser(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	page := chromium.Open(t, nil)
	opens(t, page, w.ours(w.checkout(catalog.PriceVariant{Amount: 1000})).URL, "")
	lets := holdsCount(page)
	page.Fill("#email", "ada@example.com")
	typesCard(page, "4242424242424242")
	page.Value(`(document.querySelector('#country').value = 'UY', document.querySelector('#country').dispatchEvent(new Event('change', {bubbles: true})), '')`)
	page.Click("button.pay")
	page.WaitText("Thank you for your order")
	assert.Contains(t, page.Text(), "Paid: $20.00.")
	lets()
}

// A double click, and a code that was not applied, cost nobody the card that they typed.
func TestCheckoutPage_KeepsTheCardHoweverPayIsPressedInABrowser(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	_, err := w.Discount.Create(t.Context(), w.account, discount.Discount{Name: "Half", Code: new("HALF"), Type: discount.TypePercent, PercentBps: new(int64(5000)), Duration: discount.DurationOnce})
	require.NoError(t, err)
	page := chromium.Open(t, nil)
	opens(t, page, w.ours(w.checkout(catalog.PriceVariant{Amount: 1000})).URL, "")
	page.Fill("#email", "ada@example.com")
	typesCard(page, "4242424242424242")
	page.Fill("#discount_code", "HALF")
	page.Value(`document.querySelector('button.pay').click(), document.querySelector('button.pay').click(), ''`)
	page.WaitText("The total has changed")
	page.WaitText("Pay $10.00")
	assert.Equal(t, "true", page.Value(`window.stays`))
	assert.Zero(t, w.bank.Taken())
	page.Wait(`document.activeElement.matches('.problems') && document.querySelector('.pay').ariaBusy !== 'true'`)
	page.Fill("#quantity\\.0", "3")
	page.Value(`document.querySelector('button.pay').click(), document.querySelector('button.pay').click(), ''`)
	page.WaitText("Pay $15.00")
	assert.Equal(t, "true", page.Value(`window.stays`))
	page.Wait(`document.querySelector('.pay').ariaBusy !== 'true'`)
	page.Click("button.pay")
	page.WaitText("Thank you for your order")
	assert.Contains(t, page.Text(), "Paid: $15.00.")
}

// Where the seller asks for more meanwhile, the page that says the new total comes as a whole.
func TestCheckoutPage_AsksWhatIsNewWithANewTotalInABrowser(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	c := w.ours(w.checkout(catalog.PriceVariant{Amount: 1000}))
	offer, err := w.Checkout.GetOffer(t.Context(), c)
	require.NoError(t, err)
	page := chromium.Open(t, nil)
	opens(t, page, c.URL, "")
	lets := holdsCount(page)
	page.Fill("#email", "ada@example.com")
	typesCard(page, "4242424242424242")
	_, err = w.Catalog.UpdateProduct(t.Context(), w.account, *offer.Items[0].ProductID, func(p *catalog.Product) {
		p.CustomFields.V = []catalog.CustomField{{Key: "dedication", Label: "Dedication", Type: "text"}}
	})
	require.NoError(t, err)
	page.Fill("#quantity\\.0", "3")
	page.Click("button.pay")
	page.WaitText("The total has changed")
	page.WaitText("Dedication")
	assert.Zero(t, w.bank.Taken())
	lets()
}

// A card in Stripe's frame is not missing. Browsers and the server may be of two minds about an address: then Stripe is asked.
func TestCheckoutPage_MissesNoCardThatStripeHasInABrowser(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.useStripe(publishableKey)
	page := chromium.Open(t, nil)
	opens(t, page, w.ours(w.asking()).URL, `async () => ({error: {message: 'Stripe was asked.'}})`)
	page.Click("button.pay")
	page.Wait(`document.activeElement.matches('.problems')`)
	assert.NotContains(t, page.Text(), "Enter a card.")
	page.Fill("#email", "jürgen@example.com")
	require.Equal(t, "false", page.Value(`document.querySelector('#email').validity.valid`))
	page.Fill("#answer\\.text", "For Ada")
	page.Value(`document.querySelector('#answer\\.choice').value = 'a'`)
	page.Click("#answer\\.tick")
	page.Click("#terms")
	page.Value(`document.querySelector('.problems').remove()`)
	page.Click("button.pay")
	page.Wait(`document.querySelector('.problems') || document.body.innerText.includes('Stripe was asked.')`)
	assert.Contains(t, page.Text(), "Stripe was asked.")
}

// What is bought without a card leads to the page of whoever has just paid, from where they go on to the seller.
func TestCheckoutPage_GoesOnAfterWhatIsFreeInABrowser(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	page := chromium.Open(t, nil)
	opens(t, page, w.ours(w.checkout(catalog.PriceVariant{AmountType: catalog.PriceVariantAmountTypeFree})).URL, "")
	page.Fill("#email", "jürgen@example.com")
	page.Click("button.pay")
	page.WaitText("Thank you for your order")
	assert.Contains(t, page.Value(`location.search`), "paid=1")
}

// A code that cannot be used is said once, beside what is empty. Then the buyer pays without it, and with the card that they typed before.
func TestCheckoutPage_KeepsTheCardBesideARefusedCodeInABrowser(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	_, err := w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) { a.CheckoutRequiresTerms = true })
	require.NoError(t, err)
	page := chromium.Open(t, nil)
	opens(t, page, w.ours(w.checkout(catalog.PriceVariant{Amount: 1000})).URL, "")
	page.Click("button.pay")
	page.Wait(`document.activeElement.matches('.problems')`)
	page.Fill("#discount_code", "NONE")
	page.Fill("#card_number", "4242424242424242")
	page.Fill("#card_expiry", "12/40")
	page.Fill("#card_cvc", "123")
	page.Click("button.pay")
	page.WaitText("There is no discount with this code.")
	assert.Equal(t, "", page.Value(`[...document.querySelectorAll('#card_number-problem')].map(e => e.innerText).join()`), "there is a card now")
	page.Click("#terms")
	page.Click("button.pay")
	page.Wait(`document.readyState === 'complete' && document.body && !window.stays`)
	assert.Contains(t, page.Text(), "Thank you for your order")
}

// A seller may take a question away from a page that is open. Its other fields stay what they are.
func TestCheckoutPage_StaysWholeWhenItsFormChangesInABrowser(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	c := w.ours(w.asking())
	offer, err := w.Checkout.GetOffer(t.Context(), c)
	require.NoError(t, err)
	page := chromium.Open(t, nil)
	opens(t, page, c.URL, "")
	_, err = w.Catalog.UpdateProduct(t.Context(), w.account, *offer.Items[0].ProductID, func(p *catalog.Product) { p.CustomFields.V = p.CustomFields.V[1:] })
	require.NoError(t, err)
	page.Click("button.pay")
	page.Wait(`document.readyState === 'complete' && document.activeElement && document.activeElement.matches('.problems')`)
	assert.NotContains(t, page.Text(), "undefined")
	assert.Equal(t, "", page.Value(`[...document.querySelectorAll('[id]')].map(e => e.id).filter((id, i, all) => all.indexOf(id) < i).join()`), "ids that are there twice")
	assert.Equal(t, "1", page.Value(`document.querySelectorAll('#terms').length`))
}

// What is refused is said where the buyer is. Neither a wrong code nor a number of pieces that there is not takes the card away, whichever button sends it.
func TestCheckoutPage_KeepsTheCardBesideWhatIsRefusedInABrowser(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	page := chromium.Open(t, nil)
	opens(t, page, w.ours(w.checkout(catalog.PriceVariant{Amount: 1000, QuantityMax: new(int64(5))})).URL, "")
	card := func() string {
		return page.Value(`[stays, ...[...document.querySelectorAll('#email, [name^=card_]')].map(field => field.value)].join(' ')`)
	}
	page.Fill("#email", "ada@example.com")
	typesCard(page, "4242424242424242")
	typed := card()
	page.Fill("#discount_code", "NONE")
	page.Key("Enter")
	page.WaitText("Discount code: There is no discount with this code.")
	page.Wait(`document.activeElement.className === 'problems all'`)
	assert.Equal(t, typed, card(), "a code takes nothing away")
	page.Fill("#discount_code", "")
	page.Fill("#quantity\\.0", "9")
	page.Click(".goods .code button")
	page.WaitText("Quantity: Choose a quantity: at most 5.")
	assert.Equal(t, "9 true", page.Value(`(field => field.value + ' ' + field.ariaInvalid)(document.querySelector('#quantity\\.0'))`))
	assert.Equal(t, typed, card(), "nor does a quantity")
	page.Fill("#quantity\\.0", "3")
	page.Click(".goods .code button")
	page.WaitText("Pay $30.00")
	page.Wait(`!document.querySelector('.problems, .goods [aria-invalid=true]')`)
	page.Fill("#quantity\\.0", "8")
	page.Key("Tab")
	page.Wait(`!document.querySelector('.pay ~ button').hidden`)
	assert.Empty(t, page.Value(`document.querySelector('.problems')?.innerText`), "whoever goes on is not called back")
	page.Click("button.pay")
	page.WaitText("Quantity: Choose a quantity: at most 5.")
	assert.Equal(t, typed, card(), "nor does Pay")
	page.Click("button.pay")
	page.Wait(`document.querySelector('.pay').ariaBusy !== 'true'`)
	assert.Equal(t, typed, card(), "however often it is pressed")
	page.Fill("#quantity\\.0", "2")
	page.Key("Tab")
	page.WaitText("Pay $20.00")
	page.Click("button.pay")
	page.WaitText("Thank you for your order")
	assert.Contains(t, page.Text(), "Paid: $20.00.")
	assert.Empty(t, page.Refused())
}
