package meta

import (
	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// aim says what an ad set is set to for a goal.
type aim struct {
	goal         advert.Goal
	optimization string
	destination  string
	page         bool   // promotes the page
	event        string // of the pixel, if the caller names none
}

// aims has an entry for each goal that Meta knows. Several goals may have the same objective; then the optimization goal
// tells them apart.
var aims = []aim{
	{goal: advert.GoalEngagement, optimization: "POST_ENGAGEMENT", destination: "ON_POST"},
	{goal: advert.GoalTraffic, optimization: "LINK_CLICKS", destination: "WEBSITE"},
	{goal: advert.GoalAwareness, optimization: "REACH", page: true},
	{goal: advert.GoalVideoViews, optimization: "THRUPLAY", destination: "ON_VIDEO"},
	{goal: advert.GoalLeadGeneration, optimization: "LEAD_GENERATION", destination: "ON_AD", page: true},
	{goal: advert.GoalLeadConversion, optimization: "OFFSITE_CONVERSIONS", destination: "WEBSITE", event: "LEAD"},
	{goal: advert.GoalConversions, optimization: "OFFSITE_CONVERSIONS", destination: "WEBSITE", event: "PURCHASE"},
	{goal: advert.GoalAppPromotion, optimization: "APP_INSTALLS", destination: "APP"},
	{goal: advert.GoalCatalogSales, optimization: "OFFSITE_CONVERSIONS", destination: "WEBSITE", event: "PURCHASE"},
}

// aimOf returns the aim for a goal, or ads.ErrUnsupported.
func aimOf(goal advert.Goal) (aim, error) {
	for _, a := range aims {
		if a.goal == goal {
			return a, nil
		}
	}
	return aim{}, ads.ErrUnsupported
}

// goalOf returns the goal of an ad set from its campaign's objective and its own optimization goal. If no goal has both,
// the objective decides.
func (n *Network) goalOf(objective, optimization string) advert.Goal {
	for _, a := range aims {
		if word, _ := n.caps.Objective(a.goal); word == objective && a.optimization == optimization {
			return a.goal
		}
	}
	return n.caps.GoalOf(objective)
}

// leadForm is the key in a plan's promoted object that names an instant form. Meta wants it in the creative instead.
const leadForm = "lead_gen_form_id"

// promoted returns what an ad set promotes: what the caller said, with the page and the event added where they are
// missing.
func (a aim) promoted(plan ads.Plan, page string) (map[string]any, error) {
	var object map[string]any
	if err := plan.PromotedObject.Decode(&object); err != nil {
		return nil, &ads.Rejected{Field: "promoted_object", Message: "The promoted object must be a JSON object.", Raw: "promoted_object"}
	}
	delete(object, leadForm)
	if a.page && object["page_id"] == nil {
		object["page_id"] = page
	}
	if a.event != "" && object["pixel_id"] != nil && object["custom_event_type"] == nil && object["custom_conversion_id"] == nil {
		object["custom_event_type"] = a.event
	}
	return object, nil
}
