package contract

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/tests/conformance"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestEveryBody_RefusesAnUnknownField(t *testing.T) {
	t.Parallel()
	keeps(t, conformance.RefusesAnUnknownField)
}

// fresh returns a client of the same account with a quota of its own.
func (w *world) fresh(t *testing.T, s *harness.Server) *harness.Client {
	t.Helper()
	return w.As(s.Key(t, w.Account))
}

func TestEveryRequiredField_IsReportedBeforeAnUnknownOne(t *testing.T) {
	t.Parallel()
	keeps(t, conformance.ReportsWhatIsMissingFirst)
}

func TestEveryField_TakesNullOnlyWhereItIsNullable(t *testing.T) {
	t.Parallel()
	keeps(t, conformance.TakesNullOnlyWhereItIsNullable)
}

func TestEveryMetadata_HasItsLimits(t *testing.T) {
	t.Parallel()
	keeps(t, conformance.LimitsMetadata)
}

func TestEveryBody_IsStrictJSON(t *testing.T) {
	t.Parallel()
	keeps(t, conformance.TakesStrictJSON)
}

// TestEveryPatch_ClearsMetadataByNull keeps one value, and then none.
func TestEveryPatch_ClearsMetadataByNull(t *testing.T) {
	t.Parallel()
	patches := func(op *harness.Operation) bool {
		return op.Method == http.MethodPatch && op.BodySchema().Properties["metadata"] != nil
	}
	onShared(t, func(t *testing.T, s *harness.Server) {
		w := newWorld(t, s)
		every(t, patches, func(t *testing.T, op *harness.Operation) {
			path := w.path(op)
			for _, step := range []struct {
				sent any
				want string
			}{{map[string]any{"a": "1", "b": "2"}, "map[a:1 b:2]"}, {map[string]any{"a": nil}, "map[b:2]"}, {nil, "map[]"}, {nil, "map[]"}} {
				body := map[string]any{"metadata": step.sent}
				if got := w.Must(t, op.Method, path, body)["metadata"]; fmt.Sprint(got) != step.want {
					t.Errorf("after %v the metadata are %v, want %s", body, got, step.want)
				}
			}
		})
	})
}

func TestEveryBody_HasASizeLimit(t *testing.T) {
	t.Parallel()
	keeps(t, conformance.LimitsTheSize)
}

func TestEveryBody_MustBeJSON(t *testing.T) {
	t.Parallel()
	keeps(t, conformance.TakesJSONAlone)
}

func TestEveryOperationWithoutABody_IgnoresOne(t *testing.T) {
	t.Parallel()
	withoutBody := func(op *harness.Operation) bool { return !withBody(op) }
	onShared(t, func(t *testing.T, s *harness.Server) {
		on := newStage(t, s)
		every(t, withoutBody, func(t *testing.T, op *harness.Operation) {
			var plain *harness.Response
			w := on.perform(t, op, func(w *world) (done bool) {
				plain = w.Do(t, op.Method, w.at(op, ""), "a=1", "Content-Type", "text/plain")
				return plain.Status < 300
			})
			answered(t, op, plain)
			resp := w.Do(t, op.Method, w.at(op, ""), "{", "Content-Type", "application/json")
			assert.False(t, op.Method == http.MethodGet && resp.Status != plain.Status)
			assert.False(t, refusesABody(resp))
		})
	})
}

// refusesABody reports whether an answer is about the bytes of a body, and not about what is there.
func refusesABody(answer *harness.Response) bool {
	return answer.Status == http.StatusBadRequest || answer.Status == http.StatusUnsupportedMediaType
}

func TestEveryWebhookEndpointBody_MayBeWrapped(t *testing.T) {
	t.Parallel()
	onShared(t, func(t *testing.T, s *harness.Server) {
		w := newWorld(t, s)
		for _, id := range []string{"createWebhookEndpoint", "updateWebhookEndpoint"} {
			op := harness.ByID(id)
			w.Must(t, op.Method, w.path(op), map[string]any{"webhook_endpoint": w.body(op)})
		}
		op := harness.ByID("createWebhookEndpoint")
		f := w.Do(t, op.Method, w.path(op), map[string]any{"webhook_endpoint": map[string]any{}}).Fault(t, http.StatusBadRequest, "parameter_missing")
		if f.Param != "url" {
			t.Errorf("param is %q", f.Param)
		}
	})
}
