package sdktest

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/sdk/internal/require"
)

// guess makes values of a schema, now and then of another one.
type guess struct {
	*rand.Rand

	server *Server
}

func (g *guess) value(s *schema, depth int) any {
	wrong := []any{nil, "", "none", true, 0, -1, 1.5, []any{}, []any{nil}, map[string]any{}, map[string]any{"a": nil}, strings.Repeat("x", 300)}
	switch {
	case g.IntN(60) == 0 || depth > 5:
		return wrong[g.IntN(len(wrong))]
	case s.Nullable && g.IntN(4) == 0:
		return nil
	case len(s.OneOf) > 0:
		return g.value(s.OneOf[g.IntN(len(s.OneOf))], depth+1)
	case len(s.Enum) > 0:
		return s.Enum[g.IntN(len(s.Enum))]
	}
	switch s.Type {
	case "boolean":
		return g.IntN(2) == 0
	case "integer":
		return g.IntN(2000)
	case "array":
		all := []any{}
		for range g.IntN(3) {
			all = append(all, g.value(s.Items, depth+1))
		}
		return all
	case "object":
		all := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if slices.Contains(s.Required, name) || g.IntN(4) == 0 {
				all[name] = g.field(name, s.Properties[name], depth+1)
			}
		}
		if s.values != nil {
			all["usd"] = g.value(s.values, depth+1)
		}
		return all
	case "string":
		if s.Format == "date-time" {
			return "2026-12-01T12:00:00Z"
		}
		some := []string{"usd", "ada@example.com", "a", "https://shop.example/a", "pm_card_visa", "pm_card_chargeDeclined", "DE"}
		return some[g.IntN(len(some))]
	}
	return "any"
}

// field makes a value of a field: mostly an id, if it is named after a kind.
func (g *guess) field(name string, s *schema, depth int) any {
	all := g.server.state.all(strings.TrimSuffix(name, "s"))
	if len(all) == 0 || g.IntN(8) == 0 || s.Type == "array" && s.Items.Type != "string" {
		return g.value(s, depth)
	}
	id := textOf(all[g.IntN(len(all))], "id")
	if s.Type == "array" {
		return []any{id}
	}
	return id
}

// Whatever is sent, an answer has a status of the document, and what is there stays whole.
func TestServer_IsBrokenByNoRequest(t *testing.T) {
	t.Parallel()
	s := New(t)
	s.Webhooks(http.NotFoundHandler(), "whsec_")
	g := &guess{rand.New(rand.NewPCG(1, 2)), s}
	done := map[string]int{}
	operations := slices.Sorted(maps.Keys(handlers))
	for n := range 1500 {
		if n%250 == 0 {
			buy(t, s.Client())
		}
		op := described().operation(sdk.Operations[operations[g.IntN(len(operations))]])
		path := op.Path
		for strings.Contains(path, "{") {
			before, rest, _ := strings.Cut(path, "{")
			_, after, _ := strings.Cut(rest, "}")
			path = before + g.id(op) + after
		}
		base := s.URL
		if op.Public {
			base = strings.TrimSuffix(s.URL, "/v1")
		}
		var body []byte
		if op.Body != nil {
			s.mu.Lock()
			body, _ = json.Marshal(g.value(op.Body, 0))
			s.mu.Unlock()
		}
		req, err := http.NewRequest(op.Method, base+path, bytes.NewReader(body))
		require.NoError(t, err)
		query := req.URL.Query()
		for _, p := range op.Parameters {
			if p.In == "query" && p.Schema.Type == "array" && g.IntN(2) == 0 && p.Schema.Items != nil {
				query.Set(p.Name, p.Schema.Items.Enum[g.IntN(len(p.Schema.Items.Enum))].(string))
			}
		}
		req.URL.RawQuery = query.Encode()
		req.Header.Set("Authorization", "Bearer "+Key)
		req.Header.Set("Content-Type", "application/json")
		resp, err := s.http.Client().Do(req)
		require.NoError(t, err, "%s %s", op.ID, body)
		answer, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		resp.Body.Close()
		if resp.StatusCode >= 500 && resp.StatusCode != http.StatusNotImplemented {
			t.Fatalf("%s %s is answered %d: %s", op.ID, body, resp.StatusCode, answer)
		}
		if resp.StatusCode < 300 {
			done[op.ID]++
			checkAnswer(t, op, req.URL.Query().Has("expand"), answer)
		}
	}
	require.True(t, len(done) > 50, "%d operations were done", len(done))
}

// checkAnswer checks that an answer has all fields that the document says, of the right types.
func checkAnswer(t *testing.T, op *operation, isExpanded bool, answer []byte) {
	t.Helper()
	var value any
	decoder := json.NewDecoder(bytes.NewReader(answer))
	decoder.UseNumber()
	require.NoError(t, decoder.Decode(&value))
	if isExpanded { // ids of references are objects here
		return
	}
	_, err := checkBody(described().schema(op.Answer), value)
	require.NoError(t, err, "%s: %s", op.ID, answer)
}

// buy has something in each table.
func buy(t *testing.T, c *sdk.Client) {
	t.Helper()
	ctx := t.Context()
	product, err := c.Products.Create(ctx, &sdk.ProductCreate{Name: "A", Status: new(sdk.ProductStatusActive), PriceVariants: []sdk.ProductPriceVariant{{Amount: new(int64(500))}, {Amount: new(int64(900))}}})
	require.NoError(t, err)
	_, err = c.Discounts.Create(ctx, &sdk.DiscountCreate{Type: sdk.DiscountTypePercent, PercentBps: new(int64(10)), Name: new("A")})
	require.NoError(t, err)
	_, err = c.CheckoutLinks.Create(ctx, &sdk.CheckoutLinkCreate{PriceVariants: []string{product.PriceVariants[0].ID}})
	require.NoError(t, err)
	for range 2 {
		checkout, err := c.Checkouts.Create(ctx, &sdk.CheckoutCreate{CustomerEmail: new("ada@example.com"), LineItems: []sdk.CheckoutLine{{PriceVariant: product.PriceVariants[0].ID}}})
		require.NoError(t, err)
		checkout, err = c.Checkouts.Confirm(ctx, checkout.ID, &sdk.CheckoutConfirm{PaymentMethod: &sdk.PaymentMethod{Token: "pm_card_visa"}})
		require.NoError(t, err)
		_, err = c.Refunds.Create(ctx, &sdk.RefundCreate{Order: checkout.Order.ID, Amount: new(int64(1))})
		require.NoError(t, err)
	}
	_, err = c.Checkouts.Create(ctx, &sdk.CheckoutCreate{LineItems: []sdk.CheckoutLine{{PriceVariant: product.PriceVariants[0].ID}}})
	require.NoError(t, err)
}

// id returns what may stand in a path: mostly an object of the kind that the path is about.
func (g *guess) id(op *operation) string {
	g.server.mu.Lock()
	defer g.server.mu.Unlock()
	kind := strings.TrimSuffix(strings.Split(strings.TrimPrefix(op.Path, "/public"), "/")[1], "s")
	all := g.server.state.all(kind)
	if len(all) == 0 || g.IntN(50) == 0 {
		return "none"
	}
	o := all[g.IntN(len(all))]
	if strings.Contains(op.Path, "client_secret") {
		return textOf(o, "client_secret")
	}
	return textOf(o, "id")
}
