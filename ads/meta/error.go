package meta

import (
	"encoding/json"
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
	case isRateLimit(e.Code):
		return &reply{err: &ads.RateLimited{After: regain(h)}}
	case e.Code == 190 || e.Code == 102:
		return &reply{err: fmt.Errorf("%w: %s", ads.ErrUnauthorized, words)}
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

// isRateLimit reports whether a code means too many calls: of the app, the user, the page, the ad account, or for one of
// the business use cases.
func isRateLimit(code int) bool {
	return code == 4 || code == 17 || code == 32 || code == 613 || (code >= 80000 && code <= 80014)
}

// regain returns how long Meta takes no calls: the longest time in the usage header, or 0 if there is none.
func regain(h http.Header) time.Duration {
	var usage map[string][]struct {
		Minutes int `json:"estimated_time_to_regain_access"`
	}
	_ = json.Unmarshal([]byte(h.Get("X-Business-Use-Case-Usage")), &usage) // without it nobody knows
	longest := 0
	for _, cases := range usage {
		for _, c := range cases {
			longest = max(longest, c.Minutes)
		}
	}
	return time.Duration(longest) * time.Minute
}

// ourFields are our names for the parameters that an error can be about.
var ourFields = map[string]string{
	"name": "name", "daily_budget": "budget_amount", "lifetime_budget": "budget_amount", "bid_amount": "bid_amount",
	"bid_strategy": "bid_strategy", "bid_constraints": "roas_average_floor", "start_time": "start_date", "end_time": "end_date",
	"targeting": "targeting", "promoted_object": "promoted_object", "objective": "goal",
}

// field returns our name of the field that Meta blames, or "". Meta writes it in an object, or in a text that holds one.
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
		return ""
	}
	return ourFields[strings.Trim(data.Specs[0][0], "[]")]
}
