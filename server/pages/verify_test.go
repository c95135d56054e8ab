package pages_test

import (
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/mail"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// typed is a checkout of a month's club in which somebody typed the guest's address.
func (g *guest) typed(v catalog.PriceVariant, change func(*checkout.Checkout)) *checkout.Checkout {
	g.t.Helper()
	club, err := g.Catalog.CreateProduct(g.t.Context(), g.account, catalog.NewProduct{
		Product: catalog.Product{Name: "Club", Status: catalog.ProductStatusActive}, PriceVariants: []catalog.PriceVariant{v},
	})
	require.NoError(g.t, err)
	c := &checkout.Checkout{CustomerEmail: g.customer.Email, CustomerName: new("Mallory")}
	change(c)
	made, err := g.Checkout.Create(g.t.Context(), g.account, checkout.Draft{
		Checkout: c, Lines: []offer.NewLine{{PriceVariant: club.PriceVariantIDs.V[0], Quantity: 1}},
	})
	require.NoError(g.t, err)
	return made
}

// typedClub is what a stranger bought under the guest's address.
func (g *guest) typedClub() *checkout.Checkout {
	g.t.Helper()
	c := g.typed(catalog.PriceVariant{Type: catalog.PriceVariantTypeRecurring, Amount: 900, Interval: new("month"), IntervalCount: new(int64(1))}, func(*checkout.Checkout) {})
	c, err := g.billing.ConfirmCheckout(g.t.Context(), g.account, c.ID, billing.CheckoutConfirm{Method: &payments.MethodInput{Ref: "pm_card_visa"}})
	require.NoError(g.t, err)
	return c
}

var linkInLetter = regexp.MustCompile(`http://\S+/verify/\S+`)

// questions are the letters that ask whose an address is, among those that a replica has sent by now.
func (g *guest) questions() []mail.Letter {
	g.t.Helper()
	require.NoError(g.t, g.mails(mailServer{g.shop}))
	return slices.DeleteFunc(slices.Clone(g.letters), func(l mail.Letter) bool { return !strings.HasPrefix(l.Subject, "Confirm your e-mail address") })
}

// link is that in the last of them.
func (g *guest) link() string {
	g.t.Helper()
	asked := g.questions()
	require.NotEmpty(g.t, asked)
	link := linkInLetter.FindString(asked[len(asked)-1].Text)
	require.NotEmpty(g.t, link)
	return link
}

func (g *guest) asks(c *checkout.Checkout, status int) string {
	g.t.Helper()
	response, err := http.PostForm(c.URL+"/verify", url.Values{})
	require.NoError(g.t, err)
	return g.read(response, status)
}

func TestPortal_ShowsATypedPurchaseOnceItIsAccepted(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		c := g.typedClub()
		home := g.see("", http.StatusOK)
		assert.Contains(t, home, "Somebody bought this with your e-mail address")
		assert.Contains(t, home, "You have no subscriptions.")
		assert.Contains(t, home, "You have not ordered anything yet.")
		assert.Contains(t, home, "You have no saved cards.")
		assert.NotContains(t, home, "Mallory")
		assert.NotContains(t, home, "Visa")
		g.see("/subscriptions/"+*c.SubscriptionID, http.StatusNotFound)
		g.does("/subscriptions/"+*c.SubscriptionID+"/cancel", nil, http.StatusNotFound)
		assert.NotContains(t, g.see("/orders", http.StatusOK), "Club")

		// Only what was bought under their address is theirs to accept.
		other := g.shop.guest("other@example.com")
		other.does("/purchases/"+c.ID+"/accept", nil, http.StatusNotFound)
		open := g.typed(catalog.PriceVariant{Amount: 1900}, func(*checkout.Checkout) {})
		g.does("/purchases/"+open.ID+"/accept", nil, http.StatusNotFound)

		home = g.does("/purchases/"+c.ID+"/accept", nil, http.StatusOK)
		assert.Contains(t, home, "It is on your account now.")
		assert.NotContains(t, home, "Somebody bought")
		assert.Contains(t, home, "Club")
		assert.Regexp(t, `<strong>Visa ending in \d{4}</strong><br><small dir="auto">Pays for Club`, home)
		assert.NotContains(t, home, "You have no saved cards.")
		assert.Contains(t, g.see("/subscriptions/"+*c.SubscriptionID, http.StatusOK), "Charged to")
	})
}

func TestVerify_AsksTheReaderOfTheMail(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		c := g.typedClub()
		assert.Contains(t, g.page(c.URL, http.StatusOK), "Confirm your e-mail address to have this order")
		assert.Contains(t, g.asks(c, http.StatusOK), "A letter to grace@example.com is on its way")
		letter := g.questions()[0]
		assert.Equal(t, "grace@example.com", letter.To)
		assert.NotContains(t, letter.Text, "Mallory")

		// A program that follows links changes nothing.
		page := g.page(g.link(), http.StatusOK)
		assert.Contains(t, page, "It was me")
		assert.Contains(t, page, "<strong>Club</strong>", "its line has the direction of the page, as on the portal")
		assert.NotContains(t, page, "Mallory")
		assert.Contains(t, g.see("", http.StatusOK), "You have no subscriptions.")
		response, err := http.PostForm(g.link(), url.Values{})
		require.NoError(t, err)
		assert.Contains(t, g.read(response, http.StatusOK), "Your order is on your account now.")
		assert.NotContains(t, g.see("", http.StatusOK), "You have no subscriptions.")
		assert.NotContains(t, g.page(c.URL, http.StatusOK), "Confirm your e-mail address")
		response, err = http.PostForm(g.link(), url.Values{}) // twice
		require.NoError(t, err)
		g.read(response, http.StatusOK)
		assert.Contains(t, g.asks(c, http.StatusUnprocessableEntity), "there is nothing to confirm")
		assert.Len(t, g.questions(), 1)
	})
}

func TestVerify_LinksEnd(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		c := g.typed(catalog.PriceVariant{Amount: 1900}, func(*checkout.Checkout) {})
		g.asks(c, http.StatusOK)
		link := g.link()
		for _, other := range []string{link + "A", link[:len(link)-1], g.server.URL + "/verify/" + c.ID} {
			g.page(other, http.StatusNotFound)
		}
		_, err := g.Checkout.Update(t.Context(), g.account, c.ID, func(d *checkout.Draft) { d.EnterEmail(new("mallory@example.com")) })
		require.NoError(t, err)
		g.page(link, http.StatusNotFound) // of another address it says nothing
		response, err := http.PostForm(link, url.Values{})
		require.NoError(t, err)
		g.read(response, http.StatusNotFound)
		again, err := g.Checkout.Get(t.Context(), g.account, c.ID)
		require.NoError(t, err)
		assert.False(t, again.EmailVerified)

		g.now = g.now.Add(7*24*time.Hour + time.Minute)
		g.page(link, http.StatusGone)
		response, err = http.PostForm(link, url.Values{})
		require.NoError(t, err)
		g.read(response, http.StatusGone)
	})
}

// A letter that the mail server does not take is tried again after 1 minute, 3 and 7. Its page does not wait for that, and does not say that it was sent.
func TestVerify_TriesItsLetterAgain(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		c := g.typed(catalog.PriceVariant{Amount: 1900}, func(*checkout.Checkout) {})
		attempts := 0
		g.mailing = func() error { attempts++; return errors.New("the mail server is away") }
		assert.Contains(t, g.asks(c, http.StatusOK), "A letter to grace@example.com is on its way", "the page does not wait for the mail server")
		require.ErrorContains(t, g.mails(mailServer{g.shop}), "the mail server is away")
		require.NoError(t, g.mails(mailServer{g.shop}), "not before its lease ends")
		asked, tried := g.now, []time.Duration{0}
		for range 4 * 20 {
			g.now = g.now.Add(15 * time.Second)
			if _ = g.mails(mailServer{g.shop}); attempts > len(tried) {
				tried = append(tried, g.now.Sub(asked))
			}
		}
		assert.Equal(t, []time.Duration{0, time.Minute, 3 * time.Minute, 7 * time.Minute}, tried)
		g.mailing = nil
		assert.Empty(t, g.questions(), "nobody waits for it any more")
		g.asks(c, http.StatusOK)
		assert.Len(t, g.questions(), 1)
		assert.Len(t, g.questions(), 1, "once")
	})
}

// Whoever types another address writes to nobody by that: the letter was counted for the first one.
func TestVerify_AsksNobodyElse(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		c := g.typed(catalog.PriceVariant{Amount: 1900}, func(*checkout.Checkout) {})
		g.asks(c, http.StatusOK)
		types := func(address string) {
			_, err := g.Checkout.Update(t.Context(), g.account, c.ID, func(d *checkout.Draft) { d.EnterEmail(&address) })
			require.NoError(t, err)
		}
		types("victim@example.com")
		assert.Empty(t, g.questions())
		types("grace@example.com")
		assert.Empty(t, g.questions(), "nor later")

		known := g.typed(catalog.PriceVariant{Amount: 1900}, func(*checkout.Checkout) {})
		g.asks(known, http.StatusOK)
		_, err := g.Checkout.Verify(t.Context(), g.account, known.ID)
		require.NoError(t, err)
		assert.Empty(t, g.questions(), "the seller knows by now")
	})
}

// Nobody writes to people here by typing their addresses.
func TestVerify_SendsFewLetters(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		c := g.typed(catalog.PriceVariant{Amount: 1900}, func(*checkout.Checkout) {})
		g.asks(c, http.StatusOK)
		response, err := http.PostForm(c.URL+"/verify", url.Values{})
		require.NoError(t, err)
		assert.Equal(t, "60", response.Header.Get("Retry-After"))
		page := g.read(response, http.StatusTooManyRequests)
		assert.Contains(t, page, "A letter was sent already.")
		assert.Contains(t, page, "You can ask for another one in 60 seconds.")
		assert.Contains(t, page, `name="shown"`, "the form is there")
		for range 4 {
			g.now = g.now.Add(61 * time.Second)
			g.questions()
			_, _ = http.PostForm(c.URL+"/verify", url.Values{})
		}
		assert.Len(t, g.questions(), 3, "of one checkout")
		for range 5 {
			more := g.typed(catalog.PriceVariant{Amount: 1900}, func(*checkout.Checkout) {})
			_, _ = http.PostForm(more.URL+"/verify", url.Values{})
		}
		assert.LessOrEqual(t, len(g.questions()), 8)
	})
}

// A discount for a first purchase is one for those who are known: the letter says who they are.
func TestVerify_ADiscountForWhoIsKnown(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		d, err := g.Discount.Create(t.Context(), g.account, discount.Discount{
			Name: "First", Code: new("FIRST"), Type: discount.TypePercent, PercentBps: new(int64(1000)), Duration: discount.DurationOnce, FirstPurchaseOnly: true,
		})
		require.NoError(t, err)
		first := func(c *checkout.Checkout) { c.DiscountID, c.AllowDiscountCodes = &d.ID, true }
		pays := url.Values{"do": {"pay"}, "shown": {"1710 1710 1900"}, "card_number": {"4242424242424242"}, "card_expiry": {"1299"}, "card_cvc": {"123"}}
		c := g.typed(catalog.PriceVariant{Amount: 1900}, first)
		assert.Contains(t, g.page(c.URL, http.StatusOK), "Send the link")
		assert.Contains(t, g.post(c, http.StatusUnprocessableEntity, pays), "e-mail address is confirmed")
		g.asks(c, http.StatusOK)
		response, err := http.PostForm(g.link(), url.Values{})
		require.NoError(t, err)
		g.read(response, http.StatusOK)
		assert.Contains(t, g.post(c, http.StatusOK, pays), "Thank you for your order")

		// The second time it is taken off, which only the reader of the mail learns.
		c = g.typed(catalog.PriceVariant{Amount: 1900}, first)
		assert.EqualValues(t, 1710, c.TotalAmount)
		g.asks(c, http.StatusOK)
		response, err = http.PostForm(g.link(), url.Values{})
		require.NoError(t, err)
		g.read(response, http.StatusOK)
		again, err := g.Checkout.Get(t.Context(), g.account, c.ID)
		require.NoError(t, err)
		assert.True(t, again.EmailVerified)
		assert.EqualValues(t, 1900, again.TotalAmount)
	})
}

// Of a subscription of before nobody knows who bought it: the customer says that it is theirs, and what it is charged to then.
func TestPortal_SaysThatTheDefaultCardIsCharged(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, address string) {
		g := newShopOn(t, address).guest("grace@example.com")
		sub := g.subscribes(catalog.PriceVariant{Amount: 900, TrialDays: 14}, "pm_card_visa")
		db := harness.OpenDatabase(t, address)
		db.Must(t, `UPDATE subscriptions SET customer_verified = FALSE, payment_method = NULL`)
		home := g.see("", http.StatusOK)
		assert.Contains(t, home, "It is charged to your default card then.")
		assert.Contains(t, home, "$0.00. Was it you?", "what the trial cost until now")
		g.does("/purchases/"+*sub.CheckoutID+"/accept", nil, http.StatusOK)
		g.see("/subscriptions/"+sub.ID, http.StatusOK)
	})
}
