package contract

import (
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/tests/conformance"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestEveryOperation_HidesOtherAccounts(t *testing.T) {
	t.Parallel()
	onShared(t, func(t *testing.T, s *harness.Server) {
		mine, theirs := newWorld(t, s), newWorld(t, s)
		before := theirs.snapshot(t)
		conformance.HidesOtherAccounts(harness.Tested(t), mine.subject(t, s), theirs.subject(t, s))
		assert.Equal(t, before, theirs.snapshot(t), "the other account was changed")
	})
}

func TestEveryPublicOperation_HidesWhatItsSecretDoesNotOpen(t *testing.T) {
	t.Parallel()
	onShared(t, func(t *testing.T, s *harness.Server) {
		w := newWorld(t, s)
		every(t, bySecret, func(t *testing.T, op *harness.Operation) {
			wrong := w.Secret[:len(w.Secret)-4] + "0000"
			for _, secret := range []string{wrong, w.IDs["chk"], "nonsense"} {
				resp := w.Do(t, op.Method, w.path(op, "client_secret", secret), w.body(op))
				resp.Fault(t, http.StatusNotFound, "resource_missing")
			}
		})
	})
}

// bySecret reports whether what an operation is about is addressed by a secret.
func bySecret(op *harness.Operation) bool {
	return slices.Contains(op.PathParameters(), "client_secret")
}

// snapshot reads every object of the world, once its letters are sent.
func (w *world) snapshot(t *testing.T) map[string]any {
	t.Helper()
	w.post(t)
	all := map[string]any{}
	for _, op := range harness.Operations() {
		if op.Method == http.MethodGet && !op.Public {
			object := w.Must(t, http.MethodGet, w.at(op, ""), nil)
			scrub(object)
			all[op.ID] = object
		}
	}
	return all
}

// scrub removes what changes by being looked at: when a key was last used. It also removes what changes by the clock:
// figures of ads, signed URLs and previews, and what was found when a domain was looked at.
func scrub(v any) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "last_used_at")
		delete(v, "last_used_ip")
		if v["object"] == "signed_url" {
			clear(v)
		}
		delete(v, "metrics")
		delete(v, "amount_spent")
		delete(v, "last_synced_at")
		delete(v, "preview_url")
		delete(v, "domain_checked_at")
		delete(v, "domain_error")
		for _, inner := range v {
			scrub(inner)
		}
	case []any:
		for _, inner := range v {
			scrub(inner)
		}
	}
}

func TestLists_NeverShowForeignRows(t *testing.T) {
	t.Parallel()
	onShared(t, func(t *testing.T, s *harness.Server) {
		mine, theirs := newWorld(t, s), newWorld(t, s)
		conformance.ListsNothingForeign(harness.Tested(t), mine.subject(t, s), theirs.subject(t, s))
	})
}
