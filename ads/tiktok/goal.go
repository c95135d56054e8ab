package tiktok

import (
	"slices"
	"strings"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// aim is what an objective asks of an ad group, from "Objectives" and "Billing events of optimization goals".
type aim struct {
	goal      string // optimization_goal
	billing   string // billing_event
	promotion string // promotion_type; "" for what leads nowhere
	performs  bool   // it is for what people do, not for who sees it: the daily budget is one of a week, and search is a place
}

// aims are those of the objectives.
var aims = map[string]aim{
	"TRAFFIC":         {"CLICK", "CPC", "WEBSITE", true},
	"WEB_CONVERSIONS": {"CONVERT", "OCPM", "WEBSITE", true},
	"LEAD_GENERATION": {"LEAD_GENERATION", "OCPM", "LEAD_GENERATION", true},
	"APP_PROMOTION":   {"INSTALL", "OCPM", "APP_ANDROID", true},
	"REACH":           {"REACH", "CPM", "", false},
	"VIDEO_VIEWS":     {"ENGAGED_VIEW", "CPV", "", false},
	"ENGAGEMENT":      {"FOLLOWERS", "OCPM", "EXTERNAL_OR_DISPLAY", false},
}

// TikTok's words for budgets.
const (
	budgetTotal    = "BUDGET_MODE_TOTAL"
	budgetDay      = "BUDGET_MODE_DAY"
	budgetWeek     = "BUDGET_MODE_DYNAMIC_DAILY_BUDGET" // the mean of a week; a day may have a quarter more
	budgetInfinite = "BUDGET_MODE_INFINITE"
)

// budgetTypes are the types of budgets by TikTok's words.
var budgetTypes = map[string]advert.BudgetType{
	budgetTotal: advert.BudgetTypeLifetime, budgetDay: advert.BudgetTypeDaily, budgetWeek: advert.BudgetTypeDaily,
}

// mode returns TikTok's word for a type of budget under an objective (T5).
func (a aim) mode(t advert.BudgetType) string {
	switch {
	case t == advert.BudgetTypeLifetime:
		return budgetTotal
	case a.performs:
		return budgetWeek
	}
	return budgetDay
}

// promoted is what an ad promotes, in TikTok's words.
type promoted struct {
	PixelID string `json:"pixel_id,omitempty"`
	Event   string `json:"optimization_event,omitempty"`
	PageID  string `json:"page_id,omitempty"` // of an instant form
	AppID   string `json:"app_id,omitempty"`
}

// promotes are the keys that a promoted object may have, by goal.
var promotes = map[advert.Goal][]string{
	advert.GoalConversions: {"pixel_id", "optimization_event"}, advert.GoalLeadGeneration: {"page_id"}, advert.GoalAppPromotion: {"app_id"},
}

// promotedBy reads the promoted object of a plan.
func promotedBy(plan ads.Plan) (promoted, error) {
	var p promoted
	keys := map[string]any{}
	if plan.PromotedObject.Decode(&p) != nil || plan.PromotedObject.Decode(&keys) != nil {
		return p, rejected("promoted_object", "Send the promoted object as a JSON object of texts.")
	}
	for key := range keys {
		if known := promotes[plan.Goal]; !slices.Contains(known, key) {
			return p, rejected("promoted_object."+key, "What "+string(plan.Goal)+" promotes on TikTok has: "+strings.Join(known, ", ")+".")
		}
	}
	return p, nil
}

// TikTok's words for placements.
const (
	onTikTok  = "PLACEMENT_TIKTOK"
	onPangle  = "PLACEMENT_PANGLE"
	automatic = "PLACEMENT_TYPE_AUTOMATIC"
	chosen    = "PLACEMENT_TYPE_NORMAL"
)

// place says where an ad is shown. Where only TikTok itself can show an ad, that is said: an automatic placement would be refused (T9).
func place(body fields, a aim, plan ads.Plan) error {
	t := plan.Targeting
	feed, search, network := slices.Contains(t.Placements, "feed"), slices.Contains(t.Placements, "search"), slices.Contains(t.Placements, "network")
	alone := len(t.Zips) > 0 || plan.Post != nil || plan.Goal == advert.GoalLeadGeneration || plan.Goal == advert.GoalEngagement
	body["placement_type"] = chosen
	switch {
	case network && alone:
		return rejected("targeting.placements", "TikTok shows this ad in its own app only: a post, a form, an ad for engagement, or one for postal codes. Leave network out.")
	case search && !a.performs:
		return rejected("targeting.placements", "TikTok shows no ads with this goal among what is searched for. Leave search out.")
	case network && feed:
		body["placements"] = []string{onTikTok, onPangle}
	case network:
		body["placements"] = []string{onPangle}
	case feed || alone:
		body["placements"] = []string{onTikTok}
	default:
		body["placement_type"] = automatic
	}
	if a.performs && len(t.Placements) > 0 && feed {
		body["search_result_enabled"] = search
	}
	return nil
}

// placements returns where an ad group shows its ads, nil for wherever TikTok thinks best.
func (w group) placements() []string {
	if w.PlacementType != chosen {
		return nil
	}
	var words []string
	if slices.Contains(w.Placements, onTikTok) {
		words = append(words, "feed")
		if w.Search {
			words = append(words, "search")
		}
	}
	if slices.Contains(w.Placements, onPangle) {
		words = append(words, "network")
	}
	return words
}
