package meta

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/tillwright/tillwright/ads"
)

// graphError is an error of the Graph API.
type graphError struct {
	Message   string
	Code      int
	Subcode   int             `json:"error_subcode"`
	User      string          `json:"error_user_msg"`
	Transient bool            `json:"is_transient"`
	ErrorData json.RawMessage `json:"error_data"`
	Trace     string          `json:"fbtrace_id"`

	status int
}

// reply returns what an error means for the request. Only what Meta has clearly refused certainly did not take place.
func (e *graphError) reply(h http.Header, token ads.Secret) *reply {
	words := clean(e.words(), token)
	raw := fmt.Sprintf("%d/%d %s", e.Code, e.Subcode, clean(e.Trace, token))
	switch {
	case e.Code == 368: // a block for misuse: to ask again soon makes it longer
		return &reply{err: &ads.RateLimited{After: max(regain(h), blocked)}}
	case isRateLimit(e.Code):
		return &reply{err: &ads.RateLimited{After: regain(h)}}
	case e.Code == 190 || e.Code == 102:
		return &reply{err: fmt.Errorf("%w: %s", ads.ErrUnauthorized, words)}
	case unsigned[e.Subcode]:
		return &reply{err: fmt.Errorf("%w: %w: %s", ads.ErrForbidden, errUnsigned, words)}
	case isPermission(e.Code):
		return &reply{err: fmt.Errorf("%w: %s", ads.ErrForbidden, words)}
	case e.Code == 2635, e.Subcode == 1885183, e.Code == 100 && strings.Contains(e.Message, "appsecret_proof"): // the version, the state or the secret of this installation's app
		return &reply{err: fmt.Errorf("%w: %s", ads.ErrOperator, words)}
	case e.Code == 100 && e.Subcode == 33, e.Code == 803:
		return &reply{err: fmt.Errorf("%w: %s", ads.ErrNotFound, words)}
	case e.Transient, e.Code == 1, e.Code == 2, e.status >= http.StatusInternalServerError:
		return &reply{sent: true, soft: true, err: fmt.Errorf("error %s: %s", raw, words)}
	}
	return &reply{err: &ads.Rejected{Field: e.field(), Message: words, Raw: raw}}
}

// words returns the message for people if there is one, and otherwise the one for developers.
func (e *graphError) words() string {
	if e.User != "" {
		return e.User
	}
	return e.Message
}

// blocked is how long nothing is asked after Meta has blocked an action. It does not say for how long it does.
const blocked = 6 * time.Hour

// isRateLimit reports whether a code means too many calls. The limit is that of the app, the user, the page, the application or the ad account, or of
// one of the business use cases. The codes are those of "Graph API Rate Limits" and "Marketing API Rate Limiting".
func isRateLimit(code int) bool {
	return code == 4 || code == 17 || code == 32 || code == 341 || code == 613 || (code >= 80000 && code <= 80014)
}

// unsigned are the subcodes for terms of audiences that the ad account has not signed.
var unsigned = map[int]bool{1870034: true, 1870090: true}

var errUnsigned = errors.New("the terms of custom audiences are not signed")

// signedTerms adds to an error about terms that are not signed the page where they are.
func signedTerms(err error, adAccount string) error {
	if !errors.Is(err, errUnsigned) {
		return err
	}
	return fmt.Errorf("%w: sign them at https://business.facebook.com/ads/manage/customaudiences/tos/?act=%s", err, strings.TrimPrefix(adAccount, "act_"))
}

// isPermission reports whether a code means that the token lacks a permission, or its user a role. The codes are those of "Handling
// Errors".
func isPermission(code int) bool {
	return code == 3 || code == 10 || (code >= 200 && code <= 299)
}

// regain returns how long Meta takes no calls: the longest time in the headers about usage, or 0 if they name none. The ad account's
// counts seconds and the business use cases' minutes.
func regain(h http.Header) time.Duration {
	var cases map[string][]struct {
		Minutes int64 `json:"estimated_time_to_regain_access"`
	}
	var account struct {
		Seconds int64 `json:"reset_time_duration"`
	}
	_ = json.Unmarshal([]byte(h.Get("X-Business-Use-Case-Usage")), &cases) // without them nobody knows
	_ = json.Unmarshal([]byte(h.Get("X-Ad-Account-Usage")), &account)
	longest := ads.Pause(account.Seconds, time.Second)
	for _, list := range cases {
		for _, c := range list {
			longest = max(longest, ads.Pause(c.Minutes, time.Minute))
		}
	}
	return longest
}

// usage returns how much of a limit is used, in percent: the largest number in the headers about usage.
func usage(h http.Header) float64 {
	var most float64
	for _, name := range []string{"X-Ad-Account-Usage", "X-App-Usage", "X-Fb-Ads-Insights-Throttle", "X-Fb-Ads-Insights-Reach-Throttle"} {
		var percent struct { // each header has some of the keys
			Account float64 `json:"acc_id_util_pct"`
			App     float64 `json:"app_id_util_pct"`
			Calls   float64 `json:"call_count"`
			CPU     float64 `json:"total_cputime"`
			Time    float64 `json:"total_time"`
		}
		_ = json.Unmarshal([]byte(h.Get(name)), &percent)
		most = max(most, percent.Account, percent.App, percent.Calls, percent.CPU, percent.Time)
	}
	var cases map[string][]struct {
		Calls float64 `json:"call_count"`
		CPU   float64 `json:"total_cputime"`
		Time  float64 `json:"total_time"`
	}
	_ = json.Unmarshal([]byte(h.Get("X-Business-Use-Case-Usage")), &cases)
	for _, list := range cases {
		for _, c := range list {
			most = max(most, c.Calls, c.CPU, c.Time)
		}
	}
	return most
}

// ourFields are our names for the parameters that an error can be about.
var ourFields = map[string]string{
	"name": "name", "daily_budget": "budget_amount", "lifetime_budget": "budget_amount", "bid_amount": "bid_amount",
	"bid_strategy": "bid_strategy", "bid_constraints": "roas_average_floor", "start_time": "start_date", "end_time": "end_date",
	"targeting": "targeting", "promoted_object": "promoted_object", "objective": "goal",
}

// blamed are our names for what the subcodes of an error are about that blames nothing.
var blamed = map[int]string{
	1885272: "budget_amount", 1885621: "budget_level", 1885650: "budget_type", 2490487: "bid_strategy",
	1815430: "promoted_object", 1885014: "promoted_object", 1487694: "targeting", 2909035: "targeting", 1885833: "account_id",
	1487756: "targeting", 3858634: "targeting", 3858636: "targeting", 1443226: "thumbnail_url",
}

// field returns our name of the field that Meta blames, or "". Meta writes it in an object, or in a text that holds one, or leaves it
// to the subcode.
func (e *graphError) field() string {
	text := e.ErrorData
	var inside string
	if json.Unmarshal(text, &inside) == nil {
		text = json.RawMessage(inside)
	}
	var data struct {
		Specs [][]string `json:"blame_field_specs"`
	}
	if json.Unmarshal(text, &data) != nil || len(data.Specs) == 0 || len(data.Specs[0]) == 0 {
		return blamed[e.Subcode]
	}
	return ourFields[strings.Trim(data.Specs[0][0], "[]")]
}
