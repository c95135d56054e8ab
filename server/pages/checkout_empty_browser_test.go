package pages_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/axe"
	chromium "github.com/tillwright/tillwright/tests/harness/browser"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// What is empty is said by the page, all at once and in its own language. What was typed stays.
func TestCheckoutPage_SaysAllThatIsEmptyInABrowser(t *testing.T) {
	t.Parallel()
	page, plain := chromium.Open(t, nil), chromium.Open(t, nil)
	plain.WithoutScripts()
	for _, engine := range database.Engines() {
		w := newShopOn(t, database.URL(t, engine))
		w.saysWhatIsEmpty(page, func() {
			axe.Check(t, page, "all is empty")
			page.Scheme("dark")
			axe.CheckColours(t, page, "all is empty, in the dark")
			page.Scheme("light")
		})
		w.saysWhatIsEmpty(plain, func() {})
	}
}

// With our script the card that was typed stays too, on the page of a checkout and on that of a link.
func TestCheckoutPage_KeepsTheCardWhereSomethingIsEmptyInABrowser(t *testing.T) {
	t.Parallel()
	page := chromium.Open(t, nil)
	for _, engine := range database.Engines() {
		w := newShopOn(t, database.URL(t, engine))
		w.taxesByRegion()
		_, err := w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) { a.CheckoutRequiresTerms = true })
		require.NoError(t, err)
		asking, err := w.Checkout.Update(t.Context(), w.account, w.asking().ID, func(d *checkout.Draft) { d.SuccessURL = nil }) // to which the page would lead
		require.NoError(t, err)
		for _, address := range []string{asking.URL, w.link(catalog.PriceVariant{Amount: 1000}, nil).URL} {
			isLink := strings.Contains(address, "/buy/")
			page.Go(address)
			page.Wait(`document.readyState === 'complete' && document.querySelector('#card_number')`)
			page.Value(`window.stays = 'it does'`)
			card := map[string]string{"#card_number": "4242424242424242", "#card_expiry": "12/40", "#card_cvc": "123"}
			for field, typed := range card {
				page.Fill(field, typed)
			}
			if isLink {
				page.Fill("#email", "grace@") // which is wrong, and not empty
			}
			page.Click("button.pay")
			page.Wait(`document.activeElement.matches('.problems')`)
			assert.Equal(t, "it does", page.Value(`window.stays`), "no other page was loaded")
			for field, typed := range card {
				assert.Equal(t, typed, page.Value(`document.querySelector('`+field+`').value`))
			}
			assert.Equal(t, "", page.Value(`[...document.querySelectorAll('.problems a')].map(a => a.hash).filter(id => id.startsWith('#card')).join()`))
			assert.Equal(t, "true", page.Value(`document.querySelector('#terms').ariaInvalid`))
			assert.Equal(t, page.Value(`document.querySelector('#terms').getAttribute('aria-describedby')`), page.Value(`document.querySelector('#terms').parentNode.querySelector('.problem').id`))
			assert.Equal(t, "false", page.Value(`document.querySelector('.pay').hasAttribute('aria-busy')`))
			axe.Check(t, page, "problems that came without another page")

			page.Fill("#email", "grace@example.com")
			page.Value(`document.querySelector('#country').value = 'DE', document.querySelector('#country').dispatchEvent(new Event('change', {bubbles: true})), ''`)
			page.Wait(`!document.querySelector('.problems [href="#country"]')`)
			if !isLink {
				page.Fill("#answer\\.text", "For Ada")
				page.Value(`document.querySelector('#answer\\.choice').value = 'a'`)
				page.Click("#answer\\.tick")
			}
			page.Click("#terms")
			page.Click("button.pay")
			page.WaitText("Thank you for your order")
			assert.Empty(t, page.Refused())
		}
	}
}

func (w *shop) saysWhatIsEmpty(page *chromium.Page, looks func()) {
	t := w.t
	w.taxesByRegion()
	c := w.asking()
	page.Width(360)
	page.Go(c.URL + "?locale=de")
	page.WaitText("Testkarte")
	page.Fill("#name", "Grace")
	page.Key("Enter")
	page.Wait(`document.readyState === 'complete' && document.activeElement.matches('.problems')`)
	links := `[...document.querySelectorAll('.problems a')].map(a => a.getAttribute('href')).join(' ')`
	assert.Equal(t, "#country #answer.text #answer.choice #answer.tick #card_number #card_expiry #card_cvc #terms", page.Value(links))
	assert.Equal(t, "Grace", page.Value(`document.querySelector('#name').value`))
	looks()
	page.Fill("#answer\\.text", "For Ada")
	page.Value(`document.querySelector('#country').value = 'US'`)
	page.Click("button.pay")
	page.Wait(`document.readyState === 'complete' && document.activeElement.matches('.problems') && document.querySelector('.problems a').getAttribute('href') === '#state'`)
	assert.Equal(t, "#state #answer.choice #answer.tick #card_number #card_expiry #card_cvc #terms", page.Value(links))
	assert.Empty(t, page.Refused())
}

// Stripe is asked to take a card once nothing else is missing. Until then the card stays in its frame.
func TestCheckoutPage_AsksStripeWhenNothingIsEmptyInABrowser(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.useStripe(publishableKey)
	c := w.asking()
	page := chromium.Open(t, nil)
	page.Width(1440)
	starts := func() {
		page.Value(`window.Stripe = () => ({elements: () => ({create: () => ({mount() {}, on() {}})}), createPaymentMethod: async () => ({error: {message: 'Stripe was asked.'}})});
			document.querySelector('.pay').disabled = false; ` + scriptOf(t, "stripe.js") + `; 0`)
	}
	page.Go(c.URL)
	page.Wait(`document.readyState === 'complete' && document.querySelector('.pay')`)
	starts()
	page.Value(`window.stays = true`)
	page.Click("button.pay")
	page.Wait(`document.activeElement.matches('.problems') && document.readyState === 'complete'`)
	assert.NotContains(t, page.Text(), "Stripe was asked.")
	assert.Equal(t, "true", page.Value(`document.querySelector('#card').isConnected && window.stays`), "the card that was typed into Stripe's frame is there still")
	page.Fill("#answer\\.text", "For Ada")
	page.Value(`document.querySelector('#answer\\.choice').value = 'a'`)
	page.Click("#answer\\.tick")
	page.Click("#terms")
	page.Click("button.pay")
	page.WaitText("Stripe was asked.")
}

// No form asks the browser to say what is wrong, which it would in a language of its own.
func TestPages_SayWhatIsWrongThemselves(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	i := w.billed()
	for range 2 {
		for _, address := range []string{i.HostedURL, w.asking().URL} {
			_, form, _ := strings.Cut(w.page(address, http.StatusOK), "/pay\"")
			form, _, _ = strings.Cut(form, "\n")
			assert.Contains(t, form, " novalidate>", address)
		}
		w.useStripe(publishableKey)
	}
}
