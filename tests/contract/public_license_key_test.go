package contract

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// shows is what a buyer's program sends.
func (w *world) shows(key, device string) map[string]any {
	return map[string]any{"account": w.Account, "key": key, "product": w.IDs["prod"], "fingerprint": device}
}

func TestPublicLicenseKey_NeedsNoAPIKeyAndTellsNoCustomer(t *testing.T) {
	t.Parallel()
	onShared(t, func(t *testing.T, s *harness.Server) {
		w := newWorld(t, s)
		buyer := s.From(t, "127.0.9.1")
		activation := buyer.Must(t, http.MethodPost, "/public/license_keys/activate", w.shows(w.License, "tablet"))
		seen := buyer.Must(t, http.MethodPost, "/v1/public/license_keys/validate", w.shows(w.License, "tablet"))
		assert.Equal(t, "valid", seen["code"], "the validation")
		require.NotNil(t, seen["token"], "the validation")
		assert.False(t, seen["activation"].(map[string]any)["id"] != activation["id"], "the validation")
		resp := buyer.Do(t, http.MethodPost, "/public/license_keys/validate", w.shows(w.License, "tablet"))
		for _, secret := range []string{w.IDs["cus"], w.License} {
			if strings.Contains(string(resp.Body), secret) {
				t.Errorf("%s is told: %s", secret, resp.Body)
			}
		}
		if gone := buyer.Must(t, http.MethodPost, "/public/license_keys/deactivate", w.shows(w.License, "tablet")); gone["id"] != activation["id"] {
			t.Errorf("%v was deactivated", gone)
		}
	})
}

// What an account, a product or a key is not told apart: they are all unknown.
func TestPublicLicenseKey_TellsNothingOfWhatExists(t *testing.T) {
	t.Parallel()
	onShared(t, func(t *testing.T, s *harness.Server) {
		w, other := newWorld(t, s), newWorld(t, s)
		buyer := s.From(t, "127.0.9.2")
		for _, op := range []string{"validate", "activate", "deactivate"} {
			var first *harness.Response
			for what, change := range map[string]map[string]any{
				"key": {"key": "AAAAA-AAAAA"}, "another account's key": {"key": other.License}, "another account": {"account": other.Account},
				"no account": {"account": randomID("acct")}, "a product": {"product": randomID("prod")}, "the product's slug": {"product": w.Slugs["prod"]},
			} {
				body := w.shows(w.License, "mac-2f6c1e0a")
				for field, value := range change {
					body[field] = value
				}
				resp := buyer.Do(t, http.MethodPost, "/public/license_keys/"+op, body, "Idempotency-Key", unique())
				if first == nil {
					first = resp
				}
				assert.Equal(t, first.Status, resp.Status, "%s: of %s", op, what)
				assert.True(t, bytes.Equal(resp.Body, first.Body), "%s: of %s", op, what)
			}
		}
		enable := s.Disable(t, w.Account)
		resp := buyer.Do(t, http.MethodPost, "/public/license_keys/validate", w.shows(w.License, "mac-2f6c1e0a"))
		if !bytes.Contains(resp.Body, []byte("not_found")) {
			t.Errorf("a disabled account's key is answered %s", resp.Body)
		}
		enable()
	})
}

func TestPublicLicenseKey_MayBeAskedByPagesOfEverySite(t *testing.T) {
	t.Parallel()
	onShared(t, func(t *testing.T, s *harness.Server) {
		w := newWorld(t, s)
		page := s.From(t, "127.0.9.3")
		for _, path := range []string{"/public/license_keys/validate", "/v1/public/license_keys/activate"} {
			resp, err := page.Try(http.MethodOptions, path, nil, "Origin", "https://app.example", "Access-Control-Request-Method", "POST")
			require.NoError(t, err, path)
			assert.Equal(t, http.StatusNoContent, resp.Status, path)
			assert.Equal(t, "*", resp.Header.Get("Access-Control-Allow-Origin"), path)
			assert.Equal(t, "POST", resp.Header.Get("Access-Control-Allow-Methods"), path)
			assert.Contains(t, resp.Header.Get("Access-Control-Allow-Headers"), "Content-Type", path)
			for _, body := range []any{w.shows(w.License, "mac-2f6c1e0a"), map[string]any{}} { // its errors, too
				answered := page.Do(t, http.MethodPost, path, body, "Origin", "https://app.example")
				assert.Equal(t, "*", answered.Header.Get("Access-Control-Allow-Origin"), path)
				assert.Contains(t, answered.Header.Get("Access-Control-Expose-Headers"), "Retry-After", path)
			}
		}
		for _, path := range []string{"/public/checkouts/" + w.Secret, "/v1/products"} {
			if resp := w.Do(t, http.MethodGet, path, nil, "Origin", "https://app.example"); resp.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s may be read by every site", path)
			}
		}
	})
}

func TestPublicLicenseKey_HasLimitsOfItsOwn(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		harness.OpenDatabase(t, url).StopClock(t)
		s := boot(t, url)
		w := newWorld(t, s)
		fresh := func() string {
			return w.Must(t, http.MethodPost, "/v1/license_keys", map[string]any{"product": w.IDs["prod"]})["key"].(string)
		}
		last := 9
		address := func() *harness.Client {
			last++
			return s.From(t, "127.0.0."+string(rune('0'+last/10))+string(rune('0'+last%10)))
		}
		ask := func(c *harness.Client, key string) bool {
			resp := c.Do(t, http.MethodPost, "/public/license_keys/validate", w.shows(key, "x"))
			if resp.Status == http.StatusTooManyRequests {
				resp.Fault(t, http.StatusTooManyRequests, "rate_limit_exceeded")
				return false
			}
			return true
		}
		s.Clock.Stop()
		one, other, key, n := address(), address(), fresh(), 0
		for ; n < 100 && ask(one, key); n++ {
			if n >= 50 { // the key's own limit, wherever it is asked from
				one = other
			}
		}
		if n != 60 {
			t.Errorf("one key is answered %d times a minute", n)
		}
		one, keys := address(), []string{fresh(), fresh(), fresh()}
		for n = 0; n < 200 && ask(one, keys[n%3]); n++ {
		}
		if n != 120 {
			t.Errorf("one address is answered %d times a minute", n)
		}
		one = address()
		for n = 0; n < 100 && ask(one, "AAAAA-"+unique()); n++ {
		}
		if ask(one, fresh()) {
			t.Error("whoever guesses learns of a key that exists")
		}
		if n != 20 {
			t.Errorf("one address is answered of %d unknown keys a minute", n)
		}
	})
}
