package pages_test

import (
	"bytes"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
)

func (w *shop) disable() {
	w.t.Helper()
	_, changed, err := w.Tenant.DisableAccount(w.t.Context(), w.account)
	require.NoError(w.t, err)
	require.True(w.t, changed)
}

func (w *shop) enable() {
	w.t.Helper()
	_, changed, err := w.Tenant.EnableAccount(w.t.Context(), w.account)
	require.NoError(w.t, err)
	require.True(w.t, changed)
}

// Every page but those of documents, those that end news, and of a consent, which package ads holds to it. Going by the routes, a new one is asked too.
func TestDisabledAccount_SellsNothing(t *testing.T) {
	eachGuest(t, func(t *testing.T, g *guest) {
		key := g.keyOf("grace@example.com")
		g.confirms(tenant.LeadConfirmationDoubleOptIn)
		g.leaves("lead@example.com", "203.0.113.7")
		require.NoError(t, g.mails(mailServer{g.shop}))
		letter, site := g.subscribeLink(), g.publish(`{"id": "join", "type": "lead_form", "heading": "First"}`)
		post := g.writes(content.BlogPost{Title: "First", Body: "a"})
		sheet := g.uploads("Sheet.txt", "hello")
		license, activation := g.licensed(nil)
		sheets, given := g.delivers(content.Experience{Name: "Sheets", Type: content.ExperienceTypeDownload, Content: core.JSONOf(content.ExperienceContent{Files: []string{sheet.ID}})})
		version, err := g.Content.GetAISiteVersion(t.Context(), g.account, site.ID, 1)
		require.NoError(t, err)
		c := g.checkout(catalog.PriceVariant{Amount: 1900, Currency: "eur"})
		lines, err := g.Lines.OfCheckout(t.Context(), g.account, c.ID)
		require.NoError(t, err)
		link, err := g.Checkout.CreateLink(t.Context(), g.account, checkout.Link{PriceVariantIDs: core.JSONOf([]string{*lines[0].PriceVariantID}), Active: true})
		require.NoError(t, err)
		sub := g.subscribes(catalog.PriceVariant{Amount: 900, Currency: "eur"}, "pm_card_visa")
		club := g.typedClub()
		g.asks(club, http.StatusOK)
		below := func(address string) string { return strings.TrimPrefix(address, g.server.URL) }
		fill := strings.NewReplacer(":client_secret", c.ClientSecret, ":checkout_link", link.ID, "/verify/:token", below(g.link()),
			"/portal/open/:token", below(key), "/licenses/:license/:activation/remove", activation, "/licenses/:license", license, "/portal/:token", below(g.session.URL), ":subscription", sub.ID, ":card", g.cards()[0].ID, ":post", post.ID, ":experience", sheets.ID, ":grant", given.ID, ":file", sheet.ID, ":checkout", club.ID,
			"/subscribe/:token", below(letter), "/sites/:subdomain", below(site.URL), "/sites/preview/:token", below(version.PreviewURL),
			"/posts/:account/:slug", below(*post.URL), "/leads/:account/:site/:block", "/leads/"+g.account+"/"+site.ID+"/join", "/media/:account/:file", g.pictured(g.account, pixels(20, 20)).Path("20.jpg"))
		form := card("4242424242424242", "3800")
		form.Set("once", strings.Repeat("a", 32))
		missing := g.page(g.server.URL+"/checkout/nonsense", http.StatusNotFound)
		up := regexp.MustCompile(`(\.\./)+portal`) // from however far below
		missingSession := up.ReplaceAllString(g.page(g.server.URL+"/portal/nonsense", http.StatusNotFound), "portal")
		before, sent := g.subscription(sub.ID), len(g.letters)
		g.disable()
		routes := g.pages.Routes()
		maps.Copy(routes, g.pages.Media())
		for pattern := range routes {
			path, isForm := strings.CutPrefix(fill.Replace(pattern), "POST ")
			switch strings.Split(path, "/")[1] {
			case "files", "invoice", "receipt", "connect", "unsubscribe":
				continue
			}
			if path == "/portal" {
				path += "?shop=" + g.account
			}
			if path == "/" { // under the server's own name it leads to the dashboard
				continue
			}
			if path == "/sites/ask" || strings.HasPrefix(path, "/.well-known/") { // programs are answered
				continue
			}
			assert.NotContains(t, path, ":", "the test has nothing to put there")
			missing := missing
			if strings.HasPrefix(path, below(g.session.URL)) {
				missing = missingSession
			}
			if !isForm {
				page := g.page(g.server.URL+path, http.StatusNotFound)
				assert.Equal(t, missing, up.ReplaceAllString(page, "portal"), "it is told from what does not exist: %s", pattern)
				continue
			}
			response, err := http.PostForm(g.server.URL+path, form)
			require.NoError(t, err)
			assert.Equal(t, missing, up.ReplaceAllString(g.read(response, http.StatusNotFound), "portal"), pattern)
		}
		assert.Len(t, g.letters, sent)
		assert.Equal(t, before, g.subscription(sub.ID))

		g.enable()
		for _, address := range []string{c.URL, link.URL, g.link(), g.session.URL, g.session.URL + "/orders", g.session.URL + "/experiences/" + sheets.ID, g.session.URL + "/subscriptions/" + sub.ID, g.session.URL + license, letter, key} {
			g.page(address, http.StatusOK)
		}
		g.visit(site.URL)
		g.visit(version.PreviewURL)
		assert.Contains(t, g.post(c, http.StatusOK, card("4242424242424242", "3800")), "Paid")
	})
}

func TestDisabledAccount_LeavesDocumentsReadable(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, address string) {
		w := newShopOn(t, address)
		i := w.billed()
		o := w.bought(nil)
		export := w.file("orders", nil)
		kind, _ := w.fetch(export)
		assert.Contains(t, kind, "text/csv")
		documents := []string{o.ReceiptURL + "/pdf", i.HostedURL + "/pdf"}
		var before [][]byte
		for _, address := range documents {
			_, body := w.fetch(address)
			before = append(before, []byte(body))
		}
		w.disable()
		for at, address := range documents {
			_, body := w.fetch(address)
			assert.True(t, bytes.Equal(before[at], []byte(body)), address)
		}
		assert.Contains(t, w.page(o.ReceiptURL, http.StatusOK), ">Paid<")
		w.page(export, http.StatusGone) // it is the seller's

		page := w.page(i.HostedURL, http.StatusOK)
		assert.Contains(t, page, "Invoice "+*i.Number)
		assert.Contains(t, page, "takes no payments here at the moment")
		assert.NotContains(t, page, "<form")
		assert.NotContains(t, page, "has not set this page up")
		page = w.types(i, "4242 4242 4242 4242", http.StatusOK) // from a page that was open before
		assert.Contains(t, page, "takes no payments here at the moment")
		now, err := w.Invoice.Get(t.Context(), w.account, i.ID)
		require.NoError(t, err)
		assert.Equal(t, invoice.StatusOpen, now.Status)
		payment, err := w.Payment.LastOfInvoice(t.Context(), w.account, i.ID)
		require.NoError(t, err)
		assert.Nil(t, payment)

		w.enable()
		assert.Contains(t, w.types(i, "4242 4242 4242 4242", http.StatusOK), ">Paid<")
	})
}

// Money is on its way: what the buyer began before is finished.
func TestDisabledAccount_FinishesAnInvoicePaymentUnderWay(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, address string) {
		w := newShopOn(t, address)
		i := w.billed()
		assert.Contains(t, w.types(i, "4000 0025 0000 3155", http.StatusOK), "Confirm the payment")
		w.disable()
		assert.Contains(t, w.page(i.HostedURL, http.StatusOK), "Confirm the payment")
		response, err := http.PostForm(i.HostedURL+"/authenticate", url.Values{})
		require.NoError(t, err)
		assert.Contains(t, w.read(response, http.StatusOK), ">Paid<")
	})
}
