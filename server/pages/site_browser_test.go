package pages_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/axe"
	chromium "github.com/tillwright/tillwright/tests/harness/browser"
)

// What a seller writes is text to a browser, wherever it stands.
func TestSite_RunsNoScriptInABrowser(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	page := chromium.Open(t, nil)
	const script = `<script>document.title = "run"</script><img src=x onerror='document.title = "run"'>"><svg onload="document.title = 'run'">`
	page.Go("data:text/html,<title>before</title>" + script)
	page.Wait(`document.title === 'run'`) // where it is no text it is run

	quoted, err := json.Marshal(script)
	require.NoError(t, err)
	text := string(quoted)
	w.pictured(w.sell(catalog.Product{Name: script}, 900).ID, pixels(400, 300))
	a := w.publish(`{"type": "hero", "heading": ` + text + `, "text": ` + text + `, "button": {"label": "Call", "url": "tel:+15550100"}},
		{"type": "links", "items": [{"label": "<script>document.title = 'run'</script>", "url": "https://a.example/'onmouseover='document.title=1"}]}, {"type": "products"},
		{"type": "faq", "items": [{"question": ` + text + `, "answer": ` + text + `}]}, {"type": "image", "url": "https://a.example/a.png", "alt": ` + text + `, "caption": ` + text + `},
		{"type": "text", "markdown": ` + text + `}, {"type": "testimonials", "items": [{"quote": ` + text + `, "name": "Grace"}]}`)
	_, err = w.Content.UpdateAISite(t.Context(), w.account, a.ID, func(d *content.AISiteDraft) { d.Name = script })
	require.NoError(t, err)
	page.Go(a.URL)
	page.WaitText("Grace")
	assert.Equal(t, script, page.Value(`document.title`), "the title is what was written")
	assert.Equal(t, "0", page.Value(`document.querySelectorAll('script, svg, img[onerror]').length`))
	assert.Equal(t, "0", page.Value(`[...document.querySelectorAll('*')].filter(e => [...e.attributes].some(a => a.name.startsWith('on'))).length`))
	assert.Equal(t, "null", page.Value(`self.origin`), "the page has no origin")
	page.Wait(`[...document.images].some(i => i.src.includes('/media/') && i.complete && i.naturalWidth > 0)`) // and shows our pictures all the same
}

// Whatever colour a seller chose, a site can be used by everybody, on a narrow phone too. With a folder in TILLWRIGHT_SCREENSHOTS it is drawn there.
func TestSite_CanBeUsedByEverybody(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	long := strings.Repeat("endless", 14)
	book := w.sell(catalog.Product{Name: "Handbook " + long, Headline: new(long)}, 1900)
	w.pictured(w.account, pixels(600, 600))
	w.pictured(book.ID, pixels(800, 600))
	w.sell(catalog.Product{Name: "Atlas"}, 2900)
	_, err := w.Checkout.CreateLink(t.Context(), w.account, checkout.Link{PriceVariantIDs: core.JSONOf(book.PriceVariantIDs.V), Active: true})
	require.NoError(t, err)
	post := w.writes(content.BlogPost{Title: "On ships " + long, Body: "## They\n\nsail *far*, [away](https://example.com).\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", Excerpt: new(long), AuthorName: new("Ada")})
	w.pictured(post.ID, pixels(800, 450))
	blocks := `{"type": "hero", "heading": "Ada ships", "text": "Books for people who build things.", "button": {"label": "Write to me", "url": "mailto:ada@example.com"}},
		{"type": "links", "items": [{"label": "My workshop", "url": "https://example.com/"}, {"label": "` + long + `", "url": "tel:+15550100"}]}, {"type": "products"}, {"type": "posts"},
		{"type": "text", "markdown": "## Since 1843\n\nBooks and *ships*.\n\n- one\n- two\n"}, {"type": "testimonials", "items": [{"quote": "Good. ` + long + `", "name": "Grace"}, {"quote": "Better", "name": "Alan"}]},
		{"type": "faq", "items": [{"question": "When?", "answer": "Soon."}]}, {"type": "video", "url": "https://youtu.be/abc"}, {"type": "countdown", "ends_at": "2027-02-03T10:00:00Z", "label": "Launch"},
		{"type": "lead_form", "heading": "Letters", "text": "Once a month.", "consent_text": "Write to me"}`
	addresses := map[string]string{"post": *post.URL, "composed": w.publish("").URL}
	for _, kind := range []content.AISiteType{content.AISiteTypeLinkInBio, content.AISiteTypeAIBuilder} {
		a, err := w.Content.CreateAISite(t.Context(), w.account, content.AISiteDraft{AISite: &content.AISite{Name: "Ada's", Type: kind, IsLive: true}, Sent: json.RawMessage(`{"theme": {"accent": "#ffee00", "mode": "auto"}, "blocks": [` + blocks + `]}`)})
		require.NoError(t, err)
		addresses[string(kind)] = a.URL
	}
	at, err := url.Parse(w.server.URL)
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(at)
	proxy.ModifyResponse = func(r *http.Response) error { // axe-core is a script, which the sandbox does not run
		r.Header.Set("Content-Security-Policy", strings.Replace(r.Header.Get("Content-Security-Policy"), "sandbox ", "sandbox allow-scripts ", 1))
		return nil
	}
	open := httptest.NewServer(proxy)
	t.Cleanup(open.Close)
	page := chromium.Open(t, nil)
	for name, address := range addresses {
		page.Go(strings.Replace(address, w.server.URL, open.URL, 1))
		page.Wait(`document.readyState === 'complete' && document.querySelector('h1')`)
		require.Equal(t, "1", page.Value(`document.querySelectorAll('h1').length`), name)
		for scheme, check := range map[string]func(testing.TB, *chromium.Page, string){"light": axe.Check, "dark": axe.CheckColours} {
			page.Scheme(scheme)
			for _, width := range []int{360, 1280} {
				page.Width(width)
				assert.Equal(t, "0", page.Value(`document.documentElement.scrollWidth - document.documentElement.clientWidth`), "%s %d", name, width)
				if name == "composed" {
					assert.Equal(t, "true", page.Value(`(logo => logo.height <= 320 && Math.abs(logo.width / logo.height - 1) < 0.1)(document.querySelector('.hero img'))`), "its box has its form: %d", width)
				}
				check(t, page, name+" "+scheme)
				if folder := os.Getenv("TILLWRIGHT_SCREENSHOTS"); folder != "" {
					page.Look(filepath.Join(folder, fmt.Sprintf("site-%s-%d-%s.png", name, width, scheme)), width)
				}
			}
		}
	}
	_, err = w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) { a.Locale = "ar" })
	require.NoError(t, err)
	page.Go(strings.Replace(addresses["composed"], w.server.URL, open.URL, 1) + "?anew") // a browser keeps a page for a moment
	page.Wait(`document.dir === 'rtl' && document.querySelector('.price')`)
	assert.Equal(t, "true", page.Value(`(price => { const text = document.createRange(); text.selectNodeContents(price); return Math.abs(text.getBoundingClientRect().right - price.getBoundingClientRect().right) < 1 })(document.querySelector('.price'))`), "a price of ours stands where the page's text does")
	assert.Empty(t, page.Refused())
}

// The same of a post, and of a form, which a browser sends from a page without an origin.
func TestPostAndLeadForm_RunNoScriptInABrowser(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	page := chromium.Open(t, nil)
	const script = `<script>document.title = "run"</script><img src=x onerror='document.title = "run"'>"><svg onload="document.title = 'run'">`
	harmless := func() {
		t.Helper()
		assert.Equal(t, "0", page.Value(`document.querySelectorAll('script, svg, img[onerror]').length`))
		assert.NotEqual(t, "run", page.Value(`document.title`))
		assert.Equal(t, "null", page.Value(`self.origin`), "the page has no origin")
	}
	quoted, err := json.Marshal(script)
	require.NoError(t, err)
	text := string(quoted)
	page.Go(*w.writes(content.BlogPost{Title: script, Body: script + " The end", AuthorName: new("<svg onload=document.title=1>")}).URL)
	page.WaitText("The end")
	harmless()

	a := w.publish(`{"type": "lead_form", "heading": ` + text + `, "text": ` + text + `, "consent_text": ` + text + `}`)
	page.Go(a.URL)
	page.WaitText("Send")
	harmless()
	w.now = w.now.Add(3 * time.Second)
	page.Value(`document.querySelector('[name=email]').value = 'grace@corp', document.querySelector('[name=consent]').checked = true, document.querySelector('form button').click()`)
	page.Wait(`document.querySelector('.problem')`)
	harmless()
	assert.Equal(t, "false", page.Value(`document.querySelector('[name=consent]').checked`), "a page without an origin sent it, which may be another site's")
	w.now = w.now.Add(3 * time.Second)
	page.Value(`document.querySelector('[name=email]').value = 'grace@example.com', document.querySelector('[name=name]').value = '<svg onload=1>', document.querySelector('form button').click()`)
	page.WaitText("this has arrived")
	harmless()
	assert.Equal(t, "<svg onload=1>", *w.lead("grace@example.com").Name)
}

// The same of the portal, where a course is read, and its file is fetched by its link.
func TestPortal_RunsNoScriptInABrowser(t *testing.T) {
	t.Parallel()
	g := newShop(t).guest("grace@example.com")
	page := chromium.Open(t, nil)
	const script = `<script>document.title = "run"</script><img src=x onerror='document.title = "run"'>"><svg onload="document.title = 'run'">`
	sheet := g.uploads(`Sheet"><svg onload=1>.txt`, "hello")
	e, _ := g.delivers(course(script, sheet.ID))
	for _, below := range []string{"", "/experiences/" + e.ID} {
		page.Go(g.session.URL + below)
		page.WaitText("Course")
		assert.Equal(t, "0", page.Value(`document.querySelectorAll('script, svg:not(.icon), img[onerror]').length`))
		assert.NotEqual(t, "run", page.Value(`document.title`))
	}
	page.Value(`[...document.links].find(a => a.textContent.trim().startsWith('Download')).click()`)
	require.Eventually(t, func() bool {
		f, err := g.Grant.GetFile(t.Context(), g.account, sheet.ID)
		return err == nil && f.DownloadsCount == 1
	}, harness.Patience, 20*time.Millisecond)
}
