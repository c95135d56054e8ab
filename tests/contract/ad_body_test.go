package contract

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// adBodies are the operations that need a body, the first field that each needs, and the paths of what there is.
func (n onNetwork) adBodies(t *testing.T) []adBody {
	t.Helper()
	ad, audience := n.ad(t, "Body"), n.audience(t, "Body")
	campaign, group := "/v1/ads/campaigns/"+ad.CampaignID, "/v1/ads/ad-groups/"+ad.AdGroupID
	return []adBody{
		{"POST", "/v1/ads", "account_id"},
		{"POST", "/v1/ads/boost", "account_id"},
		{"POST", "/v1/ads/audiences", "account_id"},
		{"POST", "/v1/ads/audiences/" + audience.ID + "/users", "users"},
		{"POST", "/v1/ads/campaigns/bulk-pause", "campaigns"},
		{"POST", "/v1/ads/campaigns/bulk-resume", "campaigns"},
		{"PATCH", campaign, "platform"},
		{"DELETE", campaign, "platform"},
		{"PATCH", "/v1/ads/" + ad.ID, "platform"},
		{"DELETE", "/v1/ads/" + ad.ID, "platform"},
		{"POST", "/v1/ads/" + ad.ID + "/pause", "platform"},
		{"POST", "/v1/ads/" + ad.ID + "/resume", "platform"},
		{"PATCH", group, "platform"},
		{"POST", group + "/pause", "platform"},
		{"POST", group + "/resume", "platform"},
		{"POST", "/v1/socials", "platform"},
		{"POST", "/v1/socials/activate", "account_id"},
	}
}

type adBody struct{ method, path, first string }

func TestAdBodies_AreReadStrictly(t *testing.T) {
	onOneNetworkAlone(t, sdk.AdPlatformFacebook, func(t *testing.T, n onNetwork) {
		for _, b := range n.adBodies(t) {
			unchanged(t, n.server, b.method+" "+b.path, func() {
				for _, body := range []string{"", `{}`} {
					n.refusedText(t, b.method, b.path, body, http.StatusBadRequest, sdk.CodeParameterMissing, b.first)
				}
				wrapped := fmt.Sprintf(`{"ad":{"%s":"x"}}`, b.first)
				if b.first == "platform" && b.path != "/v1/socials" { // which is found without it: nothing is missing but the sense
					n.refusedText(t, b.method, b.path, wrapped, http.StatusBadRequest, sdk.CodeBadRequest, "ad")
				} else {
					n.refusedText(t, b.method, b.path, wrapped, http.StatusBadRequest, sdk.CodeParameterMissing, b.first)
				}
				for _, body := range []string{`[]`, `"text"`, `7`, `null`, `{`, `{"platform":NaN}`, `{"a":1}{"b":2}`} {
					f := n.send(t, b.method, b.path, body).Fault(t, http.StatusBadRequest, sdk.CodeBadRequest)
					if f.Type != "invalid_request_error" {
						t.Errorf("%s %s %s: the type is %s", b.method, b.path, body, f.Type)
					}
				}
			})
		}
	})
}

// TestAdBodies_SayWhatIsAtTheWrongPlace is for the most common mistake.
func TestAdBodies_SayWhatIsAtTheWrongPlace(t *testing.T) {
	onOneNetwork(t, sdk.AdPlatformFacebook, func(t *testing.T, n onNetwork) {
		f := n.raw.Do(t, http.MethodPost, "/v1/ads", map[string]any{"ad": n.draft("x")}).Fault(t, http.StatusBadRequest, sdk.CodeParameterMissing)
		assert.Equal(t, "account_id", f.Param)
		assert.Contains(t, f.Message, "top level")
	})
}

// filled is the draft of an ad as text, with a field replaced by a text, or without it if that is "".
func (n onNetwork) filled(t *testing.T, object any, field, value string) string {
	t.Helper()
	text := string(harness.Encode(object))
	path := strings.Split(field, ".")
	begin := 0
	for _, name := range path {
		at := strings.Index(text[begin:], `"`+name+`":`)
		if at < 0 {
			t.Fatalf("%s has no %s", text, field)
		}
		begin += at
	}
	after := begin + len(path[len(path)-1]) + 3
	end := after
	for depth := 0; depth > 0 || (text[end] != ',' && text[end] != '}'); end++ {
		switch text[end] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
	}
	if value != "" {
		return text[:after] + value + text[end:]
	}
	return strings.NewReplacer("{,", "{", ",,", ",", ",}", "}").Replace(text[:begin] + text[end:])
}

func TestAdBodies_NameWhatTheyLack(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		ad := n.ad(t, "To join")
		join := n.draft("Joins")
		join.AdGroupID, join.Goal, join.BudgetAmount, join.BudgetType = &ad.AdGroupID, nil, nil, nil
		audience := sdk.AdAudienceCreate{AccountID: n.channel, AdAccountID: n.account, Name: "x", Type: "customer_list"}
		for _, c := range []struct {
			path   string
			body   any
			fields []string
		}{
			{"/v1/ads", n.draft("x"), []string{"account_id", "ad_account_id", "name", "goal", "budget_amount", "budget_type"}},
			{"/v1/ads", join, []string{"account_id", "ad_account_id", "name"}},
			{"/v1/ads/boost", n.boost("spost"), []string{"account_id", "ad_account_id", "post_id", "name", "goal", "budget", "budget.amount", "budget.type"}},
			{"/v1/ads/audiences", audience, []string{"account_id", "ad_account_id", "name", "type"}},
		} {
			for _, field := range c.fields {
				n.refusedText(t, http.MethodPost, c.path, n.filled(t, c.body, field, ""), http.StatusBadRequest, sdk.CodeParameterMissing, field)
			}
		}
		joined := ok[*sdk.Ad](t)(n.Ads.Create(background, join))
		assert.Equal(t, ad.AdGroupID, joined.AdGroupID, "the ad that joins")
		assert.Equal(t, *ad.Goal, *joined.Goal, "the ad that joins")
		assert.Equal(t, ad.Budget.Amount, joined.Budget.Amount, "the ad that joins")
	})
}

func TestAdBodies_KnowTheirTypes(t *testing.T) {
	onOneNetwork(t, sdk.AdPlatformFacebook, func(t *testing.T, n onNetwork) {
		ad := n.ad(t, "Types")
		users := "/v1/ads/audiences/" + n.audience(t, "Types").ID + "/users"
		campaign, group := "/v1/ads/campaigns/"+ad.CampaignID, "/v1/ads/ad-groups/"+ad.AdGroupID
		for _, c := range []struct{ method, path, body, param string }{
			{"POST", "/v1/ads", n.filled(t, n.draft("x"), "budget_amount", `"20"`), "budget_amount"},
			{"POST", "/v1/ads", n.filled(t, n.draft("x"), "budget_amount", `true`), "budget_amount"},
			{"POST", "/v1/ads", n.filled(t, n.draft("x"), "name", `1`), "name"},
			{"POST", "/v1/ads", n.filled(t, n.draft("x"), "goal", `["traffic"]`), "goal"},
			{"POST", "/v1/ads/boost", n.filled(t, n.boost("x"), "budget", `20`), "budget"},
			{"POST", "/v1/ads/boost", n.filled(t, n.boost("x"), "budget.amount", `"20"`), "budget.amount"},
			{"POST", "/v1/ads/boost", n.filled(t, n.boost("x"), "post_id", `{}`), "post_id"},
			{"POST", users, `{"users":{"email":"x"}}`, "users"},
			{"POST", users, `{"users":"x"}`, "users"},
			{"POST", users, `{"users":["ada@example.com"]}`, "users.0"},
			{"POST", users, `{"users":[{"email":"ada@example.com"},7]}`, "users.1"},
			{"POST", users, `{"users":[{"email":7}]}`, "users.0.email"},
			{"POST", "/v1/ads/campaigns/bulk-pause", `{"campaigns":{}}`, "campaigns"},
			{"POST", "/v1/ads/campaigns/bulk-resume", `{"campaigns":"1"}`, "campaigns"},
			{"PATCH", campaign, `{"platform":7}`, "platform"},
			{"PATCH", campaign, `{"platform":"facebook","budget":{"amount":"20","type":"daily"}}`, "budget.amount"},
			{"PATCH", group, `{"platform":"facebook","budget":[]}`, "budget"},
			{"PATCH", group, `{"platform":"facebook","bid_strategy":7}`, "bid_strategy"},
			{"PATCH", campaign, `{"budget":null}`, "budget"}, // which cannot be cleared
			{"PATCH", group, `{"bid_amount":null}`, "bid_amount"},
			{"POST", group + "/pause", `{"platform":["facebook"]}`, "platform"},
			{"DELETE", campaign, `{"platform":{}}`, "platform"},
		} {
			n.refusedText(t, c.method, c.path, c.body, http.StatusBadRequest, sdk.CodeBadRequest, c.param)
		}
	})
}

// TestAdBudgets_HaveTwoHalves is of the budget in an object, where it may be left out as a whole.
func TestAdBudgets_HaveTwoHalves(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		ad := n.ad(t, "Halves")
		for _, path := range []string{"/v1/ads/campaigns/" + ad.CampaignID, "/v1/ads/ad-groups/" + ad.AdGroupID} {
			for half, code := range map[string]string{`{}`: "budget.amount", `{"type":"daily"}`: "budget.amount", `{"amount":20}`: "budget.type"} {
				body := fmt.Sprintf(`{"platform":"%s","budget":%s}`, n.platform, half)
				n.refusedText(t, http.MethodPatch, path, body, http.StatusBadRequest, sdk.CodeParameterMissing, code)
			}
			body := fmt.Sprintf(`{"platform":"%s","budget":{"amount":20,"type":"weekly"}}`, n.platform)
			n.refusedText(t, http.MethodPatch, path, body, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "budget.type")
		}
		n.refusedText(t, http.MethodPost, "/v1/ads/boost", n.filled(t, n.boost(n.post(t, "published")), "budget.type", `"weekly"`), http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "budget.type")
		n.refusedText(t, http.MethodPost, "/v1/ads", n.filled(t, n.draft("x"), "budget_type", `"weekly"`), http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "budget_type")
	})
}
