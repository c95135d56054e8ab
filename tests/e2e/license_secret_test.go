package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// typist walks through everything that licence keys go through, and notes the secrets that come up.
type typist struct {
	*harness.Client
	t       *testing.T
	sent    int
	secrets []string
}

// do sends a request under a key of its own, whatever is answered.
func (p *typist) do(method, path string, body any) *harness.Response {
	p.t.Helper()
	p.sent++
	return p.Do(p.t, method, path, body, "Idempotency-Key", fmt.Sprint("typist-", p.sent))
}

// must sends a request that has to succeed, and notes the key and the token that the answer shows.
func (p *typist) must(method, path string, body any) map[string]any {
	p.t.Helper()
	resp := p.do(method, path, body)
	require.Less(p.t, resp.Status, 300, "%s %s: %s", method, path, resp.Body)
	made := resp.Object(p.t)
	for _, field := range []string{"key", "token"} {
		if secret, ok := made[field].(string); ok {
			p.secrets = append(p.secrets, secret)
		}
	}
	return made
}

// sells makes a product that is sold with licence keys, and returns its id and its price variant's.
func (p *typist) sells(name string, ref any) (product, variant string) {
	made := p.must(http.MethodPost, "/v1/products", map[string]any{
		"name": name, "status": "active", "price_variants": []any{map[string]any{"amount": 900}},
		"deliverables": []any{map[string]any{"type": "license_key", "ref": ref, "name": "Your key"}},
	})
	return made["id"].(string), made["price_variants"].([]any)[0].(string)
}

// buys buys a price variant as a buyer does, and returns the licence key that the buyer is shown.
func (p *typist) buys(variant string) string {
	c := p.must(http.MethodPost, "/v1/checkouts", map[string]any{"customer_email": "ada@example.com", "line_items": []any{map[string]any{"price_variant": variant}}})
	at := "/public/checkouts/" + c["client_secret"].(string)
	p.must(http.MethodPost, at+"/confirm", map[string]any{"payment_method": map[string]any{"type": "card", "card": map[string]any{"number": "4242424242424242", "exp_month": 12, "exp_year": 2030, "cvc": "123"}}})
	shown := p.must(http.MethodGet, at, nil)["deliveries"].([]any)[0].(map[string]any)["key"].(string)
	p.secrets = append(p.secrets, shown)
	return shown
}

// walk makes, sells, uses, mistypes and ends licence keys.
func (p *typist) walk(account string) {
	program, price := p.sells("Program", nil)
	boxed, boxedPrice := p.sells("Box", "imported")
	const own, imported, mistyped = "OWNED-KEY4Z-2048", "BOXED-KEY7W-4096", "WR0NG-KEY9Y-TYPED"
	p.secrets = append(p.secrets, own, imported, mistyped)
	keys := "/v1/license_keys"
	p.must(http.MethodPost, keys+"/import", map[string]any{"product": boxed, "keys": []any{map[string]any{"key": imported}}})
	p.do(http.MethodPost, keys+"/import", map[string]any{"product": boxed, "keys": []any{map[string]any{"key": imported}, map[string]any{"key": "x"}}})
	p.buys(boxedPrice)
	use := func(key, device string) map[string]any {
		return map[string]any{"account": account, "key": key, "product": program, "fingerprint": device, "name": "Ada's laptop"}
	}
	for _, key := range []string{p.buys(price), own} {
		if key == own {
			p.must(http.MethodPost, keys, map[string]any{"product": program, "key": key, "metadata": map[string]any{"a": "1"}})
		}
		p.do(http.MethodPost, keys, map[string]any{"product": program, "key": key})
		p.must(http.MethodPost, keys+"/activate", without(use(key, "mac"), "account"))
		p.must(http.MethodPost, keys+"/validate", without(use(key, "mac"), "account", "name"))
		p.must(http.MethodPost, "/public/license_keys/activate", use(key, "windows"))
		p.must(http.MethodPost, "/public/license_keys/validate", without(use(key, "windows"), "name"))
		p.must(http.MethodPost, "/public/license_keys/deactivate", without(use(key, "windows"), "name"))
		for _, wrong := range []any{use(mistyped, "mac"), use(key, ""), `{"key": "` + key + `", "product": `, map[string]any{"key": []any{key}}} {
			p.do(http.MethodPost, "/public/license_keys/activate", wrong)
			p.do(http.MethodPost, keys+"/activate", wrong)
		}
		p.do(http.MethodGet, keys+"/"+key, nil) // instead of the id
	}
	var first string
	for _, k := range p.must(http.MethodGet, keys, nil)["data"].([]any) {
		first = keys + "/" + k.(map[string]any)["id"].(string)
		p.must(http.MethodGet, first, nil)
		require.NotEmpty(p.t, p.found(p.do(http.MethodGet, first, nil).Body), "what is shown is not found either")
		p.must(http.MethodPatch, first, map[string]any{"metadata": map[string]any{"b": "2"}})
		p.must(http.MethodPost, first+"/disable", nil)
		p.must(http.MethodPost, first+"/enable", nil)
	}
	p.must(http.MethodPost, first+"/rotate", map[string]any{"keep_activations": true})
	p.must(http.MethodPost, keys+"/signing_keys", map[string]any{})
}

func without(body map[string]any, fields ...string) map[string]any {
	for _, field := range fields {
		delete(body, field)
	}
	return body
}

// found names the secrets that are in a text, as they are shown and as they are compared.
func (p *typist) found(text []byte) (found []string) {
	text = bytes.ToUpper(text)
	for _, secret := range p.secrets {
		shown := strings.ToUpper(secret)
		if bytes.Contains(text, []byte(shown)) || bytes.Contains(text, []byte(strings.ReplaceAll(shown, "-", ""))) {
			found = append(found, secret)
		}
	}
	return found
}

// TestLicenseKeys_AreKeptSecret looks for every key and token of a walk in all that the program writes, sends and lists.
func TestLicenseKeys_AreKeptSecret(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := newSite(t, url)
		server := s.binary.Serve(t, "")
		hooks := harness.NewReceiver(t)
		p := &typist{Client: s.client(server), t: t}
		endpoint := p.Must(t, http.MethodPost, "/v1/webhook_endpoints", map[string]any{"url": hooks.URL})["id"].(string)
		account := p.Must(t, http.MethodGet, "/v1/account", nil)["id"].(string)
		p.walk(account)
		require.GreaterOrEqual(t, len(p.secrets), 15)

		hooks.Await(t, 2, "order.paid")
		for _, d := range hooks.Deliveries() {
			require.Empty(t, p.found(d.Body), "an event tells a secret: %s", d.Body)
		}
		customer := p.Must(t, http.MethodGet, "/v1/customers", nil)["data"].([]any)[0].(map[string]any)["id"].(string)
		for _, path := range []string{
			"/license_keys", "/grants", "/orders", "/products", "/webhook_endpoints/" + endpoint + "/deliveries", "/search?q=ada", "/customers", "/customers/" + customer + "/state",
		} {
			resp := p.Do(t, http.MethodGet, "/v1"+path, nil)
			require.Equal(t, http.StatusOK, resp.Status, "%s: %s", path, resp.Body)
			require.Empty(t, p.found(resp.Body), "%s tells a secret: %s", path, resp.Body)
		}
		file := p.Must(t, http.MethodGet, "/v1/license_keys/export", nil)["url"].(string)
		require.Empty(t, p.found(p.Do(t, http.MethodGet, strings.TrimPrefix(file, p.URL), nil).Body), "the exported file tells a secret")

		held := harness.OpenDatabase(t, url).Dump(t)
		require.Contains(t, string(held), "ada@example.com", "what is no secret is not found either")
		require.Empty(t, p.found(held), "the database holds a secret")
		server.Terminate(t)
		if path, isFile := strings.CutPrefix(url, "sqlite://"); isFile { // with what was deleted, and not cleaned up
			raw, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Empty(t, p.found(raw), "the database file holds a secret")
		}
		require.Contains(t, server.Log(), "activate", "what was asked for is not logged")
		require.Empty(t, p.found([]byte(server.Log())), "the log tells a secret:\n%s", server.Log())
	})
}
