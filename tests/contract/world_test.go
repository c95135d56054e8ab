package contract

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/tests/conformance"
	"github.com/tillwright/tillwright/tests/harness"
)

// world is one account with an object of every kind in it, in the state in which most operations succeed.
type world struct {
	*harness.Client
	ids        map[string]string // prefix -> id, e.g. "prod" -> prod_...
	slugs      map[string]string // prefix -> the slug that serves in the place of the id
	secret     string            // the open checkout's client_secret
	externalID string            // a customer's
	hooks      string            // a URL that takes webhooks
	code       string            // a discount's
	license    string            // a licence key's
	form       string            // a token for forms, which works from
	formFrom   time.Time
	bidding    string // a campaign that bids, instead of its ad groups
	networks   *ads.Service
}

// newWorld fills a new account. It spends about forty requests of the key's quota.
func newWorld(t testing.TB, s *harness.Server) *world {
	t.Helper()
	w := newWorldOfSales(t, s)
	w.advertise(t)
	return w
}

// newWorldOfSales fills a new account with all but ads.
func newWorldOfSales(t testing.TB, s *harness.Server) *world {
	t.Helper()
	w := &world{Client: s.Account(t), hooks: s.Hooks.URL, networks: s.Ads}
	w.settle(t)
	return w
}

// settle makes the objects of the sales in the account, which may have some of others already.
func (w *world) settle(t testing.TB) {
	t.Helper()
	w.ids, w.slugs, w.externalID = map[string]string{}, map[string]string{}, "ext-"+unique()
	w.form, w.formFrom = formOf(t, w.Client, w.Account)
	w.make(t, "we", "/v1/webhook_endpoints", map[string]any{"url": w.hooks, "enabled_events": []string{"order.paid"}})
	customer := w.make(t, "cus", "/v1/customers", map[string]any{"email": unique() + "@example.com", "external_id": w.externalID})
	w.make(t, "lead", "/v1/leads", map[string]any{"email": customer["email"]}) // whom the first order converts
	w.make(t, "lead", "/v1/leads", map[string]any{"email": unique() + "@example.com"})
	w.make(t, "double", "/v1/customers", map[string]any{"email": unique() + "@example.com"})
	w.sell(t)
	w.hear(t)
	product := w.make(t, "prod", "/v1/products", map[string]any{
		"name": "Unsold", "slug": "unsold-" + unique(),
		"price_variants": []any{
			map[string]any{"amount": 1900, "currency": "usd"},
			map[string]any{"amount": 2900, "currency": "usd"},
		},
	})
	w.slugs["prod"] = product["slug"].(string)
	w.ids["price"] = product["price_variants"].([]any)[0].(string)
	w.make(t, "clink", "/v1/checkout_links", map[string]any{"price_variants": []any{w.ids["sold price"]}})
	w.subscribe(t)
	w.bill(t)
	w.make(t, "key", "/v1/auth/keys", map[string]any{"name": "spare", "scopes": []string{"products:read"}})
	w.make(t, "site", "/v1/ai_sites", map[string]any{"name": "first", "subdomain": "a" + unique()})
	page := map[string]any{"blocks": []any{map[string]any{"type": "hero", "heading": "Second"}}}
	site := w.make(t, "site", "/v1/ai_sites", map[string]any{"name": "second", "subdomain": "b" + unique(), "domain": unique() + ".example", "content": page})
	w.slugs["site"] = site["subdomain"].(string)
	post := w.make(t, "post", "/v1/blog_posts", map[string]any{"title": "First", "slug": "first-" + unique(), "body": "Hello", "status": "published", "access": "product", "product": w.ids["sold"]})
	w.slugs["post"] = post["slug"].(string)
	legal := w.make(t, "legal", "/v1/legal_pages", map[string]any{"kind": "custom", "title": "Rules", "slug": "rules-" + unique(), "body": "Be kind", "status": "published"})
	w.slugs["legal"] = legal["slug"].(string)
	experience := w.make(t, "exp", "/v1/experiences", map[string]any{
		"name": "Club", "slug": "club-" + unique(), "type": "link", "content": map[string]any{"url": "https://club.example.com"}, "status": "published",
	})
	w.slugs["exp"] = experience["slug"].(string)
	w.archive(t)
	w.make(t, "grant", "/v1/grants", map[string]any{"customer": w.ids["cus"], "product": w.ids["sold"]})
	w.ids["letter"] = w.first(t, "/v1/letters", nil)
	w.ids["sitever"] = w.first(t, "/v1/ai_sites/"+w.ids["site"]+"/versions", nil)
	w.ids["log"] = w.first(t, "/v1/activity", nil)
	w.sellKeys(t)
	w.upload(t)
	w.fill(t)
}

// archive makes what cannot be unarchived unless it is archived.
func (w *world) archive(t testing.TB) {
	t.Helper()
	for path, body := range map[string]map[string]any{
		"/v1/blog_posts": {"title": "Old"}, "/v1/experiences": {"name": "Old", "type": "link"}, "/v1/legal_pages": {"kind": "custom", "title": "Old"},
	} {
		w.make(t, "archived "+path, path, body)
		w.Must(t, http.MethodPost, path+"/"+w.ids["archived "+path]+"/archive", nil)
	}
}

// upload makes files whose bytes are there, of which one gets no other version and is delivered.
func (w *world) upload(t testing.TB) {
	t.Helper()
	for _, name := range []string{"whole file", "file"} {
		made := w.make(t, name, "/v1/files", map[string]any{"name": "Course.zip", "size": 5})
		sendBytes(t, w.Client, made["upload"].(map[string]any)["url"].(string), "hello")
		w.Must(t, http.MethodPost, "/v1/files/"+w.ids[name]+"/complete", nil)
	}
	w.ids["fver"] = w.first(t, "/v1/files/"+w.ids["file"]+"/versions", nil)
	w.Must(t, http.MethodPatch, "/v1/products/"+w.ids["sold"], map[string]any{"deliverables": []any{map[string]any{"type": "file", "ref": w.ids["whole file"]}}})
}

// fill makes an object of every other resource that can be made, from the example of the specification.
func (w *world) fill(t testing.TB) {
	t.Helper()
	for _, op := range harness.Operations() {
		prefix := listed(op)
		if op.Method == http.MethodPost && prefix != "" && w.ids[prefix] == "" && !strings.HasPrefix(op.Scope, "ads:") {
			w.make(t, prefix, w.path(op), w.body(op).(map[string]any))
		}
	}
}

// first returns the id of the first item of a list that is wanted.
func (w *world) first(t testing.TB, path string, wanted func(map[string]any) bool) string {
	t.Helper()
	for _, item := range w.Must(t, http.MethodGet, path, nil)["data"].([]any) {
		if item := item.(map[string]any); wanted == nil || wanted(item) {
			return item["id"].(string)
		}
	}
	t.Fatalf("%s has nothing that fits", path)
	return ""
}

// make creates an object and remembers its id under its prefix.
func (w *world) make(t testing.TB, prefix, path string, body map[string]any) map[string]any {
	t.Helper()
	object := w.Must(t, http.MethodPost, path, body)
	w.ids[prefix] = object["id"].(string)
	return object
}

// with returns the same world seen through another key.
func (w *world) with(key string) *world {
	other := *w
	other.Client = w.As(key)
	return &other
}

// unique returns a short text that no other call returns, fit for slugs and addresses.
func unique() string { return conformance.Unique() }

// randomID returns a well-formed id that names nothing.
func randomID(prefix string) string { return conformance.RandomID(prefix) }
