package pinterestfake_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/tests/harness/pinterestfake"
)

const token = "pina_1"

// world is a network with an ad account, and one of everything in it.
type world struct {
	net     *pinterestfake.Network
	account *pinterestfake.Account
	pin     string
}

func newWorld() *world {
	return newWorldAt(func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) })
}

func newWorldAt(now func() time.Time) *world {
	net := pinterestfake.New(now)
	return &world{net: net, account: net.AddAccount(token, "Shop", "USD", "OWNER"), pin: net.AddPin(token, "REGULAR", "Mug")}
}

// send returns the status and the body of an answer. "A" in the path stands for the ad account.
func (w *world) send(t *testing.T, method, path, body string) (int, pinterestfake.Object) {
	t.Helper()
	return w.sendAs(t, token, method, path, body)
}

// sendAs is send with another token.
func (w *world) sendAs(t *testing.T, token, method, path, body string) (int, pinterestfake.Object) {
	t.Helper()
	path = strings.Replace(path, "/A/", "/ad_accounts/"+w.account.ID+"/", 1)
	body = strings.ReplaceAll(body, `"A"`, `"`+w.account.ID+`"`)
	req, err := http.NewRequestWithContext(t.Context(), method, "https://api.example"+pinterestfake.Prefix+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := w.net.RoundTrip(req)
	require.NoError(t, err)
	var answer pinterestfake.Object
	_ = json.NewDecoder(res.Body).Decode(&answer)
	return res.StatusCode, answer
}

// made creates one thing and returns its id.
func (w *world) made(t *testing.T, kind, item string) string {
	t.Helper()
	status, answer := w.send(t, http.MethodPost, "/A/"+kind, "["+item+"]")
	require.Equal(t, http.StatusOK, status, answer)
	data, ok := answer["items"].([]any)[0].(map[string]any)["data"].(map[string]any)
	require.True(t, ok, answer)
	return data["id"].(string)
}

// P12 is what the network says of reports.
func TestNetwork_RefusesReportsAgainstItsWords(t *testing.T) {
	t.Parallel()
	w := newWorld()
	order := func(from, to, level, columns string) string {
		return fmt.Sprintf(`{"start_date": %q, "end_date": %q, "granularity": "DAY", "level": %q, "columns": [%s], "report_format": "JSON"}`, from, to, level, columns)
	}
	for body, says := range map[string]string{
		order("2024-05-20", "2024-06-01", "CAMPAIGN", `"CAMPAIGN_ID"`):             "914 days back",
		order("2026-01-01", "2026-07-06", "CAMPAIGN", `"CAMPAIGN_ID"`):             "186 days at most",
		order("2026-02-01", "2026-01-31", "CAMPAIGN", `"CAMPAIGN_ID"`):             "must follow",
		order("2026-01-01", "2026-01-31", "AD", `"AD_ID"`):                         "level",
		order("2026-01-01", "2026-01-31", "CAMPAIGN", `"AD_ID", "CAMPAIGN_ID"`):    "AD_ID is no column",
		order("2026-01-01", "2026-01-31", "PIN_PROMOTION", `"TOTAL_IMPRESSION"`):   "do not say",
		order("2026-01-01", "2026-01-31", "CAMPAIGN", `"CAMPAIGN_ID", "SPENDING"`): "columns",
	} {
		status, answer := w.send(t, http.MethodPost, "/A/reports", body)
		assert.Equal(t, http.StatusBadRequest, status, body)
		assert.Contains(t, answer.Text("message"), says, body)
	}
	status, answer := w.send(t, http.MethodPost, "/A/reports", order("2026-01-01", "2026-07-05", "CAMPAIGN", `"CAMPAIGN_ID"`))
	require.Equal(t, http.StatusOK, status)
	require.NotEmpty(t, answer.Text("token"))
	status, answer = w.send(t, http.MethodGet, "/A/reports?token=foreign", "")
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, "DOES_NOT_EXIST", answer.Text("report_status"))
}

// few makes an audience of one person and returns its id.
func (w *world) few(t *testing.T) string {
	t.Helper()
	_, list := w.send(t, http.MethodPost, "/A/customer_lists", `{"name": "l", "records": "`+strings.Repeat("0", 64)+`"}`)
	status, made := w.send(t, http.MethodPost, "/A/audiences", `{"name": "a", "audience_type": "CUSTOMER_LIST", "rule": {"customer_list_id": "`+list.Text("id")+`"}}`)
	require.Equal(t, http.StatusOK, status, made)
	return made.Text("id")
}

const campaign = `"ad_account_id": "A", "name": "c", "objective_type": "CONSIDERATION"`

func TestNetwork_RefusesWhatTheDescriptionDoesNotAllow(t *testing.T) {
	t.Parallel()
	w := newWorld()
	many := "[" + strings.TrimSuffix(strings.Repeat("{"+campaign+"},", 31), ",") + "]"
	for _, c := range []struct{ method, path, body, says string }{
		{http.MethodGet, "/A/campaigns?pagesize=3", "", "unknown query parameter"},
		{http.MethodGet, "/A/campaigns?page_size=3&page_size=4", "", "comes 2 times"},
		{http.MethodGet, "/A/campaigns?page_size=251", "", "at most 250"},
		{http.MethodGet, "/A/campaigns?page_size=0", "", "page_size"},
		{http.MethodGet, "/A/campaigns?order=UP", "", "order"},
		{http.MethodGet, "/A/campaigns?entity_statuses=GONE", "", "entity_statuses"},
		{http.MethodGet, "/A/campaigns?campaign_ids=x", "", "campaign_ids"},
		{http.MethodGet, "/A/campaigns?bookmark=x", "", "Invalid bookmark"},
		{http.MethodGet, "/A/campaigns", "[]", "a body where none is described"},
		{http.MethodPost, "/A/campaigns", "", "request body"},
		{http.MethodPost, "/A/campaigns", "[]", "minimum number of items"},
		{http.MethodPost, "/A/campaigns", many, "maximum number of items"},
		{http.MethodPost, "/A/campaigns", "{" + campaign + "}", "array"},
		{http.MethodPost, "/A/campaigns", "[{" + campaign + `, "naem": "x"}]`, "naem"},
		{http.MethodPost, "/A/campaigns", `[{"ad_account_id": "A", "name": "c"}]`, "objective_type"},
		{http.MethodPost, "/A/campaigns", "[{" + campaign + `, "daily_spend_cap": 20.5}]`, "daily_spend_cap"},
		{http.MethodPost, "/A/campaigns", "[{" + campaign + `, "daily_spend_cap": "20"}]`, "daily_spend_cap"},
		{http.MethodPost, "/A/campaigns", "[{" + campaign + `, "status": "ON"}]`, "status"},
		{http.MethodGet, "/A/campaigns/analytics?start_date=2026-11-01&end_date=2026-11-02&columns=CTR&granularity=TOTAL&campaign_ids=1", "", "columns"},
		{http.MethodGet, "/A/campaigns/analytics?start_date=2026-11-01&end_date=2026-11-02&granularity=TOTAL&campaign_ids=1", "", "columns"},
	} {
		status, answer := w.send(t, c.method, c.path, c.body)
		assert.Equal(t, http.StatusBadRequest, status, c.path+c.body)
		assert.Contains(t, answer.Text("message"), c.says, c.path+c.body)
	}
	assert.Empty(t, w.net.Campaigns(w.account))
	status, _ := w.send(t, http.MethodDelete, "/A/campaigns", "")
	assert.Equal(t, http.StatusNotFound, status, "there is no such endpoint")
}

func TestNetwork_RefusesItemsAgainstItsWords(t *testing.T) {
	t.Parallel()
	w := newWorld()
	plain := w.made(t, "campaigns", "{"+campaign+"}")
	shared := w.made(t, "campaigns", "{"+campaign+`, "is_campaign_budget_optimization": true, "daily_spend_cap": 5000000}`)
	video := w.made(t, "campaigns", `{"ad_account_id": "A", "name": "v", "objective_type": "VIDEO_COMPLETION", "end_time": 1800000000}`)
	const where = `, "targeting_spec": {"LOCATION": ["US"]}`
	group := func(campaign, rest string) string {
		return fmt.Sprintf(`{"campaign_id": "%s", "name": "g", "billable_event": "CLICKTHROUGH", "bid_strategy_type": "AUTOMATIC_BID"%s%s}`, campaign, where, rest)
	}
	view := func(rest string) string {
		return fmt.Sprintf(`{"campaign_id": "%s", "name": "g", "billable_event": "VIDEO_V_50_MRC", "budget_in_micro_currency": 5000000%s%s}`, video, where, rest)
	}
	placed := func(targeting string) string {
		return fmt.Sprintf(`{"campaign_id": "%s", "name": "g", "billable_event": "CLICKTHROUGH", "bid_strategy_type": "AUTOMATIC_BID", "budget_in_micro_currency": 5000000, "targeting_spec": %s}`, plain, targeting)
	}
	sales := w.made(t, "campaigns", `{"ad_account_id": "A", "name": "s", "objective_type": "WEB_CONVERSION", "start_time": 1800000000}`)
	sold := func(rest string) string {
		return fmt.Sprintf(`{"campaign_id": "%s", "name": "g", "billable_event": "IMPRESSION", "bid_strategy_type": "AUTOMATIC_BID", "budget_in_micro_currency": 5000000%s%s}`, sales, where, rest)
	}
	watched := w.made(t, "ad_groups", view(`, "bid_strategy_type": "AUTOMATIC_BID"`))
	home := w.made(t, "ad_groups", group(plain, `, "budget_in_micro_currency": 5000000`))
	ad := func(group, pin, kind string) string {
		return fmt.Sprintf(`{"ad_group_id": "%s", "pin_id": "%s", "creative_type": "%s"}`, group, pin, kind)
	}
	for _, c := range []struct{ kind, item, says string }{
		{"campaigns", `{"ad_account_id": "1", "name": "c", "objective_type": "AWARENESS"}`, "differs from the path"},
		{"campaigns", `{"ad_account_id": "A", "name": "", "objective_type": "AWARENESS"}`, "1 to 255"},
		{"campaigns", "{" + campaign + `, "daily_spend_cap": -1}`, "negative"},
		{"campaigns", "{" + campaign + `, "daily_spend_cap": 1, "lifetime_spend_cap": 1}`, "at the same time"},
		{"campaigns", "{" + campaign + `, "is_campaign_budget_optimization": true}`, "needs daily_spend_cap or"},
		{"campaigns", "{" + campaign + `, "is_campaign_budget_optimization": true, "lifetime_spend_cap": 1}`, "needs end_time"},
		{"campaigns", "{" + campaign + `, "start_time": 5, "end_time": 5}`, "after start_time"},
		{"ad_groups", group("404", ""), "Campaign not found"},
		{"ad_groups", group(plain, ""), "budget_in_micro_currency is required"},
		{"ad_groups", group(plain, `, "budget_in_micro_currency": 1, "budget_type": "CBO_ADGROUP"`), "CBO_ADGROUP"},
		{"ad_groups", group(plain, `, "budget_in_micro_currency": 1, "budget_type": "LIFETIME"`), "needs end_time"},
		{"ad_groups", group(plain, `, "budget_in_micro_currency": 1, "bid_in_micro_currency": 1`), "takes no bid"},
		{"ad_groups", strings.Replace(group(plain, `, "budget_in_micro_currency": 5000000, "bid_in_micro_currency": 999999`), "AUTOMATIC_BID", "MAX_BID", 1), "below the floor"},
		{"ad_groups", group(shared, `, "budget_in_micro_currency": 1`), "CBO_ADGROUP"},
		{"ad_groups", group(shared, `, "budget_in_micro_currency": 1, "budget_type": "CBO_ADGROUP"`), "has no budget"},
		{"ad_groups", group(video, `, "budget_in_micro_currency": 1`), "does not fit the objective"},
		{"ad_groups", view(`, "bid_strategy_type": "MAX_BID", "bid_in_micro_currency": 1`), "AUTOMATIC_BID only"},
		{"ad_groups", view(``), "bid_in_micro_currency is required"},
		{"ad_groups", view(`, "bid_strategy_type": "AUTOMATIC_BID", "end_time": 1900000000`), "after the campaign's"},
		{"ad_groups", placed(`{}`), "must have LOCATION or GEO"},
		{"ad_groups", placed(`{"LOCATION": [], "GENDER": ["male"]}`), "must have LOCATION or GEO"},
		{"ad_groups", placed(`{"GEO": ["US-CA", "US-94107"]}`), "either region codes or postal codes"},
		{"ad_groups", placed(`{"LOCATION": ["US"], "MINIMUM_AGE": "18"}`), "go together"},
		{"ad_groups", placed(`{"LOCATION": ["US"], "MINIMUM_AGE": "18", "MAXIMUM_AGE": "64", "AGE_BUCKET": ["19+"]}`), "not with AGE_BUCKET"},
		{"ad_groups", placed(`{"LOCATION": ["US"], "LOCALE": ["pt-BR"]}`), "two-letter"},
		{"ad_groups", placed(`{"LOCATION": ["US"], "AUDIENCE_INCLUDE": ["404"]}`), "Audience not found"},
		{"ad_groups", placed(`{"LOCATION": ["US"], "AUDIENCE_EXCLUDE": ["` + w.few(t) + `"]}`), "less than 100"},
		{"ad_groups", group(shared, `, "budget_type": "CBO_ADGROUP", "end_time": 1800000000`), "closed beta"},
		{"ad_groups", sold(`, "start_time": 1700000000`), "before the campaign's"},
		{"ad_groups", sold(``), "needs optimization_goal_metadata"},
		{"ad_groups", sold(`, "optimization_goal_metadata": {"conversion_tag_v3_goal_metadata": {"conversion_event": "LEAD", "conversion_tag_id": "404", "attribution_windows": {}}}`), "tag not found"},
		{"ad_groups", group(plain, `, "budget_in_micro_currency": 1, "optimization_goal_metadata": {}`), "is for WEB_CONVERSION"},
		{"ads", ad(watched, w.pin, "REGULAR"), "shows videos"},
		{"ads", ad("404", w.pin, "REGULAR"), "Ad group not found"},
		{"ads", ad(home, "404", "REGULAR"), "Pin not found"},
		{"ads", ad(home, w.pin, "VIDEO"), "differs from the Pin's"},
	} {
		status, answer := w.send(t, http.MethodPost, "/A/"+c.kind, "["+c.item+"]")
		require.Equal(t, http.StatusOK, status, answer)
		text, err := json.Marshal(answer["items"].([]any)[0].(map[string]any)["exceptions"])
		require.NoError(t, err)
		assert.Contains(t, string(text), c.says, c.item)
	}
	assert.Len(t, w.net.Campaigns(w.account), 4)
	assert.Len(t, w.net.Groups(w.account), 2, "home and watched")
	assert.Empty(t, w.net.Ads(w.account))
}

func TestNetwork_RefusesAudiencesAgainstItsWords(t *testing.T) {
	t.Parallel()
	w := newWorld()
	tag := w.net.AddTag(w.account)
	for _, c := range []struct{ path, body, says string }{
		{"/A/customer_lists", `{"name": "l", "records": "somebody@example.com"}`, "not a SHA-256"},
		{"/A/customer_lists", `{"name": "", "records": "x"}`, "needs a name"},
		{"/A/customer_lists", `{"name": "l", "list_type": "MAID", "records": "x"}`, "list_type"},
		{"/A/audiences", `{"name": "a", "audience_type": "PERSONA", "rule": {}}`, "Unsupported"},
		{"/A/audiences", `{"name": "a", "audience_type": "VISITOR", "rule": {"visitor_source_id": "1"}}`, "tag not found"},
		{"/A/audiences", `{"name": "a", "audience_type": "VISITOR", "rule": {"visitor_source_id": "` + tag + `", "retention_days": 541}}`, "1 to 540"},
		{"/A/audiences", `{"name": "a", "audience_type": "VISITOR", "rule": {"visitor_source_id": "` + tag + `", "country": "US"}}`, "takes no country"},
		{"/A/audiences", `{"name": "a", "audience_type": "ACTALIKE", "rule": {"country": "US", "percentage": 1}}`, "seed_id"},
		{"/A/audiences", `{"name": "a", "audience_type": "ACTALIKE", "rule": {"seed_id": ["1"], "country": "DE", "percentage": 1}}`, "US, CA or GB"},
		{"/A/audiences", `{"name": "a", "audience_type": "ACTALIKE", "rule": {"seed_id": ["1"], "country": "US", "percentage": 1}}`, "Seed audience not found"},
		{"/A/audiences", `{"name": "a", "audience_type": "CUSTOMER_LIST", "rule": {"customer_list_id": "1"}}`, "Customer list not found"},
	} {
		status, answer := w.send(t, http.MethodPost, c.path, c.body)
		assert.GreaterOrEqual(t, status, 400, c.body)
		assert.Contains(t, answer.Text("message"), c.says, c.body)
	}
}

func TestNetwork_PagesByBookmark(t *testing.T) {
	t.Parallel()
	w := newWorld()
	var ids []string
	for range 27 {
		ids = append(ids, w.made(t, "campaigns", "{"+campaign+"}"))
	}
	_, first := w.send(t, http.MethodGet, "/A/campaigns", "")
	assert.Len(t, first["items"], 25)
	_, second := w.send(t, http.MethodGet, "/A/campaigns?bookmark="+first.Text("bookmark"), "")
	assert.Len(t, second["items"], 2)
	assert.Empty(t, second.Text("bookmark"))
	_, last := w.send(t, http.MethodGet, "/A/campaigns?order=DESCENDING&page_size=1", "")
	assert.Equal(t, ids[26], last["items"].([]any)[0].(map[string]any)["id"])
	status, _ := w.send(t, http.MethodGet, "/A/campaigns?order=DESCENDING&bookmark="+first.Text("bookmark"), "")
	assert.Equal(t, http.StatusBadRequest, status, "a bookmark is good for its own list")
}

func TestNetwork_NeverBringsBackWhatWasArchived(t *testing.T) {
	t.Parallel()
	w := newWorld()
	id := w.made(t, "campaigns", "{"+campaign+"}")
	for _, status := range []string{"ARCHIVED", "ACTIVE"} {
		w.send(t, http.MethodPatch, "/A/campaigns", `[{"ad_account_id": "A", "id": "`+id+`", "status": "`+status+`"}]`)
		assert.Equal(t, "ARCHIVED", w.net.Campaigns(w.account)[0].Text("status"))
	}
	_, list := w.send(t, http.MethodGet, "/A/campaigns", "")
	assert.Empty(t, list["items"], "and does not list it unless it is asked to")
}
