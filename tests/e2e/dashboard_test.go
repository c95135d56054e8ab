package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/browser"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// keeper is somebody who keeps a shop in a browser, and their server.
type keeper struct {
	*browser.Page
	t       *testing.T
	program *harness.Process
}

// newKeeper starts a server on an empty database, and opens the address that it prints.
func newKeeper(t *testing.T, url string) *keeper {
	t.Helper()
	b := in(t, t.TempDir())
	b.Env = append(b.Env, "TILLWRIGHT_DATABASE_URL="+url)
	k := &keeper{t: t, program: b.Serve(t, "", "--migrate"), Page: browser.Open(t, nil)}
	k.Width(1280)
	k.Go(regexp.MustCompile(`http://\S+/setup/\S+`).FindString(k.program.Log()))
	k.fills("#name", "Ada's Books", "#email", "ada@example.com", "#password", "correct horse battery")
	k.presses("Create account")
	k.heading("Home")
	var hash string
	require.NoError(t, database.Behind(t, url).QueryRow(`SELECT password FROM people`).Scan(&hash))
	require.Regexp(t, `^\$argon2id\$v=19\$m=19456,t=2,p=1\$`, hash, "the least that OWASP's Password Storage Cheat Sheet wants")
	return k
}

// fills fills in fields, given by selectors and texts in turn.
func (k *keeper) fills(pairs ...string) {
	k.t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		k.Fill(pairs[i], pairs[i+1])
	}
}

// presses clicks a button or link by its text.
func (k *keeper) presses(text string) {
	k.t.Helper()
	k.Wait(`(e => e && (e.dataset.pressed = ` + "`" + text + "`" + `))([...document.querySelectorAll('main button, main a, form button')].find(e => e.innerText.trim() === ` + "`" + text + "`" + `))`)
	k.Click(`[data-pressed="` + text + `"]`)
}

// heading waits for a page by its heading.
func (k *keeper) heading(text string) {
	k.t.Helper()
	k.Wait(`document.querySelector('h1') && document.querySelector('h1').innerText.trim() === ` + "`" + text + "`")
}

// A shop opens, sells to a stranger who has nothing but a keyboard, and gives the money back, all of it in browsers. The token that was made works
// for a program.
func TestDashboard_AShopOpensSellsAndRefunds(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		k := newKeeper(t, url)

		k.Go(k.program.URL + "/app/developers/tokens/new")
		k.heading("New token")
		k.fills("#name", "CI")
		k.presses("Create token")
		k.heading("API tokens")
		token := k.Value(`document.querySelector('input.key').value`)
		client := sdk.New(token, sdk.WithBaseURL(k.program.URL+"/v1"))
		account, err := client.Account.Get(background)
		require.NoError(t, err)
		assert.Equal(t, "Ada's Books", account.Name)

		k.Go(k.program.URL + "/app/products/new")
		k.heading("New product")
		k.presses("Create product")
		k.Wait(`document.activeElement.innerText.includes('There is a problem')`)
		k.fills("#name", "The Go Handbook", "#amount", "20.00")
		k.Value(`document.querySelector('#currency').value = 'eur'`)
		k.presses("Create product")
		k.heading("The Go Handbook")
		file := filepath.Join(t.TempDir(), "handbook.txt")
		require.NoError(t, os.WriteFile(file, []byte("all about ships"), 0o600))
		k.Choose("#file", file)
		k.presses("Upload")
		k.WaitText("handbook.txt was added.")
		k.presses("Publish")
		k.WaitText("The product is for sale.")

		k.Go(k.program.URL + "/app/links/new")
		k.heading("New checkout link")
		k.Click("#price_variants-0")
		k.presses("Create link")
		k.heading("Link without a name")
		k.buys(strings.TrimSpace(k.Value(`document.querySelector('pre.code').innerText`)))

		k.Go(k.program.URL + "/app/orders")
		k.presses("Order 1")
		k.heading("Order 1")
		k.presses("Refund")
		k.heading("Refund order 1")
		k.presses("Refund")
		k.heading("Order 1")
		k.Wait(`[...document.querySelectorAll('h1 ~ .badge')].some(e => e.innerText.includes('Refunded'))`)
		assert.Empty(t, k.Refused())

		k.presses("Sign out")
		k.heading("Sign in")
		k.Go(k.program.URL + "/app/orders")
		k.heading("Sign in")
		k.fills("#email", "ada@example.com", "#password", "correct horse battery")
		k.presses("Sign in")
		k.heading("Orders")
		assert.NotContains(t, k.program.Log(), "correct horse")
		assert.NotContains(t, k.program.Log(), token)
	})
}

// buys has a stranger open a link and buy by keyboard alone: the first card is declined, the second one is not. What they bought they download.
func (k *keeper) buys(link string) {
	k.t.Helper()
	page := browser.Open(k.t, nil)
	page.Go(link)
	page.Wait(`document.querySelector('#card_number')`)
	// reaches presses Tab until a field has the focus, as somebody does who sees where they are.
	reaches := func(id string) {
		k.t.Helper()
		var seen []string
		for range 60 {
			seen = append(seen, page.Value(`document.activeElement.id || document.activeElement.innerText`))
			if page.Value(`document.activeElement.id || document.activeElement.innerText`) == id || strings.HasPrefix(strings.TrimSpace(page.Value(`document.activeElement.innerText`)), id+" ") {
				return
			}
			page.Key("Tab")
		}
		k.t.Fatalf("the keyboard does not reach %s but %q:\n%s", id, seen, page.Text())
	}
	types := func(id, text string) {
		k.t.Helper()
		reaches(id)
		page.Value(`document.activeElement.select && document.activeElement.select()`)
		page.Type(text)
	}
	pay := func(card string) {
		k.t.Helper()
		types("card_number", card)
		types("card_expiry", "12/34")
		types("card_cvc", "123")
		page.Key("Enter")
	}
	types("email", "grace@example.com")
	reaches("country")
	page.Key("ArrowDown")
	pay("4000000000000002")
	page.WaitText("declined")
	page.Wait(`document.activeElement.closest('[role=alert]')`)
	pay("4242424242424242")
	page.WaitText("Thank you for your order")
	reaches("Download")
	address := page.Value(`document.activeElement.href`)
	response, err := http.Get(address)
	require.NoError(k.t, err)
	defer response.Body.Close()
	require.Equal(k.t, http.StatusOK, response.StatusCode)
	require.Equal(k.t, int64(len("all about ships")), response.ContentLength)
	foreign, err := http.Get(regexp.MustCompile(`/downloads/[^/]+/`).ReplaceAllString(address, "/downloads/grant_01k0000000000000000000000a/"))
	require.NoError(k.t, err)
	_ = foreign.Body.Close()
	require.Equal(k.t, http.StatusNotFound, foreign.StatusCode)
	require.Empty(k.t, page.Refused())
}
