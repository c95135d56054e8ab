package pages_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/mail"
	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/lead"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/tenant"
)

const declined, accepted = "4000000000000002", "4242424242424242"

// wantsNews is the form of a buyer who ticks that they want news.
func wantsNews(number string) url.Values {
	form := card(number, "3800")
	form["news"] = []string{"true", "false"} // the box, and the field behind it
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

// eachNews runs a test in a shop that asks for news and has addresses confirmed, on both engines.
func eachNews(t *testing.T, test func(t *testing.T, w *shop)) {
	eachForm(t, func(t *testing.T, w *shop) {
		w.asksForNews()
		test(t, w)
	})
}

const ticked = `<input id="news" name="news" type="checkbox" value="true" checked>`

// seen is the page of a checkout in the browser that typed.
func (w *shop) seen(c *checkout.Checkout) string {
	w.t.Helper()
	response, err := w.browser.Get(c.URL)
	require.NoError(w.t, err)
	return w.read(response, http.StatusOK)
}

// addressed is a form with another address.
func addressed(email string, form url.Values) url.Values {
	form.Set("email", email)
	return form
}

// wantsNoNews is the form of a buyer who does not tick the box.
func wantsNoNews() url.Values {
	form := card(declined, "3800")
	form.Set("news", "false")
	return form
}

func TestCheckoutPage_RemindsWhoAgreedToNews(t *testing.T) {
	eachForm(t, func(t *testing.T, w *shop) {
		c, link := w.checkout(catalog.PriceVariant{Amount: 1900}), w.link(catalog.PriceVariant{Amount: 1900}, nil)
		c, err := w.Checkout.Update(t.Context(), w.account, c.ID, func(d *checkout.Draft) { d.Source.V = &checkout.Source{CheckoutLink: &link.ID} })
		require.NoError(t, err)
		assert.NotContains(t, w.page(c.URL, http.StatusOK), `name="news"`, "the seller sends no news")
		w.post(c, http.StatusOK, wantsNews(declined))
		w.asksForNews()
		assert.Contains(t, w.seen(c), `<input id="news" name="news" type="checkbox" value="true"><label for="news">Send me news from Ada &lt;b&gt;&amp; sons&lt;/b&gt; by e-mail, and reminders if I do not finish this purchase.`)
		update := addressed("Lin@example.com", url.Values{"do": {"update"}, "news": {"true", "false"}})
		w.post(c, http.StatusOK, update)
		assert.NotContains(t, w.seen(c), ticked)
		w.post(c, http.StatusOK, wantsNoNews())
		assert.Empty(t, w.abandoned(c, 2*time.Minute), "the box was not ticked when the buyer pressed Pay")

		w.post(c, http.StatusOK, wantsNews(declined))
		at := core.TimeOf(w.now)
		assert.Contains(t, w.seen(c), ticked, "the page shows it as it stands")
		assert.NotContains(t, w.page(c.URL, http.StatusOK), ticked, "to nobody else")
		waits := w.abandoned(c, 0)
		require.Len(t, waits, 1)
		customer, err := w.Customer.Get(t.Context(), w.account, waits[0].CustomerID)
		require.NoError(t, err)
		assert.Equal(t, "Lin@example.com", *customer.Email)
		assert.Nil(t, customer.MarketingConsent.V, "nobody has confirmed it yet")
		w.posts(w.subscribeLink(), http.StatusOK)
		customer, err = w.Customer.Get(t.Context(), w.account, customer.ID)
		require.NoError(t, err)
		assert.Equal(t, "subscribed", customer.MarketingConsent.V.Status)
		assert.Equal(t, "checkout", *customer.MarketingConsent.V.Source)
		assert.Equal(t, at.String(), customer.MarketingConsent.V.At.String(), "when they ticked it")
		assert.Equal(t, "Send me news from Ada <b>& sons</b> by e-mail, and reminders if I do not finish this purchase. I can end that at any time.", *customer.ConsentText())
		assert.Equal(t, c.ID, *customer.NewsWords.V.Checkout)

		w.abandoned(c, 59*time.Minute)
		assert.Empty(t, w.reminders())
		sent := w.abandoned(c, 2*time.Minute)
		require.Len(t, w.reminders(), 1)
		letter := w.reminders()[0]
		assert.Equal(t, "Lin@example.com", letter.To)
		assert.Equal(t, "Your purchase from Ada <b>& sons</b> is not finished", letter.Subject)
		assert.Contains(t, letter.Text, "You began to buy Handbook")
		assert.Contains(t, letter.Text, link.URL)
		assert.Contains(t, letter.Text, letter.Leave)
		w.post(c, http.StatusOK, wantsNews(declined))
		require.Len(t, w.abandoned(c, 2*time.Hour), 2, "it waits for the second reminder")
		assert.Len(t, w.reminders(), 1)
		_, err = w.ResendLetter(t.Context(), w.account, sent[1].ID)
		dbRefuses(t, err, "status")
		assert.Contains(t, w.page(letter.Leave, http.StatusOK), "Unsubscribe", "a look at the page changes nothing")
		w.page(letter.Leave+"x", http.StatusNotFound)
	})
}

// dbRefuses checks that an error refuses a field.
func dbRefuses(t *testing.T, err error, field string) {
	t.Helper()
	var refused *core.Error
	require.ErrorAs(t, err, &refused)
	assert.Contains(t, refused.Fields, field)
}

// What somebody ended by one click stays so when the seller deletes their lead and their customer, and whatever is sent of the address later.
func TestUnsubscribe_IsForGood(t *testing.T) {
	eachNews(t, func(t *testing.T, w *shop) {
		c := w.checkout(catalog.PriceVariant{Amount: 1900}) // its address is the buyer's: the seller says so
		_, err := w.Lead.Create(t.Context(), w.account, lead.NewLead{Email: "grace@example.com", Source: lead.SourceAPI, Consent: &lead.NewConsent{Marketing: true}}, false)
		require.NoError(t, err)
		w.post(c, http.StatusOK, wantsNews(declined))
		w.abandoned(c, 2*time.Hour)
		require.Len(t, w.reminders(), 1)
		leads, _, err := w.Lead.List(t.Context(), w.account, lead.List{Page: core.Page{Limit: 10}})
		require.NoError(t, err)
		require.Len(t, leads, 2)
		for _, l := range leads {
			_, err := w.Lead.Delete(t.Context(), w.account, l.ID)
			require.NoError(t, err)
		}
		w.disable()   // news can be ended all the same
		for range 2 { // as a mail program does it, by one click
			response, err := http.PostForm(w.reminders()[0].Leave, url.Values{"List-Unsubscribe": {"One-Click"}})
			require.NoError(t, err)
			assert.NotContains(t, w.read(response, http.StatusOK), "<button")
		}
		w.enable()
		customer, err := w.Customer.Get(t.Context(), w.account, leads[0].CustomerID)
		require.NoError(t, err)
		assert.Equal(t, "unsubscribed", customer.MarketingConsent.V.Status)
		_, err = w.DeleteCustomer(t.Context(), w.account, customer.ID, false)
		require.NoError(t, err)

		c = w.checkout(catalog.PriceVariant{Amount: 1900})
		w.post(c, http.StatusOK, wantsNews(declined))
		assert.Empty(t, w.abandoned(c, 25*time.Hour), "whoever ticks the box with their address")
		other := []lead.NewLead{{Email: "ada@example.com", Source: lead.SourceImport, Consent: &lead.NewConsent{Marketing: true}}}
		saved, err := w.Lead.Import(t.Context(), w.account, other, true)
		require.NoError(t, err)
		assert.False(t, view.LeadImport(saved).Results[0].ConsentRefused)
		in := []lead.NewLead{{Email: "Grace@example.com", Source: lead.SourceImport, Consent: &lead.NewConsent{Marketing: true}}}
		saved, err = w.Lead.Import(t.Context(), w.account, in, true)
		require.NoError(t, err)
		assert.False(t, saved[0].Lead.Consent.V.Marketing)
		assert.True(t, view.LeadImport(saved).Results[0].ConsentRefused)
		saved, err = w.Lead.Import(t.Context(), w.account, in, true)
		require.NoError(t, err)
		assert.False(t, saved[0].Lead.Consent.V.Marketing)
		assert.True(t, view.LeadImport(saved).Results[0].ConsentRefused)
		_, err = w.Lead.Update(t.Context(), w.account, saved[0].Lead.ID, func(l *lead.Lead) { l.Consent.V.Marketing = true })
		dbRefuses(t, err, "consent.marketing")
		asked := len(w.letters)
		w.leaves("grace@example.com", "203.0.113.7")
		require.NoError(t, w.mails(mailServer{w}))
		assert.Len(t, w.letters, asked, "nor are they asked again")
	})
}

// Each of these speaks against a reminder. The first does not, so that the others can be told from it.
func TestCheckoutPage_RemindsNobodyInDoubt(t *testing.T) {
	eachNews(t, func(t *testing.T, w *shop) { w.remindsNobodyInDoubt(t) })
}

func (w *shop) remindsNobodyInDoubt(t *testing.T) {
	t.Helper()
	type doubt struct {
		why  string
		does func(c *checkout.Checkout, email string)
	}
	product := func(c *checkout.Checkout) string {
		lines, err := w.Lines.OfCheckout(t.Context(), w.account, c.ID)
		require.NoError(t, err)
		return *lines[0].ProductID
	}
	again := func(c *checkout.Checkout, email, number string) { // another checkout of the same product
		lines, err := w.Lines.OfCheckout(t.Context(), w.account, c.ID)
		require.NoError(t, err)
		other, err := w.Checkout.Create(t.Context(), w.account, checkout.Draft{
			Checkout: &checkout.Checkout{CustomerEmail: &email, EmailVerified: true}, Lines: []offer.NewLine{{PriceVariant: *lines[0].PriceVariantID, Quantity: 2}},
		})
		require.NoError(t, err)
		w.post(other, http.StatusOK, wantsNews(number))
	}
	ofAddress := func(email string) *customer.Customer {
		found, _, err := w.Customer.List(t.Context(), w.account, customer.List{Page: core.Page{Limit: 1}, Email: email})
		require.NoError(t, err)
		return &found[0]
	}
	for n, d := range []doubt{
		{"", func(*checkout.Checkout, string) {}},
		{"The checkout is paid, or is being paid.", func(c *checkout.Checkout, _ string) { w.post(c, http.StatusOK, card(accepted, "3800")) }},
		{"The checkout has expired.", func(c *checkout.Checkout, _ string) {
			_, err := w.Checkout.Expire(t.Context(), w.account, c.ID)
			require.NoError(t, err)
		}},
		{"The checkout has expired.", func(c *checkout.Checkout, _ string) {
			_, err := w.Checkout.Update(t.Context(), w.account, c.ID, func(d *checkout.Draft) { d.ExpiresAt = core.TimeOf(w.now.Add(31 * time.Minute)) })
			require.NoError(t, err)
		}},
		{"The buyer took it back that they want news, or gave another address since.", func(c *checkout.Checkout, _ string) { // who agreed, and does not own this checkout
			w.agreed("alan@example.com")
			w.post(c, http.StatusOK, addressed("alan@example.com", card(declined, "3800")))
		}},
		{"The customer has another address than the checkout.", func(_ *checkout.Checkout, email string) {
			_, err := w.UpdateCustomer(t.Context(), w.account, ofAddress(email).ID, func(c *customer.Customer) { c.SetEmail("mary@example.com") })
			require.NoError(t, err)
		}},
		{"The customer has bought since.", func(c *checkout.Checkout, email string) { again(c, email, accepted) }},
		{hasBought, func(c *checkout.Checkout, email string) { // before they left another checkout
			w.post(c, http.StatusOK, card(accepted, "3800"))
			w.now = w.now.Add(time.Minute)
			again(c, email, declined)
		}},
		{"Another checkout with this address is being paid.", func(c *checkout.Checkout, email string) { again(c, email, "4000002500003155") }},
		{hasBought, func(c *checkout.Checkout, email string) { // by the customer, with the address that they had
			w.post(c, http.StatusOK, card(accepted, "3800"))
			w.now = w.now.Add(time.Minute)
			_, err := w.UpdateCustomer(t.Context(), w.account, ofAddress(email).ID, func(c *customer.Customer) { c.SetEmail("new." + email) })
			require.NoError(t, err)
			again(c, "new."+email, declined)
		}},
		{"The customer does not want news.", func(_ *checkout.Checkout, email string) {
			_, err := w.UpdateCustomer(t.Context(), w.account, ofAddress(email).ID, func(c *customer.Customer) {
				c.MarketingConsent.V = &customer.MarketingConsent{Status: customer.Unsubscribed}
			})
			require.NoError(t, err)
			_, err = w.UpdateCustomer(t.Context(), w.account, ofAddress(email).ID, func(c *customer.Customer) {
				c.MarketingConsent.V = &customer.MarketingConsent{Status: customer.Subscribed}
			})
			require.NoError(t, err)
			leads, _, err := w.Lead.List(t.Context(), w.account, lead.List{Page: core.Page{Limit: 10}, Email: email})
			require.NoError(t, err)
			for _, l := range leads {
				assert.Equal(t, lead.StatusUnsubscribed, l.Status)
			}
		}},
		{"What is in the checkout is not for sale any more.", func(c *checkout.Checkout, _ string) {
			_, err := w.Catalog.UpdateProduct(t.Context(), w.account, product(c), func(p *catalog.Product) { p.Status = catalog.ProductStatusArchived })
			require.NoError(t, err)
		}},
		{"This address was reminded of a checkout within a day, or was sent too many letters within an hour.", func(c *checkout.Checkout, email string) { again(c, email, declined) }},
		{"The account has switched letters of this kind off.", func(*checkout.Checkout, string) {
			_, err := w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) { a.SwitchLetters(map[string]bool{"checkout_abandoned": false}) })
			require.NoError(t, err)
		}},
	} {
		email := fmt.Sprintf("reader%d@example.com", n)
		c := w.vouched(email)
		w.post(c, http.StatusOK, addressed(email, wantsNews(declined)))
		w.now = w.now.Add(2 * time.Minute) // the card may be tried again
		before := len(w.reminders())
		d.does(c, email)
		w.abandoned(c, 2*time.Hour)
		letters, _, err := w.ListLetters(t.Context(), w.account, store.ListLetters{Page: core.Page{Limit: 100}, Kind: tenant.LetterCheckoutAbandoned})
		require.NoError(t, err)
		var whys []string
		sent := 0
		for _, l := range letters {
			if l.CreatedAt >= c.CreatedAt && l.DueAt == nil { // the second reminder waits
				whys = append(whys, core.Deref(l.LastError))
				assert.NotEqual(t, store.LetterStatusQueued, l.Status)
			}
			if l.CreatedAt >= c.CreatedAt && l.Status == store.LetterStatusSent {
				sent++
			}
		}
		assert.Contains(t, whys, d.why)
		assert.Len(t, w.reminders(), before+sent)
		assert.Equal(t, n == 0 || strings.HasPrefix(d.why, "This address"), sent == 1, d.why)
	}
}

// agreed has the reader of an address agree to news, as the seller tells.
func (w *shop) agreed(email string) {
	w.t.Helper()
	at := core.TimeOf(w.now).String()
	_, err := w.Lead.Create(w.t.Context(), w.account, lead.NewLead{Email: email, Source: lead.SourceAPI, Consent: &lead.NewConsent{Marketing: true, ConfirmedAt: &at}}, false)
	require.NoError(w.t, err)
}

// vouched is a checkout with an address of which the seller says that it is the buyer's.
func (w *shop) vouched(email string) *checkout.Checkout {
	w.t.Helper()
	c, err := w.Checkout.Update(w.t.Context(), w.account, w.checkout(catalog.PriceVariant{Amount: 1900}).ID, func(d *checkout.Draft) {
		d.EnterEmail(&email)
		d.Vouch(true, true)
	})
	require.NoError(w.t, err)
	return c
}

// ticksAt begins a checkout by a link, with an address that somebody types who ticks that they want news.
func (w *shop) ticksAt(link *checkout.Link, email string) *checkout.Checkout {
	w.t.Helper()
	form := w.offered(link.URL)
	for name, values := range addressed(email, wantsNews(declined)) {
		form[name] = values
	}
	form.Set("shown", "1900")
	form.Set("locale", "fr")
	response, err := w.browser.PostForm(w.begun(link.URL, form), form)
	require.NoError(w.t, err)
	w.read(response, http.StatusOK)
	return &w.checkouts()[0]
}

const hasBought = "The customer, or somebody with this address, has bought it."

const unconfirmed = "Nobody has confirmed that the address is the buyer's."

// A buyer who came by a link is not reminded of it once it is switched off, nor is one whose address nobody has confirmed. That the product was archived
// before they ticked changes nothing of what they agreed to.
func TestCheckoutPage_RemindsOfWhatIsThere(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.asksForNews()
	w.confirms(tenant.LeadConfirmationDoubleOptIn)
	link := w.link(catalog.PriceVariant{Amount: 1900}, nil)
	unproven := w.ticksAt(link, "nobody@example.com")
	require.NoError(t, w.mails(mailServer{w}))
	c := w.ticksAt(link, "grace@example.com")
	require.NoError(t, w.mails(mailServer{w}))
	assert.Contains(t, w.letters[len(w.letters)-1].Subject, "Confirmez que", "they are asked as they bought")
	w.posts(w.subscribeLink(), http.StatusOK)
	_, err := w.Checkout.UpdateLink(t.Context(), w.account, link.ID, func(l *checkout.Link) { l.Active = false })
	require.NoError(t, err)
	stopped := w.abandoned(c, 2*time.Hour)
	require.Len(t, stopped, 1)
	assert.Equal(t, "What is in the checkout is not for sale any more.", *stopped[0].LastError)
	stopped = w.abandoned(unproven, 0)
	require.Len(t, stopped, 1)
	assert.Equal(t, "Nobody has confirmed that the address is the buyer's.", *stopped[0].LastError)
	assert.Empty(t, w.reminders())

	c = w.checkout(catalog.PriceVariant{Amount: 1900})
	w.post(c, http.StatusOK, addressed("lin@example.com", url.Values{"do": {"update"}}))
	lines, err := w.Lines.OfCheckout(t.Context(), w.account, c.ID)
	require.NoError(t, err)
	_, err = w.Catalog.UpdateProduct(t.Context(), w.account, *lines[0].ProductID, func(p *catalog.Product) { p.Status = catalog.ProductStatusArchived })
	require.NoError(t, err)
	w.post(c, http.StatusUnprocessableEntity, wantsNews(declined))
	assert.NotNil(t, w.lead("lin@example.com").LetterDueAt)
}
