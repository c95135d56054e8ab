package pages

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/markup"
)

// letterPages returns the pages that links in letters open.
func letterPages(seller *tenant.Account) []drawn {
	return []drawn{
		{"subscribe", "subscribe.html", ui.Frame{Title: "Confirm", Shop: shopOf(seller)}, subscribePage{Seller: seller}},
		{"subscribe-ads", "subscribe.html", ui.Frame{Title: "Confirm", Shop: shopOf(seller)}, subscribePage{Seller: seller, Ads: true}},
		{"subscribed", "subscribe.html", ui.Frame{Title: "Confirm", Shop: shopOf(seller)}, subscribePage{Seller: seller, Said: true}},
		{"unsubscribe", "unsubscribe.html", ui.Frame{Title: "News", Shop: shopOf(seller)}, unsubscribePage{Seller: seller}},
		{"unsubscribed", "unsubscribe.html", ui.Frame{Title: "News", Shop: shopOf(seller)}, unsubscribePage{Seller: seller, Ended: true}},
	}
}

// leadForms returns a form of a site by the name of its state. It shows what the form says when a visitor comes, when something is wrong, and when it
// has arrived.
func leadForms(t *testing.T, l *locale.Locale, word func(string) string) map[string]string {
	t.Helper()
	sites, err := parseSites("")
	require.NoError(t, err)
	p := &Pages{siteTemplates: sites}
	block := pageBlock{SiteBlock: content.SiteBlock{ID: "join", Type: content.SiteBlockLeadForm, Heading: new(word("Letters")), Text: new(word("Once a month.")), ConsentText: new(word("Write to me"))}}
	drawn := map[string]string{}
	shows := func(name string, confirms, received bool, problem string) {
		block.Form = &leadForm{Email: word("grace"), Name: word("Grace"), Problem: problem, Ads: &leadAds{Networks: l.T("ads.networks", "seller", word("Kestrel")), Seller: word("Kestrel"), Confirms: confirms}}
		page, err := p.writeStrange(l.Tag, "lead_form.html", leadPage{Name: word("Kestrel"), Back: "https://kestrel.example", Block: block, Received: received})
		require.NoError(t, err)
		drawn[name] = string(page)
	}
	shows("lead-form", false, false, "")
	shows("lead-form-problem", true, false, l.T("lead_form.again"))
	shows("lead-form-received", false, true, "")
	return drawn
}

// sitePages returns a page of a site and a post, as a seller made them whose language is the one of a locale.
func sitePages(t *testing.T, l *locale.Locale, word func(string) string) map[string]string {
	t.Helper()
	templates, err := parseSites("")
	require.NoError(t, err)
	p := &Pages{siteTemplates: templates}
	blocks := []pageBlock{
		{SiteBlock: content.SiteBlock{Type: content.SiteBlockProducts}, Shown: []siteProduct{{Name: word("Handbook"), Price: l.T("site.from", "price", l.Money(1900, "eur")), Buy: "/buy/1"}}},
		{SiteBlock: content.SiteBlock{Type: content.SiteBlockPosts}, Posts: []sitePost{{Title: word("On ships"), URL: "/posts/1", Day: l.Day(time.Unix(0, 0)), Gated: l.T("post.for_customers")}}},
		{SiteBlock: content.SiteBlock{Type: content.SiteBlockVideo, URL: new("https://example.com")}, Host: "1"},
		{SiteBlock: content.SiteBlock{Type: content.SiteBlockCountdown, EndsAt: new(core.Time(0)), Label: new(word("Launch"))}, Day: l.Day(time.Unix(0, 0))},
	}
	drawn := map[string]string{}
	for name, data := range map[string]any{
		"site": sitePage{Name: word("Kestrel"), Language: l.Tag, Blocks: blocks, Preview: true},
		"post": postPage{Post: &content.BlogPost{Title: word("On ships"), URL: new("/posts/1")}, Day: l.Day(time.Unix(0, 0)), Language: l.Tag, Seller: word("Kestrel"), Gate: l.T("post.gate_customers", "seller", word("Kestrel")), Buy: "/buy/1"},
	} {
		page, err := p.writeStrange(l.Tag, name+".html", data)
		require.NoError(t, err)
		drawn[name] = string(page)
	}
	return drawn
}

// Every word of the portal, of documents and of what strangers read is in the catalogue. In the language of letters with accents none stands without.
func TestEveryPage_SaysWhatIsInTheCatalogue(t *testing.T) {
	t.Parallel()
	templates, err := parse(locale.Accented, scripts{})
	require.NoError(t, err)
	seller := &tenant.Account{Name: "1", PaymentsProvider: tenant.PaymentsProviderTest}
	digits := func(string) string { return "1" }
	given := regexp.MustCompile(`Visa|Stripe|MiB|KES-1042|Twice a day|Bring|boots|grace@example\.com|help@kestrel\.example|https://\S+|Europe/Berlin|\p{L}*[^\x00-\x7f\P{L}]\p{L}*`)
	pages := leadForms(t, locale.Accented, digits)
	maps.Copy(pages, sitePages(t, locale.Accented, digits))
	for _, d := range slices.Concat(portals(locale.Accented, seller, digits), documentPages(locale.Accented, seller, digits), letterPages(seller)) {
		if d.template == "portal_post.html" || strings.HasSuffix(d.name, "-empty") {
			continue // the seller's words, and states that there are not
		}
		pages[d.name] = draw(t, templates, d)
	}
	for name, page := range pages {
		for _, node := range markup.Elements(t, page) {
			switch node.Data {
			case "h1", "title", "style", "script", "noscript", "option": // what the data says, what has elements in it, and countries
				continue
			}
			if markup.Attribute(node, "role") == "status" || markup.Attribute(node, "class") == "up" {
				continue
			}
			for child := node.FirstChild; child != nil; child = child.NextSibling {
				if child.Type == html.TextNode {
					assert.NotRegexp(t, `[A-Za-z]{3}`, given.ReplaceAllString(child.Data, ""), "%s, <%s>", name, node.Data)
				}
			}
		}
	}
}

// A full stop of Japanese has room in it: the next sentence follows at once. So have its colon and its brackets.
func TestEveryPage_HasNoSpaceBetweenSentencesInJapanese(t *testing.T) {
	t.Parallel()
	japanese := locale.Find("ja")
	templates, err := parse(japanese, scripts{})
	require.NoError(t, err)
	pages := leadForms(t, japanese, func(word string) string { return word })
	for _, d := range everyPage(japanese, usual) {
		pages[d.name] = draw(t, templates, d)
	}
	element := regexp.MustCompile(`<[^>]*>`)
	for name, page := range pages {
		assert.NotRegexp(t, `.*([。：、] | （).*`, element.ReplaceAllString(page, ""), name)
	}
}

// Of what costs nothing after its trial no button says that it does.
func TestCheckoutPage_SaysOnlyOfWhatCostsThatItDoes(t *testing.T) {
	t.Parallel()
	for _, l := range locale.All() {
		templates, err := parse(l, scripts{})
		require.NoError(t, err)
		for _, d := range checkouts(l, &tenant.Account{Name: "Ada"}, usual) {
			page, isCheckout := d.data.(*checkoutPage)
			if d.name != "checkout-trial" || !isCheckout {
				continue
			}
			assert.Contains(t, draw(t, templates, d), l.T("checkout.start_trial"), l.Tag)
			page.Items[0].UnitAmount = 0
			free := draw(t, templates, d)
			assert.NotContains(t, free, l.T("checkout.start_trial"), l.Tag)
			assert.Contains(t, free, l.T("checkout.complete"), l.Tag)
		}
	}
}
