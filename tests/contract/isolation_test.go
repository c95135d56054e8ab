package contract

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// An id of another account must answer exactly as an id that does not exist: same status, same bytes (but for the id
// that the message repeats), same effect, which is none.

func TestEveryOperation_HidesOtherAccounts(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := boot(t, url)
		mine, theirs := newWorld(t, s), newWorld(t, s)
		before := theirs.snapshot(t)
		every(t, private, func(t *testing.T, op *harness.Operation) {
			mine := mine.with(mine.fresh(t, s).Key)
			for _, p := range places(op) {
				theirID := theirs.value(op, p)
				foreign := mine.ask(t, op, p, theirID)
				unknown := mine.ask(t, op, p, p.unknown(theirID))
				if foreign.Status != unknown.Status || !bytes.Equal(foreign.masked, unknown.masked) {
					t.Errorf("%s: another account's id is answered %d %s\nand an unknown one %d %s", p, foreign.Status, foreign.masked, unknown.Status, unknown.masked)
				}
				if p.in == "path" {
					foreign.Fault(t, http.StatusNotFound, "resource_missing")
				}
				if p.in == "body" && foreign.Status < 400 {
					t.Errorf("%s: an id that names nothing is accepted: %s", p, foreign.Body)
				}
			}
		})
		assert.Equal(t, before, theirs.snapshot(t), "the other account was changed")
	})
}

func TestEveryPublicOperation_HidesWhatItsSecretDoesNotOpen(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newWorld(t, boot(t, url))
		every(t, bySecret, func(t *testing.T, op *harness.Operation) {
			wrong := w.secret[:len(w.secret)-4] + "0000"
			for _, secret := range []string{wrong, w.ids["chk"], "nonsense"} {
				resp := w.Do(t, op.Method, w.path(op, "client_secret", secret), w.body(op))
				resp.Fault(t, http.StatusNotFound, "resource_missing")
			}
		})
	})
}

// bySecret reports whether what an operation is about is addressed by a secret.
func bySecret(op *harness.Operation) bool {
	return slices.Contains(op.PathParameters(), "client_secret")
}

// place is somewhere in a request that takes an id.
type place struct {
	in     string // path, query or body
	name   string // of the parameter or field
	prefix string // of the ids that belong there
	slug   bool   // the slug in the place of the id
}

func (p place) String() string { return fmt.Sprintf("%s %s (%s)", p.in, p.name, p.prefix) }

// fields maps the name of a query parameter or body field that takes an id to the id's prefix.
var fields = map[string]string{
	"discount": "disc", "subscription": "sub",
	"product": "prod", "price_variant": "price", "customer": "cus", "checkout": "chk", "order": "order",
	"default_price_variant": "price", "default_payment_method": "pm", "payment_method": "pm", "webhook_endpoint": "we", "event": "whev",
	"account_id": "sacct", "ad_account_id": "ad_account", "post_id": "spost", "ad_group_id": "ad_group", "campaign_id": "campaign",
	"destination_id": "cdest", "activation": "lact", "grant": "grant", "ai_site": "site",
}

// places lists every place of the operation that takes an id.
func places(op *harness.Operation) []place {
	var found []place
	for _, name := range op.PathParameters() {
		prefix := prefixOf(op)
		switch name {
		case "version": // a number, below the id
			continue
		case "payment_method":
			prefix = "pm"
		case "portal_session":
			prefix = "psess"
		case "activation":
			prefix = "lact"
		}
		found = append(found, place{in: "path", name: name, prefix: prefix})
		if slices.Contains([]string{"prod", "site", "exp", "post", "legal"}, prefix) {
			found = append(found, place{in: "path", name: name, prefix: prefix, slug: true})
		}
	}
	for _, p := range op.QueryParameters() {
		prefix := fields[p.Name]
		if op.ID == "listGrants" && p.Name == "source" {
			prefix = "order"
		}
		if prefix != "" {
			found = append(found, place{in: "query", name: p.Name, prefix: prefix})
		}
		if p.Name == "starting_after" || p.Name == "ending_before" {
			found = append(found, place{in: "query", name: p.Name, prefix: listed(op)})
		}
	}
	if schema := op.BodySchema(); schema != nil {
		for name := range schema.Properties {
			if prefix := fields[name]; prefix != "" {
				found = append(found, place{in: "body", name: name, prefix: prefix})
			}
			if name == "from" {
				found = append(found, place{in: "body", name: name, prefix: "cus"})
			}
			if name == "product_ids" {
				found = append(found, place{in: "body", name: name, prefix: "prod"})
			}
			if name == "line_items" {
				found = append(found, place{in: "body", name: "line_items.price_variant", prefix: "price"})
			}
			if name == "applies_to" {
				found = append(found, place{in: "body", name: "applies_to.products", prefix: "prod"}, place{in: "body", name: "applies_to.price_variants", prefix: "price"})
			}
		}
	}
	return found
}

// listed returns the prefix of the ids that a list operation lists.
func listed(op *harness.Operation) string {
	if prefix := op.AnsweredPrefix(); prefix != "" && !strings.HasSuffix(op.Path, "/{id}") {
		return prefix
	}
	return resources[op.Path[bytes.LastIndexByte([]byte(op.Path), '/')+1:]]
}

// unknown returns a value that names nothing. As a position in a list it must be of the same moment as the other id,
// because any well-formed id is a position.
func (p place) unknown(like string) string {
	switch {
	case p.slug:
		return "z" + unique()
	case p.name == "external_id":
		return "ext-" + unique()
	case slices.Contains(networkKinds, p.prefix): // the network's ids end in digits
		return like[:len(like)-6] + fmt.Sprintf("%06d", rand.IntN(1_000_000))
	}
	random, moment := randomID(p.prefix), len(p.prefix)+1+10
	return like[:moment] + random[moment:]
}

// value returns what the world has for a place.
func (w *world) value(op *harness.Operation, p place) string {
	switch {
	case p.slug:
		return w.slugs[p.prefix]
	case p.in == "path":
		return w.parameter(op, p.name)
	}
	return w.ids[p.prefix]
}

type maskedResponse struct {
	*harness.Response
	masked []byte // the body with the id, wherever it is repeated, blotted out
}

// ask sends the operation's example with an id put in one place.
func (w *world) ask(t *testing.T, op *harness.Operation, p place, id string) maskedResponse {
	t.Helper()
	path, body := w.at(op, ""), w.body(op)
	switch {
	case p.in == "path":
		path = w.at(op, "", p.name, id)
	case p.in == "query":
		path = w.at(op, url.Values{p.name: {id}}.Encode())
	case p.name == "line_items.price_variant":
		body.(map[string]any)["line_items"] = []any{map[string]any{"price_variant": id}}
	case p.name == "product_ids":
		body.(map[string]any)[p.name] = []any{id}
	case strings.HasPrefix(p.name, "applies_to."):
		body.(map[string]any)["applies_to"] = map[string]any{strings.TrimPrefix(p.name, "applies_to."): []any{id}}
	case p.name == "customer": // instead of the address that the example names
		delete(body.(map[string]any), "customer_email")
		body.(map[string]any)[p.name] = id
	default:
		body.(map[string]any)[p.name] = id
	}
	resp := w.Do(t, op.Method, path, body)
	return maskedResponse{resp, ofAFile.ReplaceAll(bytes.ReplaceAll(resp.Body, []byte(id), []byte("(id)")), []byte("(file)"))}
}

// ofAFile is what is another one whenever somebody asks where a file is, which says nothing of what is in it.
var ofAFile = regexp.MustCompile(`/files/[\w-]+","expires_at":"[^"]+`)

// snapshot reads every object of the world, once its letters are sent.
func (w *world) snapshot(t *testing.T) map[string]any {
	t.Helper()
	w.post(t)
	all := map[string]any{}
	for _, op := range harness.Operations() {
		if op.Method == http.MethodGet && !op.Public {
			object := w.Must(t, http.MethodGet, w.at(op, ""), nil)
			scrub(object)
			all[op.ID] = object
		}
	}
	return all
}

// scrub removes what changes by being looked at, when a key was last used, and what changes by the clock: figures of ads,
// signed URLs and previews, and what was found when a domain was looked at.
func scrub(v any) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "last_used_at")
		delete(v, "last_used_ip")
		if v["object"] == "signed_url" {
			clear(v)
		}
		delete(v, "metrics")
		delete(v, "amount_spent")
		delete(v, "last_synced_at")
		delete(v, "preview_url")
		delete(v, "domain_checked_at")
		delete(v, "domain_error")
		for _, inner := range v {
			scrub(inner)
		}
	case []any:
		for _, inner := range v {
			scrub(inner)
		}
	}
}

func TestLists_NeverShowForeignRows(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := boot(t, url)
		mine, theirs := newWorld(t, s), newWorld(t, s)
		lists := func(op *harness.Operation) bool {
			return op.Method == http.MethodGet && !op.Public && listed(op) != ""
		}
		every(t, lists, func(t *testing.T, op *harness.Operation) {
			body := mine.send(t, op).Body
			for kind, id := range theirs.ids {
				if bytes.Contains(body, []byte(id)) {
					t.Errorf("the list shows the other account's %s %s", kind, id)
				}
			}
			if !bytes.Contains(body, []byte(mine.ids[listed(op)])) {
				t.Errorf("the list does not show the account's own %s", mine.ids[listed(op)])
			}
		})
	})
}
