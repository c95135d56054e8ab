package pages_test

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
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
	"github.com/tillwright/tillwright/tests/harness/database"
)

// publish makes a live site with these blocks, composed for "".
func (w *shop) publish(blocks string) *content.AISite {
	w.t.Helper()
	draft := content.AISiteDraft{AISite: &content.AISite{Name: "Ada's", IsLive: true}}
	if blocks != "" {
		draft.Sent = json.RawMessage(`{"blocks": [` + blocks + `]}`)
	}
	a, err := w.Content.CreateAISite(w.t.Context(), w.account, draft)
	require.NoError(w.t, err)
	return a
}

// visit returns the page of a site, which must run no scripts and have no origin.
func (w *shop) visit(address string) string {
	w.t.Helper()
	response, err := http.Get(address)
	require.NoError(w.t, err)
	return w.readStrange(response, http.StatusOK)
}

// readStrange returns a page whose texts strangers have written. It must run no scripts and have no origin.
func (w *shop) readStrange(response *http.Response, status int) string {
	w.t.Helper()
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(w.t, err)
	require.Equal(w.t, status, response.StatusCode, string(body))
	policy := response.Header.Get("Content-Security-Policy")
	assert.Regexp(w.t, `^default-src 'none'; img-src 'self' https: data:; .*sandbox allow-forms allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation; style-src 'sha256-\S+' 'sha256-\S+'$`, policy)
	assert.NotContains(w.t, policy, "script")
	assert.Equal(w.t, "nosniff", response.Header.Get("X-Content-Type-Options"))
	return string(body)
}

// sell puts a product on sale.
func (w *shop) sell(p catalog.Product, amount int64) *catalog.Product {
	w.t.Helper()
	p.Status = catalog.ProductStatusActive
	made, err := w.Catalog.CreateProduct(w.t.Context(), w.account, catalog.NewProduct{Product: p, PriceVariants: []catalog.PriceVariant{{Amount: amount, Currency: "usd"}}})
	require.NoError(w.t, err)
	return made
}

func TestSite_ShowsWhatIsPublishedWhileItIsLive(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newShopOn(t, url)
		a := w.publish(`{"type": "hero", "heading": "Ships", "text": "by Ada", "button": {"label": "Call", "url": "tel:+1-555-0100"}},
			{"type": "links", "items": [{"label": "Write", "url": "mailto:ada@example.com"}, {"label": "Rates", "url": "/rates?a=1&b=2"}]},
			{"type": "text", "markdown": "*Since* 1843 <script>alert(1)</script> [x](javascript:alert(1))"}, {"type": "faq", "items": [{"question": "When?", "answer": "Soon."}]}, {"type": "testimonials", "items": [{"quote": "Good", "name": "Grace"}]},
			{"type": "image", "url": "https://img.example/a.png", "alt": "A boat", "caption": "Hers"}, {"type": "video", "url": "https://youtu.be/abc"},
			{"type": "countdown", "ends_at": "2027-02-03T10:00:00Z", "label": "Launch"}, {"type": "hero", "heading": "Not yet", "hidden": true}`)
		page := w.visit(a.URL)
		for _, shown := range []string{
			"Ada&#39;s", "Ships", "by Ada", `href="tel:&#43;1-555-0100"`, `href="mailto:ada@example.com"`, `href="/rates?a=1&amp;b=2"`, "<em>Since</em> 1843", "When?", "Soon.", "Good", "Grace",
			`src="https://img.example/a.png" alt="A boat"`, "Hers", `href="https://youtu.be/abc"`, "on youtu.be", "Launch", "2027",
		} {
			assert.Contains(t, page, shown)
		}
		assert.NotContains(t, page, "Not yet")
		assert.NotContains(t, page, "<script")
		assert.NotContains(t, page, `"javascript:`)

		_, err := w.Content.UpdateAISite(t.Context(), w.account, a.ID, func(d *content.AISiteDraft) {
			d.Subdomain, d.Sent = "another-name", json.RawMessage(`{"blocks": [{"type": "hero", "heading": "Sails"}]}`)
		})
		require.NoError(t, err)
		assert.Contains(t, w.visit(a.URL), "Ships", "a former address leads to what is published")
		a, err = w.Content.PublishAISite(t.Context(), w.account, a.ID, nil)
		require.NoError(t, err)
		assert.Contains(t, w.visit(a.URL), "Sails")
		_, err = w.Content.UnpublishAISite(t.Context(), w.account, a.ID)
		require.NoError(t, err)
		w.page(a.URL, http.StatusNotFound)
		w.page(w.server.URL+"/sites/nobodys", http.StatusNotFound)
	})
}

func TestSite_IsMadeOnceUntilItSaysSomethingElse(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	made := w.pages.CountSites()
	a := w.publish(`{"type": "text", "markdown": "*Ships*"}, {"type": "products"}`)
	book := w.sell(catalog.Product{Name: "Book"}, 1900)
	first := w.visit(a.URL)
	for range 5 {
		assert.Equal(t, first, w.visit(a.URL))
	}
	assert.EqualValues(t, 1, made.Load(), "a visitor has the texts rendered again")
	assert.Contains(t, first, "<em>Ships</em>")

	_, err := w.Catalog.UpdateProduct(t.Context(), w.account, book.ID, func(p *catalog.Product) { p.Name = "Atlas" })
	require.NoError(t, err)
	assert.Contains(t, w.visit(a.URL), "Atlas")
	assert.Contains(t, w.visit(w.publish(`{"type": "text", "markdown": "*Sails*"}`).URL), "<em>Sails</em>")
	assert.EqualValues(t, 3, made.Load())
}

// A page that is the same for everybody is kept for a moment, and not sent again to who has it. What is somebody's own is neither.
func TestSite_IsKeptByCaches(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	a := w.publish(`{"type": "hero", "heading": "Ships"}`)
	get := func(address, tag string) (int, http.Header, string) {
		request := w.request(http.MethodGet, address)
		request.Header.Set("If-None-Match", tag)
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		return response.StatusCode, response.Header, string(body)
	}
	for _, address := range []string{a.URL, *w.writes(content.BlogPost{Title: "On ships", Body: "They sail."}).URL} {
		status, header, _ := get(address, `W/"another"`)
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, "public, max-age=60, stale-while-revalidate=600", header.Get("Cache-Control"))
		tag := header.Get("ETag")
		require.NotEmpty(t, tag)
		status, header, body := get(address, tag)
		require.Equal(t, []any{http.StatusNotModified, "", tag}, []any{status, body, header.Get("ETag")})
	}
	_, header, _ := get(a.URL, "")
	tag := header.Get("ETag")
	_, err := w.Content.UpdateAISite(t.Context(), w.account, a.ID, func(d *content.AISiteDraft) {
		d.Sent = json.RawMessage(`{"blocks": [{"type": "hero", "heading": "Oars"}]}`)
	})
	require.NoError(t, err)
	_, err = w.Content.PublishAISite(t.Context(), w.account, a.ID, nil)
	require.NoError(t, err)
	status, _, body := get(a.URL, tag)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "Oars")

	status, header, _ = get(w.publish(`{"type": "lead_form", "heading": "Join"}`).URL, "")
	require.Equal(t, []any{http.StatusOK, "no-cache", ""}, []any{status, header.Get("Cache-Control"), header.Get("ETag")}, "a form has a token of its own")
}

// Who passes on a link shows what is behind it.
func TestSite_SaysWhatItIsToWhoPassesItOn(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	a := w.publish(`{"type": "hero", "heading": "Ships", "text": "By \"Ada\" <b>", "image_url": "https://img.example/a.png"}`)
	page := w.visit(a.URL)
	for _, piece := range []string{`<link rel="canonical" href="` + a.URL + `">`, `property="og:title" content="Ada&#39;s"`, `property="og:description" content="By &#34;Ada&#34; &lt;b&gt;"`, `property="og:image" content="https://img.example/a.png"`, `content="summary_large_image"`} {
		assert.Contains(t, page, piece)
	}
	post := w.writes(content.BlogPost{Title: "On <i>", Body: "They sail.", Excerpt: new("A few \"words\"")})
	page = w.visit(*post.URL)
	for _, piece := range []string{`property="og:type" content="article"`, `property="og:title" content="On &lt;i&gt;"`, `property="og:description" content="A few &#34;words&#34;"`, `content="summary"`} {
		assert.Contains(t, page, piece)
	}
}

func TestSite_SaysNothingOfADisabledAccount(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	a := w.publish("")
	w.visit(a.URL)
	_, _, err := w.Tenant.DisableAccount(t.Context(), w.account)
	require.NoError(t, err)
	w.page(a.URL, http.StatusNotFound)
}

func TestSite_SellsWhatIsOnSaleByItsCheckoutLinks(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newShopOn(t, url)
		book := w.sell(catalog.Product{Name: "Book <1>", Headline: new("About ships")}, 1900)
		secret := w.sell(catalog.Product{Name: "Secret", Visibility: catalog.ProductVisibilityUnlisted}, 900)
		_, err := w.Catalog.CreateProduct(t.Context(), w.account, catalog.NewProduct{Product: catalog.Product{Name: "Draft"}})
		require.NoError(t, err)
		link, err := w.Checkout.CreateLink(t.Context(), w.account, checkout.Link{PriceVariantIDs: core.JSONOf(book.PriceVariantIDs.V), Active: true})
		require.NoError(t, err)

		composed := w.visit(w.publish("").URL)
		for _, shown := range []string{"Ada &lt;b&gt;&amp; sons&lt;/b&gt;", "Book &lt;1&gt;", "About ships", "$19.00", `href="` + link.URL + `"`} {
			assert.Contains(t, composed, shown)
		}
		assert.NotContains(t, composed, "Secret")
		assert.NotContains(t, composed, "Draft")

		named := w.visit(w.publish(`{"type": "products", "products": ["` + secret.ID + `"]}`).URL)
		assert.Contains(t, named, "Secret", "who names an unlisted product shows it")
		assert.NotContains(t, named, "Book")
		assert.Equal(t, 1, strings.Count(w.visit(w.publish(`{"type": "products", "limit": 1}`).URL), "<h2"))
	})
}

// A visitor reads one language on a site, the seller's. Where that is none of ours, what is ours says that it is English.
func TestSite_SpeaksTheLanguageOfItsSeller(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	speaks := func(tag string) {
		_, err := w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) { a.Locale, a.WebsiteURL = tag, new("https://kestrel.example") })
		require.NoError(t, err)
	}
	speaks("de-AT")
	made, err := w.Catalog.CreateProduct(t.Context(), w.account, catalog.NewProduct{
		Product:       catalog.Product{Name: "Handbuch", Status: catalog.ProductStatusActive},
		PriceVariants: []catalog.PriceVariant{{Amount: 1900, Currency: "eur"}, {Amount: 2900, Currency: "eur"}},
	})
	require.NoError(t, err)
	_, err = w.Checkout.CreateLink(t.Context(), w.account, checkout.Link{PriceVariantIDs: core.JSONOf(made.PriceVariantIDs.V[:1]), Active: true})
	require.NoError(t, err)
	post := w.writes(content.BlogPost{Title: "Innen", Body: "Geheim", Access: content.BlogPostAccessProduct, ProductID: &made.ID})
	composed := w.publish("")
	page := w.visit(composed.URL)
	for _, said := range []string{`<html lang="de-AT" dir="ltr"`, ">ab 19,00\u00a0€</p>", ">Kaufen</a>", " · für Käufer</small>", ">Website</a>"} {
		assert.Contains(t, page, said)
	}
	page = w.visit(*post.URL)
	for _, said := range []string{`<html lang="de-AT" dir="ltr"`, "<p>Das ist für alle, die Handbuch haben.", ">Kaufen</a>"} {
		assert.Contains(t, page, said)
	}
	site := w.publish(`{"type": "video", "url": "https://youtu.be/abc"}, {"type": "countdown", "ends_at": "2027-03-01T10:00:00Z", "label": "Start"}`)
	page = w.visit(site.URL)
	assert.Contains(t, page, "Video auf youtu.be ansehen</a>")
	assert.Contains(t, page, ">1. März 2027</time>")
	version, err := w.Content.GetAISiteVersion(t.Context(), w.account, site.ID, 1)
	require.NoError(t, err)
	assert.Contains(t, w.visit(version.PreviewURL), "<p>Das ist eine Vorschau.")
	w.now = w.now.Add(2 * time.Hour)
	assert.Contains(t, w.page(version.PreviewURL, http.StatusGone), "Diese Vorschau ist abgelaufen")

	speaks("ar")
	page = w.visit(composed.URL)
	assert.Contains(t, page, `<html lang="ar" dir="rtl"`)
	assert.Contains(t, page, ` lang="en" dir="ltr">Buy</a>`)
}

func TestSiteDomain_ShowsTheSiteOnceItIsVerified(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newShopOn(t, url)
		a := w.publish(`{"type": "hero", "heading": "Ships"}`)
		a, err := w.Content.UpdateAISite(t.Context(), w.account, a.ID, func(d *content.AISiteDraft) { d.Domain = new("ada.example") })
		require.NoError(t, err)
		at := func(host, path string) int {
			request, err := http.NewRequest(http.MethodGet, w.server.URL+path, nil)
			require.NoError(t, err)
			request.Host = host
			response, err := http.DefaultClient.Do(request)
			require.NoError(t, err)
			body, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			assert.Equal(t, path == "/" && response.StatusCode == http.StatusOK, strings.Contains(string(body), "Ships"))
			return response.StatusCode
		}
		assert.Equal(t, http.StatusNotFound, at("ada.example", "/"))
		assert.Equal(t, http.StatusNotFound, at("shop.test", "/sites/ask?domain=ada.example"))
		_, err = w.Content.SettleDomain(t.Context(), a, content.DomainFinding{Proven: true})
		require.NoError(t, err)
		assert.Equal(t, http.StatusOK, at("ADA.example:8443", "/"))
		assert.Equal(t, http.StatusOK, at("shop.test", "/sites/ask?domain=Ada.example"))
		for _, other := range []string{"shop.test", "www.ada.example", "ada.example.evil.example", ""} {
			assert.Equal(t, http.StatusNotFound, at("shop.test", "/sites/ask?domain="+other))
			assert.Equal(t, http.StatusNotFound, at(other, "/"))
		}
		_, err = w.Content.UnpublishAISite(t.Context(), w.account, a.ID)
		require.NoError(t, err)
		assert.Equal(t, http.StatusNotFound, at("ada.example", "/"))
		assert.Equal(t, http.StatusNotFound, at("shop.test", "/sites/ask?domain=ada.example"))
	})
}

func TestSitePreview_ShowsOneVersionForAnHourOrTwo(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	a := w.publish(`{"type": "hero", "heading": "First"}`)
	_, err := w.Content.UpdateAISite(t.Context(), w.account, a.ID, func(d *content.AISiteDraft) {
		d.Sent = json.RawMessage(`{"blocks": [{"type": "hero", "heading": "Second"}]}`)
	})
	require.NoError(t, err)
	v, err := w.Content.GetAISiteVersion(t.Context(), w.account, a.ID, 2)
	require.NoError(t, err)
	assert.Contains(t, w.visit(v.PreviewURL), "Second")
	response, err := http.Get(v.PreviewURL)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, "noindex", response.Header.Get("X-Robots-Tag"))
	assert.Equal(t, "no-store", response.Header.Get("Cache-Control"))
	token := v.PreviewURL[strings.LastIndex(v.PreviewURL, "/")+1:]
	for _, wrong := range []string{token[:len(token)-4] + "AAAA", token + "A", "x"} {
		w.page(w.server.URL+"/sites/preview/"+wrong, http.StatusNotFound)
	}
	w.now = w.now.Add(time.Hour)
	w.visit(v.PreviewURL)
	w.now = w.now.Add(time.Hour)
	assert.NotContains(t, w.page(v.PreviewURL, http.StatusGone), "Second")
}

func TestSite_EscapesWhateverIsWrittenInIt(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	bad := `<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{.Site}}`
	w.sell(catalog.Product{Name: strings.ReplaceAll(bad, `\`, ""), CoverURL: new("https://img.example/\"onload=alert(1)")}, 100)
	a := w.publish(`{"type": "hero", "heading": "` + bad + `", "text": "` + bad + `", "button": {"label": "` + bad + `", "url": "https://a.example/'onclick=alert(1)"}},
		{"type": "links", "items": [{"label": "` + bad + `", "url": "mailto:a@example.com?subject='onclick='alert(1)"}]}, {"type": "products"},
		{"type": "faq", "items": [{"question": "` + bad + `", "answer": "</p></details>` + bad + `"}]}, {"type": "testimonials", "items": [{"quote": "` + bad + `", "name": "` + bad[:60] + `"}]},
		{"type": "image", "url": "https://a.example/'onerror=alert(1)", "alt": "` + bad + `", "caption": "` + bad + `"}, {"type": "countdown", "ends_at": "2027-02-03T10:00:00Z", "label": "` + bad + `"}`)
	_, err := w.Content.UpdateAISite(t.Context(), w.account, a.ID, func(d *content.AISiteDraft) { d.Name = strings.ReplaceAll(bad, `\`, "") })
	require.NoError(t, err)
	page := w.visit(a.URL)
	assert.Contains(t, page, "&lt;script&gt;")
	assert.NotRegexp(t, `<(script|img src=x)`, page)
	bare := regexp.MustCompile(`"[^"]*"`).ReplaceAllString(page, `""`) // no value of an attribute ends early
	for _, tag := range regexp.MustCompile(`<[a-z][^>]*>`).FindAllString(bare, -1) {
		assert.Regexp(t, `^<[a-z0-9]+( [a-z-]+="")*>$`, tag)
		assert.NotRegexp(t, `\son[a-z]+=`, tag, "an attribute that runs a script")
	}
}
