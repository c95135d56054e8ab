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
	database.Each(t, func(t *testing.T, url string) {
		s := newSeller(t, url)
		page := s.browse(t)
		page.Go(s.checkout(t).URL)
		page.pay("4242424242424241")
		page.WaitText("Your card number is incorrect.")
		page.pay("4000000000000002")
		page.WaitText("The card was declined.")
		page.pay("4000002500003155")
		page.WaitText("Is this payment yours?")
		page.Click("button[value=failed]")
		page.WaitText("Your bank wanted you to confirm the payment, and that did not happen.")
		page.pay("4000002500003155")
		page.Click("button[value=succeeded]")
		page.WaitText("Thank you for your order")
		assert.EqualValues(t, 1900, s.bank.Taken())

		page.Go(*s.invoice(t).HostedURL)
		page.Wait(`document.querySelector('#card iframe[data-ready]')`)
		page.Value(`(HTMLFormElement.prototype.submit = function () {
			sent = new FormData(this).getAll('payment_method').join()
		}, sent = '')`)
		page.pay("4000000000000002")
		page.Wait(`sent`)
		first := page.Value(`sent`)
		page.Value(`(sent = '', dispatchEvent(new Event('pageshow')), '')`) // the buyer went back to the page, which has kept its form
		page.pay("4242424242424242")
		page.Wait(`sent`)
		assert.NotContains(t, page.Value(`sent`), first, "the card of before is sent again")
		page.Go(page.Value(`location.href`))
		page.Wait(`typeof sent === 'undefined'`)
		page.pay("4000002500003155")
		page.Click("button[value=succeeded]")
		page.Wait(`document.querySelector('.badge.good')`)
		assert.EqualValues(t, 1900+4200, s.bank.Taken())
		assert.Empty(t, page.Refused())
		assert.NotRegexp(t, `4000[ -]?0025[ -]?0000[ -]?3155`, s.program.Log(), "the card came here") // its last digits alone may be those of a port
	})
}

// A buyer comes by a checkout link: the browser hands the form on to the checkout that is made of it.
func TestStripe_ABuyerPaysByALink(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := newSeller(t, url)
		page := s.browse(t)
		product, err := s.sdk().Products.Create(background, &sdk.ProductCreate{
			Name: "The Go Handbook", Status: new(sdk.ProductStatusActive), PriceVariants: []sdk.ProductPriceVariant{{Amount: new(int64(1900)), Currency: new("usd")}},
		})
		require.NoError(t, err)
		link, err := s.sdk().CheckoutLinks.Create(background, &sdk.CheckoutLinkCreate{PriceVariants: []string{product.PriceVariants[0].ID}, MaxUses: new(int64(1))})
		require.NoError(t, err)
		page.Go(link.URL + "?utm_source=letter")
		page.Wait(`document.querySelector('#email') && (document.querySelector('#email').value = 'grace@example.com')`)
		page.pay("4000000000000002")
		page.WaitText("The card was declined.")
		assert.Contains(t, page.Value(`location.pathname`), "/checkout/")
		assert.Equal(t, "grace@example.com", page.Value(`document.querySelector('#email').value`))
		page.pay("4000002500003155")
		page.Click("button[value=succeeded]")
		page.WaitText("Thank you for your order")
		assert.EqualValues(t, 1900, s.bank.Taken())
		assert.Empty(t, page.Refused())
		made, err := s.sdk().Checkouts.List(background, &sdk.ListCheckoutsParams{})
		require.NoError(t, err)
		require.Len(t, made.Data, 1)
		assert.Equal(t, "letter", *made.Data[0].Source.UTMSource)
	})
}

// A customer gives cards on the portal in a real browser, for later and for their subscription, also when their bank asks.
func TestStripe_ACustomerGivesACardInTheirBrowser(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := newSeller(t, url)
		session := s.member(t)
		page := s.browse(t)
		page.Go(session.URL)
		page.WaitText("Visa ending in 4242")
		page.Click(`a[href$="/cards/new"]`)
		page.Wait(`document.querySelector('#card iframe[data-ready]')`)
		page.Width(360)
		assert.Equal(t, "true", page.Value(`document.documentElement.scrollWidth <= window.innerWidth`))
		page.Width(1280)
		page.pay("4242424242424241")
		page.WaitText("Your card number is incorrect.")
		page.pay("4000000000000002")
		page.WaitText("The card was declined.")
		page.Click("#default")
		page.pay("4000002500003155")
		page.WaitText("Is this payment yours?")
		page.Click("button[value=failed]")
		page.WaitText("Your bank wanted you to confirm the payment, and that did not happen.")
		page.pay("4000002500003155")
		page.Click("button[value=succeeded]")
		page.WaitText("Your card is saved.")
		page.WaitText("Visa ending in 3155")

		page.Click(`a[aria-label^="Manage"]`)
		page.WaitText("Charged to Visa ending in 4242")
		page.Click(`a[href*="/cards/new?subscription="]`)
		page.pay("4242424242424242")
		page.WaitText("Your subscription is charged to this card from now on.")
		page.Click(`a[href*="/cards/new?subscription="]`)
		page.pay("4000002500003155")
		page.Click("button[value=succeeded]")
		page.WaitText("Charged to Visa ending in 3155")
		assert.EqualValues(t, 900, s.bank.Taken())
		assert.Empty(t, page.Refused())
		assert.NotRegexp(t, `4000[ -]?0025[ -]?0000[ -]?3155`, s.program.Log(), "the card came here") // its last digits alone may be those of a port
	})
}

// payer is a buyer in front of a page on which Stripe takes cards.
type payer struct{ *browser.Page }

// browse opens a browser in which Stripe is found.
func (s *seller) browse(t *testing.T) *payer {
	t.Helper()
	_, err := s.sdk().Account.Update(background, &sdk.AccountUpdate{StripePublishableKey: sdk.Set(s.bank.PublishableKey)})
	require.NoError(t, err)
	return &payer{browser.Open(t, s.bank.Hosts(t))}
}

func (p *payer) pay(number string) {
	p.Fill("#card iframe[data-ready]", number)
	p.Click("button.pay")
}

// member subscribes a customer to a club, and opens the portal to them.
func (s *seller) member(t *testing.T) *sdk.PortalSession {
	t.Helper()
	customer, err := s.sdk().Customers.Create(background, &sdk.CustomerCreate{Email: "grace@example.com", Name: new("Grace Hopper")})
	require.NoError(t, err)
	club, err := s.sdk().Products.Create(background, &sdk.ProductCreate{
		Name: "Club", Status: new(sdk.ProductStatusActive), PriceVariants: []sdk.ProductPriceVariant{{
			Type: new(sdk.PriceVariantTypeRecurring), Interval: new(sdk.PriceVariantIntervalMonth), IntervalCount: new(int64(1)), Amount: new(int64(900)), Currency: new("usd"),
		}},
	})
	require.NoError(t, err)
	variants, err := s.sdk().PriceVariants.List(background, &sdk.ListPriceVariantsParams{Product: &club.ID})
	require.NoError(t, err)
	_, err = s.sdk().Subscriptions.Create(background, &sdk.SubscriptionCreate{Customer: customer.ID, PriceVariant: variants.Data[0].ID, PaymentMethod: new("pm_card_visa")})
	require.NoError(t, err)
	session, err := s.sdk().Customers.CreatePortalSession(background, customer.ID, &sdk.PortalSessionCreate{})
	require.NoError(t, err)
	return session
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
