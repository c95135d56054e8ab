package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/tests/harness"
)

var portalKey = regexp.MustCompile(`http\S+/portal/open/\w+`)

// key waits for the letter with a link to the portal, and returns the link.
func (o *office) key() string {
	o.t.Helper()
	var key string
	require.Eventually(o.t, func() bool {
		files, err := filepath.Glob(filepath.Join(o.dir, "mail", "*.eml"))
		require.NoError(o.t, err)
		for _, name := range files {
			content, err := os.ReadFile(name)
			require.NoError(o.t, err)
			if key = portalKey.FindString(unfolded(string(content))); key != "" {
				return true
			}
		}
		return false
	}, harness.Patience, 100*time.Millisecond)
	return key
}

// unfolded takes the soft line breaks of quoted-printable out.
func unfolded(text string) string { return regexp.MustCompile(`=\r?\n`).ReplaceAllString(text, "") }

// A customer who has nothing but their address comes to the portal, in a real browser that holds the pages to their policy.
func TestPortal_IsFoundByAnAddress(t *testing.T) {
	t.Parallel()
	v, sub := newVisitor(t)
	v.Go(v.program.URL + "/portal")
	v.sees("You get a link to your downloads")
	v.Fill("#email", "grace")
	v.Click("button")
	v.sees("Write an e-mail address")
	v.Fill("#email", v.customer.Email)
	v.Click("button")
	v.sees("a link to your purchases is on its way to it")
	key := v.key()
	v.Go(v.program.URL + "/dev/mail")
	v.sees("Your purchases from")
	v.Click("table a")
	v.sees("Headers")
	v.Wait(`document.querySelector("iframe").clientHeight > 0`)
	v.Go(key)
	v.sees("Open your purchases")
	v.Click("button")
	v.sees("Grace Hopper")
	v.Click(`a[href$="` + sub.ID + `"]`)
	v.sees("Charged to Visa ending in 4242")
	v.Go(key)
	v.sees("This link cannot be used any more")
	v.Click("a.button")
	v.sees("You get a link to your downloads")
	assert.Empty(t, v.Refused())
	v.isSound()
}
