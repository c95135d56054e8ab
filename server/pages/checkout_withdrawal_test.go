package pages_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// A buyer whose law wants that says that they give up their right to withdraw, and has it in writing. Nobody else is asked.
func TestCheckoutPage_AsksForTheWaiverWhereTheLawDoes(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, engine string) {
		w := newShopOn(t, engine)
		const tick = `name="waiver" type="checkbox"`
		c := w.checkout(catalog.PriceVariant{Amount: 1900})
		country := func(code string) {
			t.Helper()
			_, err := w.Checkout.Update(t.Context(), w.account, c.ID, func(d *checkout.Draft) { d.BillingAddress = core.JSONOf(&core.Address{Country: &code}) })
			require.NoError(t, err)
		}
		country("DE")
		assert.NotContains(t, w.page(c.URL, http.StatusOK), tick, "nothing is delivered")
		lines, err := w.Lines.OfCheckout(t.Context(), w.account, c.ID)
		require.NoError(t, err)
		_, err = w.Catalog.UpdateProduct(t.Context(), w.account, *lines[0].ProductID, func(p *catalog.Product) {
			p.Deliverables = []catalog.Deliverable{{Type: catalog.DeliverableTypeLink, Ref: new("https://chat.example")}}
		})
		require.NoError(t, err)
		assert.Contains(t, w.page(c.URL, http.StatusOK), tick)
		country("MQ") // a part of France that has a code of its own
		assert.Contains(t, w.page(c.URL, http.StatusOK), tick)
		country("US")
		assert.NotContains(t, w.page(c.URL, http.StatusOK), tick)
		_, err = w.Checkout.Update(t.Context(), w.account, c.ID, func(d *checkout.Draft) { d.BillingAddress.V = nil })
		require.NoError(t, err)
		assert.NotContains(t, w.page(c.URL, http.StatusOK), tick)
		_, err = w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) { a.Country = new("IE") })
		require.NoError(t, err)
		assert.Contains(t, w.page(c.URL, http.StatusOK), tick, "the seller is there, and of the buyer nobody knows")

		form := card("4242424242424242", "3800")
		form.Set("country", "GB")
		refused := w.post(c, http.StatusUnprocessableEntity, form)
		assert.Contains(t, refused, `id="waiver-problem"`)
		assert.Contains(t, refused, `href="#waive"`)
		form.Set("waiver", "true")
		form.Set("card_number", "4000000000000002")
		page := w.post(c, http.StatusOK, form)
		assert.Contains(t, page, "The card was declined.")
		assert.Contains(t, page, tick+` value="true" checked`, "as it was sent with the attempt of which the page tells")
		assert.NotContains(t, w.page(c.URL, http.StatusOK), tick+` value="true" checked`, "another browser sent nothing")
		form.Set("card_number", "4242424242424242")
		form.Del("waiver")
		page = w.post(c, http.StatusUnprocessableEntity, form)
		assert.Contains(t, page, `id="waiver-problem"`, "the tick was for another try")
		assert.NotContains(t, page, tick+` value="true" checked`)
		form.Set("waiver", "true")
		assert.Contains(t, w.post(c, http.StatusOK, form), "Thank you for your order")
		orders, _, err := w.Order.List(t.Context(), w.account, order.List{Page: core.Page{Limit: 10}})
		require.NoError(t, err)
		require.NotNil(t, orders[0].WithdrawalWaivedAt)
		assert.Contains(t, w.page(orders[0].ReceiptURL, http.StatusOK), "your right to withdraw ended")

		form.Set("country", "US")
		assert.Contains(t, w.post(w.checkout(catalog.PriceVariant{Amount: 1900}), http.StatusOK, form), "Thank you for your order")
		orders, _, err = w.Order.List(t.Context(), w.account, order.List{Page: core.Page{Limit: 10}})
		require.NoError(t, err)
		assert.Nil(t, orders[0].WithdrawalWaivedAt, "nobody asked for it")
	})
}
