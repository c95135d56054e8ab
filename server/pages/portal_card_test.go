package pages_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/tenant"
)

func (g *guest) cards() []payment.SavedMethod {
	g.t.Helper()
	cards, _, err := g.Payment.ListMethods(g.t.Context(), g.account, g.customer.ID, core.Page{Limit: 100})
	require.NoError(g.t, err)
	return cards
}

func TestPortal_CustomerAddsAndRemovesCards(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		page := g.see("", http.StatusOK)
		refused := g.does("/cards", typed(page, "4242 4242 4242 4241"), http.StatusUnprocessableEntity)
		assert.Contains(t, refused, "The card number is incorrect.")
		assert.Contains(t, refused, "<details open>")
		assert.NotRegexp(t, `4242 ?4242 ?4242 ?4241`, refused, "a page never shows a card")
		form := typed(page, "4242 4242 4242 4242")
		assert.Contains(t, g.does("/cards", form, http.StatusOK), "Your card is saved.")
		g.does("/cards", form, http.StatusOK)
		require.Len(t, g.cards(), 1, "the same form sent twice is one card")
		first := g.cards()[0]

		page = g.see("", http.StatusOK)
		assert.Contains(t, page, "Visa ending in 4242")
		assert.Contains(t, page, "Default</span>")
		page = g.does("/cards", typed(page, "5555555555554444"), http.StatusOK)
		second := g.cards()[0]
		require.Equal(t, "mastercard", second.Card.V.Brand)
		assert.Equal(t, first.ID, g.defaultCard(), "a card becomes the default when it is said so")
		g.does("/cards/"+second.ID+"/default", nil, http.StatusOK)
		assert.Equal(t, second.ID, g.defaultCard())
		third := typed(page, "378282246310005")
		third.Set("card_cvc", "1234")
		third.Set("default", "true")
		g.does("/cards", third, http.StatusOK)
		assert.Equal(t, g.cards()[0].ID, g.defaultCard())

		page = g.see("", http.StatusOK)
		assert.Contains(t, page, ">Make default: Mastercard 4444</button>")
		assert.Contains(t, page, `/cards/`+second.ID+`/remove">Remove: Mastercard 4444</a>`)
		assert.Contains(t, g.see("/cards/"+second.ID+"/remove", http.StatusOK), "Remove Mastercard ending in 4444?")
		require.Len(t, g.cards(), 3, "it is asked first")
		assert.Contains(t, g.does("/cards/"+second.ID+"/remove", nil, http.StatusOK), "Your card is removed.")
		g.see("/cards/"+second.ID+"/remove", http.StatusNotFound)
		g.does("/cards/"+second.ID+"/remove", nil, http.StatusNotFound)
		assert.Len(t, g.cards(), 2)
		for _, wrong := range []string{"", "A", "a b", strings.Repeat("a", 41)} {
			form.Set("once", wrong)
			assert.Contains(t, g.does("/cards", form, http.StatusUnprocessableEntity), "incomplete")
		}
	})
}

func (g *guest) defaultCard() string {
	g.t.Helper()
	c, err := g.Customer.Get(g.t.Context(), g.account, g.customer.ID)
	require.NoError(g.t, err)
	if c.DefaultPaymentMethodID == nil {
		return ""
	}
	return *c.DefaultPaymentMethodID
}

func TestPortal_TheSameFormAtOnceIsOneCard(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		form := typed(g.see("", http.StatusOK), "4242424242424242")
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				response, err := http.PostForm(g.session.URL+"/cards", form)
				if assert.NoError(t, err) {
					assert.NoError(t, response.Body.Close())
					assert.Equal(t, http.StatusOK, response.StatusCode)
				}
			})
		}
		all.Wait()
		assert.Len(t, g.cards(), 1)
	})
}

func TestPortal_CardThatPaysIsNotRemoved(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		sub := g.subscribes(catalog.PriceVariant{Amount: 900}, "pm_card_visa")
		path, first := "/subscriptions/"+sub.ID, g.cards()[0].ID
		page := g.does("/cards/"+first+"/remove", nil, http.StatusUnprocessableEntity)
		assert.Contains(t, page, "This card pays for Club &amp; more.")
		require.Len(t, g.cards(), 1)

		page = g.see(path, http.StatusOK)
		refused := g.does(path+"/card", typed(page, "4242424242424241"), http.StatusUnprocessableEntity)
		assert.Contains(t, refused, "The card number is incorrect.")
		page = g.does(path+"/card", typed(page, "5555 5555 5555 4444"), http.StatusOK)
		assert.Contains(t, page, "Charged to Mastercard ending in 4444")
		second := g.cards()[0].ID
		assert.Equal(t, second, *g.subscription(sub.ID).Method.V.ID)
		page = g.does(path+"/card", url.Values{"card": {first}}, http.StatusOK)
		assert.Contains(t, page, "Charged to Visa ending in 4242")
		g.does(path+"/card", url.Values{"card": {second}}, http.StatusOK)

		g.does("/cards/"+first+"/remove", nil, http.StatusOK)
		g.does("/cards/"+second+"/remove", nil, http.StatusUnprocessableEntity)
		g.does(path+"/cancel", nil, http.StatusOK)
		g.does("/cards/"+second+"/remove", nil, http.StatusOK)
		assert.Contains(t, g.see(path, http.StatusOK), "The card is removed: choose another one.")
	})
}

// A card that fails is replaced by the customer, and what is past due is collected from the new one.
func TestPortal_NewCardCollectsWhatIsPastDue(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		sub := g.subscribes(catalog.PriceVariant{Amount: 900}, "tok_fail_on_renewal")
		path := "/subscriptions/" + sub.ID
		g.now = g.now.AddDate(0, 1, 1)
		g.run()
		g.renew()
		page := g.see(path, http.StatusOK)
		assert.Contains(t, page, "A payment has failed. It is tried again on ")
		assert.Contains(t, page, "Pay $9.00 now")
		assert.Contains(t, g.see(path+"/cancel", http.StatusOK), "It ends at once")
		page = g.see("", http.StatusOK)
		assert.Contains(t, page, "$9.00 is overdue")
		assert.Contains(t, page, "<strong dir=\"auto\">Club &amp; more</strong>")

		page = g.does(path+"/card", typed(page, "4242424242424242"), http.StatusOK)
		assert.Contains(t, page, "It is being tried again now")
		g.run()
		page = g.see(path, http.StatusOK)
		assert.Contains(t, page, "Active.")
		assert.NotContains(t, page, "Pay USD")
		assert.EqualValues(t, 2, g.subscription(sub.ID).CyclesBilled)
	})
}

// Who put an automatic attempt off for a day reads that it comes first, and when.
func TestInvoicePage_SaysWhenTheAttemptThatWasPutOffComes(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		sub := g.subscribes(catalog.PriceVariant{Amount: 900}, "tok_fail_on_renewal")
		g.now = g.now.AddDate(0, 1, 1)
		g.run()
		g.renew()
		behind := g.subscription(sub.ID)
		i, err := g.Invoice.Get(t.Context(), g.account, *behind.LatestInvoiceID)
		require.NoError(t, err)
		g.now = behind.NextAttemptAt.Time().Add(24*time.Hour + time.Minute)
		assert.Contains(t, g.types(i, "4242424242424242", http.StatusUnprocessableEntity), "The next automatic attempt comes within an hour. You can pay here after it. Nothing was charged.")
	})
}

func TestPortal_TakesNoCardsOfAnotherProvider(t *testing.T) {
	t.Parallel()
	g := newShop(t).guest("grace@example.com")
	page := g.see("", http.StatusOK)
	sub := g.subscribes(catalog.PriceVariant{Amount: 900}, "pm_card_visa")
	_, err := g.Tenant.UpdateAccount(t.Context(), g.account, func(a *tenant.AccountChange) { a.PaymentsProvider = tenant.PaymentsProviderStripe })
	require.NoError(t, err)
	assert.NotContains(t, g.see("", http.StatusOK), `name="card_number"`)
	assert.NotContains(t, g.see("/subscriptions/"+sub.ID, http.StatusOK), `name="card_number"`)
	assert.Contains(t, g.does("/cards", typed(page, "4242424242424242"), http.StatusUnprocessableEntity), "Cards are not taken on this page.")
	assert.Len(t, g.cards(), 1)
}
