package zernio

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tillwright/tillwright/ads"
)

// problem says why a request was refused.
type problem struct {
	Message       string `json:"error"`
	Type          string `json:"type"`
	Code          string `json:"code"`
	Param         string `json:"param"`
	PlatformError struct {
		Reason string `json:"reason"` // of what Zernio raised itself
	} `json:"platformError"`
}

func (a *reply) problem() problem {
	var p problem
	if json.Unmarshal(a.body, &p) != nil || p.Message == "" {
		p.Message = http.StatusText(a.status)
	}
	return p
}

// ofPlatform is the type of what the network has refused, with the network's own status. All others are between us and Zernio: a 401 of
// that kind is not about the channel, but about the installation's key.
const ofPlatform = "platform_error"

// refusal returns the error for an answer, or nil if it is a success.
func (d *Driver) refusal(r request, answer *reply) error {
	if answer.status/100 == 2 {
		return nil
	}
	p := answer.problem()
	kind := map[int]error{
		http.StatusUnauthorized: ads.ErrOperator, http.StatusPaymentRequired: ads.ErrOperator, http.StatusForbidden: ads.ErrOperator,
		http.StatusNotFound: ads.ErrNotFound, http.StatusNotImplemented: ads.ErrUnsupported, http.StatusMethodNotAllowed: ads.ErrUnsupported,
	}[answer.status]
	switch {
	case answer.status == http.StatusTooManyRequests:
		return &ads.RateLimited{After: retryAfter(answer.header, time.Now())}
	case p.Type == ofPlatform && answer.status == http.StatusUnauthorized:
		kind = ads.ErrUnauthorized
	case p.Type == ofPlatform && answer.status == http.StatusForbidden, p.Code == "ads_connection_required":
		kind = ads.ErrForbidden
	case answer.status < 400:
		kind = ads.ErrUnavailable
		p.Message = fmt.Sprintf("redirected with status %d", answer.status)
	}
	if kind != nil {
		return d.failure(r, kind, errors.New(p.Message))
	}
	return &ads.Rejected{
		Field: fieldOf(p.Param), Message: d.clean(p.Message),
		Raw: strconv.Itoa(answer.status) + "/" + cmp.Or(p.Code, p.PlatformError.Reason, p.Type),
	}
}

// fields are our names of the fields of Zernio's that have another one than in snake case.
var fields = map[string]string{
	"budgetAmount": "budget_amount", "adSetId": "ad_group_id", "imageUrl": "image_url", "video": "video_url", "creatives": "creatives",
	"carouselCards": "cards", "specialAdCategoryCountry": "special_ad_countries", "platformPostId": "post_id", "bidStrategy": "bid_strategy",
	"bidAmount": "bid_amount", "roasAverageFloor": "roas_average_floor", "endDate": "end_date", "startDate": "start_date", "linkUrl": "link_url",
	"callToAction": "call_to_action", "headline": "headline", "body": "body", "description": "description", "goal": "goal", "name": "name",
	"status": "status", "targeting": "targeting", "promotedObject": "promoted_object", "specialAdCategories": "special_ad_categories",
	"dsaBeneficiary": "dsa_beneficiary", "dsaPayor": "dsa_payor", "q": "q", "accountId": "account_id", "adAccountId": "ad_account_id",
}

// fieldOf returns our name of the field that Zernio names, "" for one that we do not have.
func fieldOf(param string) string {
	top, _, _ := strings.Cut(param, ".")
	return fields[top]
}

// refused says that Zernio has no way to pass on what a field asks for.
func refused(field, format string, args ...any) *ads.Rejected {
	return &ads.Rejected{Field: field, Message: fmt.Sprintf(format, args...)}
}
