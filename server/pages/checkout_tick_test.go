package pages_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/lead"
	"github.com/tillwright/tillwright/store/tenant"
)

// What somebody types of others who want news, or are customers, changes nothing of what these agreed to, and reminds none of them.
func TestCheckoutPage_StrangersTickForNobodyElse(t *testing.T) {
	eachNews(t, func(t *testing.T, w *shop) {
		link := w.link(catalog.PriceVariant{Amount: 1900}, nil)
		w.agreed("ada@example.com") // who wants news for long
		bought, err := w.Customer.Create(t.Context(), w.account, customer.Customer{Email: new("alan@example.com")})
		require.NoError(t, err)
		w.now = w.now.Add(30 * 24 * time.Hour)
		w.confirms(tenant.LeadConfirmationNone)
		assert.NotContains(t, w.page(link.URL, http.StatusOK), `name="news"`, "no letter can ask whose address it is")
		for _, email := range []string{"ada@example.com", "alan@example.com", "new@example.com"} {
			c := w.ticksAt(link, email)
			assert.False(t, c.WantsNews(), email)
			assert.Empty(t, w.abandoned(c, 2*time.Hour), email)
		}
		leads, _, err := w.Lead.List(t.Context(), w.account, lead.List{Page: core.Page{Limit: 10}})
		require.NoError(t, err)
		assert.Len(t, leads, 1)

		w.confirms(tenant.LeadConfirmationDoubleOptIn)
		of := w.ticksAt(link, "ada@example.com")
		stopped := w.abandoned(of, 2*time.Hour) // they do not answer the letter that asks about this tick
		require.Len(t, stopped, 1)
		assert.Equal(t, unconfirmed, core.Deref(stopped[0].LastError))
		stopped = w.abandoned(w.ticksAt(link, "alan@example.com"), 2*time.Hour)
		require.Len(t, stopped, 1)
		assert.Equal(t, unconfirmed, core.Deref(stopped[0].LastError))
		bought, err = w.Customer.Get(t.Context(), w.account, bought.ID)
		require.NoError(t, err)
		assert.Nil(t, bought.MarketingConsent.V)

		w.leaves("lin@example.com", "203.0.113.7") // by a form, and their letter is not answered yet
		require.NoError(t, w.mails(mailServer{w}))
		form := w.subscribeLink()
		w.now = w.now.Add(time.Minute)
		of = w.ticksAt(link, "lin@example.com")
		w.posts(form, http.StatusOK)
		w.abandoned(of, 2*time.Hour)
		assert.Empty(t, w.reminders())
	})
}

// Whoever confirms by a letter what was ticked at a checkout need not be who typed their address there. On the checkout's page they would
// see what is bought.
func TestCheckoutPage_LeadsToACheckoutOfTheReader(t *testing.T) {
	eachNews(t, func(t *testing.T, w *shop) {
		link := w.link(catalog.PriceVariant{Amount: 1900}, nil)
		c := w.ticksAt(link, "grace@example.com")
		require.NoError(t, w.mails(mailServer{w}))
		w.posts(w.subscribeLink(), http.StatusOK)
		w.abandoned(c, 2*time.Hour)
		require.Len(t, w.reminders(), 1)
		assert.Contains(t, w.reminders()[0].Text, link.URL)
		assert.NotContains(t, w.reminders()[0].Text, c.ClientSecret)
	})
}

// A tick by the reader of a proven address is their agreement. Once they untick the box, all is as it was.
func TestCheckoutPage_TakesBackWhatIsUnticked(t *testing.T) {
	eachNews(t, func(t *testing.T, w *shop) {
		c := w.vouched("lin@example.com")
		for range 2 {
			w.post(c, http.StatusOK, addressed("lin@example.com", wantsNews(declined)))
			w.now = w.now.Add(2 * time.Minute)
		}
		waits := w.abandoned(c, 0)
		require.Len(t, waits, 1)
		read := func() *customer.Customer {
			found, err := w.Customer.Get(t.Context(), w.account, waits[0].CustomerID)
			require.NoError(t, err)
			return found
		}
		require.True(t, read().AgreedAt(c.ID))
		require.True(t, w.lead("lin@example.com").Consent.V.Marketing, "no letter asks them")
		require.Nil(t, w.lead("lin@example.com").LetterDueAt)

		w.post(c, http.StatusOK, wantsNoNews())
		assert.Nil(t, read().MarketingConsent.V)
		assert.Nil(t, read().NewsWords.V)
		assert.Equal(t, lead.Consent{}, w.lead("lin@example.com").Consent.V)
		assert.Empty(t, w.abandoned(c, 2*time.Minute))
		w.post(c, http.StatusOK, addressed("lin@example.com", wantsNews(declined)))
		assert.True(t, read().AgreedAt(c.ID))
		w.abandoned(c, 2*time.Hour)
		require.Len(t, w.reminders(), 1)
		assert.Contains(t, w.reminders()[0].Text, c.URL)
		w.post(c, http.StatusOK, wantsNoNews())
		assert.Nil(t, read().MarketingConsent.V)

		later := w.vouched("lin@example.com")
		_, err := w.UpdateCustomer(t.Context(), w.account, read().ID, func(c *customer.Customer) {
			c.MarketingConsent.V = &customer.MarketingConsent{Status: customer.Subscribed, Source: new("letter")}
		})
		require.NoError(t, err)
		w.post(later, http.StatusOK, addressed("lin@example.com", wantsNews(declined)))
		w.now = w.now.Add(2 * time.Minute)
		w.post(later, http.StatusOK, wantsNoNews())
		assert.Equal(t, "letter", *read().MarketingConsent.V.Source, "what they said elsewhere stays")
	})
}

// Of a reminder that may have arrived there is no second one: a mail server that did not answer may have taken it.
func TestCheckoutPage_RemindsOnce(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.asksForNews()
	c := w.checkout(catalog.PriceVariant{Amount: 1900})
	w.post(c, http.StatusOK, wantsNews(declined))
	w.mailing = func() error { return errors.New("no answer") }
	require.Len(t, w.abandoned(c, 2*time.Hour), 1)
	w.mailing = nil
	stopped := w.abandoned(c, 2*time.Hour)
	require.Len(t, stopped, 1)
	assert.Equal(t, "It was tried before, and may have arrived.", core.Deref(stopped[0].LastError))
	assert.Empty(t, w.reminders())
}
