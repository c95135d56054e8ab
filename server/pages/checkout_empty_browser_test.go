package pages_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/tests/harness/axe"
	chromium "github.com/tillwright/tillwright/tests/harness/browser"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// What is empty is said by the page, all at once and in its own language. What was typed stays.
func TestCheckoutPage_SaysAllThatIsEmptyInABrowser(t *testing.T) {
	t.Parallel()
	page := chromium.Open(t, nil)
	for _, engine := range database.Engines() {
		newShopOn(t, database.URL(t, engine)).saysWhatIsEmpty(page)
	}
}

func (w *shop) saysWhatIsEmpty(page *chromium.Page) {
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
	assert.Equal(t, "#country #answer.text #answer.choice #answer.tick #card_number #terms", page.Value(links))
	assert.Equal(t, "Grace", page.Value(`document.querySelector('#name').value`))
	axe.Check(t, page, "all is empty")
	page.Scheme("dark")
	axe.CheckColours(t, page, "all is empty, in the dark")
	page.Scheme("light")
	page.Fill("#answer\\.text", "For Ada")
	page.Value(`document.querySelector('#country').value = 'US'`)
	page.Click("button.pay")
	page.Wait(`document.readyState === 'complete' && document.activeElement.matches('.problems') && document.querySelector('.problems a').getAttribute('href') === '#state'`)
	assert.Equal(t, "#state #answer.choice #answer.tick #card_number #terms", page.Value(links))
	assert.Empty(t, page.Refused())
}

// Stripe is asked to take a card once nothing else is missing. The page that says so is loaded anew, and the card would be gone.
func TestCheckoutPage_AsksStripeWhenNothingIsEmptyInABrowser(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.useStripe(publishableKey)
	c := w.asking()
	script, err := os.ReadFile("stripe.js")
	require.NoError(t, err)
	page := chromium.Open(t, nil)
	page.Width(1440)
	starts := func() {
		page.Value(`window.Stripe = () => ({elements: () => ({create: () => ({mount() {}, on() {}})}), createPaymentMethod: async () => ({error: {message: 'Stripe was asked.'}})});
			document.querySelector('.pay').disabled = false; ` + string(script) + `; 0`)
	}
	page.Go(c.URL)
	page.Wait(`document.readyState === 'complete' && document.querySelector('.pay')`)
	starts()
	page.Click("button.pay")
	page.Wait(`document.activeElement.matches('.problems') && document.readyState === 'complete'`)
	assert.NotContains(t, page.Text(), "Stripe was asked.")
	starts()
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
