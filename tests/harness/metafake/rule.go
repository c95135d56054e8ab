package metafake

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// Beside the shapes of calls Meta has rules, most of them on its documentation's pages only. Each has a number here, which an
// Error names:
//
//	R1, R2   "Manage Your Ad Object's Status"; R3 and R4 too
//	C1..C7   reference "Campaign"; C2 "Special Ad Category", C3 of the changelog of v24.0
//	B1..B4   reference "Ad Set", "Minimum budgets"
//	S1..S6   "Objective Mapping", "Billing Events", "Bid Strategy", reference "Ad Set"
//	G1..G7   reference "Targeting", changelog of v26.0; G3 "Special Ad Category", G4 reference "Ad Set"
//	K1..K9   reference "Ad Creative", "Validation"; conversion_domain of reference "Ad"
//	U1, U2   changelog of 2018-09-30, "Custom Audience"
//	U3..U5   "Custom Audience Users", "Lookalike Audiences", changelog of 2025-09-02
//	I1, I3   "Insights Limits", announcement of 2025-10-16
//	O2       "Securing Graph API Requests"
//	P1       "Server Event Parameters", "Customer Information Parameters", "Best Practices for Conversions API"

// broken returns the error for a rule that a request breaks. A subcode of 0 is none.
func broken(rule string, subcode int, format string, args ...any) *Error {
	e := refused(subcode, fmt.Sprintf(format, args...))
	e.Rule = rule
	return e
}

// checkProof checks rule O2: the proof that the caller has the app's secret, hex HMAC-SHA256 of the token. It takes the proof away, because
// it is a parameter of every call.
func (f *Fake) checkProof(r *request) *Error {
	proof := r.params.Get("appsecret_proof")
	r.params.Del("appsecret_proof")
	sum := hmac.New(sha256.New, []byte(f.Secret))
	sum.Write([]byte(r.token))
	if wanted := hex.EncodeToString(sum.Sum(nil)); f.Secret != "" && proof != wanted {
		e := invalid("API calls from the server require an appsecret_proof argument")
		e.Rule = "O2"
		return e
	}
	return nil
}

// statesOf checks the states that a list or a filter asks for. What is deleted is not on any edge, and each level has states of its own.
func statesOf(node string, states []string) *Error {
	for _, state := range states {
		switch {
		case state == "DELETED":
			return broken("R1", 1815001, "Deleted objects cannot be requested on this edge. Read them by their id.")
		case node == "Campaign" && !slices.Contains([]string{"ACTIVE", "PAUSED", "ARCHIVED", "IN_PROCESS", "WITH_ISSUES"}, state):
			return broken("R2", 1487561, "%s is not a state of a campaign.", state)
		}
	}
	return nil
}

// set is what an ad set can be for: what it is optimized for under an objective, and what goes with that.
type set struct {
	objective, optimization string
	destination             string   // the only one that it takes, besides none
	promoted                []string // what it promotes
	billing                 []string // besides IMPRESSIONS
}

var pixel = []string{"pixel_id", "custom_event_type"}

// sets are the combinations of rule S1, with what rules S2 and S3 say of each.
var sets = []set{
	{"OUTCOME_AWARENESS", "REACH", "", []string{"page_id"}, nil},
	{"OUTCOME_AWARENESS", "IMPRESSIONS", "", []string{"page_id"}, nil},
	{"OUTCOME_AWARENESS", "AD_RECALL_LIFT", "", []string{"page_id"}, nil},
	{"OUTCOME_AWARENESS", "THRUPLAY", "", []string{"page_id"}, []string{"THRUPLAY"}},
	{"OUTCOME_TRAFFIC", "LINK_CLICKS", "", nil, []string{"LINK_CLICKS"}},
	{"OUTCOME_TRAFFIC", "LANDING_PAGE_VIEWS", "", nil, nil},
	{"OUTCOME_TRAFFIC", "IMPRESSIONS", "", nil, nil},
	{"OUTCOME_TRAFFIC", "REACH", "", nil, nil},
	{"OUTCOME_ENGAGEMENT", "POST_ENGAGEMENT", "ON_POST", nil, nil},
	{"OUTCOME_ENGAGEMENT", "REACH", "ON_POST", nil, nil},
	{"OUTCOME_ENGAGEMENT", "THRUPLAY", "ON_VIDEO", nil, []string{"THRUPLAY"}},
	{"OUTCOME_ENGAGEMENT", "TWO_SECOND_CONTINUOUS_VIDEO_VIEWS", "ON_VIDEO", nil, []string{"TWO_SECOND_CONTINUOUS_VIDEO_VIEWS"}},
	{"OUTCOME_LEADS", "LEAD_GENERATION", "ON_AD", []string{"page_id"}, nil},
	{"OUTCOME_LEADS", "QUALITY_LEAD", "ON_AD", []string{"page_id"}, nil},
	{"OUTCOME_LEADS", "OFFSITE_CONVERSIONS", "WEBSITE", pixel, nil},
	{"OUTCOME_LEADS", "LANDING_PAGE_VIEWS", "WEBSITE", pixel, nil},
	{"OUTCOME_LEADS", "LINK_CLICKS", "WEBSITE", pixel, []string{"LINK_CLICKS"}},
	{"OUTCOME_SALES", "OFFSITE_CONVERSIONS", "WEBSITE", pixel, nil},
	{"OUTCOME_SALES", "VALUE", "WEBSITE", pixel, nil},
	{"OUTCOME_SALES", "LANDING_PAGE_VIEWS", "WEBSITE", pixel, nil},
	{"OUTCOME_SALES", "LINK_CLICKS", "WEBSITE", pixel, []string{"LINK_CLICKS"}},
	{"OUTCOME_APP_PROMOTION", "APP_INSTALLS", "", []string{"application_id", "object_store_url"}, nil},
	{"OUTCOME_APP_PROMOTION", "LINK_CLICKS", "", []string{"application_id", "object_store_url"}, []string{"LINK_CLICKS"}},
	{"OUTCOME_APP_PROMOTION", "OFFSITE_CONVERSIONS", "", []string{"application_id", "object_store_url"}, nil},
	{"OUTCOME_APP_PROMOTION", "VALUE", "", []string{"application_id", "object_store_url"}, nil},
}

// events are the events of a pixel that an objective takes: rule S4.
var events = map[string][]string{
	"OUTCOME_LEADS": {"LEAD", "COMPLETE_REGISTRATION", "CONTACT", "FIND_LOCATION", "SCHEDULE", "START_TRIAL", "SUBMIT_APPLICATION", "SUBSCRIBE"},
	"OUTCOME_SALES": {"PURCHASE", "INITIATED_CHECKOUT", "ADD_PAYMENT_INFO", "ADD_TO_CART", "COMPLETE_REGISTRATION", "DONATE", "START_TRIAL", "SUBSCRIBE", "CONTENT_VIEW"},
}

// checkSet checks an ad set against the rules S1 to S4.
func checkSet(r *request, campaign *object) *Error {
	objective, goal := campaign.text("objective"), r.params.Get("optimization_goal")
	at := slices.IndexFunc(sets, func(s set) bool { return s.objective == objective && s.optimization == goal })
	if at < 0 {
		return broken("S1", 2490408, "The optimization goal %s is not available for %s.", goal, objective)
	}
	s := sets[at]
	if destination := r.params.Get("destination_type"); destination != "" && destination != s.destination {
		return broken("S1", 0, "The destination type %s does not go with %s of %s.", destination, goal, objective)
	}
	if billing := r.params.Get("billing_event"); billing != "IMPRESSIONS" && !slices.Contains(s.billing, billing) {
		return broken("S2", 0, "The billing event %s does not go with %s.", billing, goal)
	}
	return s.checkPromoted(r, campaign)
}

// checkPromoted checks what an ad set promotes. A product set stands in for a pixel.
func (s set) checkPromoted(r *request, campaign *object) *Error {
	var promoted map[string]any
	r.decode("promoted_object", &promoted)
	if promoted["product_set_id"] != nil && s.objective == "OUTCOME_SALES" {
		catalog, _ := campaign.fields["promoted_object"].(map[string]any)
		if catalog["product_catalog_id"] == nil {
			return broken("S3", 1815430, "The campaign of an ad set with a product set has promoted_object.product_catalog_id.")
		}
	} else if s.promotes("pixel_id") && promoted["pixel_id"] == nil && promoted["custom_conversion_id"] == nil {
		return broken("S3", 1815430, "promoted_object.pixel_id is needed for %s.", s.optimization)
	}
	for _, key := range s.promoted {
		if key != "pixel_id" && key != "custom_event_type" && promoted[key] == nil {
			return broken("S3", 1815430, "promoted_object.%s is needed for %s.", key, s.optimization)
		}
	}
	return s.checkEvent(promoted)
}

func (s set) promotes(key string) bool { return slices.Contains(s.promoted, key) }

func (s set) checkEvent(promoted map[string]any) *Error {
	event, _ := promoted["custom_event_type"].(string)
	switch {
	case !s.promotes("custom_event_type") || promoted["custom_conversion_id"] != nil:
		return nil
	case event == "" || event == "OTHER" && promoted["custom_event_str"] == nil:
		return broken("S3", 1885014, "A pixel needs an event.")
	case event != "OTHER" && !slices.Contains(events[s.objective], event):
		return broken("S4", 0, "The event %s does not go with %s.", event, s.objective)
	}
	return nil
}

// checkBidBudget refuses a daily budget that is below the bid: rule B2.
func checkBidBudget(r *request) *Error {
	bid, err := strconv.ParseInt(r.params.Get("bid_amount"), 10, 64)
	daily, known := strconv.ParseInt(r.params.Get("daily_budget"), 10, 64)
	if err == nil && known == nil && daily < bid {
		return broken("B2", 1885272, "Your budget is too low. It is at least the bid.").blame("daily_budget")
	}
	return nil
}

// leastOf returns the smallest daily budget for an optimization goal: rule B2. The account's own is that for impressions.
func leastOf(impressions int64, goal string) int64 {
	switch goal {
	case "APP_INSTALLS":
		return 80 * impressions
	case "LINK_CLICKS", "LANDING_PAGE_VIEWS", "POST_ENGAGEMENT", "THRUPLAY", "TWO_SECOND_CONTINUOUS_VIDEO_VIEWS":
		return 5 * impressions
	}
	return impressions
}

// usesPixel reports whether the ads of an ad set are for what happens on a website.
func usesPixel(group *object) bool {
	promoted, _ := group.fields["promoted_object"].(map[string]any)
	return promoted["pixel_id"] != nil
}

// checkDomain checks an ad of an ad set with a pixel: it names the registrable domain that its link leads to.
func checkDomain(r *request, group, creative *object) *Error {
	link := creative.link()
	if !usesPixel(group) || link == "" {
		return nil
	}
	address, err := url.Parse(link)
	if err != nil {
		return broken("K9", 0, "The link %s is none.", link)
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(address.Hostname())
	if err == nil && r.params.Get("conversion_domain") != domain {
		return broken("K9", 0, "conversion_domain is %s.", domain)
	}
	return nil
}

// showsVideo reports whether a creative shows a video: of its own, or that of a post.
func (f *Fake) showsVideo(o *object) bool {
	if spec, _ := o.fields["object_story_spec"].(map[string]any); spec != nil {
		return spec["video_data"] != nil
	}
	post := f.nodes[o.text("object_story_id")+o.text("source_instagram_media_id")]
	attachments, _ := post.fields["attachments"].(map[string]any)
	return post.text("media_type") == "VIDEO" || reflect.DeepEqual(attachments, attached("video"))
}

// checkSpent refuses a budget that is hardly more than what was spent: rule B4.
func checkSpent(r *request, o *object) *Error {
	before, _ := strconv.ParseInt(o.text("lifetime_budget"), 10, 64)
	remaining, known := strconv.ParseInt(o.text("budget_remaining"), 10, 64)
	lifetime, err := strconv.ParseInt(r.params.Get("lifetime_budget"), 10, 64)
	if err == nil && known == nil && lifetime < before && lifetime*10 < (before-remaining)*11 {
		return broken("B4", 0, "A budget is at least 110 percent of what was spent.")
	}
	return nil
}

// checkArchived refuses to change what is archived, but for its name and to delete it: rule R3.
func checkArchived(r *request, o *object) *Error {
	if o.text("status") != "ARCHIVED" {
		return nil
	}
	for name := range r.params {
		if name != "name" && (name != "status" || r.params.Get(name) != "DELETED") {
			return broken("R3", 0, "What is archived can be renamed and deleted.")
		}
	}
	return nil
}

// checkWindows refuses what Meta does not count any more: rules I1 and I3.
func (f *Fake) checkWindows(r *request, since string) *Error {
	if since < f.Now().AddDate(0, -37, 0).Format("2006-01-02") {
		e := oauth(400, 3018, "The start date of the time range cannot be beyond 37 months from the current date")
		e.Rule = "I1"
		return e
	}
	if windows := r.params.Get("action_attribution_windows"); strings.Contains(windows, "7d_view") || strings.Contains(windows, "28d_view") {
		return broken("I3", 0, "7d_view and 28d_view are no more.")
	}
	return nil
}
