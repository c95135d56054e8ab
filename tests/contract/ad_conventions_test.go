package contract

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/tests/harness"
)

// ofAds tells the operations of ads that go through a channel. The account's limits, audit trail and capabilities do not, nor does what is kept here
// of conversions. Who has switched a channel off can still see what its network was told, and that it is told no more.
func ofAds(op *harness.Operation) bool {
	_, rest, found := strings.Cut(op.Path, "/v1/ads")
	kept := strings.HasPrefix(rest, "/conversion") && !slices.Contains([]string{"createConversionDestination", "createConversions"}, op.ID)
	return found && !kept && !slices.Contains([]string{"/limits", "/actions", "/actions/export", "/capabilities"}, rest)
}

func TestAdOperations_AreThoseOfTheContract(t *testing.T) {
	t.Parallel()
	approval := map[string]string{}
	for _, op := range harness.Operations() {
		if !ofAds(op) {
			continue
		}
		approval[op.Method+" "+strings.TrimPrefix(op.Path, "/v1")] = op.Approval
		for _, status := range []int{400, 401, 403, 404, 409, 422, 429} {
			if !op.Documents(status) {
				t.Errorf("%s does not list %d", op.ID, status)
			}
		}
	}
	want := map[string]string{
		"GET /ads": "allow", "POST /ads": "ask, locked", "GET /ads/{id}": "allow", "PATCH /ads/{id}": "ask", "DELETE /ads/{id}": "ask",
		"POST /ads/{id}/pause": "allow", "POST /ads/{id}/resume": "ask, locked", "GET /ads/ad-accounts": "allow", "GET /ads/ad-groups/{id}": "allow",
		"PATCH /ads/ad-groups/{id}": "ask, locked", "POST /ads/ad-groups/{id}/pause": "allow", "POST /ads/ad-groups/{id}/resume": "ask, locked",
		"GET /ads/audiences": "allow", "POST /ads/audiences": "allow", "GET /ads/audiences/{id}": "allow", "DELETE /ads/audiences/{id}": "ask",
		"POST /ads/audiences/{id}/users": "allow", "POST /ads/boost": "ask, locked", "GET /ads/business-centers": "allow", "GET /ads/campaigns": "allow",
		"POST /ads/campaigns/bulk-pause": "allow", "POST /ads/campaigns/bulk-resume": "ask, locked", "GET /ads/campaigns/{id}": "allow",
		"DELETE /ads/audiences/{id}/users": "allow",
		"PATCH /ads/campaigns/{id}":        "ask, locked", "DELETE /ads/campaigns/{id}": "ask", "GET /ads/campaigns/{id}/ad-groups": "allow",
		"GET /ads/targeting/search": "allow", "POST /ads/targeting/reach": "allow", "PATCH /ads/ad-accounts/{id}": "ask",
		"GET /ads/{id}/metrics": "allow", "GET /ads/ad-groups/{id}/metrics": "allow", "GET /ads/campaigns/{id}/metrics": "allow",
		"POST /ads/preview": "allow", "POST /ads/{id}/preview": "allow",
		"GET /ads/pixels": "allow", "POST /ads/conversion-destinations": "ask", "POST /ads/conversions": "allow",
	}
	for operation, tag := range want {
		if approval[operation] != tag {
			t.Errorf("%s is tagged %q, the contract says %q", operation, approval[operation], tag)
		}
	}
	if len(approval) != len(want) {
		t.Errorf("there are %d ad operations: %v", len(approval), approval)
	}
}

func TestEveryAdOperation_NeedsAnActivatedChannel(t *testing.T) {
	t.Parallel()
	onShared(t, func(t *testing.T, s *harness.Server) {
		w := newWorld(t, s)
		for _, channel := range []string{"sacct", "agency"} {
			w.Must(t, http.MethodPost, "/v1/socials/"+w.IDs[channel]+"/deactivate", nil)
		}
		every(t, ofAds, func(t *testing.T, op *harness.Operation) {
			f := w.send(t, op).Fault(t, http.StatusConflict, "account_not_activated")
			assert.Equal(t, "invalid_request_error", f.Type, "the fault")
			assert.Equal(t, "account_id", f.Param, "the fault")
			assert.Contains(t, f.Message, "/socials/activate", "the fault")
		})
	})
}

// TestEveryAdOperation_PassesOnWhatItsNetworkSays has the network answer each operation that asks it with faults.
func TestEveryAdOperation_PassesOnWhatItsNetworkSays(t *testing.T) {
	t.Parallel()
	silent := []string{"listAdAccounts", "updateAdAccount", "listBusinessCenters", "resumeAdGroup", "resumeAd", "createConversions"} // they read the mirror, it is on already, and the worker tells it
	asks := func(op *harness.Operation) bool {
		return ofAds(op) && !slices.Contains(silent, op.ID) && !strings.Contains(op.Path, "/bulk-")
	}
	onShared(t, func(t *testing.T, s *harness.Server) {
		w := newWorld(t, s)
		// A list over several channels goes without the figures of one whose network does not answer.
		w.Must(t, http.MethodPost, "/v1/socials/"+w.IDs["agency"]+"/deactivate", nil)
		every(t, asks, func(t *testing.T, op *harness.Operation) {
			w.Client = w.fresh(t, s)
			f := w.send(t, op, "X-Sandbox-Fault", "reject_all").Fault(t, http.StatusUnprocessableEntity, "validation_failed")
			assert.Equal(t, "platform", f.Param, "refused, the fault")
			assert.NotEmpty(t, f.Errors["platform"], "refused, the fault")
			limited := w.send(t, op, "X-Sandbox-Fault", "rate_limit;after=7")
			limited.Fault(t, http.StatusTooManyRequests, "rate_limit_exceeded")
			if limited.Header.Get("Retry-After") != "7" {
				t.Errorf("limited, Retry-After is %q", limited.Header.Get("Retry-After"))
			}
			w.send(t, op, "X-Sandbox-Fault", "5xx").Fault(t, http.StatusInternalServerError, "api_error")
		})
	})
}
