package contract

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// heavy makes a product of 200 kB with a price, and returns its id and that of its price variant.
func heavy(t *testing.T, c *harness.Client, name string) (product, price string) {
	t.Helper()
	fields := make([]map[string]any, 20)
	for i := range fields {
		options := make([]string, 100)
		for k := range options {
			options[k] = fmt.Sprintf("%-100d", k)
		}
		fields[i] = map[string]any{"key": fmt.Sprint("field_", i), "label": "Which?", "type": "select", "options": options}
	}
	made := c.Must(t, http.MethodPost, "/v1/products", map[string]any{
		"name": name, "custom_fields": fields, "price_variants": []any{map[string]any{"amount": 1900, "currency": "usd"}},
	})
	c.Must(t, http.MethodPost, "/v1/products/"+made["id"].(string)+"/publish", nil)
	return made["id"].(string), made["default_price_variant"].(string)
}

// fifty is the body of a checkout with fifty lines of one price variant.
func fifty(price string) map[string]any {
	lines := make([]any, 50)
	for i := range lines {
		lines[i] = map[string]any{"price_variant": price}
	}
	return map[string]any{"line_items": lines, "customer_email": "ada@example.com"}
}

// keepsLittle checks that no answer is kept for an Idempotency-Key that is larger than that of a write may be.
func keepsLittle(t *testing.T, s *harness.Server) {
	t.Helper()
	if large := s.Count(t, fmt.Sprintf("idempotency_keys WHERE LENGTH(body) > %d", mostOfAWrite+1000)); large > 0 {
		t.Errorf("%d large answers are kept", large)
	}
}

const (
	mostOfARead  = 8 << 20
	mostOfAWrite = 1 << 20
)

func TestExpand_HasALargestAnswer(t *testing.T) {
	t.Parallel()
	onShared(t, func(t *testing.T, s *harness.Server) {
		w := newWorld(t, s)
		_, price := heavy(t, w.Client, "Heavy")
		body := fifty(price)

		tooLarge := func(param, method, path string, body any, headers ...string) {
			t.Helper()
			f := w.Do(t, method, path, body, headers...).Fault(t, http.StatusBadRequest, "bad_request")
			assert.Equal(t, param, f.Param, "%s %s is refused", method, path)
			assert.Contains(t, f.Message, "MiB", "%s %s is refused", method, path)
		}
		before := s.Count(t, "checkouts WHERE account_id = '"+w.Account+"'")
		tooLarge("expand", http.MethodPost, "/v1/checkouts?expand=line_items.product", body, "Idempotency-Key", "heavy")
		if now := s.Count(t, "checkouts WHERE account_id = '"+w.Account+"'"); now != before {
			t.Errorf("%d checkouts were made by a refused request", now-before)
		}
		made := w.Must(t, http.MethodPost, "/v1/checkouts", body, "Idempotency-Key", "heavy") // the key is free
		keepsLittle(t, s)
		path := "/v1/checkouts/" + made["id"].(string)
		tooLarge("expand", http.MethodGet, path+"?expand=line_items.product", nil)
		tooLarge("expand", http.MethodPatch, path+"?expand=line_items,line_items.product", map[string]any{"customer_name": "Ada"})
		tooLarge("expand", http.MethodGet, "/v1/checkouts?limit=1&expand=line_items.product", nil)
		tooLarge("limit", http.MethodGet, "/v1/checkouts?limit=20&expand=line_items.product", nil)
		if answer := w.Must(t, http.MethodGet, path+"?expand=line_items", nil); len(answer["line_items"].([]any)) != 50 {
			t.Error("the lines are not expanded")
		}

		// 40 lines of it are just below 8 MiB, and come in full.
		body["line_items"] = body["line_items"].([]any)[:40]
		small := w.Must(t, http.MethodPost, "/v1/checkouts", body)
		answer := w.Do(t, http.MethodGet, "/v1/checkouts/"+small["id"].(string)+"?expand=line_items.product", nil)
		require.GreaterOrEqual(t, len(answer.Body), mostOfARead*9/10, "the answer")
		assert.LessOrEqual(t, len(answer.Body), mostOfARead, "the answer")
		for _, line := range answer.Object(t)["line_items"].([]any) {
			product := line.(map[string]any)["product"].(map[string]any)
			require.Equal(t, "Heavy", product["name"], "a product is not whole")
			require.Len(t, product["custom_fields"].([]any), 20, "a product is not whole")
		}
	})
}

// TestExpand_OfAChargeStaysIDsWhenTooLarge pays first and answers after that: a refusal would hide a charge.
func TestExpand_OfAChargeStaysIDsWhenTooLarge(t *testing.T) {
	t.Parallel()
	onShared(t, func(t *testing.T, s *harness.Server) {
		w := newWorld(t, s)
		_, price := heavy(t, w.Client, "Heavy")
		made := w.Must(t, http.MethodPost, "/v1/checkouts", fifty(price))
		answers := map[string]string{}
		for _, form := range []string{"first", "again"} {
			paid := w.Do(t, http.MethodPost, "/v1/checkouts/"+made["id"].(string)+"/confirm?expand=line_items.product,customer",
				map[string]any{"payment_method": "pm_card_visa"}, "Idempotency-Key", "pay")
			answers[form] = string(paid.Body)
			if paid.Status != http.StatusOK {
				t.Fatalf("%s: answered %d: %s", form, paid.Status, paid.Body)
			}
			object := paid.Object(t)
			_, isID := object["line_items"].([]any)[0].(string)
			require.True(t, isID, "%s: the checkout", form)
			assert.Equal(t, "completed", object["status"], "%s: the checkout", form)
		}
		if answers["first"] != answers["again"] {
			t.Error("the replay is another answer")
		}
		keepsLittle(t, s)
	})
}

func TestList_HasALargestAnswer(t *testing.T) {
	onEach(t, func(t *testing.T, _ *sdk.Client, s *harness.Server) {
		w := newWorld(t, s)
		c := w.SDK()
		for i := range 45 {
			heavy(t, w.Client, fmt.Sprint("Heavy ", i))
		}
		f := w.Do(t, http.MethodGet, "/v1/products?limit=100", nil).Fault(t, http.StatusBadRequest, "bad_request")
		assert.Equal(t, "limit", f.Param)
		assert.Contains(t, f.Message, "8 MiB")
		w.Must(t, http.MethodGet, "/v1/products?limit=30", nil)
		names := map[string]bool{}
		for p, err := range sdk.All(background, c.Products.List, nil) {
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(p.Name, "Heavy ") {
				names[p.Name] = true
			}
		}
		if len(names) != 45 {
			t.Errorf("All found %d products", len(names))
		}
	})
}
