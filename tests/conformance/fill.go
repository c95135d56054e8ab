package conformance

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// removal returns the operation that takes away what an operation makes: it deletes it, or ends it. Nil if there is none.
func (o *Operation) removal() *Operation {
	one := o.Path + "/{id}"
	for _, way := range []struct{ method, path string }{
		{http.MethodDelete, one}, {http.MethodPost, one + "/archive"}, {http.MethodPost, one + "/expire"}, {http.MethodPost, one + "/revoke"},
	} {
		for _, op := range o.document.Operations {
			if op.Method == way.method && op.Path == way.path {
				return op
			}
		}
	}
	return nil
}

// builder makes a world by HTTP, and takes it away again.
type builder struct {
	*Subject
	t     T
	mu    sync.Mutex
	made  []string // the paths of what was made, in its order
	notes []string // what could not be made, or not be taken away
}

// make creates an object. It returns nil if the server refuses that, which is noted.
func (b *builder) make(name, path string, body map[string]any) map[string]any {
	resp, err := b.Try(http.MethodPost, path, body)
	if err != nil || resp.Status >= 300 {
		what := fmt.Sprint(err)
		if err == nil {
			what = fmt.Sprint(resp.Status, " ", resp.faultCode())
		}
		b.notes = append(b.notes, fmt.Sprintf("no %s was made for the checks: POST %s was answered %s", name, path, what))
		return nil
	}
	object := resp.Object(b.t)
	if id, ok := object["id"].(string); ok {
		b.IDs[name] = id
	}
	return object
}

// safely does something of which an answer may be nonsense. It goes as far as it can.
func (b *builder) safely(do func()) { b.t.Run("", func(T) { do() }) }

// build makes what the checks send: drafts and the like, which nobody else sees, and nothing that costs or is sent.
func (b *builder) build() {
	w := b.World
	email := func() string { return "conformance-" + Unique() + "@example.com" }
	w.ExternalID = "ext-" + Unique()
	w.Hooks = "https://example.com/conformance"
	b.make("we", "/v1/webhook_endpoints", map[string]any{"url": w.Hooks, "enabled_events": []string{"order.paid"}, "status": "inactive"})
	b.make("cus", "/v1/customers", map[string]any{"email": email(), "name": b.Mark(), "external_id": w.ExternalID})
	b.make("double", "/v1/customers", map[string]any{"email": email(), "name": b.Mark()})
	b.make("lead", "/v1/leads", map[string]any{"email": email(), "name": b.Mark()})
	price := map[string]any{"amount": 1900, "currency": "usd"}
	if sold := b.make("sold", "/v1/products", map[string]any{"name": b.Mark(), "visibility": "unlisted", "status": "active", "price_variants": []any{price}}); sold != nil {
		w.IDs["sold price"] = fmt.Sprint(sold["default_price_variant"])
	}
	if product := b.make("prod", "/v1/products", map[string]any{"name": b.Mark(), "slug": "conformance-" + Unique(), "price_variants": []any{price, price}}); product != nil {
		w.Slugs["prod"] = fmt.Sprint(product["slug"])
		w.IDs["price"] = fmt.Sprint(product["default_price_variant"])
	}
	monthly := map[string]any{"type": "recurring", "interval": "month", "interval_count": 1, "amount": 900, "currency": "usd"}
	if club := b.make("club", "/v1/products", map[string]any{"name": b.Mark(), "visibility": "unlisted", "price_variants": []any{monthly}}); club != nil {
		w.IDs["recurring price"] = fmt.Sprint(club["default_price_variant"])
	}
	w.Code = "CONFORMANCE-" + strings.ToUpper(Unique())
	b.make("disc", "/v1/discounts", map[string]any{"code": w.Code, "name": b.Mark(), "type": "percent", "percent_bps": 1000})
	line := []any{map[string]any{"price_variant": w.IDs["sold price"]}}
	b.make("clink", "/v1/checkout_links", map[string]any{"price_variants": []any{w.IDs["sold price"]}, "active": false})
	for range 2 { // a walk needs two
		if open := b.make("chk", "/v1/checkouts", map[string]any{"customer_email": email(), "line_items": line}); open != nil {
			w.Secret = fmt.Sprint(open["client_secret"])
		}
	}
	b.make("inv", "/v1/invoices", map[string]any{"customer": w.IDs["cus"], "due_at": "2099-12-31T00:00:00.000Z", "lines": []any{map[string]any{"description": b.Mark(), "unit_amount": 1200}}})
	b.make("key", "/v1/auth/keys", map[string]any{"name": b.Mark(), "scopes": []string{"products:read"}})
	w.Found["site"] = b.first("/v1/ai_sites", nil)
	if b.lacksSite() {
		b.notes = append(b.notes, "no site was made for the checks: "+errNoSite.Error())
	} else if site := b.make("site", "/v1/ai_sites", map[string]any{"name": b.Mark(), "subdomain": "conformance-" + Unique()}); site != nil {
		w.Slugs["site"] = fmt.Sprint(site["subdomain"])
	}
	for path, body := range map[string]map[string]any{
		"/v1/blog_posts": {"title": b.Mark()}, "/v1/experiences": {"name": b.Mark(), "type": "link"}, "/v1/legal_pages": {"kind": "custom", "title": b.Mark()},
	} {
		if old := b.make("archived "+path, path, body); old != nil {
			_, _ = b.Try(http.MethodPost, path+"/"+w.IDs["archived "+path]+"/archive", nil)
		}
		prefix := b.Document.Prefixes[path[strings.LastIndex(path, "/")+1:]]
		body["slug"] = "conformance-" + Unique()
		if made := b.make(prefix, path, body); made != nil {
			w.Slugs[prefix] = fmt.Sprint(made["slug"])
		}
	}
	b.make("file", "/v1/files", map[string]any{"name": "conformance.txt", "size": 5})
	if lic := b.make("lic", "/v1/license_keys", map[string]any{"product": w.IDs["prod"], "customer": w.IDs["cus"]}); lic != nil {
		w.License = fmt.Sprint(lic["key"])
	}
	b.make("grant", "/v1/grants", map[string]any{"customer": w.IDs["cus"], "product": w.IDs["sold"]})
	b.advertise()
}

// find notes what the account has already: what a list shows first. Only what is read is asked of it.
func (b *builder) find() {
	w := b.World
	if resp, err := b.Try(http.MethodGet, "/v1/account", nil); err == nil && resp.Status == http.StatusOK {
		w.Account = fmt.Sprint(resp.Object(b.t)["id"])
	}
	lists := slices.DeleteFunc(slices.Clone(b.Document.Operations), func(op *Operation) bool {
		return !Gets(op) || op.Public || !op.AnswersList()
	})
	slices.SortStableFunc(lists, func(a, b *Operation) int { return len(a.PathParameters()) - len(b.PathParameters()) })
	for _, op := range lists {
		path, err := b.At(op, "")
		kind := op.Listed()
		if strings.HasSuffix(op.Path, "/versions") { // which have numbers
			kind = "version of " + op.Path
		}
		if err != nil || kind == "" || w.Found[kind] != "" || strings.HasPrefix(op.Scope, "ads:") && w.IDs["sacct"] == "" { // a real network would be asked
			continue
		}
		resp, err := b.Try(http.MethodGet, path, nil)
		if err != nil || resp.Status != http.StatusOK {
			continue
		}
		data, _ := resp.Object(b.t)["data"].([]any)
		for _, item := range data {
			object, _ := item.(map[string]any)
			if id, _ := object["id"].(string); id != "" && op.Listed() != "" && w.Found[op.Listed()] == "" {
				w.Found[op.Listed()] = id
			}
			if number, ok := object["version"].(float64); ok && w.Found[kind] == "" {
				w.Found[kind] = fmt.Sprint(int64(number))
			}
		}
	}
}

// rename gives what an example makes a name of its own, in lists of it too, and keeps it from those who would see it.
func (s *Subject) rename(body map[string]any) {
	own := map[string]string{
		"name": s.Mark(), "title": s.Mark(), "slug": "conformance-" + Unique(), "subdomain": "conformance-" + Unique(), "code": strings.ToUpper(Unique()),
		"email": "conformance-" + Unique() + "@example.com", "customer_email": "conformance-" + Unique() + "@example.com", "external_id": Unique(),
	}
	for field, was := range body {
		switch was := was.(type) {
		case map[string]any:
			s.rename(was)
		case []any:
			for _, item := range was {
				if object, is := item.(map[string]any); is {
					s.rename(object)
				}
			}
		case string:
			switch {
			case own[field] != "":
				body[field] = own[field]
			case field == "status" && was == "published":
				body[field] = "draft"
			case field == "status" && strings.HasPrefix(fmt.Sprint(body["url"]), "http"):
				body[field] = "inactive"
			}
		}
	}
	if _, listens := body["enabled_events"]; listens {
		body["status"] = "inactive"
	}
	delete(body, "domain") // of somebody else
}
