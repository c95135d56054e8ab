package reference

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/tests/harness/axe"
	"github.com/tillwright/tillwright/tests/harness/browser"
)

// Nobody is kept out, and nothing stands beside the page on the narrowest of phones. It draws them too: see make screenshots.
func TestPages_FitANarrowPhoneAndEverybody(t *testing.T) {
	t.Parallel()
	r := whole(t)
	at := serve(t, r, nil)
	window := browser.Open(t, nil)
	for name, path := range map[string]string{"overview": "/docs", "products": "/docs/products", "subscriptions": "/docs/subscriptions", "events": "/docs/events", "guides": "/docs/guide", "guide": "/docs/guide/limits", "settings": "/docs/guide/settings", "missing": "/docs/nothing"} {
		window.Go(at + path)
		window.Wait("location.pathname === '" + path + "' && document.readyState === 'complete'")
		window.Value(`document.querySelectorAll('details').forEach(one => { one.removeAttribute('name'); one.open = true })`)
		window.Width(320)
		assert.Equal(t, "0", window.Value(`document.documentElement.scrollWidth - document.documentElement.clientWidth`), name)
		assert.Empty(t, window.Refused(), name)
		for _, scheme := range []string{"light", "dark"} {
			window.Scheme(scheme)
			axe.Check(t, window, name+", "+scheme)
		}
		window.Value(`document.querySelectorAll('.said details').forEach(one => { one.open = false })`)
		window.Draw("docs-" + name)
	}
}
