package pages_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// choosing returns a link to something of which the buyer chooses the price.
func (w *shop) choosing(least, most, suggested *int64) *checkout.Link {
	w.t.Helper()
	p, err := w.Catalog.CreateProduct(w.t.Context(), w.account, catalog.NewProduct{
		Product:       catalog.Product{Name: "Handbook", Status: catalog.ProductStatusActive},
		PriceVariants: []catalog.PriceVariant{{AmountType: catalog.PriceVariantAmountTypeCustom, MinAmount: least, MaxAmount: most, SuggestedAmount: suggested}},
	})
	require.NoError(w.t, err)
	link, err := w.Checkout.CreateLink(w.t.Context(), w.account, checkout.Link{PriceVariantIDs: p.PriceVariantIDs, Active: true})
	require.NoError(w.t, err)
	return link
}

func TestCheckoutLink_LetsTheBuyerChooseThePrice(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, engine string) {
		w := newShopOn(t, engine)
		link := w.choosing(new(int64(500)), new(int64(10000)), new(int64(1000)))
		page := w.page(link.URL, http.StatusOK)
		assert.Contains(t, page, `<label for="amount.0">Amount</label>`)
		assert.Regexp(t, `<span class="hint" id="amount.0-hint">At least [$]5.00, at most [$]100.00</span>\s+<input id="amount.0"[^>]* aria-describedby="amount.0-hint"`, page)
		assert.Contains(t, page, `name="amount.0" type="text" value="10.00"`)
		form := w.offered(link.URL)
		form.Set("amount.0", "20,5")
		form.Set("do", "update")
		response, err := http.PostForm(link.URL+"/pay", form)
		require.NoError(t, err)
		page = w.read(response, http.StatusOK)
		assert.Contains(t, page, `value="20.50"`)
		made := w.checkouts()[0]
		require.Equal(t, int64(2050), made.AmountDueNow)
		send := func(fields url.Values, status int) string {
			t.Helper()
			response, err := http.PostForm(made.URL+"/pay", fields)
			require.NoError(t, err)
			return w.read(response, status)
		}
		for amount, problem := range map[string]string{
			"4.99": "at least [$]", "100.01": "at most [$]", "ten": "an amount like 12.50", "-5": "an amount like 12.50", "7.001": "an amount like 12.50", "": "an amount like 12.50",
			"9999999999999": "at most [$]", "99999999999999999999": "an amount like 12.50",
		} {
			refused := send(url.Values{"do": {"update"}, "amount.0": {amount}}, http.StatusUnprocessableEntity)
			assert.Regexp(t, `(?s)id="amount.0-problem">.{0,400}`+problem, refused, amount)
			assert.Regexp(t, `<li><a href="#amount.0">Amount: [^<]*`+problem, refused, amount)
			assert.NotContains(t, refused, "price_", "nothing that is for programs")
		}
		send(url.Values{"do": {"update"}, "amount.1": {"7"}, "amount.x": {"7"}}, http.StatusOK)
		require.Equal(t, int64(2050), w.checkouts()[0].AmountDueNow)

		pay := card("4242424242424242", "2050")
		pay.Set("email", "grace@example.com")
		pay.Set("name", "Grace")
		assert.Contains(t, send(pay, http.StatusOK), "Paid: $20.50")
	})
}

// A program of the seller says what is to be paid; whoever has the page cannot pay less.
func TestCheckout_LetsNobodyChooseWhatTheSellerSaid(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	c := w.checkout(catalog.PriceVariant{AmountType: catalog.PriceVariantAmountTypeCustom, MinAmount: new(int64(500)), SuggestedAmount: new(int64(1000))})
	assert.NotContains(t, w.page(c.URL, http.StatusOK), `name="amount.`)
	response, err := http.PostForm(c.URL+"/pay", url.Values{"do": {"update"}, "amount.0": {"5"}})
	require.NoError(t, err)
	w.read(response, http.StatusOK)
	after, err := w.Checkout.Get(t.Context(), w.account, c.ID)
	require.NoError(t, err)
	assert.Equal(t, core.JSONText(c.AmountDueNow), core.JSONText(after.AmountDueNow))
}
