package contract

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tillwright/tillwright/sdk/sdktest"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// wrong are requests that are refused, by method, path and body.
var wrong = [][3]string{
	{"POST", "/v1/products", ``},
	{"POST", "/v1/products", `{}`},
	{"POST", "/v1/products", `{"name": 5}`},
	{"POST", "/v1/products", `{"name": null}`},
	{"POST", "/v1/products", `[]`},
	{"POST", "/v1/products", `{"name": "A", "status": "sold", "slug": "No Slug"}`},
	{"POST", "/v1/products", `{"name": "", "colour": 1}`},
	{"POST", "/v1/products", `{"name": ""}`},
	{"POST", "/v1/products", `{"product": {"name": "A"}}`},
	{"POST", "/v1/products", `{"name": "A", "metadata": {"a": 1}}`},
	{"POST", "/v1/products", `{"name": "A", "images": ["no url"], "custom_fields": [{"key": "a"}]}`},
	{"POST", "/v1/products", `{"name": "A", "status": "active"}`},
	{"POST", "/v1/products", `{"name": "A", "price_variants": [{"type": "recurring", "amount": 500}]}`},
	{"POST", "/v1/products?expand=price", `{"name": "A"}`},
	{"PATCH", "/v1/products/prod_01k0000000000000000000000a", `{"name": "A"}`},
	{"DELETE", "/v1/products/none", ``},
	{"PUT", "/v1/products", ``},
	{"GET", "/v1/product", ``},
	{"GET", "/v1/products/none", ``},
	{"GET", "/v1/products?limit=0", ``},
	{"GET", "/v1/products?limit=010", ``},
	{"GET", "/v1/products?has_recurring=1", ``},
	{"GET", "/v1/products?status=sold", ``},
	{"GET", "/v1/products?color=red", ``},
	{"GET", "/v1/products?limit=1&limit=2", ``},
	{"GET", "/v1/products?starting_after=none", ``},
	{"GET", "/v1/products?created_after=yesterday", ``},
	{"GET", "/v1/products?starting_after=prod_01k0000000000000000000000a&ending_before=prod_01k0000000000000000000000a", ``},
	{"GET", "/v1/discounts/lookup", ``},
	{"GET", "/v1/discounts/lookup?code=none", ``},
	{"POST", "/v1/price_variants", `{"product": "none", "amount": 500}`},
	{"POST", "/v1/customers", `{"email": "none"}`},
	{"GET", "/v1/customers/external/none", ``},
	{"POST", "/v1/discounts", `{"type": "percent"}`},
	{"POST", "/v1/checkouts", `{"line_items": []}`},
	{"POST", "/v1/checkouts", `{"line_items": [{"quantity": 0}]}`},
	{"POST", "/v1/checkouts", `{"line_items": [{"price_variant": "none"}]}`},
	{"POST", "/v1/checkouts/none/confirm", ``},
	{"POST", "/v1/refunds", `{"order": "none", "amount": 1}`},
	{"GET", "/v1/orders/none", ``},
	{"GET", "/v1/checkout_links/none", ``},
}

// The fake refuses what the server refuses, with the same words about the same field.
func TestSDKTest_RefusesAsTheServerDoes(t *testing.T) {
	t.Parallel()
	s := shared.Server(t, database.Engines()[0])
	real, faked := newTape(t), newTape(t)
	real.words, faked.words = true, true
	refuseAll(t, real, s.URL, s.Account(t).Key)
	refuseAll(t, faked, strings.TrimSuffix(sdktest.New(t).URL, "/v1"), sdktest.Key)
	sameTapes(t, real.answers, faked.answers)
}

func refuseAll(t *testing.T, tape *tape, base, key string) {
	t.Helper()
	send := func(method, path, body string, headers ...string) {
		req, err := http.NewRequest(method, base+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+key)
		req.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			req.Header.Set(headers[i], headers[i+1])
		}
		resp, err := tape.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode < http.StatusBadRequest {
			t.Errorf("%s %s %s is answered %d", method, path, body, resp.StatusCode)
		}
	}
	for _, w := range wrong {
		send(w[0], w[1], w[2])
	}
	send("GET", "/v1/products", "", "Authorization", "Bearer none")
	send("GET", "/v1/products", "", "Authorization", key)
	send("POST", "/v1/products", `{"name": "A"}`, "Content-Type", "text/plain")
	send("POST", "/v1/products", `{"name": "A"}`, "Idempotency-Key", strings.Repeat("k", 256))
}
