package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness/browser"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// A buyer pays in a real browser: the card goes to Stripe alone, the bank asks, and nothing breaks the policy of the
// page. What stands in for Stripe asks of the page what Stripe.js does: a script, a frame, a call and a redirect.
func TestStripe_ABuyerPaysInTheirBrowser(t *testing.T) {
	t.Parallel()
	s := newSeller(t, database.URL(t, "sqlite"))
	_, err := s.sdk().Account.Update(background, &sdk.AccountUpdate{StripePublishableKey: sdk.Set(s.bank.PublishableKey)})
	require.NoError(t, err)
	page := browser.Open(t, s.bank.Hosts(t))
	pay := func(number string) {
		page.Fill("#card iframe[data-ready]", number)
		page.Click("button.pay")
	}

	page.Go(s.checkout(t).URL)
	pay("4242424242424241")
	page.WaitText("Your card number is incorrect.")
	pay("4000000000000002")
	page.WaitText("Your card was declined.")
	pay("4000002500003155")
	page.WaitText("Is this payment yours?")
	page.Click("button[value=failed]")
	page.WaitText("The payment was not authenticated.")
	pay("4000002500003155")
	page.Click("button[value=succeeded]")
	page.WaitText("Paid. Thank you for your order.")
	assert.EqualValues(t, 1900, s.bank.Taken())

	page.Go(*s.invoice(t).HostedURL)
	page.Wait(`document.querySelector('#card iframe[data-ready]')`)
	page.Value(`(HTMLFormElement.prototype.submit = function () {
		sent = new FormData(this).getAll('payment_method').join()
	}, sent = '')`)
	pay("4000000000000002")
	page.Wait(`sent`)
	first := page.Value(`sent`)
	page.Value(`(sent = '', dispatchEvent(new Event('pageshow')), '')`) // the buyer went back to the page, which has kept its form
	pay("4242424242424242")
	page.Wait(`sent`)
	assert.NotContains(t, page.Value(`sent`), first, "the card of before is sent again")
	page.Go(page.Value(`location.href`))
	page.Wait(`typeof sent === 'undefined'`)
	pay("4000002500003155")
	page.Click("button[value=succeeded]")
	page.Wait(`document.querySelector('.state.paid')`)
	assert.EqualValues(t, 1900+4200, s.bank.Taken())
	assert.Empty(t, page.Refused())
	assert.NotContains(t, s.program.Log(), "3155", "the card came here")
}

// invoice issues one over 42 dollars.
func (s *seller) invoice(t *testing.T) *sdk.Invoice {
	t.Helper()
	customer, err := s.sdk().Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"})
	require.NoError(t, err)
	made, err := s.sdk().Invoices.Create(background, &sdk.InvoiceCreate{
		Customer: customer.ID, CollectionMethod: new(sdk.CollectionMethodSendInvoice), DueAt: new(sdk.TimeOf(time.Now().Add(24 * time.Hour))), Finalize: new(true),
		Lines: []sdk.InvoiceLineCreate{{Description: new("Work"), UnitAmount: new(int64(4200)), Quantity: new(int64(1))}},
	})
	require.NoError(t, err)
	return made
}
