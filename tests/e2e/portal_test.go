package e2e

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness/browser"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// visitor is a customer in front of the portal, with a telephone.
type visitor struct {
	*office
	*browser.Page
	customer *sdk.Customer
	session  *sdk.PortalSession
}

// newVisitor makes a member of a club, who owes an invoice.
func newVisitor(t *testing.T) (*visitor, *sdk.Subscription) {
	t.Helper()
	v := &visitor{office: newOffice(t, database.URL(t, "sqlite"))}
	var err error
	v.customer, err = v.Customers.Create(background, &sdk.CustomerCreate{Email: "grace.brewster.murray.hopper@navy.example.com", Name: new("Grace Hopper")})
	require.NoError(t, err)
	club := v.guide(sdk.ProductPriceVariant{
		Type: new(sdk.PriceVariantTypeRecurring), Interval: new(sdk.PriceVariantIntervalMonth), IntervalCount: new(int64(1)), Amount: new(int64(900)), Currency: new("usd"),
	})
	sub, err := v.Subscriptions.Create(background, &sdk.SubscriptionCreate{Customer: v.customer.ID, PriceVariant: club, PaymentMethod: new("pm_card_visa")})
	require.NoError(t, err)
	_, err = v.Invoices.Create(background, &sdk.InvoiceCreate{
		Customer: v.customer.ID, CollectionMethod: new(sdk.CollectionMethodSendInvoice), DueAt: new(sdk.TimeOf(time.Now().Add(24 * time.Hour))), Finalize: new(true),
		Lines: []sdk.InvoiceLineCreate{{Description: new(strings.Repeat("Longest", 12)), UnitAmount: new(int64(123456789)), Quantity: new(int64(1))}},
	})
	require.NoError(t, err)
	v.session, err = v.Customers.CreatePortalSession(background, v.customer.ID, &sdk.PortalSessionCreate{ReturnURL: new(v.program.URL + "/healthz")})
	require.NoError(t, err)
	v.Page = browser.Open(t, nil)
	v.Width(360)
	return v, sub
}

// sees waits for a whole page with a text that fits into the window, is in English, and on which every field has its label. All is asked at once: the text may
// stand on the page before, too, which is about to go.
func (v *visitor) sees(text string) {
	v.t.Helper()
	quoted, err := json.Marshal(text)
	require.NoError(v.t, err)
	v.Wait(`document.readyState === 'complete' && document.body.innerText.includes(` + string(quoted) + `) && document.documentElement.scrollWidth <= window.innerWidth &&
		document.documentElement.lang === 'en' && ![...document.querySelectorAll('input:not([type=hidden]), select, textarea')].some(e => !e.labels.length)`)
}

// types fills in a card and sends it.
func (v *visitor) types(number string) {
	v.t.Helper()
	v.Fill("#card_number", number)
	v.Fill("#card_expiry", "12/90")
	v.Fill("#card_cvc", "123")
	v.Click("button.pay")
}

// removes removes a card, and says on the page between that this is meant.
func (v *visitor) removes(brand, last4 string) {
	v.t.Helper()
	v.Value(`[...document.querySelectorAll('a[href$="/remove"]')].find(a => a.textContent === "Remove: ` + brand + ` ` + last4 + `").id = "removes"`)
	v.Click("#removes")
	v.sees("Remove " + brand + " ending in " + last4 + "?")
	v.Click("button.danger")
}

func (v *visitor) subscription(id string) *sdk.Subscription {
	v.t.Helper()
	sub, err := v.Subscriptions.Get(background, id)
	require.NoError(v.t, err)
	return sub
}

// A customer does on a telephone what the portal is for, in a real browser that holds the pages to their policy.
func TestPortal_IsUsedInABrowser(t *testing.T) {
	t.Parallel()
	v, sub := newVisitor(t)
	v.Go(v.session.URL)
	v.sees("$1,234,567.89 is due")

	v.Click(`a[aria-label^="Manage"]`)
	v.sees("Charged to Visa ending in 4242")
	v.Click("summary")
	v.types("4242 4242 4242 4241")
	v.sees("The card number is incorrect.")
	v.types("5555 5555 5555 4444")
	v.sees("Charged to Mastercard ending in 4444")
	v.Click(`a[href$="/cancel"]`)
	v.sees("you keep all of it")
	v.Value(`document.querySelector('#reason').value = 'unused'`)
	v.Fill("#comment", "No time.")
	v.Click(`form[action$="/cancel"] button`)
	v.sees("Your subscription is cancelled.")
	ending := v.subscription(sub.ID)
	require.True(t, ending.CancelAtPeriodEnd)
	assert.Equal(t, []string{"unused", "No time.", "customer"}, []string{string(*ending.Cancellation.Reason), *ending.Cancellation.Comment, string(ending.Cancellation.By)})
	v.Click(`form[action$="/uncancel"] button`)
	v.sees("Your subscription goes on.")
	assert.False(t, v.subscription(sub.ID).CancelAtPeriodEnd)

	v.Click(`a[href$="` + v.session.Token + `"]`)
	v.sees("Orders and invoices") // which the page before has not
	v.removes("Mastercard", "4444")
	v.sees("This card pays for ")
	v.removes("Visa", "4242")
	v.sees("Your card is removed.")
	v.Click(`form[action$="/default"] button`)
	v.sees("This is your default card now.")

	v.Click("a.button")
	v.sees("Pay $1,234,567.89")
	v.types("4242 4242 4242 4242")
	v.Wait(`document.querySelector(".badge.good")`)
	v.Go(v.session.URL)
	v.sees("Orders and invoices")
	assert.NotContains(t, v.Text(), "to be paid")
	v.Click(`form[action$="/end"] button`)
	v.sees("You are signed out")
	v.Go(v.session.URL)
	v.WaitText("There is nothing here")
	assert.Empty(t, v.Refused())
	assert.NotContains(t, v.program.Log(), "5555 5555")
	v.isSound()
}
