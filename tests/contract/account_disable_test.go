package contract

import (
	"bytes"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/tests/harness"
)

// Whoever has a key or a client secret of a disabled account is answered as if it were none, and changes nothing.
func TestEveryOperation_RefusesADisabledAccount(t *testing.T) {
	t.Parallel()
	onShared(t, func(t *testing.T, s *harness.Server) {
		w, bystander := newWorld(t, s), s.Account(t)
		stranger := w.As("sk_nonsense").Do(t, http.MethodGet, "/v1/account", nil)
		before := w.snapshot(t)
		enable := s.Disable(t, w.Account)
		every(t, private, func(t *testing.T, op *harness.Operation) {
			resp := w.Do(t, op.Method, w.path(op), w.body(op))
			resp.Fault(t, http.StatusUnauthorized, "authentication_required")
			if !bytes.Equal(resp.Body, stranger.Body) {
				t.Errorf("a key of it is told from no key: %s", resp.Body)
			}
		})
		every(t, bySecret, func(t *testing.T, op *harness.Operation) {
			resp := w.Do(t, op.Method, w.path(op), w.body(op))
			resp.Fault(t, http.StatusNotFound, "resource_missing")
			unknown := w.Do(t, op.Method, w.path(op, "client_secret", w.Secret[:len(w.Secret)-4]+"0000"), w.body(op))
			if !bytes.Equal(resp.Body, unknown.Body) {
				t.Errorf("its checkout is told from none: %s and %s", resp.Body, unknown.Body)
			}
		})
		bystander.Must(t, http.MethodGet, "/v1/account", nil)
		enable()
		assert.Equal(t, before, w.snapshot(t), "something was changed")
	})
}
