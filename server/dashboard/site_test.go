package dashboard_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
	"github.com/tillwright/tillwright/tests/harness/markup"
)

// everyBlock returns content with a block of each kind, which has the text wherever there may be one.
func everyBlock(t *testing.T, text, product string) sdk.AISiteContent {
	t.Helper()
	quoted, err := json.Marshal(text)
	require.NoError(t, err)
	var c sdk.AISiteContent
	require.NoError(t, json.Unmarshal([]byte(strings.NewReplacer("TEXT", string(quoted), "PRODUCT", product).Replace(`{"theme": {"accent": "#ffee00", "mode": "auto"}, "blocks": [
		{"type": "hero", "heading": TEXT, "text": TEXT, "image_url": "https://example.com/a.png", "button": {"label": "Write", "url": "mailto:ada@example.com"}},
		{"type": "text", "markdown": TEXT}, {"type": "links", "items": [{"label": "Write", "url": "tel:+15550100"}]}, {"type": "products", "products": ["PRODUCT"], "limit": 3}, {"type": "posts", "tag": "craft", "limit": 2},
		{"type": "image", "url": "https://example.com/b.png", "alt": TEXT, "caption": TEXT}, {"type": "video", "url": "https://youtu.be/abc"}, {"type": "testimonials", "items": [{"quote": TEXT, "name": "Grace"}]},
		{"type": "faq", "items": [{"question": TEXT, "answer": TEXT}, {"question": "Why?", "answer": TEXT}]}, {"type": "lead_form", "heading": TEXT, "text": TEXT, "product": "PRODUCT", "consent_text": TEXT},
		{"type": "countdown", "label": "Launch", "ends_at": "2027-02-03T10:00:00.000Z", "hidden": true}]}`)), &c))
	return c
}

// presses sends the form of a page with some fields filled in, and returns where that leads.
func presses(t *testing.T, p *harness.Person, at, button string, fields ...string) string {
	t.Helper()
	path, _, _ := strings.Cut(at, "#")
	action, form := markup.Form(t, sees(t, p, path), button)
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	if action == "" {
		action = path
	}
	return sends(t, p, action, form)
}

// at returns where the test's server has a public page.
func (w *world) at(address string) string {
	return strings.Replace(address, "http://shop.test", w.URL, 1)
}

// visits returns a public page.
func visits(t *testing.T, address string) string {
	t.Helper()
	response, err := http.Get(address)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode, address+string(text))
	return string(text)
}

func TestSites_AreMadeOfBlocksAndPublished(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		sees(t, w.owner, "/app", `href="/app/sites"`)
		sees(t, w.owner, "/app/sites", "There is none yet.", "New site")
		status, page := w.owner.Post("/app/sites/new", url.Values{"name": {""}, "subdomain": {"-"}})
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, page, "There is a problem")
		at := presses(t, w.owner, "/app/sites/new", "Create site", "name", "Ada <b>", "subdomain", "ada-ships")
		sees(t, w.owner, at, "Ada &lt;b&gt;</h1>", "Draft</span>", "/sites/ada-ships", `<option value="text">Text</option>`)
		sees(t, w.owner, "/app/sites", "Ada &lt;b&gt;", "/sites/ada-ships")
		status, page = w.owner.Post(at, url.Values{"name": {"Ada"}, "subdomain": {""}})
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, page, `href="#subdomain"`)
		require.NotContains(t, page, `value="ada-ships"`, "it shows what was sent")

		to := presses(t, w.owner, at, "Add block", "add", "text")
		require.Equal(t, at+"?add=text#block-1", to)
		const written = "    code\n\n**Ships** & <script>alert(1)</script>"
		require.Equal(t, at, presses(t, w.owner, to, "Save", "content.blocks.0.markdown", strings.ReplaceAll(written, "\n", "\r\n")))
		s, err := w.api.SDK().AISites.Get(t.Context(), "ada-ships")
		require.NoError(t, err)
		require.Equal(t, written, *s.Content.Blocks[0].Markdown)
		require.False(t, s.IsLive)
		response, err := http.Get(w.at(s.URL))
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, http.StatusNotFound, response.StatusCode, "nobody sees a draft")

		presses(t, w.owner, at, "Publish", "content.blocks.0.markdown", "*Sails*")
		sees(t, w.owner, at, "The site is live.", "Live</span>", `href="`+s.URL+`"`)
		require.Contains(t, visits(t, w.at(s.URL)), "<em>Sails</em>")
		presses(t, w.owner, at, "Save", "content.blocks.0.markdown", "*Oars*")
		sees(t, w.owner, at, "Live, with changes to publish")
		require.Contains(t, visits(t, w.at(s.URL)), "<em>Sails</em>")
		presses(t, w.owner, at, "Publish")
		require.Contains(t, visits(t, w.at(s.URL)), "<em>Oars</em>")

		presses(t, w.owner, at, "Unpublish")
		sees(t, w.owner, at, "Draft</span>")
		presses(t, w.owner, at, "Remove")
		sees(t, w.owner, at, "As long as it has no blocks")
		sees(t, w.owner, at+"/delete", "your default site")
		other := presses(t, w.owner, "/app/sites/new", "Create site", "name", "Other")
		presses(t, w.owner, other, "Make it the default site")
		require.Equal(t, "/app/sites", presses(t, w.owner, at+"/delete", "Delete site"))
		status, _ = w.owner.Get(at)
		require.Equal(t, http.StatusNotFound, status)
	})
}

// A block of each kind comes out of the editor as it went in, however often it is saved, and can be moved.
func TestSites_KeepEveryBlock(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		api := w.api.SDK()
		p, err := api.Products.Create(t.Context(), &sdk.ProductCreate{Name: "Unseen"})
		require.NoError(t, err)
		s, err := api.AISites.Create(t.Context(), &sdk.AISiteCreate{Name: "Ada", Content: new(everyBlock(t, "</textarea><b>&\"'", p.ID))})
		require.NoError(t, err)
		at := "/app/sites/" + s.ID
		presses(t, w.owner, at, "Save")
		after, err := api.AISites.Get(t.Context(), s.ID)
		require.NoError(t, err)
		require.Equal(t, s.Content, after.Content)

		presses(t, w.owner, at, "Move down") // the first one's
		after, err = api.AISites.Get(t.Context(), s.ID)
		require.NoError(t, err)
		slices.Reverse(s.Content.Blocks[:2])
		require.Equal(t, s.Content, after.Content)
		require.Equal(t, "block-2", *after.Content.Blocks[0].ID, "forms go on leading to their block")
		presses(t, w.owner, at, "Move up")
		after, err = api.AISites.Get(t.Context(), s.ID)
		require.NoError(t, err)
		require.Equal(t, "block-1", *after.Content.Blocks[0].ID)
	})
}

// Whatever is wrong is said at its field, and all that was typed is still there.
func TestSites_LoseNothingThatWasTyped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database.URL(t, "sqlite"))
	at := presses(t, w.owner, "/app/sites/new", "Create site", "name", "Ada")
	for _, kind := range []string{"hero", "text", "links", "products", "posts", "image", "video", "testimonials", "faq", "lead_form", "countdown"} {
		sees(t, w.owner, at+"?add="+kind, `value="`+kind+`"`)
		form := url.Values{"do": {"add"}, "add": {"text"}, "name": {"Ada"}, "content.blocks.0.type": {kind}}
		for field, value := range map[string]string{
			"heading": "A heading", "limit": "many", "url": "no-address", "image_url": "http://plain.example", "button.label": "Press", "button.url": "javascript:x", "alt": "", "ends_at": "tomorrow", "label": "A label",
			"items.3.label": "A label", "items.3.quote": "A quote", "items.3.question": "A question",
		} {
			form.Set("content.blocks.0."+field, value)
		}
		if kind == "lead_form" {
			form.Set("content.blocks.0.heading", "")
			form.Set("content.blocks.0.consent_text", "Write to me")
		}
		status, page := w.owner.Post(at, form)
		require.Equal(t, http.StatusUnprocessableEntity, status, kind)
		require.Contains(t, page, `aria-invalid="true"`, kind)
		require.Contains(t, page, `id="block-2"`, "the new block is there nevertheless")
		var kept []string
		for _, node := range markup.Elements(t, page) {
			if name := markup.Attribute(node, "name"); strings.HasPrefix(name, "content.blocks.0.") && node.Data == "input" {
				kept = append(kept, markup.Attribute(node, "value"))
			}
		}
		want := map[string][]string{"hero": {"A heading", "http://plain.example", "Press", "javascript:x"}, "products": {"many"}, "posts": {"many"}, "image": {"no-address"}, "video": {"no-address"}, "lead_form": {"Write to me"}, "countdown": {"tomorrow", "A label"}, "links": {"A label"}, "faq": {"A question"}}
		assert.Subset(t, kept, want[kind], kind)
	}
}

// Too many blocks cost no more than those that a site may have, and none is lost because nobody knows the one before it.
func TestSites_RefuseFormsThatNoEditorSends(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database.URL(t, "sqlite"))
	at := presses(t, w.owner, "/app/sites/new", "Create site", "name", "Ada")
	many := url.Values{"do": {"save"}, "name": {"Ada"}}
	for i := range 5000 {
		many.Set(fmt.Sprintf("content.blocks.%d.type", i), "faq")
	}
	status, page := w.owner.Post(at, many)
	require.Equal(t, http.StatusUnprocessableEntity, status)
	assert.Less(t, len(page), 1<<20)
	assert.Contains(t, page, "at most 100")

	status, page = w.owner.Post(at, url.Values{
		"do": {"save"}, "name": {"Ada"}, "content.blocks.0.type": {"header"}, "content.blocks.1.type": {"text"}, "content.blocks.1.markdown": {"Kept"},
	})
	require.Equal(t, http.StatusUnprocessableEntity, status)
	assert.Contains(t, page, "unknown kind")
}

func TestSites_AreReadByWhoMayChangeNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, database.URL(t, "sqlite"))
	at := presses(t, w.owner, "/app/sites/new", "Create site", "name", "Ada")
	presses(t, w.owner, presses(t, w.owner, at, "Add block", "add", "text"), "Save", "content.blocks.0.markdown", "About ships")
	for _, role := range []person.Role{person.RoleReadOnly, person.RoleSupport, person.RoleDeveloper} {
		p := w.Member(t, w.api.Account, role)
		page := sees(t, p, at, "About ships") + sees(t, p, at+"/domain") + sees(t, p, "/app/sites", "Ada")
		for _, absent := range []string{"Publish", "New site", "Delete", "Add block", `name="domain"`} {
			require.NotContains(t, page, absent+"<", role)
		}
	}
}

func TestSites_HaveADomainWithItsRecords(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		at := presses(t, w.owner, "/app/sites/new", "Create site", "name", "Ada")
		status, page := w.owner.Post(at+"/domain", url.Values{"domain": {"not a domain"}})
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, page, `value="not a domain"`)
		presses(t, w.owner, at+"/domain", "Save", "domain", "Shop.Ada.example")
		sees(t, w.owner, at+"/domain", "_tillwright.shop.ada.example", "tillwright-site=", "CNAME", "Waits for its record")
		sees(t, w.owner, "/app/sites", "shop.ada.example", "Waits for its record")
		presses(t, w.owner, at+"/domain", "Check again")
		sees(t, w.owner, at+"/domain", "Looked last", `class="note bad"`)
		presses(t, w.owner, at+"/domain", "Save", "domain", "")
		require.NotContains(t, sees(t, w.owner, at+"/domain"), "Check again")
	})
}
