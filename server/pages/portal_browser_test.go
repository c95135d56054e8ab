package pages

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/axe"
	"github.com/tillwright/tillwright/tests/harness/browser"
)

// Nobody meets a barrier on a page for buyers, nor in the portal or a document that is read from right to left. Axe-core finds nothing serious, nothing
// stands beside the page, and nothing in it moves while it loads.
func TestPortal_HasNoBarrier(t *testing.T) {
	t.Parallel()
	seller := &tenant.Account{Name: "Kestrel Field Guides", SupportEmail: new("help@kestrel.example"), PaymentsProvider: tenant.PaymentsProviderTest}
	pages, names := map[string]string{}, []string{}
	for _, l := range []*locale.Locale{locale.English, locale.Mirrored} {
		templates, err := parse(l, scripts{})
		require.NoError(t, err)
		all := append(portals(l, seller, usual), documentPages(l, seller, usual)...)
		if l == locale.English {
			all = everyPage(l, usual)
		}
		for _, d := range all {
			if d.frame.Title == "" || d.name == "checkout-empty" {
				continue // what says nothing is no page
			}
			name := "/" + l.Tag + "/" + d.name
			d.frame.Again = 0 // it would be another page while it is looked at
			pages[name], names = draw(t, templates, d), append(names, name)
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(pages[r.URL.Path])) }))
	t.Cleanup(server.Close)
	window := browser.Open(t, nil)
	for _, name := range names {
		window.Go(server.URL + name)
		window.Wait("location.pathname === '" + name + "' && document.readyState === 'complete'")
		assert.LessOrEqual(t, window.Shift(), 0.02, name) // a browser that is short of time draws a page of which half is there
		for _, width := range []int{320, 1440} {
			window.Width(width)
			assert.Equal(t, "0", window.Value(`document.documentElement.scrollWidth - document.documentElement.clientWidth`), "%s %d", name, width)
		}
		axe.Check(t, window, name)
		if !strings.HasPrefix(name, "/en/portal") && !strings.HasPrefix(name, "/en/invoice") && !strings.HasPrefix(name, "/en/checkout") {
			continue // it has no colours that these do not have
		}
		window.Scheme("dark")
		axe.CheckColours(t, window, name+" in the dark")
		window.Scheme("light")
	}
	window.Go(`data:text/html,<title>still</title><p>Text</p><script>requestAnimationFrame(() => requestAnimationFrame(() => {
		const above = document.createElement("div"); above.style.height = "300px"; document.body.prepend(above); document.title = "moved" }))</script>`)
	window.Wait("document.title === 'moved'")
	assert.Positive(t, window.Shift(), "what moves is seen to")
}
