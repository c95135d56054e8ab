package contract

import (
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// optionalOf are the fields that may be left out of a body.
func optionalOf(body reflect.Type) []string {
	var names []string
	for field := range body.Fields() {
		if name, options, _ := strings.Cut(field.Tag.Get("json"), ","); strings.Contains(options, "omitempty") {
			names = append(names, name)
		}
	}
	return names
}

// readsNullAsAbsent sends null for each field that may be left out of a body, and leaves it out.
func (n onNetwork) readsNullAsAbsent(t *testing.T, path string, body any) {
	t.Helper()
	for _, name := range optionalOf(reflect.TypeOf(body).Elem()) {
		withNull := objectOf(t, harness.Encode(body))
		delete(withNull, name)
		absent := n.raw.Do(t, http.MethodPost, path, withNull)
		withNull[name] = nil
		null := n.raw.Do(t, http.MethodPost, path, withNull)
		assert.Less(t, null.Status, 500, "%s %s: null", path, name)
		assert.Equal(t, absent.Status, null.Status, "%s %s: null", path, name)
		assert.False(t, null.Status >= 400 && reason(t, null) != reason(t, absent), "%s %s: null", path, name)
	}
}

func TestAdBodies_ReadNullAsAbsent(t *testing.T) {
	onOneNetwork(t, sdk.AdPlatformFacebook, func(t *testing.T, n onNetwork) {
		n.readsNullAsAbsent(t, "/v1/ads", n.draft("Null"))
		n.readsNullAsAbsent(t, "/v1/ads/boost", n.boost(n.post(t, "published")))
		audience := &sdk.AdAudienceCreate{AccountID: n.channel, AdAccountID: n.account, Name: "Null", Type: "customer_list"}
		n.readsNullAsAbsent(t, "/v1/ads/audiences", audience)
		n.readsNullAsAbsent(t, "/v1/socials", &sdk.SocialAccountConnect{Platform: n.platform})
		for _, field := range []string{"goal", "budget_amount", "budget_type"} {
			n.refusedText(t, http.MethodPost, "/v1/ads", n.filled(t, n.draft("x"), field, "null"), http.StatusBadRequest, sdk.CodeParameterMissing, field)
		}
		for _, field := range []string{"account_id", "ad_account_id", "name"} {
			n.refusedText(t, http.MethodPost, "/v1/ads", n.filled(t, n.draft("x"), field, "null"), http.StatusBadRequest, sdk.CodeBadRequest, field)
		}
		made := n.ad(t, "To join")
		everything := map[string]any{"unheard_of": nil, "Status": nil}
		for _, name := range optionalOf(reflect.TypeFor[sdk.AdCreate]()) {
			if !slices.Contains([]string{"headline", "body", "call_to_action", "link_url", "image_url"}, name) { // without which there is no ad
				everything[name] = nil
			}
		}
		everything["ad_group_id"] = made.AdGroupID
		joined := n.raw.Do(t, http.MethodPost, "/v1/ads", n.with(t, "Nothing else", everything))
		answer := objectOf(t, joined.Body)
		assert.Equal(t, http.StatusCreated, joined.Status)
		assert.Equal(t, made.AdGroupID, answer["ad_group_id"])
		assert.NotEmpty(t, warning(answer, "unheard_of"))
		for _, field := range []string{"platform_targeting", "promoted_object"} {
			body := n.with(t, "Null in "+field, map[string]any{field: map[string]any{"unheard_of": nil, "some": []any{nil, map[string]any{"inner": nil}}}})
			planned := n.raw.Do(t, http.MethodPost, "/v1/ads?dry_run=true", body)
			assert.NotEqual(t, http.StatusBadRequest, planned.Status, "null inside of %s", field)
			assert.Less(t, planned.Status, 500, "null inside of %s", field)
		}
	})
}

// TestAdSwitches_ReadNullAsAbsent is of the networks and the ids that may be left out.
func TestAdSwitches_ReadNullAsAbsent(t *testing.T) {
	onOneNetwork(t, sdk.AdPlatformFacebook, func(t *testing.T, n onNetwork) {
		ad := n.ad(t, "Switched")
		for _, c := range []struct{ method, path, body string }{
			{"POST", "/v1/ads/ad-groups/" + ad.AdGroupID + "/pause", `{"platform":null}`},
			{"POST", "/v1/ads/ad-groups/" + ad.AdGroupID + "/resume", `{"platform":null}`},
			{"POST", "/v1/ads/campaigns/bulk-pause", `{"campaigns":[{"id":"` + ad.CampaignID + `","campaign_id":null,"platform_campaign_id":null,"platform":null}]}`},
			{"POST", "/v1/ads/campaigns/bulk-resume", `{"campaigns":[{"id":null,"campaign_id":"` + ad.CampaignID + `","platform":null}]}`},
			{"DELETE", "/v1/ads/campaigns/" + ad.CampaignID, `{"platform":null}`},
		} {
			done := n.send(t, c.method, c.path, c.body)
			assert.Equal(t, http.StatusOK, done.Status, "%s %s %s", c.method, c.path, c.body)
			assert.NotContains(t, string(done.Body), `"failed":1`, "%s %s %s", c.method, c.path, c.body)
		}
	})
}
