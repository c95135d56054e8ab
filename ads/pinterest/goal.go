package pinterest

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// goalMetadata is what an ad group for conversions is optimized for: an event that a tag counts.
type goalMetadata struct {
	Tag struct {
		Event   string  `json:"conversion_event"`
		ID      string  `json:"conversion_tag_id"`
		Windows windows `json:"attribution_windows"`
	} `json:"conversion_tag_v3_goal_metadata"`
}

// windows are for how many days after it was seen or touched an ad counts for what somebody does.
type windows struct {
	Click      int `json:"click_window_days"`
	Engagement int `json:"engagement_window_days"`
	View       int `json:"view_window_days"`
}

// usualWindows are those of Pinterest's own ads manager.
var usualWindows = windows{30, 30, 1}

// promoted is what an ad group for conversions promotes, as a plan says it.
type promoted struct {
	Tag   string `json:"pixel_id"`
	Event string `json:"custom_event_type,omitempty"`
}

// goalOf returns what an ad group is optimized for, nil for goals that say all of it. Without an event it is a checkout. A word that
// Pinterest has no place for is rejected.
func goalOf(plan ads.Plan) (*goalMetadata, error) {
	if plan.Goal != advert.GoalConversions {
		return nil, nil
	}
	var words map[string]json.RawMessage
	var of promoted
	if plan.PromotedObject.Decode(&words) != nil || plan.PromotedObject.Decode(&of) != nil {
		return nil, &ads.Rejected{Field: "promoted_object", Message: "Send pixel_id, the id of a conversion tag, and custom_event_type as texts."}
	}
	for word := range words {
		if word != "pixel_id" && word != "custom_event_type" {
			return nil, &ads.Rejected{Field: "promoted_object." + word, Message: fmt.Sprintf("Pinterest has no %.100s. Leave it out.", word)}
		}
	}
	var goal goalMetadata
	goal.Tag.ID, goal.Tag.Event, goal.Tag.Windows = of.Tag, cmp.Or(of.Event, "CHECKOUT"), usualWindows
	return &goal, nil
}

// promoted returns what an ad group promotes, as it is sent here; "" for nothing.
func (g *goalMetadata) promoted() advert.Object {
	if g == nil || g.Tag.ID == "" {
		return ""
	}
	return advert.NewObject(promoted{g.Tag.ID, g.Tag.Event})
}
