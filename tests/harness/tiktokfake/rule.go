package tiktokfake

import (
	"slices"
	"strings"
	"time"
)

// The rules that TikTok's documents state in words, under the numbers by which they are refused.
//
//	T1  A name is at most 512 wide, an ad's text 1 to 100: signs of East Asia count twice. Neither has an emoji.
//	T2  Two campaigns of an ad account, or two ad groups of a campaign, have one name only with a request_id.
//	T3  A request_id is carried out once.
//	T4  What is deleted cannot be changed any more, nor what is in it.
//	T5  A daily budget of an objective for what people do is BUDGET_MODE_DYNAMIC_DAILY_BUDGET, of the others BUDGET_MODE_DAY.
//	T6  A campaign's budget is at least 50, an ad group's 20 a day.
//	T7  A bid stands in bid_price, for OCPM in conversion_bid_price. VALUE has no bid but a deep_bid_type.
//	T8  An ad speaks for an identity of its ad account; a post, and an ad for engagement, for an account on TikTok.
//	T9  Postal codes, forms, posts and engagement are shown on TikTok alone. Placements are set once.
//	T10 A report of days covers 30, another 365. It has one id as a dimension, that of its level.
//	T11 An update replaces an ad, unless it is a patch of certain fields.
//	T12 An ad with a video has a cover, a text, a call to action and, where it leads somewhere, an address.
//	T13 A page has as many rows as its list allows, a filter 100 ids. Two files of one name are refused.
//	T14 Twenty switches at most are turned at once.
//	T15 An ad group aims at what its campaign's objective allows, and names what that needs.
//	T16 An ad group is shown somewhere; its places do not overlap. Special industries know no postal codes.
//	T17 A lifetime budget needs an end, which lies behind the start.
//	T18 The files of an audience are of one kind. A lookalike is not like another one.

// once refuses a name that is there, and a request that was carried out.
func (n *Network) once(r *request, siblings []Object, name string) *refusal {
	id := r.params.Text("request_id")
	if id != "" && n.requests[r.operation+r.account.ID+id] {
		return broken("T3", "The request %s was carried out.", id)
	}
	if e := checkName(r.params.Text(name), 512); e != nil {
		return e
	}
	taken := slices.ContainsFunc(siblings, func(o Object) bool { return !isDeleted(o) && o.Text(name) == r.params.Text(name) })
	if id == "" && taken {
		return broken("T2", "%s: the name exists.", name)
	}
	return nil
}

// done remembers a request that was carried out.
func (n *Network) done(r *request) {
	if id := r.params.Text("request_id"); id != "" {
		n.requests[r.operation+r.account.ID+id] = true
	}
}

func checkName(text string, widest int) *refusal {
	wide := 0
	for _, r := range text {
		wide++
		if r >= 0x2E80 {
			wide++
		}
		if r >= 0x1F000 || r >= 0x2600 && r <= 0x27BF {
			return broken("T1", "Emojis are not supported: %q.", text)
		}
	}
	if wide == 0 || wide > widest {
		return broken("T1", "A text of 1 to %d characters.", widest)
	}
	return nil
}

// performing are the objectives for what people do.
var performing = []string{"TRAFFIC", "APP_PROMOTION", "WEB_CONVERSIONS", "LEAD_GENERATION"}

// playable are the objectives that can be made.
var playable = append([]string{"REACH", "VIDEO_VIEWS", "ENGAGEMENT"}, performing...)

func (a *Account) performs(group Object) bool {
	return slices.Contains(performing, find(a.campaigns, "campaign_id", group.Text("campaign_id")).Text("objective_type"))
}

func checkCampaign(o Object) *refusal {
	if !slices.Contains(playable, o.Text("objective_type")) {
		return broken("T15", "objective_type: %s cannot be created.", o.Text("objective_type"))
	}
	if e := checkName(o.Text("campaign_name"), 512); e != nil {
		return e
	}
	if (o.Text("objective_type") == "APP_PROMOTION") != (o.Text("app_promotion_type") != "") {
		return broken("T15", "app_promotion_type goes with APP_PROMOTION.")
	}
	optimized, _ := o["budget_optimize_on"].(bool)
	mode := o.Text("budget_mode")
	switch {
	case mode == "" || optimized && mode == "BUDGET_MODE_INFINITE":
		return broken("T5", "budget_mode is needed.")
	case mode == "BUDGET_MODE_INFINITE" && o["budget"] == nil:
		return nil
	case mode == "BUDGET_MODE_INFINITE":
		return broken("T5", "budget: none without a limit.")
	case o.Number("budget") < 50:
		return broken("T6", "budget: at least 50.")
	}
	return checkMode(o.Text("objective_type"), mode)
}

func checkMode(objective, mode string) *refusal {
	performs := slices.Contains(performing, objective)
	if mode == "BUDGET_MODE_DAY" && performs || mode == "BUDGET_MODE_DYNAMIC_DAILY_BUDGET" && !performs {
		return broken("T5", "budget_mode: %s does not go with %s.", mode, objective)
	}
	return nil
}

// aims are what an ad group of an objective can aim at, and what is paid for.
var aims = map[string]map[string]string{
	"TRAFFIC": {"CLICK": "CPC", "TRAFFIC_LANDING_PAGE_VIEW": "OCPM"}, "WEB_CONVERSIONS": {"CONVERT": "OCPM", "VALUE": "OCPM", "CLICK": "CPC"},
	"LEAD_GENERATION": {"LEAD_GENERATION": "OCPM", "CLICK": "CPC"}, "APP_PROMOTION": {"INSTALL": "OCPM", "CLICK": "CPC", "IN_APP_EVENT": "OCPM"},
	"REACH": {"REACH": "CPM"}, "VIDEO_VIEWS": {"ENGAGED_VIEW": "CPV"}, "ENGAGEMENT": {"FOLLOWERS": "OCPM", "PAGE_VISIT": "OCPM"},
}

// checkGroup checks an ad group, as it is to be.
func (n *Network) checkGroup(campaign, o Object) *refusal {
	for _, check := range []func(campaign, o Object) *refusal{checkAim, n.checkBudget, checkBid, checkPlace, checkWhere} {
		if e := check(campaign, o); e != nil {
			return e
		}
	}
	return nil
}

func checkAim(campaign, o Object) *refusal {
	objective := campaign.Text("objective_type")
	if e := checkName(o.Text("adgroup_name"), 512); e != nil {
		return e
	}
	if billing := aims[objective][o.Text("optimization_goal")]; billing == "" || billing != o.Text("billing_event") {
		return broken("T15", "optimization_goal %s and billing_event %s do not go with %s.", o.Text("optimization_goal"), o.Text("billing_event"), objective)
	}
	promotion := map[string]string{"TRAFFIC": "WEBSITE", "WEB_CONVERSIONS": "WEBSITE", "LEAD_GENERATION": "LEAD_GENERATION", "ENGAGEMENT": "EXTERNAL_OR_DISPLAY"}[objective]
	switch {
	case promotion != "" && o.Text("promotion_type") != promotion:
		return broken("T15", "promotion_type: %s needs %s.", objective, promotion)
	case objective == "WEB_CONVERSIONS" && (o.Text("pixel_id") == "" || o.Text("optimization_event") == ""):
		return broken("T15", "pixel_id and optimization_event go together.")
	case objective != "WEB_CONVERSIONS" && o.Text("pixel_id")+o.Text("optimization_event") != "":
		return broken("T15", "pixel_id: not with %s.", objective)
	case objective == "LEAD_GENERATION" && o.Text("promotion_target_type") == "":
		return broken("T15", "promotion_target_type is needed.")
	case objective == "APP_PROMOTION" && (o.Text("app_id") == "" || len(o.Texts("operating_systems")) != 1):
		return broken("T15", "app_id and operating_systems are needed.")
	case (objective == "VIDEO_VIEWS") != (o.Text("bid_display_mode") == "CPV"):
		return broken("T15", "bid_display_mode: CPV goes with VIDEO_VIEWS.")
	}
	return nil
}

func (n *Network) checkBudget(campaign, o Object) *refusal {
	start, _ := time.Parse(time.DateTime, o.Text("schedule_start_time"))
	end, err := time.Parse(time.DateTime, o.Text("schedule_end_time"))
	bounded := o.Text("schedule_type") == "SCHEDULE_START_END"
	if bounded && (err != nil || !end.After(start)) {
		return broken("T17", "schedule_end_time: behind the start.")
	}
	if o["adgroup_id"] == nil && start.Before(n.now().Add(-time.Hour)) {
		return broken("T17", "schedule_start_time: in the past.")
	}
	if optimized, _ := campaign["budget_optimize_on"].(bool); optimized {
		if campaign.Text("budget_mode") == "BUDGET_MODE_TOTAL" && !bounded {
			return broken("T17", "A lifetime budget needs schedule_end_time.")
		}
		if o.Text("bid_type") == "" {
			return broken("T7", "bid_type is needed.")
		}
		return nil
	}
	mode, least := o.Text("budget_mode"), 20.0
	switch {
	case mode == "BUDGET_MODE_INFINITE":
		return broken("T5", "budget_mode: the campaign has no budget either.")
	case mode == "BUDGET_MODE_TOTAL" && !bounded:
		return broken("T17", "A lifetime budget needs schedule_end_time.")
	case mode == "BUDGET_MODE_TOTAL":
		least = 20 * max(1, float64(int(end.Sub(start).Hours()/24)))
	}
	if o.Number("budget") < least {
		return broken("T6", "budget: at least %v.", least)
	}
	return checkMode(campaign.Text("objective_type"), mode)
}

func checkBid(_, o Object) *refusal {
	value, deep := o.Text("optimization_goal") == "VALUE", o.Text("deep_bid_type")
	bid, other := o.Number("bid_price"), o.Number("conversion_bid_price")
	if o.Text("billing_event") == "OCPM" {
		bid, other = other, bid
	}
	switch {
	case value != (deep != ""):
		return broken("T7", "deep_bid_type goes with VALUE.")
	case value && (o.Text("bid_type") != "BID_TYPE_NO_BID" || deep == "VO_MIN_ROAS" && (o.Number("roas_bid") < 0.01 || o.Number("roas_bid") > 1000)):
		return broken("T7", "VALUE: BID_TYPE_NO_BID, and a roas_bid with VO_MIN_ROAS.")
	case other != 0:
		return broken("T7", "The bid stands in the other field for %s.", o.Text("billing_event"))
	case (o.Text("bid_type") == "BID_TYPE_CUSTOM") != (bid > 0):
		return broken("T7", "A bid goes with BID_TYPE_CUSTOM.")
	}
	return nil
}

func checkPlace(campaign, o Object) *refusal {
	places, objective := o.Texts("placements"), campaign.Text("objective_type")
	chosen := o.Text("placement_type") == "PLACEMENT_TYPE_NORMAL"
	alone := len(o.Texts("zipcode_ids")) > 0 || objective == "LEAD_GENERATION" || objective == "ENGAGEMENT"
	switch {
	case chosen != (len(places) > 0):
		return broken("T9", "placements go with PLACEMENT_TYPE_NORMAL.")
	case alone && !slices.Equal(places, []string{"PLACEMENT_TIKTOK"}):
		return broken("T9", "placements: PLACEMENT_TIKTOK alone.")
	}
	if search, is := o["search_result_enabled"].(bool); is && search && (!slices.Contains(performing, objective) || chosen && !slices.Contains(places, "PLACEMENT_TIKTOK")) {
		return broken("T9", "search_result_enabled: not here.")
	}
	return nil
}

// Regions are places in the United States that the fake knows.
var regions = map[string]string{"5332921": "6252001", "5128638": "6252001", "5128581": "6252001"}

func checkWhere(campaign, o Object) *refusal {
	places, zips := o.Texts("location_ids"), o.Texts("zipcode_ids")
	if len(places)+len(zips) == 0 || len(places)+len(zips) > 3000 {
		return broken("T16", "location_ids or zipcode_ids are needed.")
	}
	for _, id := range places {
		if strings.Trim(id, "0123456789") != "" {
			return broken("T16", "location_ids: %s is no id.", id)
		}
		if parent := regions[id]; parent != "" && slices.Contains(places, parent) {
			return broken("T16", "location_ids: %s is in %s.", id, parent)
		}
	}
	if industries := campaign.Texts("special_industries"); len(industries) > 0 && len(zips) > 0 {
		return broken("T16", "zipcode_ids: not with special_industries.")
	}
	for _, one := range objects(o["actions"]) {
		if len(one.Texts("action_category_ids")) == 0 || len(one.Texts("video_user_actions")) == 0 {
			return broken("T16", "actions: categories and what people did.")
		}
	}
	return nil
}

// checkAd checks an ad, as it is to be.
func (n *Network) checkAd(a *Account, group, o Object) *refusal {
	objective := find(a.campaigns, "campaign_id", group.Text("campaign_id")).Text("objective_type")
	who := find(a.identities, "identity_id", o.Text("identity_id"))
	var center any
	if who != nil {
		center = who["identity_authorized_bc_id"]
	}
	item := o.Text("tiktok_item_id")
	switch {
	case who == nil || who.Text("identity_type") != o.Text("identity_type") || center != nil && o["identity_authorized_bc_id"] != center:
		return broken("T8", "The identity is not one of the ad account.")
	case o.Text("identity_type") == "CUSTOMIZED_USER" && (item != "" || objective == "ENGAGEMENT"):
		return broken("T8", "A name without an account has no posts and no followers.")
	case item != "" && find(a.posts[o.Text("identity_id")], "item_id", item) == nil:
		return broken("T8", "The post is not one of the identity.")
	case item != "" && !slices.Equal(group.Texts("placements"), []string{"PLACEMENT_TIKTOK"}):
		return broken("T9", "A post is shown on TikTok alone.")
	case o.Text("ad_format") != "SINGLE_VIDEO":
		return broken("T12", "ad_format: SINGLE_VIDEO is played here.")
	}
	if e := checkName(o.Text("ad_name"), 512); e != nil {
		return e
	}
	if item != "" {
		if o["video_id"] != nil || o["image_ids"] != nil {
			return broken("T12", "A post shows itself.")
		}
		return nil
	}
	return a.checkVideoAd(objective, o)
}

func (a *Account) checkVideoAd(objective string, o Object) *refusal {
	i := slices.IndexFunc(a.videos, func(v *video) bool { return v.id == o.Text("video_id") })
	covers := o.Texts("image_ids")
	switch {
	case i < 0 || a.videos[i].looks > 0:
		return broken("T12", "video_id: not there, or not ready.")
	case len(covers) != 1 || a.images[covers[0]] == "":
		return broken("T12", "image_ids: the cover is needed.")
	case o.Text("call_to_action") == "" && o.Text("call_to_action_id") == "":
		return broken("T12", "call_to_action is needed.")
	case slices.Contains([]string{"TRAFFIC", "WEB_CONVERSIONS"}, objective) && !strings.HasPrefix(o.Text("landing_page_url"), "http"):
		return broken("T12", "landing_page_url is needed.")
	case objective == "LEAD_GENERATION" && o["page_id"] == nil:
		return broken("T12", "page_id is needed.")
	}
	return checkName(o.Text("ad_text"), 100)
}
