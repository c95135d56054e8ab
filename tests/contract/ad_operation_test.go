package contract

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// TestAdOperations_HaveTheirTags compares the operations of ads, in the SDK and in the specification, with the document of
// the service.
func TestAdOperations_HaveTheirTags(t *testing.T) {
	t.Parallel()
	document := map[string]string{}
	for line := range strings.Lines(`
		GET /ads allow
		POST /ads ask, locked
		GET /ads/ad-accounts allow
		GET /ads/ad-groups/{id} allow
		PATCH /ads/ad-groups/{id} ask, locked
		POST /ads/ad-groups/{id}/pause allow
		POST /ads/ad-groups/{id}/resume ask, locked
		GET /ads/audiences allow
		POST /ads/audiences allow
		GET /ads/audiences/{id} allow
		DELETE /ads/audiences/{id} ask
		POST /ads/audiences/{id}/users allow
		POST /ads/boost ask, locked
		GET /ads/business-centers allow
		GET /ads/campaigns allow
		POST /ads/campaigns/bulk-pause allow
		POST /ads/campaigns/bulk-resume ask, locked
		GET /ads/campaigns/{id} allow
		PATCH /ads/campaigns/{id} ask, locked
		DELETE /ads/campaigns/{id} ask
		GET /ads/campaigns/{id}/ad-groups allow`) {
		if words := strings.SplitN(strings.TrimSpace(line), " ", 3); len(words) == 3 {
			document[words[0]+" "+words[1]] = words[2]
		}
	}
	found := 0
	for _, op := range harness.Operations() {
		tag, listed := document[op.Method+" "+strings.TrimPrefix(op.Path, "/v1")]
		if !listed {
			continue
		}
		found++
		inSDK := sdk.Operations[op.ID]
		locked := strings.HasSuffix(tag, ", locked")
		assert.Equal(t, tag, op.Approval)
		assert.Equal(t, strings.TrimSuffix(tag, ", locked"), inSDK.Approval)
		assert.Equal(t, locked, inSDK.Locked)
		for _, status := range []int{400, 401, 403, 404, 409, 422, 429} {
			if !op.Documents(status) {
				t.Errorf("%s does not list %d", op.ID, status)
			}
		}
	}
	assert.Equal(t, 21, found)
	assert.Len(t, document, 21)
}

// TestAds_AreCheckedInOneOrder begins with a request in which everything is wrong, and mends one thing after the other.
func TestAds_AreCheckedInOneOrder(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := boot(t, url)
		raw := s.AccountOn(t, tenant.PlanPro)
		reader := raw.As(s.Key(t, raw.Account, "ads:read"))
		channel, path := randomID("sacct"), "/v1/ads/campaigns/nothing"
		budget, wrong := `{"platform":"facebook","budget":{"amount":20,"type":"daily"}}`, `{"platform":"facebook","budget":{"amount":20,"type":"weekly"}}`
		draft := func(goal string) string {
			return string(harness.Encode(map[string]any{
				"account_id": channel, "ad_account_id": "nothing", "name": "x", "goal": goal, "budget_amount": 0, "budget_type": "daily",
			}))
		}
		step := func(c *harness.Client, method, path, body string, status int, code, param string, headers ...string) {
			t.Helper()
			if f := c.Do(t, method, path, body, headers...).Fault(t, status, code); f.Param != param {
				t.Errorf("%s: param is %q, %q is expected", f.Code, f.Param, param)
			}
		}
		long := strings.Repeat("k", 256)
		step(raw.As("sk_nonsense"), "PATCH", path, `{`, 401, sdk.CodeAuthentication, "", "Idempotency-Key", long)
		step(reader, "PATCH", path+"/nothing", `{`, 404, sdk.CodeResourceMissing, "", "Idempotency-Key", long)
		step(reader, "PUT", path, `{`, 405, sdk.CodeMethodNotAllowed, "", "Idempotency-Key", long)
		step(reader, "PATCH", path, `{`, 403, sdk.CodeForbidden, "ads:write", "Idempotency-Key", long)
		step(raw, "PATCH", path, `{`, 400, sdk.CodeBadRequest, "Idempotency-Key", "Idempotency-Key", long, "Content-Type", "text/plain")
		step(raw, "PATCH", path, `{`, 415, sdk.CodeUnsupportedMediaType, "", "Idempotency-Key", "k", "Content-Type", "text/plain")
		step(raw, "PATCH", path, `{`, 400, sdk.CodeBadRequest, "", "Idempotency-Key", "k")
		c := raw.SDK()
		ok[*sdk.SocialAccount](t)(c.Socials.Connect(background, &sdk.SocialAccountConnect{Platform: "facebook"}, sdk.WithIdempotencyKey("k")))
		step(raw, "PATCH", path, wrong, 422, sdk.CodeValidationFailed, "budget.type", "Idempotency-Key", "k")
		step(raw, "PATCH", path, budget, 422, sdk.CodeKeyReused, "Idempotency-Key", "Idempotency-Key", "k")
		step(raw, "POST", "/v1/ads", draft("traffic"), 404, sdk.CodeResourceMissing, "account_id")
		step(raw, "PATCH", path, budget, 409, sdk.CodeAccountNotActivated, "account_id")
		channel = ok[*sdk.SocialAccount](t)(c.Socials.Connect(background, &sdk.SocialAccountConnect{Platform: "facebook"})).ID
		step(raw, "POST", "/v1/ads", draft("traffic"), 409, sdk.CodeAccountNotActivated, "account_id")
		ok[*sdk.SocialAccount](t)(c.Socials.Activate(background, &sdk.SocialAccountActivate{AccountID: channel}))
		step(raw, "POST", "/v1/ads", draft("traffic"), 404, sdk.CodeResourceMissing, "ad_account_id")
		step(raw, "PATCH", path, budget, 404, sdk.CodeResourceMissing, "")
		a := advertise(t, c, sdk.AdPlatformFacebook)
		ad := a.ad(t, "There")
		step(raw, "PATCH", "/v1/ads/campaigns/"+ad.CampaignID, budget, 422, sdk.CodeValidationFailed, "budget")
		if resp := raw.Do(t, http.MethodPatch, "/v1/ads/ad-groups/"+ad.AdGroupID, budget); resp.Status != http.StatusOK {
			t.Errorf("with nothing wrong it is answered %d %s", resp.Status, resp.Body)
		}
	})
}
