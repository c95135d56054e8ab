package pages_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/axe"
	chromium "github.com/tillwright/tillwright/tests/harness/browser"
)

// coloured gives the shop a colour that is too bright to be read on white.
func (w *shop) coloured() *tenant.Account {
	w.t.Helper()
	seller, err := w.Tenant.UpdateAccount(w.t.Context(), w.account, func(a *tenant.AccountChange) { a.AccentColor = new("#FF8800") })
	require.NoError(w.t, err)
	return seller
}

// The read of each page looks at its policy too.
func TestBuyersPages_HaveTheirSellersColour(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	seller := w.coloured()
	const colours = "<style>:root { --accent: light-dark(#"
	c, link := w.checkout(catalog.PriceVariant{Amount: 1900}), w.link(catalog.PriceVariant{Amount: 1900}, nil)
	assert.Contains(t, w.page(c.URL, http.StatusOK), colours)
	assert.Contains(t, w.page(link.URL, http.StatusOK), colours)
	assert.Contains(t, w.post(c, http.StatusOK, card("4242424242424242", "3800")), colours, "a paid checkout")
	assert.Contains(t, w.page(w.sold().ReceiptURL, http.StatusOK), colours)
	assert.Contains(t, w.page(w.server.URL+"/portal?shop="+seller.Handle, http.StatusOK), colours)
	_, err := w.Checkout.UpdateLink(t.Context(), w.account, link.ID, func(l *checkout.Link) { l.Active = false })
	require.NoError(t, err)
	assert.Contains(t, w.page(link.URL, http.StatusNotFound), colours, "a message")
	assert.NotContains(t, w.page(w.server.URL+"/portal", http.StatusOK), colours, "nobody's page")
}

// Whatever the colour, it is shown as it can be read, in the light and in the dark.
func TestBuyersPages_CanBeReadInTheirSellersColourInABrowser(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.coloured()
	page := chromium.Open(t, nil)
	page.Go(w.checkout(catalog.PriceVariant{Amount: 1900}).URL)
	page.WaitText("Pay $38.00")
	for scheme, shown := range map[string]string{"light": "rgb(174, 91, 3)", "dark": "rgb(255, 136, 0)"} {
		page.Scheme(scheme)
		page.Wait(`getComputedStyle(document.querySelector('.pay')).backgroundColor === '` + shown + `'`)
		axe.Check(t, page, "a checkout in its seller's colour, "+scheme)
	}
	page.Draw("checkout-coloured")
	assert.Empty(t, page.Refused())
}
