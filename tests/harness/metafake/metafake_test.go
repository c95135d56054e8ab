package metafake

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const account = "act_1"

// ask sends one request and returns the status and the error, if there is one.
func ask(t *testing.T, address, method, path string, params url.Values) (int, *Error) {
	t.Helper()
	var body io.Reader
	target := address + path
	if method == http.MethodPost {
		body = strings.NewReader(params.Encode())
	} else {
		target += "?" + params.Encode()
	}
	r, err := http.NewRequestWithContext(t.Context(), method, target, body)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer t")
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	var failed struct{ Error *Error }
	require.NoError(t, json.NewDecoder(answer.Body).Decode(&failed))
	return answer.StatusCode, failed.Error
}

func campaign(change func(url.Values)) url.Values {
	v := url.Values{"name": {"A"}, "objective": {"OUTCOME_TRAFFIC"}, "status": {"PAUSED"}, "special_ad_categories": {"[]"}, "daily_budget": {"2000"}}
	change(v)
	return v
}

func TestFake_RefusesWhatTheFactsDoNotName(t *testing.T) {
	t.Parallel()
	f := New("t")
	f.AddAccount(Account{ID: account, Currency: "USD", Minimum: 100})
	address := f.Serve(t)
	base := "/" + Version + "/" + account
	for name, c := range map[string]struct {
		method, path string
		params       url.Values
		says         string
	}{
		"another version":       {"GET", "/v1.0/" + account, nil, "Unknown path"},
		"an unknown edge":       {"POST", base + "/campaign", campaign(func(url.Values) {}), "has no campaign"},
		"an unknown method":     {"DELETE", base + "/campaigns", nil, "Unsupported DELETE request"},
		"an unknown node":       {"GET", "/" + Version + "/2", nil, "does not exist"},
		"an unknown parameter":  {"POST", base + "/campaigns", campaign(func(v url.Values) { v.Set("budget", "1") }), "Param budget"},
		"a required one absent": {"POST", base + "/campaigns", campaign(func(v url.Values) { v.Del("special_ad_categories") }), "special_ad_categories is required"},
		"a fraction":            {"POST", base + "/campaigns", campaign(func(v url.Values) { v.Set("daily_budget", "20.5") }), "unsigned int"},
		"a negative amount":     {"POST", base + "/campaigns", campaign(func(v url.Values) { v.Set("daily_budget", "-2000") }), "unsigned int"},
		"a word that is none":   {"POST", base + "/campaigns", campaign(func(v url.Values) { v.Set("objective", "OUTCOME_LUCK") }), "OUTCOME_LUCK"},
		"a word in a list":      {"POST", base + "/campaigns", campaign(func(v url.Values) { v.Set("special_ad_categories", `["LUCK"]`) }), "LUCK"},
		"what is no list":       {"POST", base + "/campaigns", campaign(func(v url.Values) { v.Set("special_ad_categories", `{}`) }), "array"},
		"an unknown key":        {"POST", base + "/adsets", url.Values{"name": {"A"}, "targeting": {`{"geo_location":{}}`}}, `no key "geo_location"`},
		"a deep unknown key":    {"POST", base + "/adsets", url.Values{"name": {"A"}, "targeting": {`{"geo_locations":{"country":[]}}`}}, `no key "country"`},
		"an unknown field":      {"GET", base + "/campaigns", url.Values{"fields": {"id,budget"}}, "nonexisting field (budget)"},
		"a field of a field":    {"GET", base + "/ads", url.Values{"fields": {"id,creative{id,story}"}}, "nonexisting field (story)"},
		"a field left open":     {"GET", base + "/ads", url.Values{"fields": {"id,creative{id"}}, "not closed"},
		"both budgets":          {"POST", base + "/campaigns", campaign(func(v url.Values) { v.Set("lifetime_budget", "2000") }), "Invalid parameter"},
		"too small a budget":    {"POST", base + "/campaigns", campaign(func(v url.Values) { v.Set("daily_budget", "99") }), "Invalid parameter"},
		"a parameter twice":     {"POST", base + "/campaigns", campaign(func(v url.Values) { v.Add("name", "B") }), "sent twice"},
		"a token in the query":  {"GET", base + "/campaigns", url.Values{"access_token": {"t"}}, "Param access_token"},
	} {
		status, e := ask(t, address, c.method, c.path, c.params)
		require.NotNil(t, e, name)
		assert.Equal(t, http.StatusBadRequest, status, name)
		assert.Contains(t, e.Message, c.says, name)
		assert.Equal(t, trace, e.Trace, name)
	}
	assert.Empty(t, f.Live("Campaign"))

	_, e := ask(t, address, "POST", base+"/campaigns", campaign(func(url.Values) {}))
	assert.Nil(t, e)
	assert.Len(t, f.Live("Campaign"), 1)
}

func TestFake_CannotAnswerWhatMetaCouldNot(t *testing.T) {
	t.Parallel()
	f := New("t")
	f.AddAccount(Account{ID: account, Currency: "USD", Minimum: 100})
	assert.Panics(t, func() { f.AddExternal("Campaign", map[string]any{"account_id": "1", "budget": "1"}) })
	g := New("t")
	assert.Panics(t, func() { g.AddExternal("Campaign", map[string]any{"account_id": "1", "status": "ON"}) })
}
