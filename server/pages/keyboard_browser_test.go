package pages_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/axe"
	chromium "github.com/tillwright/tillwright/tests/harness/browser"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// typist is a buyer at a telephone who has a keyboard and no mouse.
type typist struct {
	*shop
	*chromium.Page
	tongue *locale.Locale
}

// tabTo presses Tab until the element has the focus.
func (y *typist) tabTo(selector string) {
	y.t.Helper()
	for range 40 {
		y.Key("Tab")
		if y.Value(`document.activeElement.matches('`+selector+`')`) == "true" {
			return
		}
	}
	y.t.Fatalf("the keyboard does not reach %s on %s:\n%s", selector, y.Value(`location.href`), y.Text())
}

// presses presses Enter on a link or a button.
func (y *typist) presses(selector string) {
	y.t.Helper()
	y.tabTo(selector)
	y.Key("Enter")
}

// enter types a card, with the focus on its number, and sends it.
func (y *typist) enter(number string) {
	y.t.Helper()
	y.Type(number)
	y.tabTo("#card_expiry")
	y.Type("12 / 2040")
	y.tabTo("#card_cvc")
	y.Type("123")
	y.Key("Enter")
}

// foreign are the words on these pages that are in no catalogue: names and addresses.
var foreign = regexp.MustCompile(`grace@example\.com|طيور\.txt|(?i:tenth)|IVA|Visa|INV-\d+`)

// sees waits for a page on which an expression is true. It is in the language and the direction that were asked for, fits a narrow telephone and has no
// barrier. Of the language that shows what is not translated it has no word that is not. Numbers of cards, and keys, run from left to right everywhere.
func (y *typist) sees(name, expression string) {
	y.t.Helper()
	y.Wait(`document.readyState === 'complete' && (` + expression + `)`)
	if chromium.Draws() {
		y.Draw("keyboard-" + y.tongue.Tag + "-" + name)
		y.Width(360)
	}
	assert.Equal(y.t, y.tongue.Tag+" "+y.tongue.Dir, y.Value(`document.documentElement.lang + ' ' + document.documentElement.dir`), name)
	assert.Equal(y.t, "0", y.Value(`document.documentElement.scrollWidth - document.documentElement.clientWidth`), "%s beside a narrow page", name)
	assert.Equal(y.t, "true", y.Value(`(main => main.left >= 0 && main.right <= innerWidth)(document.querySelector('main').getBoundingClientRect())`), "%s stands beside the window", name)
	assert.Equal(y.t, "true", y.Value(`[...document.querySelectorAll('input[id^=card_], .key, [type=email]')].every(e => getComputedStyle(e).direction === 'ltr')`), "%s has a number from right to left", name)
	if y.tongue == locale.Mirrored {
		assert.NotRegexp(y.t, `[A-Za-z]{3}`, words.ReplaceAllString(foreign.ReplaceAllString(y.Text(), ""), ""), name)
	}
	axe.Check(y.t, y.Page, name+" in "+y.tongue.Tag)
	if name == "declined" || name == "paid" {
		y.Scheme("dark")
		axe.CheckColours(y.t, y.Page, name+" in the dark")
		y.Scheme("light")
	}
}

// words are those with a letter that English has not. A quotation mark is no letter: a word of English that stands beside one is none of them.
var words = regexp.MustCompile(`\p{L}*[^\x00-\x7f\P{L}]\p{L}*`)

// plan puts a guide on sale that is renewed each month, with a file, and offers a dearer plan of it. That is sold by the piece. It returns a link to the
// first, and the dearer one.
func (w *shop) plan() (link *checkout.Link, dearer string) {
	w.t.Helper()
	monthly := func(amount int64) catalog.PriceVariant {
		return catalog.PriceVariant{Type: catalog.PriceVariantTypeRecurring, Amount: amount, Interval: new("month"), IntervalCount: new(int64(1))}
	}
	dear := monthly(9000)
	dear.QuantityMax = new(int64(3))
	file := w.uploads("طيور.txt", "الصرد")
	p, err := w.Catalog.CreateProduct(w.t.Context(), w.account, catalog.NewProduct{
		Product:       catalog.Product{Name: "دليل الطيور", Status: catalog.ProductStatusActive, Deliverables: []catalog.Deliverable{{Type: catalog.DeliverableTypeFile, Ref: &file.ID}}},
		PriceVariants: []catalog.PriceVariant{monthly(2000), dear},
	})
	require.NoError(w.t, err)
	link, err = w.Checkout.CreateLink(w.t.Context(), w.account, checkout.Link{PriceVariantIDs: core.JSONOf(p.PriceVariantIDs.V[:1]), Active: true, AllowDiscountCodes: true})
	require.NoError(w.t, err)
	return link, p.PriceVariantIDs.V[1]
}

// member returns the only subscription.
func (w *shop) member() *subscription.Subscription {
	w.t.Helper()
	all, _, err := w.Subscription.List(w.t.Context(), w.account, subscription.List{Page: core.Page{Limit: 10}})
	require.NoError(w.t, err)
	require.Len(w.t, all, 1)
	return &all[0]
}

// A stranger does all by the keyboard alone. Each engine sees one direction: PostgreSQL from left to right, SQLite mirrored. The stranger buys by a
// link, with a country of another tax, a code, a card that is declined and a good one. They download the file, come to the portal by a letter, change
// the plan and its quantity, cancel it, and keep it.
func TestCheckoutPage_IsUsedByTheKeyboardAloneInABrowser(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, engine string) {
		w := newShopOn(t, engine)
		w.pages.ShowPseudo()
		_, err := w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) {
			a.Name = "متجر"
			a.Tax.V = tenant.TaxSettings{Mode: tenant.TaxModeFlatTable, Behavior: tenant.TaxBehaviorExclusive, Rates: []tenant.TaxRate{{Country: new("UY"), RateBps: 2200, Name: "IVA"}}}
		})
		require.NoError(t, err)
		_, err = w.Discount.Create(t.Context(), w.account, discount.Discount{Name: "Tenth", Code: new("TENTH"), Type: discount.TypePercent, PercentBps: new(int64(1000)), Duration: discount.DurationOnce})
		require.NoError(t, err)
		link, dearer := w.plan()
		y := &typist{shop: w, Page: chromium.Open(t, nil), tongue: locale.English}
		if strings.HasSuffix(t.Name(), "/sqlite") {
			y.tongue = locale.Mirrored
		}
		folder := t.TempDir()
		y.Save(folder)
		y.Width(360)
		ask := "?locale=" + y.tongue.Tag
		pays := func(amount string) string {
			return `document.querySelector('.pay')?.innerText.includes('` + amount + `')`
		}

		y.Go(link.URL + ask)
		y.sees("link", pays("20.00"))
		y.presses(".fold > summary")
		y.Wait(`!document.querySelector('.fold').open`)
		y.Key("Enter")
		y.Wait(`document.querySelector('.fold').open`)
		y.tabTo("#discount_code")
		y.Type("tenth")
		y.Key("Enter")
		y.Wait(pays("18.00"))
		assert.Equal(t, "ltr", y.Value(`getComputedStyle([...document.querySelectorAll('#totals bdi')].find(e => e.innerText.startsWith('-'))).direction`), "a minus stands before its figure")
		y.tabTo("#email")
		y.Type("grace@example.com")
		y.tabTo("#name")
		y.Type("غريس هوبر")
		y.tabTo("#country")
		y.Key("ArrowDown") // from the country of the browser to the next
		y.Wait(pays("21.96"))
		y.tabTo("#card_number")
		y.enter("4000000000000002")
		y.sees("declined", `document.activeElement.matches('.problems')`)
		y.presses(`.problems a`) // the link to the field
		y.Wait(`document.activeElement.id === 'card_number'`)
		y.enter("4242424242424242")
		y.sees("paid", `document.querySelector('h1') && document.querySelector('.note.good')?.innerText.includes('21.96')`)
		assert.Equal(t, int64(2196), w.sold().PaidAmount)
		y.presses(`a[href*="/downloads/"]`)
		require.Eventually(t, func() bool {
			saved, err := os.ReadFile(filepath.Join(folder, "طيور.txt"))
			return err == nil && string(saved) == "الصرد"
		}, harness.Patience, 20*time.Millisecond)

		y.presses(`a[href*="portal"]`)
		y.sees("door", `document.querySelector('#email')`)
		y.tabTo("#email")
		y.Type("grace@example.com")
		y.Key("Enter")
		y.sees("asked", `location.search.includes('asked')`)
		w.pages.Wait()
		require.NoError(t, w.mails(mailServer{w}))
		var key string
		for _, letter := range w.letters {
			if found := keyInLetter.FindString(letter.Text); found != "" {
				key = found
			}
		}
		require.NotEmpty(t, key)
		y.Go(key + ask)
		y.sees("key", `document.querySelector('main button')`)
		y.presses("main button")
		y.sees("portal", `document.querySelector('#subscriptions')`)

		y.presses(`form[action*="/accept"] button`)
		y.sees("accepted", `document.querySelector(".note.good")`)
		y.presses(`a[href*="/subscriptions/"]`)
		y.sees("subscription", `document.querySelector('#plan')`)
		y.presses(`a[href*="plan=` + dearer + `"]`)
		y.sees("plan", `document.querySelector('[name=shown]')`)
		y.presses(`form[action*="/plan"] button`)
		y.sees("plan-changed", `document.querySelector('.note.good')`)
		assert.Equal(t, dearer, w.member().PriceVariantID)
		y.tabTo("#quantity")
		y.Type("4")
		y.Key("Enter")
		y.sees("quantity-refused", `document.activeElement.matches('.problems')`)
		y.tabTo("#quantity") // which selects what was typed
		y.Type("2")
		y.Key("Enter")
		y.sees("quantity", `document.querySelector('[name=shown]')`)
		y.presses(`form[action*="/plan"] button`)
		y.sees("quantity-changed", `document.querySelector('.note.good')`)
		assert.Equal(t, int64(2), w.member().Quantity)
		y.presses(`a[href*="/cancel"]`)
		y.sees("cancel", `document.querySelector('#reason')`)
		y.presses(`form[action*="/cancel"] button`)
		y.sees("cancelled", `document.querySelector('form[action*="/uncancel"]')`)
		assert.True(t, w.member().CancelAtPeriodEnd)
		y.presses(`form[action*="/uncancel"] button`)
		y.sees("kept", `document.querySelector('.note.good') && !document.querySelector('form[action*="/uncancel"]')`)
		assert.False(t, w.member().CancelAtPeriodEnd)
		y.presses(".up")
		y.sees("orders", `document.querySelector('#orders')`)
		paper := w.text(y.Value(`document.querySelector('a[href*="/pdf"]').href`))
		for _, name := range []string{"غريس", "هوبر", "متجر", "دليل"} {
			assert.Contains(t, paper, name)
		}
		assert.Empty(t, y.Refused())
	})
}
