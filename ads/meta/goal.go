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
	event        string // of the pixel or the product set, if the caller names none
}

// aims has an entry for each goal that Meta knows, from its "Objective Mapping" and its reference of the ad set. Several goals may
// have the same objective; then the optimization goal tells them apart.
var aims = []aim{
	{goal: advert.GoalEngagement, optimization: "POST_ENGAGEMENT", destination: "ON_POST"},
	{goal: advert.GoalTraffic, optimization: "LINK_CLICKS"},
	{goal: advert.GoalAwareness, optimization: "REACH", page: true},
	{goal: advert.GoalVideoViews, optimization: "THRUPLAY", destination: "ON_VIDEO"},
	{goal: advert.GoalLeadGeneration, optimization: "LEAD_GENERATION", destination: "ON_AD", page: true},
	{goal: advert.GoalLeadConversion, optimization: "OFFSITE_CONVERSIONS", destination: "WEBSITE", event: "LEAD"},
	{goal: advert.GoalConversions, optimization: "OFFSITE_CONVERSIONS", destination: "WEBSITE", event: "PURCHASE"},
	{goal: advert.GoalAppPromotion, optimization: "APP_INSTALLS"},
	{goal: advert.GoalCatalogSales, optimization: "OFFSITE_CONVERSIONS", destination: "WEBSITE", event: "PURCHASE"},
}

// byValue is what an ad set is optimized for that has a smallest ROAS.
const byValue = "VALUE"

// aimOf returns the aim for a goal, or ads.ErrUnsupported. Meta takes a smallest ROAS only from who asks for value.
func aimOf(goal advert.Goal, strategy advert.BidStrategy) (aim, error) {
	for _, a := range aims {
		if a.goal == goal {
			if strategy == advert.BidStrategyMinROAS {
				a.optimization = byValue
			}
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

// The keys in a plan's promoted object that Meta wants elsewhere: an instant form in the creative, the catalog at the campaign.
const (
	leadForm = "lead_gen_form_id"
	catalog  = "product_catalog_id"
)

// promotedOf reads what a plan promotes.
func promotedOf(plan ads.Plan) (object map[string]any, err error) {
	if err := plan.PromotedObject.Decode(&object); err != nil {
		return nil, &ads.Rejected{Field: "promoted_object", Message: "The promoted object must be a JSON object.", Raw: "promoted_object"}
	}
	return object, nil
}

// promoted returns what an ad set promotes: what the caller said, with the page and the event added where they are
// missing.
func (a aim) promoted(plan ads.Plan, page string) (map[string]any, error) {
	object, err := promotedOf(plan)
	if err != nil {
		return nil, err
	}
	delete(object, leadForm)
	delete(object, catalog)
	if a.page && object["page_id"] == nil {
		object["page_id"] = page
	}
	source := object["pixel_id"] != nil || object["product_set_id"] != nil
	if a.event != "" && source && object["custom_event_type"] == nil && object["custom_conversion_id"] == nil {
		object["custom_event_type"] = a.event
	}
	return object, nil
}
