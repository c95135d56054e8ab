package pages_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/mail"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/signed"
	"github.com/tillwright/tillwright/tests/harness/database"
)

var doorLink = regexp.MustCompile(`<a class="button" href="((?:\.\./)+portal\?[^"]*)">`)

// door follows the link of a page that is over, from where the page is, to the door of the portal. It returns the address of that, and its page.
func (g *guest) door(at, page string) (address, door string) {
	g.t.Helper()
	link := doorLink.FindStringSubmatch(page)
	require.NotNil(g.t, link, page)
	from, err := url.Parse(at)
	require.NoError(g.t, err)
	to, err := from.Parse(strings.ReplaceAll(link[1], "&amp;", "&"))
	require.NoError(g.t, err)
	return to.String(), g.page(to.String(), http.StatusOK)
}

// Whoever comes back to an address that is over gets to where another one is sent, in the language of the page.
func TestOver_LeadsToTheDoorOfThePortal(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		_, err := g.UpdateCustomer(t.Context(), g.account, g.customer.ID, func(c *customer.Customer) { c.PreferredLocale = new("de") })
		require.NoError(t, err)
		seller, err := g.Tenant.GetAccount(t.Context(), g.account)
		require.NoError(t, err)
		c := g.typed(catalog.PriceVariant{Amount: 1900}, func(*checkout.Checkout) {})
		g.asks(c, http.StatusOK)
		buyers, err := g.Signed.Sign(signed.File{Kind: signed.FileKindStored, Account: g.account, ID: "fil_1", Grant: "grant_1"})
		require.NoError(t, err)
		sellers, err := g.Signed.Sign(signed.File{Kind: signed.FileKindStored, Account: g.account, ID: "fil_1"})
		require.NoError(t, err)
		session, link := g.session, g.link()
		g.now = g.now.Add(8 * 24 * time.Hour)

		leads := func(at, page, language, says string) {
			t.Helper()
			assert.Contains(t, page, says)
			assert.Contains(t, page, `<header class="head">`, "it is the shop's")
			address, door := g.door(at, page)
			assert.Equal(t, g.server.URL+"/portal?locale="+language+"&shop="+seller.Handle, address)
			assert.Contains(t, door, `<html lang="`+language+`"`)
			assert.Contains(t, door, `name="email"`)
		}
		leads(session.URL, g.page(session.URL, http.StatusGone), "de", "Dieser Link ist abgelaufen")
		leads(session.URL+"/orders", g.page(session.URL+"/orders", http.StatusGone), "de", "Dieser Link ist abgelaufen")
		for _, over := range []string{buyers.URL, link} {
			leads(over, g.page(over, http.StatusGone), "en", "This link has expired")
			leads(over+"?locale=ja", g.page(over+"?locale=ja", http.StatusGone), "ja", "このリンクは期限切れです")
		}
		assert.NotRegexp(t, doorLink, g.page(sellers.URL, http.StatusGone), "what is the seller's is no purchase")

		g.renew()
		response, err := http.PostForm(g.session.URL+"/end", nil)
		require.NoError(t, err)
		leads(g.session.URL+"/end", g.read(response, http.StatusOK), "de", "Sie sind abgemeldet")
		unknown := g.page(g.session.URL, http.StatusNotFound)
		assert.Equal(t, withoutRequest(g.page(g.server.URL+"/portal/x", http.StatusNotFound)), withoutRequest(unknown), "a secret that opens nothing tells of no shop")
		address, _ := g.door(g.session.URL, unknown)
		assert.Equal(t, g.server.URL+"/portal?locale=en", address)

		g.disable()
		assert.NotRegexp(t, doorLink, g.page(buyers.URL, http.StatusGone), "the shop is closed")
	})
}

// withoutRequest takes the id of the request out of a page.
func withoutRequest(page string) string {
	return regexp.MustCompile(`req_[0-9a-z]+`).ReplaceAllString(page, "")
}

// Without letters nobody gets a link at the door.
func TestOver_LeadsNowhereWithoutLetters(t *testing.T) {
	t.Parallel()
	w := newShopThat(t, database.URL(t, "sqlite"), func(*shop) mail.Mailer { return nil })
	g := w.guest("grace@example.com")
	g.now = g.now.Add(25 * time.Hour)
	page := g.see("", http.StatusGone)
	assert.NotRegexp(t, doorLink, page)
	assert.Contains(t, page, "Ask whoever sent it to you for a new one.")
}
