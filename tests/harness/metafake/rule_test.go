package metafake

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// maker makes an ad for sales by four raw calls, of which each test spoils one.
type maker struct {
	f       *Fake
	address string
}

func newMaker(t *testing.T) *maker {
	t.Helper()
	f := New("t")
	f.AddAccount(Account{ID: account, Currency: "USD", Minimum: 100})
	f.AddPage("20", "Page", "p", "")
	return &maker{f, f.Serve(t)}
}

// sent are the parameters of each call, by edge.
func sent() map[string]url.Values {
	return map[string]url.Values{
		"campaigns": {"name": {"A"}, "objective": {"OUTCOME_SALES"}, "status": {"ACTIVE"}, "special_ad_categories": {"[]"}, "is_adset_budget_sharing_enabled": {"false"}},
		"adsets": {
			"name": {"A"}, "optimization_goal": {"OFFSITE_CONVERSIONS"}, "billing_event": {"IMPRESSIONS"}, "destination_type": {"WEBSITE"}, "status": {"ACTIVE"},
			"daily_budget": {"9000"}, "bid_strategy": {"LOWEST_COST_WITHOUT_CAP"}, "promoted_object": {`{"pixel_id":"6","custom_event_type":"PURCHASE"}`},
			"targeting": {`{"geo_locations":{"countries":["US"]},"targeting_automation":{"advantage_audience":0}}`},
		},
		"adcreatives": {"name": {"A"}, "object_story_spec": {`{"page_id":"20","link_data":{"link":"https://shop.example.co.uk/a","message":"M",` +
			`"call_to_action":{"type":"SHOP_NOW","value":{"link":"https://shop.example.co.uk/a"}}}}`}},
		"ads": {"name": {"A"}, "status": {"ACTIVE"}, "conversion_domain": {"example.co.uk"}},
	}
}

// make sends the four calls and returns the first refusal, with its rule.
func (m *maker) make(t *testing.T, params map[string]url.Values) *Error {
	t.Helper()
	ids := map[string]string{}
	for _, edge := range []string{"campaigns", "adsets", "adcreatives", "ads"} {
		switch v := params[edge]; edge {
		case "adsets":
			v.Set("campaign_id", ids["campaigns"])
		case "ads":
			v.Set("adset_id", ids["adsets"])
			v.Set("creative", `{"creative_id":"`+ids["adcreatives"]+`"}`)
		}
		if e := m.call(t, "POST", account+"/"+edge, params[edge]); e != nil {
			return e
		}
		live := m.f.Live(map[string]string{"campaigns": "Campaign", "adsets": "AdSet", "adcreatives": "AdCreative", "ads": "Ad"}[edge])
		ids[edge] = live[len(live)-1]
	}
	return nil
}

// call sends one call and returns what it was refused for, as it was recorded.
func (m *maker) call(t *testing.T, method, path string, params url.Values) *Error {
	t.Helper()
	_, e := ask(t, m.address, method, "/"+Version+"/"+path, params)
	calls := m.f.Calls()
	if last := calls[len(calls)-1]; e != nil {
		require.NotNil(t, last.Refused)
		assert.Equal(t, last.Refused.Subcode, e.Subcode)
		return last.Refused
	}
	return nil
}

func TestRules_OfWhatIsMade(t *testing.T) {
	t.Parallel()
	require.Nil(t, newMaker(t).make(t, sent()), "the call that the others spoil")
	for name, c := range map[string]struct {
		rule    string
		subcode int
		edge    string
		params  map[string]string // "" leaves one out
	}{
		"an objective of old":            {"C4", 0, "campaigns", map[string]string{"objective": "CONVERSIONS"}},
		"archived when made":             {"C6", 0, "campaigns", map[string]string{"status": "ARCHIVED"}},
		"no word on sharing":             {"C3", 4834011, "campaigns", map[string]string{"is_adset_budget_sharing_enabled": ""}},
		"a strategy without a budget":    {"C5", 0, "campaigns", map[string]string{"bid_strategy": "LOWEST_COST_WITHOUT_CAP"}},
		"two budgets":                    {"B1", 1885650, "campaigns", map[string]string{"daily_budget": "9000", "lifetime_budget": "9000"}},
		"a budget on both levels":        {"B1", 1885621, "campaigns", map[string]string{"daily_budget": "9000"}},
		"no strategy":                    {"C7", 2490487, "adsets", map[string]string{"bid_strategy": ""}},
		"a cap without an amount":        {"C7", 2490487, "adsets", map[string]string{"bid_strategy": "COST_CAP"}},
		"an amount without a cap":        {"S5", 0, "adsets", map[string]string{"bid_amount": "100"}},
		"a floor without value":          {"S6", 2490487, "adsets", map[string]string{"bid_strategy": "LOWEST_COST_WITH_MIN_ROAS", "bid_constraints": `{"roas_average_floor":20000}`}},
		"value without a floor":          {"S6", 2490487, "adsets", map[string]string{"bid_strategy": "LOWEST_COST_WITH_MIN_ROAS", "optimization_goal": "VALUE"}},
		"a floor out of range":           {"S6", 2490487, "adsets", map[string]string{"bid_strategy": "LOWEST_COST_WITH_MIN_ROAS", "optimization_goal": "VALUE", "bid_constraints": `{"roas_average_floor":99}`}},
		"too little for its goal":        {"B2", 1885272, "adsets", map[string]string{"daily_budget": "499", "optimization_goal": "LINK_CLICKS"}},
		"a lifetime without an end":      {"B3", 0, "adsets", map[string]string{"daily_budget": "", "lifetime_budget": "9000"}},
		"a daily budget for half a day":  {"B3", 0, "adsets", map[string]string{"end_time": time.Now().Add(12 * time.Hour).Format(timeLayout)}},
		"another goal":                   {"S1", 2490408, "adsets", map[string]string{"optimization_goal": "POST_ENGAGEMENT"}},
		"another destination":            {"S1", 0, "adsets", map[string]string{"destination_type": "ON_POST"}},
		"another billing":                {"S2", 0, "adsets", map[string]string{"billing_event": "LINK_CLICKS"}},
		"nothing promoted":               {"S3", 1815430, "adsets", map[string]string{"promoted_object": ""}},
		"a pixel without an event":       {"S3", 1885014, "adsets", map[string]string{"promoted_object": `{"pixel_id":"6"}`}},
		"products without a catalog":     {"S3", 1815430, "adsets", map[string]string{"promoted_object": `{"product_set_id":"6","custom_event_type":"PURCHASE"}`}},
		"another event":                  {"S4", 0, "adsets", map[string]string{"promoted_object": `{"pixel_id":"6","custom_event_type":"LEAD"}`}},
		"nowhere":                        {"G1", 1885364, "adsets", map[string]string{"targeting": `{"targeting_automation":{"advantage_audience":0}}`}},
		"no word on more people":         {"G2", 1870227, "adsets", map[string]string{"targeting": `{"geo_locations":{"countries":["US"]}}`}},
		"more people, but no young ones": {"G2", 1870188, "adsets", map[string]string{"targeting": `{"geo_locations":{"countries":["US"]},"age_min":30,"targeting_automation":{"advantage_audience":1}}`}},
		"a place that is no more":        {"G7", 0, "adsets", map[string]string{"targeting": `{"geo_locations":{"countries":["US"]},"instagram_positions":["explore"],"targeting_automation":{"advantage_audience":0}}`}},
		"politics of nowhere":            {"C2", 0, "campaigns", map[string]string{"special_ad_categories": `["ISSUES_ELECTIONS_POLITICS"]`}},
		"in the EU without a payor":      {"G4", 0, "adsets", map[string]string{"dsa_beneficiary": "Ada", "targeting": `{"geo_locations":{"countries":["US","DE"]},"targeting_automation":{"advantage_audience":0}}`}},
		"worldwide without either":       {"G4", 0, "adsets", map[string]string{"targeting": `{"geo_locations":{"country_groups":["worldwide"]},"targeting_automation":{"advantage_audience":0}}`}},
		"an interest that is no more":    {"G5", 1487694, "adsets", map[string]string{"targeting": `{"geo_locations":{"countries":["US"]},"flexible_spec":[{"interests":[{"id":"6003000000000"}]}],"targeting_automation":{"advantage_audience":0}}`}},
		"a bid above the budget":         {"B2", 1885272, "adsets", map[string]string{"bid_strategy": "COST_CAP", "bid_amount": "9001"}},
		"a city of a country":            {"G1", 1487756, "adsets", map[string]string{"targeting": `{"geo_locations":{"countries":["US"],"cities":[{"key":"2420379"}]},"targeting_automation":{"advantage_audience":0}}`}},
		"in Alsace without a payor":      {"G4", 0, "adsets", map[string]string{"targeting": `{"geo_locations":{"regions":[{"key":"1089"}]},"targeting_automation":{"advantage_audience":0}}`}},
		"in Paris without a payor":       {"G4", 0, "adsets", map[string]string{"targeting": `{"geo_locations":{"zips":[{"key":"FR:75001"}]},"targeting_automation":{"advantage_audience":0}}`}},
		"in Singapore without a word":    {"G4", 3858634, "adsets", map[string]string{"targeting": `{"geo_locations":{"countries":["SG"]},"targeting_automation":{"advantage_audience":0}}`}},
		"too many audiences":             {"G6", 0, "adsets", map[string]string{"targeting": `{"geo_locations":{"countries":["US"]},"custom_audiences":[` + strings.TrimSuffix(strings.Repeat(`{"id":"1"},`, 501), ",") + `],"targeting_automation":{"advantage_audience":0}}`}},
		"no page":                        {"K1", 1885833, "adcreatives", map[string]string{"object_story_spec": `{"link_data":{"link":"https://a.example","message":"M"}}`}},
		"another link to follow":         {"K2", 0, "adcreatives", map[string]string{"object_story_spec": `{"page_id":"20","link_data":{"link":"https://a.example","message":"M","call_to_action":{"type":"SHOP_NOW","value":{"link":"https://b.example"}}}}`}},
		"a pixel without a domain":       {"K9", 0, "ads", map[string]string{"conversion_domain": ""}},
		"a domain that is not one":       {"K9", 0, "ads", map[string]string{"conversion_domain": "shop.example.co.uk"}},
	} {
		params := sent()
		for param, value := range c.params {
			params[c.edge].Set(param, value)
			if value == "" {
				params[c.edge].Del(param)
			}
		}
		e := newMaker(t).make(t, params)
		require.NotNil(t, e, name)
		assert.Equal(t, []any{c.rule, 100, c.subcode}, []any{e.Rule, e.Code, e.Subcode}, "%s: %s", name, e.User)
	}
}

// An ad of a category that is about people's chances must not leave people out: rule G3.
func TestRules_OfSpecialCategories(t *testing.T) {
	t.Parallel()
	for part, wrong := range map[string]bool{
		`"age_min":18`: false, `"age_min":21`: true, `"age_max":60`: true, `"genders":[2]`: true, `"excluded_geo_locations":{"countries":["CA"]}`: true,
		`"flexible_spec":[{"behaviors":[{"id":"6002714895372"}]}]`: true, `"flexible_spec":[{"interests":[{"id":"6003107902433"}]}]`: false,
		`"geo_locations":{"zips":[{"key":"US:94107"}]}`: true, `"geo_locations":{"cities":[{"key":"1","radius":20,"distance_unit":"kilometer"}]}`: true,
		`"geo_locations":{"cities":[{"key":"1","radius":16,"distance_unit":"mile"}]}`: false,
	} {
		params := sent()
		params["campaigns"].Set("special_ad_categories", `["HOUSING"]`)
		where := `"geo_locations":{"countries":["US"]},`
		if strings.HasPrefix(part, `"geo_locations"`) {
			where = ""
		}
		params["adsets"].Set("targeting", `{`+where+part+`,"targeting_automation":{"advantage_audience":0}}`)
		e := newMaker(t).make(t, params)
		if !wrong {
			assert.Nil(t, e, part)
			continue
		}
		require.NotNil(t, e, part)
		assert.Equal(t, []any{"G3", 2909035}, []any{e.Rule, e.Subcode}, part)
	}
}

// make of an ad set for video views or leads ends at the ad, which shows no video and has no form.
func TestRules_OfWhatAnAdShows(t *testing.T) {
	t.Parallel()
	for rule, change := range map[string]map[string]string{
		"K6": {"optimization_goal": "THRUPLAY", "destination_type": "ON_VIDEO"},
		"K7": {"optimization_goal": "LEAD_GENERATION", "destination_type": "ON_AD", "promoted_object": `{"page_id":"20"}`},
	} {
		params := sent()
		params["campaigns"].Set("objective", map[string]string{"K6": "OUTCOME_ENGAGEMENT", "K7": "OUTCOME_LEADS"}[rule])
		for param, value := range change {
			params["adsets"].Set(param, value)
		}
		e := newMaker(t).make(t, params)
		require.NotNil(t, e)
		assert.Equal(t, rule, e.Rule, e.User)
	}
}

func TestRules_OfWhatIsReadAndChanged(t *testing.T) {
	t.Parallel()
	m := newMaker(t)
	require.Nil(t, m.make(t, sent()))
	campaign := m.f.Live("Campaign")[0]
	group := m.f.Live("AdSet")[0]
	m.f.Set(group, "lifetime_budget", "9000")
	m.f.Set(group, "daily_budget", "")
	m.f.Set(group, "budget_remaining", "4000")
	m.f.Set(campaign, "status", "ARCHIVED")
	audience := m.f.AddExternal("CustomAudience", map[string]any{"account_id": strings.TrimPrefix(account, "act_"), "name": "Flagged", "subtype": "WEBSITE"})
	m.f.Grow(audience, 1000, 2000, 471, 200)
	people := m.f.AddExternal("CustomAudience", map[string]any{"account_id": strings.TrimPrefix(account, "act_"), "name": "Nobody", "subtype": "CUSTOM"})
	like := func(origin string) url.Values {
		return url.Values{"name": {"A"}, "subtype": {"LOOKALIKE"}, "origin_audience_id": {origin}, "lookalike_spec": {`{"type":"custom_ratio","country":"US","ratio":0.01}`}}
	}
	long := m.f.Now().AddDate(0, -38, 0).Format(time.DateOnly)
	for name, c := range map[string]struct {
		rule         string
		code         int
		subcode      int
		method, path string
		params       url.Values
	}{
		"less than was spent":      {"B4", 100, 0, "POST", group, url.Values{"lifetime_budget": {"5499"}}},
		"a bid without a budget":   {"C5", 100, 0, "POST", campaign, url.Values{"bid_strategy": {"COST_CAP"}}},
		"like nobody":              {"U4", 100, 1713007, "POST", account + "/customaudiences", like(people)},
		"like who is flagged":      {"U5", 100, 0, "POST", account + "/customaudiences", like(audience)},
		"shown to who is flagged":  {"U5", 100, 0, "POST", group, url.Values{"targeting": {`{"geo_locations":{"countries":["US"]},"custom_audiences":[{"id":"` + audience + `"}],"targeting_automation":{"advantage_audience":0}}`}}},
		"deleted things":           {"R1", 100, 1815001, "GET", account + "/ads", url.Values{"effective_status": {`["ACTIVE","DELETED"]`}}},
		"a state of ads":           {"R2", 100, 1487561, "GET", account + "/campaigns", url.Values{"effective_status": {`["PENDING_REVIEW"]`}}},
		"what is archived":         {"R3", 100, 0, "POST", campaign, url.Values{"status": {"ACTIVE"}}},
		"figures of long ago":      {"I1", 3018, 0, "GET", account + "/insights", insightsOf(long)},
		"a website by its subtype": {"U1", 100, 0, "POST", account + "/customaudiences", url.Values{"name": {"A"}, "subtype": {"WEBSITE"}, "rule": {"{}"}}},
		"days beside the rule":     {"U1", 100, 0, "POST", account + "/customaudiences", url.Values{"name": {"A"}, "retention_days": {"30"}, "rule": {"{}"}}},
		"people from nowhere":      {"U2", 100, 0, "POST", account + "/customaudiences", url.Values{"name": {"A"}, "subtype": {"CUSTOM"}}},
	} {
		e := m.call(t, c.method, c.path, c.params)
		require.NotNil(t, e, name)
		assert.Equal(t, []any{c.rule, c.code, c.subcode}, []any{e.Rule, e.Code, e.Subcode}, "%s: %s", name, e.Message)
	}
	assert.Nil(t, m.call(t, "POST", campaign, url.Values{"name": {"Archived, with a name"}}))
	old := insightsOf(m.f.Now().Format(time.DateOnly))
	old.Set("action_attribution_windows", `["7d_view"]`)
	require.NotNil(t, m.call(t, "GET", account+"/insights", old), "I3")
}

func insightsOf(since string) url.Values {
	span, _ := json.Marshal(map[string]string{"since": since, "until": time.Now().Format(time.DateOnly)})
	return url.Values{"level": {"ad"}, "fields": {"ad_id,spend"}, "time_range": {string(span)}}
}

func TestRules_OfWhoAsks(t *testing.T) {
	t.Parallel()
	m := newMaker(t)
	m.f.Secret = "of the app"
	_, e := ask(t, m.address, "GET", "/"+Version+"/"+account, url.Values{"fields": {"id"}})
	require.NotNil(t, e)
	assert.Contains(t, e.Message, "appsecret_proof")
}
