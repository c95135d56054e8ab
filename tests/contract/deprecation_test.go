package contract

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/gen/spec"
	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// deprecating is the document with operations on their way out: all of a path, and one of another.
func deprecating(t *testing.T) []byte {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(spec.JSON, &doc); err != nil {
		t.Fatal(err)
	}
	paths := doc["paths"].(map[string]any)
	for _, op := range [][2]string{{"/products", "get"}, {"/products", "post"}, {"/products/{id}", "get"}} {
		o := paths[op[0]].(map[string]any)[op[1]].(map[string]any)
		o["deprecated"], o["x-deprecated-at"], o["x-sunset-at"] = true, "2026-01-01", "2026-07-03"
		o["x-deprecation-link"] = "https://docs.example/products"
	}
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestDeprecation_IsSaidOnEveryResponse holds a whole server to the three headers, whoever answers.
func TestDeprecation_IsSaidOnEveryResponse(t *testing.T) {
	t.Parallel()
	document := deprecating(t)
	database.Each(t, func(t *testing.T, url string) {
		s := harness.Boot(t, url, harness.Document(document), harness.StoppedAt(time.Now()))
		c := s.Account(t)
		told := func(status int, r *harness.Response) {
			t.Helper()
			if r.Status != status {
				t.Fatalf("it is %d, not %d: %s", r.Status, status, r.Body)
			}
			for name, value := range map[string]string{
				"Deprecation": fmt.Sprintf("@%d", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Unix()), "Sunset": "Fri, 03 Jul 2026 00:00:00 GMT",
				"Link": `<https://docs.example/products>; rel="deprecation"; type="text/html"`,
			} {
				got := r.Header.Values(name)
				require.Len(t, got, 1, "a %d has %s", status, name)
				assert.Equal(t, value, got[0], "a %d has %s", status, name)
			}
		}
		untold := func(status int, r *harness.Response) {
			t.Helper()
			assert.Equal(t, status, r.Status)
			assert.Empty(t, r.Header.Get("Deprecation")+r.Header.Get("Sunset")+r.Header.Get("Link"))
		}
		e := ok[*sdk.WebhookEndpoint](t)(c.SDK().WebhookEndpoints.Create(background, &sdk.WebhookEndpointCreate{URL: s.Hooks.URL, EnabledEvents: []string{"*"}}))
		body := map[string]any{"name": "Handbook", "status": "active", "price_variants": []any{map[string]any{"amount": 1900, "currency": "usd"}}}
		told(201, c.Do(t, http.MethodPost, "/v1/products", body))
		told(200, c.Do(t, http.MethodGet, "/v1/products", nil))
		told(400, c.Do(t, http.MethodGet, "/v1/products?limit=0", nil))
		told(401, c.As("").Do(t, http.MethodGet, "/v1/products", nil))
		told(403, c.As(s.Key(t, c.Account, "orders:read")).Do(t, http.MethodGet, "/v1/products", nil))
		told(404, c.Do(t, http.MethodGet, "/v1/products/none", nil))
		told(422, c.Do(t, http.MethodPost, "/v1/products", map[string]any{"name": "x", "status": "active"}))
		told(405, c.Do(t, http.MethodPut, "/v1/products", nil))
		told(401, c.As("").Do(t, http.MethodPut, "/v1/products", nil))
		s.PanicOnEvent(true)
		told(500, c.Do(t, http.MethodPost, "/v1/products", body))
		s.PanicOnEvent(false)

		untold(405, c.Do(t, http.MethodPut, "/v1/products/none", nil)) // others of the path stay
		untold(404, c.Do(t, http.MethodPatch, "/v1/products/none", map[string]any{}))
		untold(404, c.Do(t, http.MethodGet, "/v1/products/none/more", nil))
		untold(200, c.Do(t, http.MethodGet, "/v1/webhook_endpoints/"+e.ID, nil))

		for range 1400 { // a minute may begin on the way
			if r := c.Do(t, http.MethodGet, "/v1/products/none", nil); r.Status == http.StatusTooManyRequests {
				told(429, r)
				told(429, c.Do(t, http.MethodPut, "/v1/products", nil))
				return
			}
		}
		t.Error("the quota has no end")
	})
}
