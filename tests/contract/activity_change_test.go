package contract

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/oapi-codegen/nullable"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// linesOf returns the lines of an account that a filter lets through, newest first, as a key sees them.
func linesOf(t *testing.T, c *harness.Client, query string) []map[string]any {
	t.Helper()
	var lines []map[string]any
	for _, line := range c.Do(t, http.MethodGet, "/v1/activity?limit=100&"+query, nil).Object(t)["data"].([]any) {
		lines = append(lines, line.(map[string]any))
	}
	return lines
}

// change returns what a line says of a field, as JSON.
func change(line map[string]any, field string) string {
	changes, _ := line["changes"].(map[string]any)
	text, _ := json.Marshal(changes[field])
	return string(text)
}

// onEachAccount runs a test with a client of an account that is its own.
func onEachAccount(t *testing.T, test func(t *testing.T, c *harness.Client, s *harness.Server)) {
	t.Parallel()
	onShared(t, func(t *testing.T, s *harness.Server) { test(t, s.Account(t), s) })
}

func TestListActivity_SaysWhatBecameDifferent(t *testing.T) {
	onEachAccount(t, func(t *testing.T, c *harness.Client, s *harness.Server) {
		path := "/v1/customers/" + c.Must(t, http.MethodPost, "/v1/customers", map[string]any{"email": "ada@example.com", "name": "Ada", "notes": "n"})["id"].(string)
		s.From(t, "127.0.0.1").As(c.Key).Must(t, http.MethodPatch, path, map[string]any{"name": "Ada L.", "notes": nil, "tags": []string{"vip"}, "metadata": map[string]any{"a": "1"}})
		c.Must(t, http.MethodPatch, path, map[string]any{"name": "Ada L."})
		c.Do(t, http.MethodPatch, path, map[string]any{"email": "no address"}).Fault(t, http.StatusUnprocessableEntity, "validation_failed")
		c.Do(t, http.MethodGet, path, nil)
		lines := linesOf(t, c, "target="+strings.TrimPrefix(path, "/v1/customers/"))
		require.Len(t, lines, 2, "what changes nothing, is refused or reads has a line, or what was made does not have one")
		require.Equal(t, "updateCustomer", lines[0]["operation"], "what changes nothing, is refused or reads has a line, or what was made does not have one")
		require.Equal(t, "createCustomer", lines[1]["operation"], "what changes nothing, is refused or reads has a line, or what was made does not have one")
		require.Nil(t, lines[1]["changes"], "what changes nothing, is refused or reads has a line, or what was made does not have one")
		for field, want := range map[string]string{
			"name": `{"after":"Ada L.","before":"Ada","cut":false}`, "notes": `{"before":"n","cut":false}`, "tags": `{"after":["vip"],"before":[],"cut":false}`,
			"metadata": `{"after":{"a":"1"},"before":{},"cut":false}`, "updated_at": "null", "email": "null",
		} {
			if got := change(lines[0], field); got != want {
				t.Errorf("%s: %s", field, got)
			}
		}
		actor := lines[0]["actor"].(map[string]any)
		assert.Equal(t, "test", actor["name"], "the actor")
		assert.True(t, strings.HasPrefix(actor["id"].(string), "key_"), "the actor")
		assert.Equal(t, "127.0.0.1", lines[0]["ip"], "the actor")
		c.Must(t, http.MethodPost, "/v1/products", map[string]any{"name": "Guide"})
		c.Must(t, http.MethodDelete, "/v1/products/guide", nil)
		gone := linesOf(t, c, "operation=deleteProduct")
		require.Len(t, gone, 1, "of what was deleted")
		assert.Equal(t, `{"before":"Guide","cut":false}`, change(gone[0], "name"), "of what was deleted")
		assert.Equal(t, "null", change(gone[0], "headline"), "of what was deleted")
	})
}

func TestListActivity_CutsLongTexts(t *testing.T) {
	onEachAccount(t, func(t *testing.T, c *harness.Client, _ *harness.Server) {
		c.Must(t, http.MethodPost, "/v1/blog_posts", map[string]any{"title": "Long", "body": "short"})
		c.Must(t, http.MethodPatch, "/v1/blog_posts/long", map[string]any{"body": strings.Repeat("word ", 30_000)})
		line := linesOf(t, c, "operation=updateBlogPost")[0]
		text := change(line, "body")
		assert.LessOrEqual(t, len(text), 4200)
		assert.GreaterOrEqual(t, len(text), 4000)
		assert.Contains(t, text, `"cut":true`)
		assert.Contains(t, text, `"before":"short"`)
	})
}

func TestListActivity_ShowsChangesOnlyOfWhatTheKeyMayRead(t *testing.T) {
	onEachAccount(t, func(t *testing.T, c *harness.Client, s *harness.Server) {
		id := c.Must(t, http.MethodPost, "/v1/customers", map[string]any{"email": "ada@example.com"})["id"].(string)
		c.Must(t, http.MethodPatch, "/v1/customers/"+id, map[string]any{"email": "grace@example.com"})
		reader, both := c.As(s.Key(t, c.Account, "account:read")), c.As(s.Key(t, c.Account, "account:read", "customers:read"))
		body := reader.Do(t, http.MethodGet, "/v1/activity", nil).Body
		lines := linesOf(t, reader, "operation=updateCustomer")
		require.Len(t, lines, 1, "a key without customers:read")
		assert.Nil(t, lines[0]["changes"], "a key without customers:read")
		assert.NotContains(t, string(body), "@example.com", "a key without customers:read")
		if lines := linesOf(t, both, "operation=updateCustomer"); change(lines[0], "email") != `{"after":"grace@example.com","before":"ada@example.com","cut":false}` {
			t.Errorf("a key with customers:read sees %v", lines)
		}
	})
}

func TestListActivity_NamesTheCustomerWhoPaid(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		made := ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{LineItems: lines(onSale(t, c, 1900))}))
		ok[*sdk.PublicCheckout](t)(c.PublicCheckouts.Update(background, made.ClientSecret, &sdk.PublicCheckoutUpdate{CustomerEmail: nullable.NewNullableWithValue("ada@example.com")}))
		ok[*sdk.PublicCheckout](t)(c.PublicCheckouts.Confirm(background, made.ClientSecret, by("pm_card_visa")))
		paid := ok[*sdk.Checkout](t)(c.Checkouts.Get(background, made.ID))
		for operation, want := range map[string]*string{"confirmPublicCheckout": &paid.Customer.ID, "updatePublicCheckout": nil} {
			list := ok[*sdk.ActivityList](t)(c.Activity.List(background, &sdk.ListActivityParams{Target: &made.ID, Operation: &operation}))
			if len(list.Data) != 1 {
				t.Fatalf("%s has %d lines", operation, len(list.Data))
			}
			actor := list.Data[0].Actor
			assert.Equal(t, sdk.ActivityActorTypeCustomer, actor.Type, "the actor of %s", operation)
			assert.Equal(t, want, actor.ID, "the actor of %s", operation)
		}
	})
}

func TestListActivity_HasALineOfEachChangeThatIsThere(t *testing.T) {
	onEachAccount(t, func(t *testing.T, c *harness.Client, _ *harness.Server) {
		path := "/v1/products/" + c.Must(t, http.MethodPost, "/v1/products", map[string]any{"name": "0"})["id"].(string)
		var all sync.WaitGroup
		for n := range 20 {
			all.Go(func() {
				_, _ = c.Try(http.MethodPatch, path, map[string]any{"name": strings.Repeat("x", n+1)}, "Idempotency-Key", strings.Repeat("k", 1+n/2))
			})
		}
		all.Wait()
		lines := linesOf(t, c, "operation=updateProduct")
		after := "0"
		for i := len(lines) - 1; i >= 0; i-- { // in the order of their ids, which is not always that of their commits
			after = lines[i]["changes"].(map[string]any)["name"].(map[string]any)["after"].(string)
		}
		befores, afters := map[string]int{}, map[string]int{}
		for _, line := range lines {
			name := line["changes"].(map[string]any)["name"].(map[string]any)
			befores[name["before"].(string)]++
			afters[name["after"].(string)]++
		}
		now := c.Must(t, http.MethodGet, path, nil)["name"].(string)
		for name := range afters {
			if name != now && befores[name] != 1 {
				t.Errorf("%q came and nobody changed it: %v", name, lines)
			}
		}
		assert.NotEmpty(t, lines)
		assert.Equal(t, 1, befores["0"])
		assert.Equal(t, 1, afters[now])
		assert.NotEqual(t, "0", after)
	})
}

func TestDeleteCustomer_ForgetsWhatActivitySays(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		w := newWorldOfSales(t, s)
		for _, ids := range []string{"cus", "double"} {
			w.Must(t, http.MethodPatch, "/v1/customers/"+w.IDs[ids], map[string]any{"name": "Secretive " + ids})
		}
		w.Must(t, http.MethodPost, "/v1/customers/"+w.IDs["cus"]+"/merge", map[string]any{"from": w.IDs["double"]})
		email := w.Must(t, http.MethodGet, "/v1/customers/"+w.IDs["cus"], nil)["email"].(string)
		lead := w.Must(t, http.MethodPost, "/v1/leads", map[string]any{"email": email, "product": w.IDs["sold"]})["id"].(string)
		w.Must(t, http.MethodPatch, "/v1/leads/"+lead, map[string]any{"name": "Secretive lead"})
		checkout := w.Must(t, http.MethodPost, "/v1/checkouts", map[string]any{"line_items": []any{map[string]any{"price_variant": w.IDs["sold price"]}}})
		w.Must(t, http.MethodPatch, "/v1/checkouts/"+checkout["id"].(string), map[string]any{"customer_email": email, "customer_name": "Secretive checkout"})
		said := func() string { return string(w.Do(t, http.MethodGet, "/v1/activity?limit=100", nil).Body) }
		for _, who := range []string{"cus", "double", "lead"} {
			if !strings.Contains(said(), "Secretive "+who) {
				t.Fatalf("nothing is said of %s: %s", who, said())
			}
		}
		now := said()
		assert.NotContains(t, now, "Secretive checkout", "a checkout may be another's later, and says whose")
		assert.Contains(t, now, `"customer_name":{"after":"***"`, "a checkout may be another's later, and says whose")
		w.Must(t, http.MethodDelete, "/v1/customers/"+w.IDs["cus"]+"?cancel_subscriptions=true", nil)
		now = said()
		assert.NotContains(t, now, "Secretive", "it is still said who they")
		assert.NotContains(t, now, email, "it is still said who they")
		assert.Contains(t, now, "deleteCustomer", "it is still said who they")
		other := w.Must(t, http.MethodPost, "/v1/leads", map[string]any{"email": "grace@example.com", "name": "Secretive too"})["id"].(string)
		w.Must(t, http.MethodPatch, "/v1/leads/"+other, map[string]any{"name": "Secretive still"})
		w.Must(t, http.MethodDelete, "/v1/leads/"+other, nil)
		if now := said(); strings.Contains(now, "Secretive") {
			t.Errorf("it is still said who the lead was: %s", now)
		}
	})
}
