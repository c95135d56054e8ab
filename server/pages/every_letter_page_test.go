package pages

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/tenant"
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

// leadForms returns a form of a site with what it says when a visitor comes, when something is wrong, and when it has arrived, by the name of its state.
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
