package pages_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// tooMany sends a form that is answered with a page which says when to try again.
func (w *shop) tooMany(address string, form url.Values) string {
	w.t.Helper()
	response, err := http.PostForm(address, form)
	require.NoError(w.t, err)
	assert.NotEmpty(w.t, response.Header.Get("Retry-After"))
	assert.Contains(w.t, response.Header.Get("Content-Type"), "text/html")
	page := w.read(response, http.StatusTooManyRequests)
	assert.Contains(w.t, page, "Too many payments were declined. Nothing was charged. Try again in ")
	return page
}

func TestPages_SayWhenToTryAgain(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, engine string) {
		w := newShopOn(t, engine)
		c := w.checkout(catalog.PriceVariant{Amount: 1900})
		for range 5 {
			assert.Contains(t, w.post(c, http.StatusOK, card("4000000000000002", "3800")), "The card was declined.")
		}
		page := w.tooMany(c.URL+"/pay", card("4242424242424242", "3800"))
		assert.Contains(t, page, `<label for="card_number">`, "the form is there for later")

		i := w.billed()
		for range 5 {
			w.types(i, "4000000000000002", http.StatusOK)
		}
		w.tooMany(i.HostedURL+"/pay", card("4242424242424242", ""))
	})
}

func TestCheckoutPage_APaymentCanBeCancelled(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, engine string) {
		w := newShopOn(t, engine)
		c := w.checkout(catalog.PriceVariant{Amount: 1900, Stock: new(int64(2))})
		page := w.post(c, http.StatusOK, card("4000002500003155", "3800"))
		assert.Contains(t, page, `action="`+c.ClientSecret+`/cancel"`)
		held := func() int64 {
			t.Helper()
			items, err := w.Lines.OfCheckout(t.Context(), w.account, c.ID)
			require.NoError(t, err)
			v, err := w.Catalog.GetPriceVariant(t.Context(), w.account, *items[0].PriceVariantID)
			require.NoError(t, err)
			return v.ReservedCount
		}
		require.EqualValues(t, 2, held())
		for range 2 { // the second is a double click
			response, err := http.PostForm(c.URL+"/cancel", nil)
			require.NoError(t, err)
			page = w.read(response, http.StatusOK)
		}
		assert.Contains(t, page, "The payment was not confirmed. Nothing was charged.", "it was they who ended it, and not the time")
		assert.Contains(t, page, `<label for="card_number">`)
		assert.Zero(t, held())
		assert.Contains(t, w.post(c, http.StatusOK, card("4242424242424242", "3800")), "<h1>Thank you for your order</h1>")
	})
}

// An invoice can be paid in another way, too, once its reader does not confirm what they have begun. One that is charged by itself is not theirs to stop.
func TestInvoicePage_APaymentCanBeCancelled(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, engine string) {
		w := newShopOn(t, engine)
		i := w.billed()
		token := i.HostedURL[strings.LastIndexByte(i.HostedURL, '/')+1:]
		page := w.types(i, "4000002500003155", http.StatusOK)
		assert.Contains(t, page, `<form method="post" action="`+token+`/cancel"><input type="hidden" name="payment" value="`+w.lastOf(i)+`"><button>Cancel this payment</button></form>`)
		rows := harness.OpenDatabase(t, engine)
		rows.Must(t, "UPDATE payments SET off_session = TRUE")
		assert.NotContains(t, w.page(i.HostedURL, http.StatusOK), "/cancel")
		assert.Contains(t, w.cancels(i), "/authenticate")
		rows.Must(t, "UPDATE payments SET off_session = FALSE")
		for range 2 { // the second is a double click
			page = w.cancels(i)
			assert.Contains(t, page, "The payment was not confirmed. Nothing was charged.")
			assert.Contains(t, page, `<label for="card_number">`)
			assert.NotContains(t, page, "/cancel")
		}
		assert.Contains(t, w.types(i, "4242424242424242", http.StatusOK), ">Paid<")
		assert.Contains(t, w.cancels(i), ">Paid<", "from a page that was open")
	})
}

// A bank elsewhere may have the consent of somebody who cancels here. Then the invoice is paid.
func TestInvoicePage_APaymentElsewhereCanBeCancelled(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, engine string) {
		w := newShopOn(t, engine)
		w.useStripe(publishableKey)
		i := w.billed()
		w.sends(i, "pm_card_authenticationRequiredOnSetup", http.StatusOK)
		assert.Contains(t, w.page(i.HostedURL, http.StatusOK), "/cancel", "the bank is elsewhere")
		page := w.cancels(i)
		assert.Contains(t, page, "The payment was not confirmed. Nothing was charged.")
		assert.Contains(t, page, "data-stripe-key", "another card can be tried")
		w.sends(i, "pm_card_authenticationRequiredOnSetup", http.StatusOK)
		charge, err := w.Payment.LastOfInvoice(t.Context(), w.account, i.ID)
		require.NoError(t, err)
		w.bank.Settle(*charge.ProviderRef, true)
		assert.Contains(t, w.cancels(i), ">Paid<", "the bank had it before")
		assert.EqualValues(t, 9520, w.bank.Taken())
	})
}

// cancels sends the form by which the reader of an invoice cancels their payment, and returns the page after it.
func (w *shop) cancels(i *invoice.Invoice) string {
	w.t.Helper()
	response, err := http.PostForm(i.HostedURL+"/cancel", url.Values{"payment": {w.lastOf(i)}})
	require.NoError(w.t, err)
	return w.read(response, http.StatusOK)
}

// lastOf returns the id of the last payment of an invoice.
func (w *shop) lastOf(i *invoice.Invoice) string {
	w.t.Helper()
	charge, err := w.Payment.LastOfInvoice(w.t.Context(), w.account, i.ID)
	require.NoError(w.t, err)
	require.NotNil(w.t, charge)
	return charge.ID
}
