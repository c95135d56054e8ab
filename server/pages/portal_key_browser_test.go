package pages_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	chromium "github.com/tillwright/tillwright/tests/harness/browser"
)

// A licence key is copied with one press, also where the browser keeps its clipboard from pages. Without scripts there is no button that does nothing.
func TestPortal_CopiesALicenceKeyInABrowser(t *testing.T) {
	t.Parallel()
	window, plain := chromium.Open(t, nil), chromium.Open(t, nil)
	plain.WithoutScripts()
	g := newShop(t).guest("grace@example.com")
	key, _ := g.licensed(nil)
	for _, path := range []string{"", key} {
		plain.Go(g.session.URL + path)
		plain.Wait(`document.readyState === 'complete' && document.querySelector('.key')`)
		assert.Equal(t, "none", plain.Value(`getComputedStyle(document.querySelector('.copy button')).display`))

		window.Go(g.session.URL + path)
		window.WaitText("Copy")
		window.Value(`navigator.clipboard.writeText = async text => { window.copied = text }, 0`)
		window.Click(".copy button")
		window.Wait(`document.querySelector('.copy [role=status]').innerText === 'Copied'`)
		assert.Equal(t, window.Value(`document.querySelector('.key').value`), window.Value(`window.copied`))
		window.Value(`navigator.clipboard.writeText = async () => { throw 'not without https' }, document.oncopy = () => { window.selected = getSelection().toString() }, 0`)
		window.Click(".copy button")
		window.Wait(`window.selected === document.querySelector('.key').value`)
		assert.Empty(t, window.Refused())
	}
}
