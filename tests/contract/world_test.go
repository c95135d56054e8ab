package contract

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

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
}

// newWorld fills a new account. It spends about forty requests of the key's quota.
func newWorld(t testing.TB, s *harness.Server) *world {
	t.Helper()
	w := newWorldOfSales(t, s)
	w.advertise(t)
	return w
}

// newWorldFor fills a new account with what an operation needs: ads only for those of ads.
func newWorldFor(t testing.TB, s *harness.Server, op *harness.Operation) *world {
	t.Helper()
	if strings.HasPrefix(op.Scope, "ads:") {
		return newWorld(t, s)
	}
	return newWorldOfSales(t, s)
}

func newWorldOfSales(t testing.TB, s *harness.Server) *world {
	t.Helper()
	w := &world{Client: s.Account(t), hooks: s.Hooks.URL}
	w.settle(t)
	return w
}

// settle makes the objects of the sales in the account, which may have some of others already.
func (w *world) settle(t testing.TB) {
	t.Helper()
	w.ids, w.slugs, w.externalID = map[string]string{}, map[string]string{}, "ext-"+unique()
	w.make(t, "we", "/v1/webhook_endpoints", map[string]any{"url": w.hooks, "enabled_events": []string{"order.paid"}})
	w.make(t, "cus", "/v1/customers", map[string]any{"email": unique() + "@example.com", "external_id": w.externalID})
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
	site := w.make(t, "site", "/v1/ai_sites", map[string]any{"name": "second", "subdomain": "b" + unique()})
	w.slugs["site"] = site["subdomain"].(string)
	w.fill(t)
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

// advertise activates two channels, and makes an ad and an audience on one of them.
func (w *world) advertise(t testing.TB) {
	t.Helper()
	agency := w.make(t, "agency", "/v1/socials", map[string]any{"platform": "tiktok"})
	w.Must(t, http.MethodPost, "/v1/socials/activate", map[string]any{"account_id": agency["id"]})
	w.ids["bc"] = w.first(t, "/v1/ads/business-centers?account_id="+w.ids["agency"], nil)
	channel := w.make(t, "sacct", "/v1/socials", map[string]any{"platform": "facebook"})
	w.Must(t, http.MethodPost, "/v1/socials/activate", map[string]any{"account_id": channel["id"]})
	w.ids["ad_account"] = w.first(t, "/v1/ads/ad-accounts?account_id="+w.ids["sacct"], func(a map[string]any) bool { return a["selectable"] == true && a["currency"] == "usd" })
	w.ids["spost"] = w.first(t, "/v1/socials/"+w.ids["sacct"]+"/posts", func(p map[string]any) bool { return p["status"] == "published" })
	ad := w.make(t, "ad", "/v1/ads", w.own(harness.ByID("createAd"), "", harness.ByID("createAd").Example()).(map[string]any))
	w.ids["campaign"], w.ids["ad_group"] = ad["campaign_id"].(string), ad["ad_group_id"].(string)
	w.make(t, "aud", "/v1/ads/audiences", map[string]any{
		"account_id": w.ids["sacct"], "ad_account_id": w.ids["ad_account"], "name": "Buyers", "type": "customer_list",
	})
	w.ids["adact"] = w.first(t, "/v1/ads/actions", nil)
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

// sell makes one order, with a saved payment method and a refund of a part that stays pending, and leaves a second, open
// checkout.
func (w *world) sell(t testing.TB) {
	t.Helper()
	sold := w.Must(t, http.MethodPost, "/v1/products", map[string]any{
		"name": "Sold", "status": "active", "price_variants": []any{map[string]any{"amount": 1900, "currency": "usd"}},
	})
	w.ids["sold price"] = sold["price_variants"].([]any)[0].(string)
	lines := []any{map[string]any{"price_variant": w.ids["sold price"]}}
	w.code = "CODE-" + unique()
	w.make(t, "disc", "/v1/discounts", map[string]any{"code": w.code, "type": "percent", "percent_bps": 1000})
	paid := w.make(t, "chk", "/v1/checkouts", map[string]any{"customer": w.ids["cus"], "discount_code": w.code, "line_items": lines})
	paid = w.Must(t, http.MethodPost, "/v1/checkouts/"+paid["id"].(string)+"/confirm", map[string]any{
		"payment_method": "pm_card_pendingRefund", "save_payment_method": true,
	})
	w.ids["pm"] = w.first(t, "/v1/customers/"+w.ids["cus"]+"/payment_methods", nil)
	w.make(t, "psess", "/v1/customers/"+w.ids["cus"]+"/portal_sessions", map[string]any{})
	w.ids["order"] = paid["order"].(string)
	w.ids["pay"] = w.Must(t, http.MethodGet, "/v1/orders/"+w.ids["order"], nil)["payments"].([]any)[0].(string)
	w.make(t, "re", "/v1/refunds", map[string]any{"order": w.ids["order"], "amount": 500})
	w.ids["redm"] = w.first(t, "/v1/discounts/"+w.ids["disc"]+"/redemptions", nil)
	open := w.make(t, "chk", "/v1/checkouts", map[string]any{"customer_email": unique() + "@example.com", "line_items": lines})
	w.secret = open["client_secret"].(string)
}

// bill issues an invoice, whose order is pending, and leaves a draft.
func (w *world) bill(t testing.TB) {
	t.Helper()
	invoice := map[string]any{
		"customer": w.ids["cus"], "due_at": "2099-12-31T00:00:00.000Z", "finalize": true,
		"lines": []any{map[string]any{"description": "Workshop", "unit_amount": 120000}},
	}
	issued := w.make(t, "inv", "/v1/invoices", invoice)
	w.ids["issued invoice"], w.ids["pending order"] = issued["id"].(string), issued["order"].(string)
	delete(invoice, "finalize")
	w.ids["li"] = w.make(t, "inv", "/v1/invoices", invoice)["lines"].([]any)[0].(string)
}

// hear waits until the endpoint has been told of the order, so that nothing moves by itself any more.
func (w *world) hear(t testing.TB) {
	t.Helper()
	path := "/v1/webhook_endpoints/" + w.ids["we"] + "/deliveries?status=succeeded"
	for i := range 300 { // in over a minute, and with half of the key's quota at most
		if deliveries := w.Must(t, http.MethodGet, path, nil)["data"].([]any); len(deliveries) == 1 {
			delivery := deliveries[0].(map[string]any)
			w.ids["whd"], w.ids["whev"] = delivery["id"].(string), delivery["event"].(string)
			return
		}
		time.Sleep(min(time.Duration(i+1)*5, 250) * time.Millisecond)
	}
	t.Fatal("the order was not delivered")
}

// subscribe makes two subscriptions, of which the first is going to pause and to end with its period.
func (w *world) subscribe(t testing.TB) {
	t.Helper()
	product := w.Must(t, http.MethodPost, "/v1/products", map[string]any{
		"name": "Club", "status": "active", "price_variants": []any{map[string]any{"type": "recurring", "interval": "month", "interval_count": 1, "amount": 900, "currency": "usd"}},
	})
	w.ids["recurring price"] = product["price_variants"].([]any)[0].(string)
	other := w.Must(t, http.MethodPost, "/v1/customers", map[string]any{"email": unique() + "@example.com"}) // who has one is not deleted
	member := map[string]any{"customer": other["id"], "price_variant": w.ids["recurring price"], "payment_method": "pm_card_visa"}
	w.make(t, "sub", "/v1/subscriptions", member)
	w.ids["ending sub"] = w.ids["sub"]
	w.Must(t, http.MethodPost, "/v1/subscriptions/"+w.ids["sub"]+"/pause", map[string]any{})
	w.Must(t, http.MethodPatch, "/v1/subscriptions/"+w.ids["sub"], map[string]any{"cancel_at_period_end": true})
	w.make(t, "sub", "/v1/subscriptions", member)
}

// make creates an object and remembers its id under its prefix.
func (w *world) make(t testing.TB, prefix, path string, body map[string]any) map[string]any {
	t.Helper()
	object := w.Must(t, http.MethodPost, path, body)
	w.ids[prefix] = object["id"].(string)
	return object
}

// resources maps the segment of a path to the prefix of the ids below it. The specification says it by the pattern of the id that
// a GET answers with; of those that have none it is said here.
var resources = func() map[string]string {
	prefixes := map[string]string{
		"payments": "pay",
		"ads":      "ad", "ad-accounts": "ad_account", "ad-groups": "ad_group", "campaigns": "campaign", "business-centers": "bc",
	}
	for _, op := range harness.Operations() {
		if prefix := op.AnsweredPrefix(); prefix != "" {
			path := strings.TrimSuffix(op.Path, "/{id}")
			prefixes[path[strings.LastIndex(path, "/")+1:]] = prefix
		}
	}
	return prefixes
}()

// networkKinds are the prefixes in resources of ids that are a network's own and have none.
var networkKinds = []string{"ad", "ad_account", "ad_group", "campaign", "bc"}

// parameter returns the world's own value for a path parameter of the operation.
func (w *world) parameter(op *harness.Operation, name string) string {
	switch {
	case op.ID == "uncancelSubscription" || op.ID == "resumeSubscription":
		return w.ids["ending sub"]
	}
	switch name {
	case "client_secret":
		return w.secret
	case "payment_method":
		return w.ids["pm"]
	case "portal_session":
		return w.ids["psess"]
	case "external_id":
		return w.externalID
	}
	switch op.ID {
	case "payInvoice", "sendInvoice", "voidInvoice", "markInvoiceUncollectible":
		return w.ids["issued invoice"]
	case "voidOrder":
		return w.ids["pending order"]
	}
	id := w.ids[prefixOf(op)]
	if id == "" {
		panic(fmt.Sprintf("%s: the world has nothing for {%s}: add it to newWorld", op.ID, name))
	}
	return id
}

// prefixOf returns the prefix of the id that the operation's path carries.
func prefixOf(op *harness.Operation) string {
	before, _, _ := strings.Cut(op.Path, "/{")
	return resources[before[strings.LastIndex(before, "/")+1:]]
}

// path fills the operation's path with the world's own values, or with those given by name.
func (w *world) path(op *harness.Operation, instead ...string) string {
	path := op.Path
	for i := 0; i+1 < len(instead); i += 2 {
		path = strings.ReplaceAll(path, "{"+instead[i]+"}", instead[i+1])
	}
	for _, name := range op.PathParameters() {
		if strings.Contains(path, "{"+name+"}") {
			path = strings.ReplaceAll(path, "{"+name+"}", w.parameter(op, name))
		}
	}
	return path
}

// at is the operation's path with a query, and with the parameters that it needs besides.
func (w *world) at(op *harness.Operation, query string) string {
	sent, _ := url.ParseQuery(query)
	needed := url.Values{}
	for _, p := range op.QueryParameters() {
		if p.Required && !sent.Has(p.Name) {
			needed.Set(p.Name, w.needed(op, p.Name))
		}
	}
	if query != "" && len(needed) > 0 {
		query += "&"
	}
	if query += needed.Encode(); query == "" {
		return w.path(op)
	}
	return w.path(op) + "?" + query
}

// needed returns the world's own value for a query parameter that the operation requires.
func (w *world) needed(op *harness.Operation, name string) string {
	switch op.ID {
	case "listBusinessCenters":
		return w.ids["agency"]
	case "lookupDiscount":
		return w.code
	}
	return w.ids[fields[name]]
}

var anID = regexp.MustCompile(`^([a-z]+)_[0-9a-hjkmnp-tv-z]{26}$`)

// body returns the specification's example with the world's own ids in it, nil (untyped) for an operation without one.
func (w *world) body(op *harness.Operation) any {
	example := op.Example()
	if example == nil {
		return nil
	}
	return w.own(op, "", example)
}

// own replaces every example id by the world's own, and the example receiver of webhooks by one that is there. field is
// where the value stands.
func (w *world) own(op *harness.Operation, field string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			v[name] = w.own(op, name, v[name])
		}
	case []any:
		for i := range v {
			v[i] = w.own(op, field, v[i])
		}
	case string:
		if field == "from" { // who is merged into the customer
			return w.ids["double"]
		}
		if field == "ad_account_id" || field == "campaigns" {
			return w.ids[strings.TrimSuffix(strings.TrimSuffix(field, "_id"), "s")]
		}
		if strings.HasPrefix(v, "https://example.com/") && strings.Contains(op.Path, "webhook") {
			return w.hooks
		}
		if id := anID.FindStringSubmatch(v); id != nil {
			if id[1] == "price" && strings.Contains(op.Path, "/subscriptions") {
				return w.ids["recurring price"]
			}
			if id[1] == "price" { // what a checkout sells must be on sale
				return w.ids["sold price"]
			}
			return w.ids[id[1]]
		}
	}
	return v
}

// send sends the operation's example request.
func (w *world) send(t testing.TB, op *harness.Operation, headers ...string) *harness.Response {
	t.Helper()
	return w.Do(t, op.Method, w.at(op, ""), w.body(op), headers...)
}

// with returns the same world seen through another key.
func (w *world) with(key string) *world {
	other := *w
	other.Client = w.As(key)
	return &other
}

// unique returns a short text that no other call returns, fit for slugs and addresses.
func unique() string { return strings.ToLower(rand.Text())[:16] }

// randomID returns a well-formed id that names nothing.
func randomID(prefix string) string {
	const digits = "0123456789abcdefghjkmnpqrstvwxyz"
	b := make([]byte, 26)
	_, _ = rand.Read(b)
	for i := range b {
		b[i] = digits[b[i]&31]
	}
	b[0] = '0' + b[0]&7 // 26 characters carry 130 bits, an id has 128
	return prefix + "_" + string(b)
}
