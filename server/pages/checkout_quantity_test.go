package pages_test

import (
	"net/http"
	"net/url"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// The total that the buyer saw is what they are charged. Where the seller does not let them choose, a field that somebody makes up does nothing.
func TestCheckoutLink_LetsTheBuyerChooseTheQuantity(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, engine string) {
		w := newShopOn(t, engine)
		link := w.link(catalog.PriceVariant{Amount: 1000, QuantityMax: new(int64(5)), Stock: new(int64(4))}, nil)
		send := func(address string, fields url.Values, status int) string {
			t.Helper()
			response, err := http.PostForm(address+"/pay", fields)
			require.NoError(t, err)
			return w.read(response, status)
		}
		assert.NotContains(t, w.page(link.URL, http.StatusOK), "quantity.0")
		form := w.offered(link.URL)
		form["do"], form["quantity.0"] = []string{"update"}, []string{"3"}
		send(link.URL, form, http.StatusOK)
		require.Equal(t, int64(1000), w.checkouts()[0].TotalAmount)

		_, err := w.Checkout.UpdateLink(t.Context(), w.account, link.ID, func(l *checkout.Link) { l.AllowQuantityChange = true })
		require.NoError(t, err)
		page := w.page(link.URL, http.StatusOK)
		assert.Contains(t, page, `<label for="quantity.0">Quantity, at most 5</label>`)
		assert.Contains(t, w.page(link.URL+"?locale=ja", http.StatusOK), `<label for="quantity.0">数量、5以下</label>`)
		assert.Contains(t, page, `<details class="fold" open>`, "it is seen on a phone")
		form = w.offered(link.URL)
		form["do"], form["quantity.0"] = []string{"update"}, []string{"3"}
		assert.Contains(t, send(link.URL, form, http.StatusOK), `value="3"`)
		made := w.checkouts()[0]
		require.Equal(t, int64(3000), made.AmountDueNow)
		for pieces, problem := range map[string]string{"6": "Choose a quantity: at most 5.", "0": "Write a whole number", "-1": "Write a whole number", "two": "Write a whole number", "1.5": "Write a whole number", "99999999999999999999": "Write a whole number"} {
			refused := send(made.URL, url.Values{"do": {"update"}, "quantity.0": {pieces}}, http.StatusUnprocessableEntity)
			assert.Regexp(t, `(?s)id="quantity.0-problem">.{0,400}`+problem, refused, pieces)
			assert.Regexp(t, `<li><a href="#quantity.0">Quantity: `+problem, refused, pieces)
		}
		scarce := send(made.URL, url.Values{"do": {"update"}, "quantity.0": {"5"}}, http.StatusUnprocessableEntity) // of which there are 4
		assert.Regexp(t, `(?s)id="quantity.0-problem">.{0,400}Only 4 are left. Choose fewer.`, scarce)
		assert.NotContains(t, scarce, "sold out")
		send(made.URL, url.Values{"do": {"update"}, "quantity.1": {"2"}, "quantity.x": {"2"}}, http.StatusOK)
		require.Equal(t, int64(3000), w.checkouts()[0].AmountDueNow)

		pay := card("4242424242424242", "3000")
		pay["email"], pay["quantity.0"] = []string{"grace@example.com"}, []string{"2"}
		assert.Contains(t, send(made.URL, pay, http.StatusOK), "Pay $20.00", "which they have not seen")
		pay.Set("shown", "2000")
		assert.Contains(t, send(made.URL, pay, http.StatusOK), "Paid: $20.00")

		link = w.link(catalog.PriceVariant{Amount: 1000}, nil)
		_, err = w.Catalog.UpdatePriceVariant(t.Context(), w.account, link.PriceVariantIDs.V[0], func(v *catalog.PriceVariant) { v.QuantityMin = 2 })
		require.NoError(t, err)
		_, err = w.Checkout.UpdateLink(t.Context(), w.account, link.ID, func(l *checkout.Link) { l.AllowQuantityChange = true })
		require.NoError(t, err)
		assert.Contains(t, w.page(link.URL, http.StatusOK), "Pay $20.00", "of which there are two at least")

		variant := link.PriceVariantIDs.V[0]
		_, err = w.Catalog.UpdatePriceVariant(t.Context(), w.account, variant, func(v *catalog.PriceVariant) { v.QuantityMax = new(int64(5)) })
		require.NoError(t, err)
		_, err = w.Checkout.UpdateLink(t.Context(), w.account, link.ID, func(l *checkout.Link) { l.PriceVariantIDs.V = []string{variant, variant} })
		require.NoError(t, err)
		assert.Regexp(t, `<label for="quantity.1">Quantity, [^<]+, at least 2, at most 5</label>`, w.page(link.URL, http.StatusOK))
		form = w.offered(link.URL)
		form["do"], form["quantity.0"], form["quantity.1"] = []string{"update"}, []string{"4"}, []string{"3"}
		assert.Regexp(t, `(?s)id="quantity.1-problem">.{0,400}Choose fewer.`, send(link.URL, form, http.StatusUnprocessableEntity), "the limit is for both together")
		_, err = w.Catalog.UpdatePriceVariant(t.Context(), w.account, variant, func(v *catalog.PriceVariant) { v.Amount, v.QuantityMax = 5_000_000_000, new(int64(1000)) })
		require.NoError(t, err)
		form = w.offered(link.URL)
		form["do"], form["quantity.0"] = []string{"update"}, []string{"900"}
		assert.Regexp(t, `(?s)id="quantity.0-problem">.{0,400}Choose fewer.`, send(link.URL, form, http.StatusUnprocessableEntity), "nothing costs as much")

		free := w.checkout(catalog.PriceVariant{AmountType: catalog.PriceVariantAmountTypeFree})
		choose := func(pieces int64) error {
			_, err := w.Checkout.Update(t.Context(), w.account, free.ID, func(d *checkout.Draft) {
				d.AllowQuantityChange, d.SuccessURL = true, nil
				d.ChooseQuantity(0, strconv.FormatInt(pieces, 10))
			})
			return err
		}
		require.ErrorContains(t, choose(101), "at most 100")
		require.NoError(t, choose(100))
		assert.Contains(t, w.page(free.URL, http.StatusOK), `<label for="quantity.0">Quantity, at most 100</label>`)
		assert.Contains(t, send(free.URL, url.Values{"do": {"update"}, "quantity.0": {"1000000"}}, http.StatusUnprocessableEntity), "Choose a quantity: at most 100.")
	})
}
