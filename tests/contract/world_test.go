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
	*conformance.World
	networks *ads.Service
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
	w := worldOf(s, s.Account(t))
	w.settle(t)
	return w
}

// worldOf returns the world of an account before there is anything in it.
func worldOf(s *harness.Server, c *harness.Client) *world {
	w := &world{World: &conformance.World{Client: c, Document: conformance.Promised(), Hooks: s.Hooks.URL}, networks: s.Ads}
	w.SentLetter = w.sentLetter
	return w
}

// settle makes the objects of the sales in the account, which may have some of others already.
func (w *world) settle(t testing.TB) {
	t.Helper()
	w.IDs, w.Slugs, w.ExternalID = map[string]string{}, map[string]string{}, "ext-"+unique()
	w.Form, w.FormFrom = formOf(t, w.Client, w.Account)
	w.make(t, "we", "/v1/webhook_endpoints", map[string]any{"url": w.Hooks, "enabled_events": []string{"order.paid"}})
	customer := w.make(t, "cus", "/v1/customers", map[string]any{"email": unique() + "@example.com", "external_id": w.ExternalID})
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
	w.Slugs["prod"] = product["slug"].(string)
	w.IDs["price"] = product["price_variants"].([]any)[0].(string)
	w.make(t, "clink", "/v1/checkout_links", map[string]any{"price_variants": []any{w.IDs["sold price"]}})
	w.subscribe(t)
	w.bill(t)
	w.make(t, "key", "/v1/auth/keys", map[string]any{"name": "spare", "scopes": []string{"products:read"}})
	w.make(t, "site", "/v1/ai_sites", map[string]any{"name": "first", "subdomain": "a" + unique()})
	page := map[string]any{"blocks": []any{map[string]any{"type": "hero", "heading": "Second"}}}
	site := w.make(t, "site", "/v1/ai_sites", map[string]any{"name": "second", "subdomain": "b" + unique(), "domain": unique() + ".example", "content": page})
	w.Slugs["site"] = site["subdomain"].(string)
	post := w.make(t, "post", "/v1/blog_posts", map[string]any{"title": "First", "slug": "first-" + unique(), "body": "Hello", "status": "published", "access": "product", "product": w.IDs["sold"]})
	w.Slugs["post"] = post["slug"].(string)
	legal := w.make(t, "legal", "/v1/legal_pages", map[string]any{"kind": "custom", "title": "Rules", "slug": "rules-" + unique(), "body": "Be kind", "status": "published"})
	w.Slugs["legal"] = legal["slug"].(string)
	experience := w.make(t, "exp", "/v1/experiences", map[string]any{
		"name": "Club", "slug": "club-" + unique(), "type": "link", "content": map[string]any{"url": "https://club.example.com"}, "status": "published",
	})
	w.Slugs["exp"] = experience["slug"].(string)
	w.announce(t)
	w.archive(t)
	w.make(t, "grant", "/v1/grants", map[string]any{"customer": w.IDs["cus"], "product": w.IDs["sold"]})
	w.IDs["letter"] = w.first(t, "/v1/letters", nil)
	w.IDs["sitever"] = w.first(t, "/v1/ai_sites/"+w.IDs["site"]+"/versions", nil)
	w.IDs["log"] = w.first(t, "/v1/activity", nil)
	w.sellKeys(t)
	w.upload(t)
	w.fill(t)
}

// announce makes news that waits for its day, unless the account has some: it may make a few a day.
func (w *world) announce(t testing.TB) {
	t.Helper()
	for _, n := range w.Must(t, http.MethodGet, "/v1/product_news", nil)["data"].([]any) {
		if n := n.(map[string]any); n["status"] == "scheduled" || n["status"] == "canceled" {
			w.IDs["pnw"] = n["id"].(string)
			return
		}
	}
	w.make(t, "pnw", "/v1/product_news", map[string]any{
		"product": w.IDs["sold"], "subject": "Soon", "body": "Soon.", "audience": "buyers", "send_at": time.Now().AddDate(0, 0, 300).UTC().Format(time.RFC3339),
	})
}

// archive makes what cannot be unarchived unless it is archived.
func (w *world) archive(t testing.TB) {
	t.Helper()
	for path, body := range map[string]map[string]any{
		"/v1/blog_posts": {"title": "Old"}, "/v1/experiences": {"name": "Old", "type": "link"}, "/v1/legal_pages": {"kind": "custom", "title": "Old"},
	} {
		w.make(t, "archived "+path, path, body)
		w.Must(t, http.MethodPost, path+"/"+w.IDs["archived "+path]+"/archive", nil)
	}
}

// upload makes files whose bytes are there, of which one gets no other version and is delivered.
func (w *world) upload(t testing.TB) {
	t.Helper()
	for _, name := range []string{"whole file", "file"} {
		made := w.make(t, name, "/v1/files", map[string]any{"name": "Course.zip", "size": 5})
		sendBytes(t, w.Client, made["upload"].(map[string]any)["url"].(string), "hello")
		w.Must(t, http.MethodPost, "/v1/files/"+w.IDs[name]+"/complete", nil)
	}
	w.IDs["fver"] = w.first(t, "/v1/files/"+w.IDs["file"]+"/versions", nil)
	w.Must(t, http.MethodPatch, "/v1/products/"+w.IDs["sold"], map[string]any{"deliverables": []any{map[string]any{"type": "file", "ref": w.IDs["whole file"]}}})
}

// fill makes an object of every other resource that can be made, from the example of the specification.
func (w *world) fill(t testing.TB) {
	t.Helper()
	for _, op := range harness.Operations() {
		prefix := listed(op)
		if op.Method == http.MethodPost && prefix != "" && w.IDs[prefix] == "" && !strings.HasPrefix(op.Scope, "ads:") {
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
	w.IDs[prefix] = object["id"].(string)
	return object
}

// with returns the same world seen through another key.
func (w *world) with(key string) *world {
	known := *w.World
	known.Client = w.As(key)
	other := &world{World: &known, networks: w.networks}
	other.SentLetter = other.sentLetter
	return other
}

// unique returns a short text that no other call returns, fit for slugs and addresses.
func unique() string { return conformance.Unique() }

// randomID returns a well-formed id that names nothing.
func randomID(prefix string) string { return conformance.RandomID(prefix) }
