package pages

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/markup"
)

// Between parts stands what the language writes there: in Japanese no comma of English does.
func TestEveryPage_SeparatesPartsAsItsLanguageDoes(t *testing.T) {
	t.Parallel()
	japanese, seller := locale.Find("ja"), &tenant.Account{Name: "1", PaymentsProvider: tenant.PaymentsProviderTest}
	templates, err := parse(japanese, scripts{})
	require.NoError(t, err)
	digits := func(string) string { return "1" }
	for _, d := range append(portals(japanese, seller, digits), documentPages(japanese, seller, digits)...) {
		if d.template == "portal_post.html" {
			continue // the seller's words
		}
		for _, node := range markup.Elements(t, draw(t, templates, d)) {
			for child := node.FirstChild; child != nil; child = child.NextSibling {
				if child.Type == html.TextNode && node.Data != "style" && node.Data != "script" {
					assert.NotContains(t, child.Data, ", ", "%s, <%s>", d.name, node.Data)
				}
			}
		}
	}
	assert.Equal(t, "2 × 本、地図", bought(japanese, []lineitem.Item{{ProductName: "本", Quantity: 2}, {ProductName: "地図", Quantity: 1}}))
	assert.Equal(t, "2 × \u2068ציפורים\u2069, Map", bought(locale.English, []lineitem.Item{{ProductName: "ציפורים", Quantity: 2}, {ProductName: "Map", Quantity: 1}}), "the number stays before the name")
	assert.Equal(t, "規約、約款", checkoutPage{l: japanese, Terms: []term{{Title: "規約"}, {Title: "約款"}}}.TermNames())
	assert.Equal(t, "￥5以上、￥9以下", (&choice{l: japanese, currency: "jpy", least: new(int64(5)), most: new(int64(9))}).bounds())
	assert.Equal(t, "2以上、5以下", (&pieces{l: japanese, least: 2, most: 5}).bounds())
}
