package contract

import (
	"net/http"
	"testing"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

func TestEveryOperation_IsLimited(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := boot(t, url)
		w := newWorld(t, s)
		harness.AwaitEarlyMinute(t)
		admitted := 0
		for ; w.Do(t, http.MethodGet, "/v1/account", nil).Status == http.StatusOK; admitted++ {
		}
		if admitted < 500 || admitted > 600 {
			t.Errorf("%d requests were admitted beside those of the world, 600 are allowed", admitted)
		}
		stranger := s.From(t, "127.0.0.3").As(w.Key)
		for stranger.Do(t, http.MethodGet, "/public/checkouts/"+w.secret, nil).Status == http.StatusOK {
		}
		every(t, all, func(t *testing.T, op *harness.Operation) {
			resp := stranger.Do(t, op.Method, w.path(op), w.body(op))
			resp.Fault(t, http.StatusTooManyRequests, "rate_limit_exceeded")
		})
		// Another key and another address are not concerned.
		w.As(s.Key(t, w.Account)).Must(t, http.MethodGet, "/v1/account", nil)
		s.From(t, "127.0.0.4").Must(t, http.MethodGet, "/public/checkouts/"+w.secret, nil)
	})
}

// TestEveryOperation_FailsInTheEnvelope takes tables away under a running server.
func TestEveryOperation_FailsInTheEnvelope(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := boot(t, url)
		w := newWorld(t, s)
		restore := s.BreakTables(t, "api_keys", "rate_windows", "idempotency_keys")
		beyond := func(op *harness.Operation) bool { // operations that need more than those three
			return resources["keys"] != prefixOf(op) && listed(op) != "key" && op.ID != "listWebhookEventTypes"
		}
		every(t, beyond, func(t *testing.T, op *harness.Operation) {
			w.send(t, op).Fault(t, http.StatusInternalServerError, "api_error")
		})
		restore()
		restore = s.BreakTables(t)
		every(t, all, func(t *testing.T, op *harness.Operation) { // without its keys and counts a server answers nobody
			w.send(t, op).Fault(t, http.StatusInternalServerError, "api_error")
		})
		restore()
		reads := func(op *harness.Operation) bool { return !op.IsWrite() }
		every(t, reads, func(t *testing.T, op *harness.Operation) {
			if resp := w.send(t, op); resp.Status != http.StatusOK {
				t.Errorf("answered %d once the database is whole again: %s", resp.Status, resp.Body)
			}
		})
	})
}

// TestPanic_IsAnsweredAndSurvived makes the event renderer panic inside a write.
func TestPanic_IsAnsweredAndSurvived(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := boot(t, url)
		c := s.Account(t)
		s.PanicOnEvent(true)
		failed := c.Do(t, http.MethodPost, "/v1/products", map[string]any{"name": "x"}, "Idempotency-Key", "k")
		failed.Fault(t, http.StatusInternalServerError, "api_error")
		s.PanicOnEvent(false)
		if n := len(c.Must(t, http.MethodGet, "/v1/products", nil)["data"].([]any)); n != 0 {
			t.Errorf("%d products of the failed request were left behind", n)
		}
		c.Must(t, http.MethodPost, "/v1/products", map[string]any{"name": "x"}, "Idempotency-Key", "k")
	})
}
