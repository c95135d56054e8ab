package contract

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/tests/harness"
)

// seeded returns a source of chance and prints its seed, which TILLWRIGHT_TEST_SEED repeats.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if given := os.Getenv("TILLWRIGHT_TEST_SEED"); given != "" {
		var err error
		seed, err = strconv.ParseUint(given, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("TILLWRIGHT_TEST_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// trade fills the world with a random shop's business.
func (w *world) trade(t *testing.T, chance *rand.Rand) {
	t.Helper()
	oneOf := func(values ...any) any { return values[chance.IntN(len(values))] }
	var prices []any
	for n := range 4 {
		p := w.Must(t, http.MethodPost, "/v1/products", map[string]any{
			"name": fmt.Sprintf("Thing %d", n), "status": oneOf("draft", "active", "active"), "type": oneOf("digital", "course"), "visibility": oneOf("public", "unlisted"),
			"external_id": fmt.Sprintf("thing-%d", n), "metadata": map[string]any{"shelf": oneOf("1", "2")},
			"price_variants": []any{map[string]any{"amount": oneOf(100, 900, 1900, 9900), "currency": "usd", "external_id": fmt.Sprintf("price-%d", n)}, map[string]any{"amount": 1900, "currency": "usd"}},
		})
		if p["status"] == "active" {
			prices = append(prices, p["price_variants"].([]any)[0])
		}
		w.Must(t, http.MethodPost, "/v1/discounts", map[string]any{
			"code": fmt.Sprintf("Random%d", n), "type": "percent", "percent_bps": 1000, "max_redemptions": oneOf(1, 100),
			"starts_at": oneOf(nil, "2020-01-01T00:00:00Z"), "ends_at": oneOf(nil, "2021-01-01T00:00:00Z", "2098-01-01T00:00:00Z"), "applies_to": oneOf(map[string]any{}, map[string]any{"products": []any{p["id"]}}),
		})
	}
	prices = append(prices, w.IDs["sold price"])
	for n := range 12 {
		email := oneOf("Ada@Example.com", "ada@example.com", "émile@example.com", "x@example.com")
		if chance.IntN(3) == 0 {
			w.Do(t, http.MethodPost, "/v1/customers", map[string]any{"email": email, "external_id": oneOf(nil, fmt.Sprint("ext", n)), "tags": oneOf([]any{}, []any{"vip"}, []any{"vip", "old"})})
		}
		body := map[string]any{"customer_email": email, "line_items": []any{map[string]any{"price_variant": oneOf(prices...)}}, "metadata": oneOf(map[string]any{}, map[string]any{"shelf": "2"})}
		if code := oneOf(nil, "Random1", w.Code); code != nil {
			body["discount_code"] = code
		}
		chk := w.Do(t, http.MethodPost, "/v1/checkouts", body)
		if chk.Status != http.StatusCreated {
			continue // the discount does not apply, say
		}
		id := chk.Object(t)["id"].(string)
		switch chance.IntN(4) {
		case 0:
			w.Must(t, http.MethodPost, "/v1/checkouts/"+id+"/expire", nil)
		case 1:
		default:
			paid := w.Do(t, http.MethodPost, "/v1/checkouts/"+id+"/confirm", map[string]any{"payment_method": oneOf("pm_card_visa", "pm_card_visa", "pm_card_chargeDeclined")})
			if order, ok := paid.Object(t)["order"].(string); ok && paid.Status == http.StatusOK && chance.IntN(3) == 0 {
				w.Do(t, http.MethodPost, "/v1/refunds", map[string]any{"order": order, "reason": oneOf("duplicate", "other")})
			}
		}
	}
	for range 4 { // one that is to be charged would be, meanwhile
		inv := w.Must(t, http.MethodPost, "/v1/invoices", map[string]any{
			"customer": w.IDs["cus"], "due_at": oneOf("2098-12-31T00:00:00.000Z", "2099-06-30T00:00:00.000Z"), "finalize": chance.IntN(2) == 0,
			"collection_method": "send_invoice", "lines": []any{map[string]any{"description": "Workshop", "unit_amount": oneOf(100, 120000)}},
		})
		if inv["status"] == "open" && chance.IntN(2) == 0 {
			w.Must(t, http.MethodPost, "/v1/invoices/"+inv["id"].(string)+"/void", nil)
		}
	}
	w.Must(t, http.MethodPost, "/v1/checkout_links", map[string]any{"price_variants": []any{w.IDs["sold price"]}, "active": false, "discount": w.IDs["disc"]})
	w.Must(t, http.MethodPost, "/v1/webhook_endpoints", map[string]any{"url": w.Hooks, "enabled_events": []string{"order.paid"}, "status": "inactive"})
}

// business is all that the lists of a shop show without a filter.
type business struct {
	lines   map[string][]map[string]any // of a checkout or an order
	members map[string]bool             // who have an active subscription
	covered map[string][]string         // the products to which a discount applies; nil is all
}

// walk returns all that a list shows, page by page.
func (w *world) walk(t *testing.T, op *harness.Operation, query url.Values) (found []map[string]any) {
	t.Helper()
	for {
		page := w.Must(t, http.MethodGet, w.at(op, query.Encode()), nil)
		data := page["data"].([]any)
		for _, object := range data {
			found = append(found, object.(map[string]any))
		}
		if page["has_more"] != true || len(data) == 0 {
			return found
		}
		if cursor, ok := page["next_cursor"].(string); ok {
			query.Set("cursor", cursor)
		} else {
			query.Set("starting_after", fmt.Sprint(found[len(found)-1]["id"]))
		}
	}
}

// survey reads what items cannot say of themselves.
func (w *world) survey(t *testing.T) *business {
	t.Helper()
	b := &business{lines: map[string][]map[string]any{}, members: map[string]bool{}, covered: map[string][]string{}}
	each := func(id string, use func(object map[string]any)) {
		t.Helper()
		query := url.Values{"limit": {"100"}}
		if id == "listOrders" || id == "listCheckouts" {
			query.Set("expand", "line_items")
		}
		for _, object := range w.walk(t, harness.ByID(id), query) {
			use(object)
		}
	}
	lines := func(object map[string]any) {
		id := fmt.Sprint(object["id"])
		b.lines[id] = []map[string]any{}
		for _, line := range object["line_items"].([]any) {
			b.lines[id] = append(b.lines[id], line.(map[string]any))
		}
	}
	each("listOrders", lines)
	each("listCheckouts", lines)
	each("listSubscriptions", func(s map[string]any) {
		if slices.Contains([]any{"trialing", "active", "past_due"}, s["status"]) {
			b.members[fmt.Sprint(s["customer"])] = true
		}
	})
	productOf := map[any]any{}
	each("listPriceVariants", func(v map[string]any) {
		productOf[v["id"]] = v["product"]
		if v["type"] == "recurring" && v["status"] == "active" {
			b.members[fmt.Sprint(v["product"])] = true
		}
	})
	each("listDiscounts", func(d map[string]any) {
		to, _ := d["applies_to"].(map[string]any)
		var products []string
		for _, field := range []string{"products", "price_variants"} {
			named, _ := to[field].([]any)
			for _, id := range named {
				products = append(products, fmt.Sprint(cmp.Or(productOf[id], id)))
			}
		}
		b.covered[fmt.Sprint(d["id"])] = products
	})
	return b
}

// filters returns the documented filters of a list, each with values that some items have, and one that none has.
func (w *world) filters(op *harness.Operation, items []item) map[string][]string {
	all := map[string][]string{}
	for _, p := range op.QueryParameters() {
		if slices.Contains([]string{"limit", "starting_after", "ending_before", "cursor", "expand", "sort"}, p.Name) {
			continue
		}
		var values []string
		field := p.Name
		if start, ok := strings.CutSuffix(strings.TrimSuffix(field, "_after"), "_before"); ok || start != field {
			if field = start; field != "current_period_end" {
				field += "_at"
			}
		}
		for _, i := range items {
			values = append(values, i.text(field))
			for _, line := range i.all.lines[i.text("id")] {
				values = append(values, fmt.Sprint(cmp.Or(line[field], any(""))))
			}
		}
		switch schema := p.Schema.Value; {
		case p.Name == "metadata":
			values = []string{"1", "2", "none"}
		case p.Name == "tag":
			values = []string{"vip", "old", "none"}
		case p.Name == "actor" || p.Name == "target":
			values = append(slices.DeleteFunc(values, func(value string) bool { return value == "<nil>" }), "customer", "prod_1")
		case op.ID == "listGrants" && p.Name == "source":
			values = append(slices.DeleteFunc(values, func(value string) bool { return value == "<nil>" }), "order", "subscription", "manual")
		case p.Name == "q":
			values = []string{items[0].text("id"), items[len(items)-1].text("id")}
		case p.Name == "total_min" || p.Name == "total_max":
			values = []string{"0", "900", "1900", "1901", "1000000000"}
		case len(schema.Enum) > 0:
			for _, value := range schema.Enum {
				values = append(values, fmt.Sprint(value))
			}
		case schema.Type.Is("boolean"):
			values = []string{"true", "false"}
		case schema.Format == "date-time":
			values = append(values, "2000-01-01T00:00:00Z", "2100-01-01T00:00:00Z")
		case p.Name == "product":
			values = append(values, w.IDs["prod"])
		case p.Name == "currency":
			values = append(values, "kwd")
		case fields[p.Name] == "": // a reference to nothing is 404
			values = append(values, "1000000")
		}
		slices.Sort(values)
		all[p.Name] = slices.DeleteFunc(slices.Compact(values), func(value string) bool { return value == "" })
	}
	return all
}

// A list with filters is what a plain scan of the list without them finds: each that the document has, alone and in pairs.
func TestEveryFilter_IsAPlainScan(t *testing.T) {
	t.Parallel()
	onShared(t, func(t *testing.T, s *harness.Server) {
		w, chance := newWorld(t, s), seeded(t)
		w.Client = w.fresh(t, s)
		w.trade(t, chance)
		w.post(t)
		w.Client = w.fresh(t, s)
		all := w.survey(t)
		lists := func(op *harness.Operation) bool {
			return op.Method == http.MethodGet && !op.Public && slices.ContainsFunc(op.QueryParameters(), func(p *openapi3.Parameter) bool {
				return p.Name == "starting_after" || p.Name == "cursor" && op.ID == "listAdActions"
			})
		}
		every(t, lists, func(t *testing.T, op *harness.Operation) {
			w := w.with(w.fresh(t, s).Key)
			var items []item
			for _, object := range w.walk(t, op, url.Values{}) {
				items = append(items, item{op.ID, object, all})
			}
			require.NotEmpty(t, items)
			filters := w.filters(op, items)
			ask := func(asked map[string]string) {
				t.Helper()
				query, want := url.Values{"limit": {strconv.Itoa(1 + chance.IntN(7))}}, []string{}
				for name, value := range asked {
					if name == "metadata" {
						name = "metadata[shelf]"
					}
					query.Set(name, value)
				}
				for _, i := range items {
					lets := true
					for name, value := range asked {
						let, known := i.lets(name, value)
						require.True(t, known, "%s filters by %s, which this test does not know", op.ID, name)
						lets = lets && let
					}
					if lets {
						want = append(want, i.text("id"))
					}
				}
				if chance.IntN(2) == 0 && slices.ContainsFunc(op.QueryParameters(), func(p *openapi3.Parameter) bool { return p.Name == "sort" }) {
					query.Set("sort", "created_at")
					slices.Reverse(want)
				}
				got := []string{}
				for _, object := range w.walk(t, op, query) {
					got = append(got, fmt.Sprint(object["id"]))
				}
				require.Equal(t, want, got, "%s?%s", op.ID, query.Encode())
			}
			var names []string
			for name, values := range filters {
				chance.Shuffle(len(values), func(a, b int) { values[a], values[b] = values[b], values[a] })
				for _, value := range values[:min(len(values), 4)] {
					ask(map[string]string{name: value})
				}
				if len(values) > 0 {
					names = append(names, name)
				}
			}
			slices.Sort(names)
			for range min(10, 5*max(0, len(names)-1)) {
				one, other := names[chance.IntN(len(names))], names[chance.IntN(len(names))]
				ask(map[string]string{one: filters[one][chance.IntN(len(filters[one]))], other: filters[other][chance.IntN(len(filters[other]))]})
			}
		})
	})
}

// Whatever is searched takes eight words, and says so to who sends more: a list, its export, and the search of everything.
func TestEverySearch_TakesEightWords(t *testing.T) {
	t.Parallel()
	onShared(t, func(t *testing.T, s *harness.Server) {
		w := newWorld(t, s)
		searches := func(op *harness.Operation) bool {
			return slices.ContainsFunc(op.QueryParameters(), func(p *openapi3.Parameter) bool { return p.Name == "q" && op.ID != "searchAdTargeting" }) // which the network answers
		}
		every(t, searches, func(t *testing.T, op *harness.Operation) {
			w := w.with(w.fresh(t, s).Key)
			for q, status := range map[string]int{"a b-c.d e f g h": http.StatusOK, strings.Repeat("ann ", 40): http.StatusOK, "a b-c.d e f g h i": http.StatusBadRequest, strings.Repeat("a-b-c-d-e-f-g-h-i-j-", 9): http.StatusBadRequest} {
				r := w.Do(t, op.Method, w.at(op, url.Values{"q": {q}}.Encode()), nil)
				require.Equal(t, status, r.Status, "%s: %s", q, r.Body)
				if status == http.StatusBadRequest {
					require.Contains(t, string(r.Body), `"param":"q"`)
					require.Contains(t, string(r.Body), "may have 8", q)
				}
			}
		})
	})
}

// Of several things that are wrong with a list, the one that it refers to is told of first, then the position, then the words.
func TestLists_TellFirstOfWhatTheyReferTo(t *testing.T) {
	onEachAccount(t, func(t *testing.T, c *harness.Client, _ *harness.Server) {
		words := "q=one+two+three+four+five+six+seven+eight+nine"
		c.Do(t, http.MethodGet, "/v1/orders?customer=nobody&starting_after=nowhere&"+words, nil).Fault(t, http.StatusNotFound, "resource_missing")
		position := c.Do(t, http.MethodGet, "/v1/orders?starting_after=nowhere&"+words, nil).Fault(t, http.StatusBadRequest, "bad_request")
		assert.Equal(t, "starting_after", position.Param)
		assert.Equal(t, "q", c.Do(t, http.MethodGet, "/v1/orders?"+words, nil).Fault(t, http.StatusBadRequest, "bad_request").Param)
	})
}
