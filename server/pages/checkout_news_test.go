package pages_test

import (
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/mail"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
)

const declined, accepted = "4000000000000002", "4242424242424242"

// wantsNews is the form of a buyer who ticks that they want news.
func wantsNews(number string) url.Values {
	form := card(number, "3800")
	form.Set("news", "true")
	return form
}

// abandoned moves the clock, sends what is due, and returns the letters about a checkout that was not finished, newest first.
func (w *shop) abandoned(c *checkout.Checkout, later time.Duration) []store.Letter {
	w.t.Helper()
	w.now = w.now.Add(later)
	due, err := w.DueLetters(w.t.Context(), "", 10)
	require.NoError(w.t, err)
	for _, d := range due {
		_, err := w.ReleaseLetter(w.t.Context(), d.AccountID, d.ID)
		require.NoError(w.t, err)
	}
	require.NoError(w.t, w.mails(mailServer{w}))
	letters, _, err := w.ListLetters(w.t.Context(), w.account, store.ListLetters{Page: core.Page{Limit: 100}, Kind: tenant.LetterCheckoutAbandoned})
	require.NoError(w.t, err)
	return slices.DeleteFunc(letters, func(l store.Letter) bool { return l.ObjectID != c.ID })
}

// reminders are the letters that were sent about checkouts that were not finished.
func (w *shop) reminders() []mail.Letter {
	return slices.DeleteFunc(slices.Clone(w.letters), func(l mail.Letter) bool { return l.Leave == "" })
}

func (w *shop) asksForNews() {
	w.t.Helper()
	_, err := w.Tenant.UpdateAccount(w.t.Context(), w.account, func(a *tenant.AccountChange) { a.SwitchLetters(map[string]bool{"checkout_abandoned": true}) })
	require.NoError(w.t, err)
}

func TestCheckoutPage_RemindsWhoAgreedToNews(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, engine string) {
		w := newShopOn(t, engine)
		c := w.checkout(catalog.PriceVariant{Amount: 1900})
		assert.NotContains(t, w.page(c.URL, http.StatusOK), `name="news"`, "the seller sends no news")
		w.post(c, http.StatusOK, wantsNews(declined))
		assert.Empty(t, w.abandoned(c, 0))

		w.asksForNews()
		assert.Contains(t, w.page(c.URL, http.StatusOK), `<input id="news" name="news" type="checkbox" value="true"><label for="news">Send me news from Ada &lt;b&gt;&amp; sons&lt;/b&gt;`)
		w.post(c, http.StatusOK, card(declined, "3800"))
		assert.Empty(t, w.abandoned(c, 0), "the box was not ticked")
		for range 2 {
			w.now = w.now.Add(2 * time.Minute) // the card may be tried again
			w.post(c, http.StatusOK, wantsNews(declined))
		}
		waits := w.abandoned(c, 57*time.Minute)
		require.Len(t, waits, 2)
		assert.Empty(t, w.reminders())
		w.abandoned(c, 2*time.Minute)
		require.Len(t, w.reminders(), 1)
		letter := w.reminders()[0]
		assert.Equal(t, "Your purchase from Ada <b>& sons</b> is not finished", letter.Subject)
		assert.Contains(t, letter.Text, "You began to buy Handbook")
		assert.Contains(t, letter.Text, c.URL)
		assert.Contains(t, letter.Text, letter.Leave)

		customer, err := w.Customer.Get(t.Context(), w.account, waits[0].CustomerID)
		require.NoError(t, err)
		assert.Equal(t, "subscribed", customer.MarketingConsent.V.Status)
		assert.Equal(t, "Send me news from Ada <b>& sons</b> by e-mail. I can end that at any time.", *customer.MarketingConsent.V.Text)

		other := w.checkout(catalog.PriceVariant{Amount: 1900})
		w.post(other, http.StatusOK, wantsNews(declined))
		page := w.page(letter.Leave, http.StatusOK)
		assert.Contains(t, page, "You get no more news from Ada")
		assert.Contains(t, page, "End the news")
		w.disable()   // news can be ended all the same
		for range 2 { // as a mail program does it, by one click
			response, err := http.PostForm(letter.Leave, url.Values{"List-Unsubscribe": {"One-Click"}})
			require.NoError(t, err)
			assert.NotContains(t, w.read(response, http.StatusOK), "<button")
		}
		w.enable()
		stopped := w.abandoned(other, 2*time.Hour)
		require.Len(t, stopped, 2)
		for _, l := range stopped {
			if l.Period == "1h" {
				assert.Equal(t, "The customer does not want news.", core.Deref(l.LastError))
			}
		}
		c = w.checkout(catalog.PriceVariant{Amount: 1900})
		w.post(c, http.StatusOK, wantsNews(declined))
		assert.Empty(t, w.abandoned(c, 2*time.Hour), "they have ended it, whoever ticks the box with their address")
		assert.Len(t, w.reminders(), 1)
		customer, err = w.Customer.Get(t.Context(), w.account, customer.ID)
		require.NoError(t, err)
		assert.Equal(t, "unsubscribed", customer.MarketingConsent.V.Status)
		w.page(letter.Leave+"x", http.StatusNotFound)
	})
}

func TestCheckoutPage_RemindsNobodyWhoIsDone(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.asksForNews()
	done := map[string]func(c *checkout.Checkout){
		"The checkout is paid, or is being paid.": func(c *checkout.Checkout) { w.post(c, http.StatusOK, card(accepted, "3800")) },
		"The seller ended the checkout.": func(c *checkout.Checkout) {
			_, err := w.Checkout.Expire(t.Context(), w.account, c.ID)
			require.NoError(t, err)
		},
		"The customer has bought since.": func(c *checkout.Checkout) {
			other := w.checkout(catalog.PriceVariant{Amount: 1900})
			w.post(other, http.StatusOK, card(accepted, "3800"))
		},
		"The checkout has expired.": func(c *checkout.Checkout) {
			_, err := w.Checkout.Update(t.Context(), w.account, c.ID, func(d *checkout.Draft) { d.ExpiresAt = core.TimeOf(w.now.Add(31 * time.Minute)) })
			require.NoError(t, err)
		},
	}
	for why, end := range done {
		c := w.checkout(catalog.PriceVariant{Amount: 1900})
		w.post(c, http.StatusOK, wantsNews(declined))
		w.now = w.now.Add(2 * time.Minute)
		end(c)
		var whys []string
		for _, l := range w.abandoned(c, 2*time.Hour) {
			if l.Period == "1h" {
				whys = append(whys, *l.LastError)
			}
		}
		assert.Equal(t, []string{why}, whys)
	}
	assert.Empty(t, w.reminders())
}

// A day later the checkout has expired: whoever came by a link follows it again. Of two reminders that waited together one is sent.
func TestCheckoutPage_RemindsWhoCameByALink(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.asksForNews()
	link := w.link(catalog.PriceVariant{Amount: 1900}, nil)
	form := w.offered(link.URL)
	for name, value := range map[string]string{"do": "update", "email": "grace@example.com", "news": "true"} {
		form.Set(name, value)
	}
	response, err := w.browser.PostForm(w.begun(link.URL, form), form)
	require.NoError(t, err)
	w.read(response, http.StatusOK)
	c := w.checkouts()[0]
	require.Len(t, w.abandoned(&c, 25*time.Hour), 2)
	require.Len(t, w.reminders(), 1)
	assert.Contains(t, w.reminders()[0].Text, "\n"+link.URL+"\n")
}
