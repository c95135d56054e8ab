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
		stranger := s.From(t, "127.0.0.3").As(w.Key)
		every(t, all, func(t *testing.T, op *harness.Operation) {
			method, path, body := http.MethodGet, "/v1/account", any(nil)
			switch {
			case op.Limit != 600:
				method, path, body = op.Method, w.path(op), w.body(op)
			case op.Public: // counts the address
				path = "/public/checkouts/" + w.Secret
			}
			for window := ""; ; { // until the window has not ended between the last request that fits and the one too many
				window = spend(t, stranger, op.Limit, method, path, body)
				resp := stranger.Do(t, op.Method, w.path(op), w.body(op))
				if resp.Header.Get("X-RateLimit-Reset") == window {
					resp.Fault(t, http.StatusTooManyRequests, "rate_limit_exceeded")
					return
				}
			}
		})
		// Another key and another address are not concerned.
		w.As(s.Key(t, w.Account)).Must(t, http.MethodGet, "/v1/account", nil)
		s.From(t, "127.0.0.4").Must(t, http.MethodGet, "/public/checkouts/"+w.Secret, nil)
	})
}

// spend uses a quota up and returns the end of its window.
func spend(t *testing.T, c *harness.Client, limit int64, method, path string, body any) string {
	t.Helper()
	admitted := map[string]int64{}
	for {
		resp := c.Do(t, method, path, body)
		window := resp.Header.Get("X-RateLimit-Reset")
		if resp.Status == http.StatusTooManyRequests {
			return window
		}
		if admitted[window]++; admitted[window] > limit {
			t.Fatalf("%d requests were admitted in one window", admitted[window])
		}
	}
}

// TestEveryOperation_FailsInTheEnvelope takes tables away under a running server.
func TestEveryOperation_FailsInTheEnvelope(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := boot(t, url)
		w := newWorld(t, s)
		restore := s.BreakTables(t, "api_keys", "rate_windows", "idempotency_keys")
		beyond := func(op *harness.Operation) bool { // operations that need more than those three
			return resources["keys"] != prefixOf(op) && listed(op) != "key" && op.ID != "listWebhookEventTypes" && op.ID != "listAdCapabilities"
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

// TestEveryOperation_SaysThatTheDatabaseIsAway breaks every connection to it and refuses new ones.
func TestEveryOperation_SaysThatTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	proxy := database.NewProxy(t, database.URL(t, "postgres"))
	s := boot(t, proxy.URL)
	w := newWorld(t, s)
	proxy.Down()
	every(t, all, func(t *testing.T, op *harness.Operation) {
		resp := w.send(t, op)
		resp.Fault(t, http.StatusServiceUnavailable, "api_error")
		if wait := resp.Header.Get("Retry-After"); wait != "1" {
			t.Errorf("Retry-After is %q", wait)
		}
	})
	proxy.Up(t)
	w.Must(t, http.MethodGet, "/v1/account", nil)
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
