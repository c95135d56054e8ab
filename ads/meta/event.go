package meta

import (
	"context"
	"slices"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

const eventFields = "promoted_object,optimization_goal"

// aimed holds what an ad set is for.
type aimed struct {
	Optimization string `json:"optimization_goal"`
	Promoted     struct {
		Event  string `json:"custom_event_type"`
		Custom string `json:"custom_event_str"`
		ID     string `json:"custom_conversion_id"`
	} `json:"promoted_object"`
}

// event is something that people do, by Meta's names for it. Meta counts it under several of them, for different sets of places
// where it can happen. Only the first that is there counts, which is the widest one. nil is no event.
type event []string

// pixelEvents are the events of rule S4.
var pixelEvents = map[string]event{
	"PURCHASE":              purchases,
	"LEAD":                  {"lead", "offsite_conversion.fb_pixel_lead"},
	"COMPLETE_REGISTRATION": {"omni_complete_registration", "complete_registration", "offsite_conversion.fb_pixel_complete_registration"},
	"INITIATED_CHECKOUT":    {"omni_initiated_checkout", "initiate_checkout", "offsite_conversion.fb_pixel_initiate_checkout"},
	"ADD_PAYMENT_INFO":      {"add_payment_info", "offsite_conversion.fb_pixel_add_payment_info"},
	"ADD_TO_CART":           {"omni_add_to_cart", "add_to_cart", "offsite_conversion.fb_pixel_add_to_cart"},
	"CONTENT_VIEW":          {"omni_view_content", "view_content", "offsite_conversion.fb_pixel_view_content"},
	"CONTACT":               {"contact_total", "contact_website"},
	"DONATE":                {"donate_total", "donate_website"},
	"FIND_LOCATION":         {"find_location_total", "find_location_website"},
	"SCHEDULE":              {"schedule_total", "schedule_website"},
	"START_TRIAL":           {"start_trial_total", "start_trial_website"},
	"SUBMIT_APPLICATION":    {"submit_application_total", "submit_application_website"},
	"SUBSCRIBE":             {"subscribe_total", "subscribe_website"},
}

// goalEvents are the events of what has no pixel.
var goalEvents = map[string]event{
	"LEAD_GENERATION": {"onsite_conversion.lead_grouped", "lead"},
	"QUALITY_LEAD":    {"onsite_conversion.lead_grouped", "lead"},
	"APP_INSTALLS":    {"omni_app_install", "mobile_app_install"},
}

// event returns what an ad set wants people to do, nil if that is nothing that is counted apart. Other events are not its
// conversions, even if they happened.
func (a aimed) event() event {
	switch p := a.Promoted; {
	case p.ID != "":
		return event{"offsite_conversion.custom." + p.ID}
	case p.Event == "OTHER":
		return event{"offsite_conversion.fb_pixel_custom." + p.Custom}
	case p.Event != "":
		return pixelEvents[p.Event]
	}
	return goalEvents[a.Optimization]
}

// among returns how often the event happened, in thousandths; nil without an event, or where the actions are not known.
func (e event) among(actions map[string]int64) *int64 {
	if e == nil || actions == nil {
		return nil
	}
	for _, name := range e {
		if count, there := actions[name]; there {
			return &count
		}
	}
	return new(int64(0))
}

// wanted returns the events of things, by their ids. A campaign is for what all of its ad sets are for, and else for none.
func (n *Network) wanted(ctx context.Context, c ads.Conn, adAccount string, of advert.Level, nodes []anyNode) (map[string]event, error) {
	events, ids := map[string]event{}, []string(nil)
	for _, node := range nodes {
		ids = append(ids, node.ID)
		events[node.ID] = node.aimed.event()
		if of == advert.LevelAd {
			events[node.ID] = node.Group.event()
		}
	}
	if of != advert.LevelCampaign {
		return events, nil
	}
	groups, err := lookup[struct {
		aimed
		CampaignID string `json:"campaign_id"`
	}](ctx, n, c, adAccount, advert.LevelGroup, of, ids, "id,campaign_id,"+eventFields)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, g := range groups {
		if wanted := g.event(); !seen[g.CampaignID] {
			seen[g.CampaignID], events[g.CampaignID] = true, wanted
		} else if !slices.Equal(events[g.CampaignID], wanted) {
			events[g.CampaignID] = nil
		}
	}
	return events, nil
}
