package pinterestfake

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// billable are the billable events that each objective takes. The vendor's descriptions only say it in words.
var billable = map[string][]string{
	"AWARENESS":        {"IMPRESSION"},
	"CONSIDERATION":    {"CLICKTHROUGH"},
	"CATALOG_SALES":    {"CLICKTHROUGH"},
	"WEB_CONVERSION":   {"IMPRESSION"},
	"VIDEO_COMPLETION": {"VIDEO_V_50_MRC"},
}

const longestName = 255

func (c *call) listCampaigns() answer {
	return c.entities(c.n.campaignsOf(c.account), map[string]string{"campaign_ids": "id"})
}

func (c *call) createCampaigns() answer {
	return c.batch(false, func(item Object) (Object, *refusal) {
		campaign := merge(Object{"id": c.n.mint(), "status": "ACTIVE", "created_time": c.n.now().Unix()}, item)
		if refused := c.checkCampaign(campaign); refused != nil {
			return nil, refused
		}
		delete(campaign, "ad_account_id")
		c.account.campaigns = append(c.account.campaigns, campaign)
		return c.n.campaign(c.account, campaign), nil
	})
}

// updateCampaigns implements the change of campaigns, each by itself.
func (c *call) updateCampaigns() answer {
	return c.batch(false, func(item Object) (Object, *refusal) {
		campaign := row(c.account.campaigns, item.Text("id"))
		if campaign == nil {
			return nil, missing("Campaign")
		}
		merged := merge(campaign, item)
		if refused := firstOf(reopened(campaign, merged), c.checkCampaign(merged)); refused != nil {
			return nil, refused
		}
		delete(merged, "ad_account_id")
		store(campaign, merged)
		return c.n.campaign(c.account, campaign), nil
	})
}

// checkCampaign checks a campaign against the rules that the description only says in words.
func (c *call) checkCampaign(o Object) *refusal {
	daily, lifetime := o.Number("daily_spend_cap"), o.Number("lifetime_spend_cap")
	optimized := o.Is("is_campaign_budget_optimization")
	switch {
	case o.Text("ad_account_id") != c.account.ID:
		return invalid("ad_account_id differs from the path.")
	case o.Text("name") == "" || utf8.RuneCountInString(o.Text("name")) > longestName:
		return invalid("Campaign name must have 1 to 255 characters.")
	case daily < 0 || lifetime < 0:
		return invalid("A spend cap cannot be negative.")
	case daily > 0 && lifetime > 0:
		return invalid("daily_spend_cap and lifetime_spend_cap cannot be set at the same time.")
	case optimized && daily == 0 && lifetime == 0:
		return invalid("A CBO campaign needs daily_spend_cap or lifetime_spend_cap.")
	case optimized && lifetime > 0 && o.Number("end_time") == 0:
		return invalid("A CBO campaign with lifetime_spend_cap needs end_time.")
	}
	return checkTimes(o)
}

func checkTimes(o Object) *refusal {
	if end := o.Number("end_time"); end != 0 && end <= o.Number("start_time") {
		return invalid("end_time must be after start_time.")
	}
	return nil
}

// reopened refuses to change the status of something that is archived.
func reopened(before, after Object) *refusal {
	if before.Text("status") == "ARCHIVED" && after.Text("status") != "ARCHIVED" {
		return invalid("An archived entity cannot be changed.")
	}
	return nil
}

func firstOf(refusals ...*refusal) *refusal {
	i := slices.IndexFunc(refusals, func(r *refusal) bool { return r != nil })
	if i < 0 {
		return nil
	}
	return refusals[i]
}

// campaignsOf returns the campaigns as a caller sees them.
func (n *Network) campaignsOf(a *Account) []Object {
	return each(a.campaigns, func(o Object) Object { return n.campaign(a, o) })
}

func each(rows []Object, see func(Object) Object) []Object {
	seen := make([]Object, len(rows))
	for i, o := range rows {
		seen[i] = see(o)
	}
	return seen
}

func (n *Network) campaign(a *Account, o Object) Object {
	return merge(o, Object{"summary_status": n.summary(a, o)})
}

// summary returns the delivery state of a campaign or an ad group.
func (n *Network) summary(a *Account, o Object) string {
	now := n.now().Unix()
	switch end := o.Number("end_time"); {
	case o.Text("status") != "ACTIVE":
		return o.Text("status")
	case a.Disabled:
		return "ADVERTISER_DISABLED"
	case end != 0 && end <= now:
		return "COMPLETED"
	case o.Number("start_time") > now:
		return "NOT_STARTED"
	}
	return "RUNNING"
}

func (c *call) listGroups() answer {
	return c.entities(c.n.groupsOf(c.account), map[string]string{"ad_group_ids": "id", "campaign_ids": "campaign_id"})
}

func (c *call) createGroups() answer {
	return c.batch(false, func(item Object) (Object, *refusal) {
		start := Object{"id": c.n.mint(), "status": "ACTIVE", "budget_type": "DAILY", "created_time": c.n.now().Unix()}
		group := merge(start, item)
		if refused := c.checkGroup(group); refused != nil {
			return nil, refused
		}
		c.account.groups = append(c.account.groups, group)
		return c.n.group(c.account, group), nil
	})
}

func (c *call) updateGroups() answer {
	return c.batch(false, func(item Object) (Object, *refusal) {
		group := row(c.account.groups, item.Text("id"))
		if group == nil {
			return nil, missing("Ad group")
		}
		merged := merge(group, item)
		if refused := firstOf(reopened(group, merged), c.checkGroup(merged)); refused != nil {
			return nil, refused
		}
		store(group, merged)
		return c.n.group(c.account, group), nil
	})
}

// checkGroup checks an ad group against the rules that the description only says in words.
func (c *call) checkGroup(o Object) *refusal {
	campaign := row(c.account.campaigns, o.Text("campaign_id"))
	switch {
	case campaign == nil:
		return missing("Campaign")
	case o.Text("status") != "ARCHIVED" && campaign.Text("status") == "ARCHIVED":
		return invalid("The campaign is archived.")
	case o.Text("name") == "" || utf8.RuneCountInString(o.Text("name")) > longestName:
		return invalid("Ad group name must have 1 to 255 characters.")
	case !slices.Contains(billable[campaign.Text("objective_type")], o.Text("billable_event")):
		return invalid("billable_event does not fit the objective.")
	case campaign.Number("end_time") != 0 && o.Number("end_time") > campaign.Number("end_time"): // rule P5, as what follows
		return invalid("end_time is after the campaign's.")
	case o.Number("start_time") != 0 && o.Number("start_time") < campaign.Number("start_time"):
		return invalid("start_time is before the campaign's.")
	case campaign.Is("is_campaign_budget_optimization") && o.Number("start_time")+o.Number("end_time") != 0:
		return invalid("The schedule of a CBO campaign is its own; that of its ad groups is in closed beta.")
	case campaign.Is("is_campaign_budget_optimization") && c.siblings(o) >= 70:
		return invalid("A CBO campaign has at most 70 ad groups.")
	}
	return firstOf(checkTimes(o), checkBudget(o, campaign), checkBid(o, campaign), checkTargeting(o), c.checkPeople(o), c.checkGoal(o, campaign))
}

// siblings counts the other ad groups of an ad group's campaign.
func (c *call) siblings(o Object) (n int) {
	for _, other := range c.account.groups {
		if other.Text("campaign_id") == o.Text("campaign_id") && other.Text("id") != o.Text("id") {
			n++
		}
	}
	return n
}

// checkGoal checks what an ad group for conversions is optimized for, which no other has: rule P6.
func (c *call) checkGoal(o, campaign Object) *refusal {
	goal, _ := o["optimization_goal_metadata"].(map[string]any)
	tag, _ := goal["conversion_tag_v3_goal_metadata"].(map[string]any)
	switch {
	case campaign.Text("objective_type") != "WEB_CONVERSION" && goal != nil:
		return invalid("optimization_goal_metadata is for WEB_CONVERSION.")
	case campaign.Text("objective_type") != "WEB_CONVERSION":
		return nil
	case tag["conversion_event"] == nil || tag["attribution_windows"] == nil:
		return invalid("WEB_CONVERSION needs optimization_goal_metadata with a conversion_event, a conversion_tag_id and attribution_windows.")
	case !slices.Contains(c.account.tags, Object(tag).Text("conversion_tag_id")):
		return missing("Conversion tag")
	}
	return nil
}

// checkPeople checks the audiences of an ad group: each has a hundred people at least, rule P13.
func (c *call) checkPeople(o Object) *refusal {
	spec, _ := o["targeting_spec"].(map[string]any)
	for _, key := range []string{"AUDIENCE_INCLUDE", "AUDIENCE_EXCLUDE"} {
		ids, _ := spec[key].([]any)
		for _, id := range ids {
			audience := row(c.account.audiences, id.(string))
			if audience == nil {
				return missing("Audience")
			}
			if c.audience(audience).Text("status") == "TOO_SMALL" {
				return invalid("An audience of %s has less than 100 people.", key)
			}
		}
	}
	return nil
}

// checkTargeting checks who an ad group is shown to: somewhere (rule P1), and ages from and to, or in bands (rule P2).
func checkTargeting(o Object) *refusal {
	spec, _ := o["targeting_spec"].(map[string]any)
	has := func(key string) bool {
		values, _ := spec[key].([]any)
		return len(values) > 0 || Object(spec).Text(key) != ""
	}
	switch {
	case !has("LOCATION") && !has("GEO"):
		return invalid("targeting_spec must have LOCATION or GEO.")
	case mixed(spec["GEO"]):
		return invalid("GEO has either region codes or postal codes.")
	case has("MINIMUM_AGE") != has("MAXIMUM_AGE") || has("MINIMUM_AGE") && has("AGE_BUCKET"):
		return invalid("MINIMUM_AGE and MAXIMUM_AGE go together, and not with AGE_BUCKET.")
	}
	locales, _ := spec["LOCALE"].([]any)
	for _, locale := range locales {
		if text, _ := locale.(string); len(text) != 2 || strings.ToLower(text) != text {
			return invalid("LOCALE has two-letter codes of languages.")
		}
	}
	return nil
}

// mixed reports whether codes of places are of regions and of postal areas, which have digits.
func mixed(codes any) bool {
	all, _ := codes.([]any)
	kinds := map[bool]bool{}
	for _, code := range all {
		text, _ := code.(string)
		kinds[strings.ContainsAny(text, "0123456789")] = true
	}
	return len(kinds) > 1
}

func checkBudget(o, campaign Object) *refusal {
	kind, budget := o.Text("budget_type"), o.Number("budget_in_micro_currency")
	switch {
	case campaign.Is("is_campaign_budget_optimization") != (kind == "CBO_ADGROUP"):
		return invalid("CBO_ADGROUP is for the ad groups of CBO campaigns, and the only type there.")
	case kind == "CBO_ADGROUP" && budget != 0:
		return invalid("An ad group of a CBO campaign has no budget.")
	case kind != "CBO_ADGROUP" && budget <= 0:
		return invalid("budget_in_micro_currency is required.")
	case kind == "LIFETIME" && o.Number("end_time") == 0:
		return invalid("A LIFETIME budget needs end_time.")
	}
	return nil
}

func checkBid(o, campaign Object) *refusal {
	strategy, bid := o.Text("bid_strategy_type"), o.Number("bid_in_micro_currency")
	switch {
	case campaign.Text("objective_type") == "VIDEO_COMPLETION" && strategy != "" && strategy != "AUTOMATIC_BID":
		return invalid("VIDEO_COMPLETION takes AUTOMATIC_BID only.") // rule P3
	case strategy == "AUTOMATIC_BID" && bid != 0:
		return invalid("AUTOMATIC_BID takes no bid.")
	case bid > 0 && bid < floorOf(campaign.Text("objective_type")): // rule P4, as what follows
		return invalid("The bid is below the floor.")
	case (strategy == "MAX_BID" || strategy == "TARGET_AVG") && bid <= 0:
		return invalid("%s needs bid_in_micro_currency.", strategy)
	case strategy == "" && bid <= 0:
		return invalid("bid_in_micro_currency is required.")
	}
	return nil
}

// floorOf is the least bid for an objective, in micros: 0.10 to be seen, and a dollar for a click.
func floorOf(objective string) int64 {
	if objective == "AWARENESS" {
		return 100_000
	}
	return 1_000_000
}

// bidFloor implements ad_groups_bid_floor/get.
func (c *call) bidFloor() answer {
	var asked struct {
		Specs []Object `json:"bid_floor_specs"`
	}
	c.read(&asked)
	floors := []int64{}
	for _, spec := range asked.Specs {
		if spec.Text("currency") != c.account.object.Text("currency") {
			return refuse(invalid("The currency is not the ad account's."))
		}
		floors = append(floors, floorOf(spec.Text("objective_type")))
	}
	return ok(Object{"bid_floors": floors})
}

func (n *Network) groupsOf(a *Account) []Object {
	return each(a.groups, func(o Object) Object { return n.group(a, o) })
}

func (n *Network) group(a *Account, o Object) Object {
	return merge(o, Object{"summary_status": n.summary(a, o)})
}

// Review plays the network's review of an ad: PENDING, OTHER, APPROVED, or REJECTED with reasons such as LANDING_PAGE.
func (n *Network) Review(a *Account, ad, status string, reasons ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	store(row(a.ads, ad), Object{"review_status": status, "rejected_reasons": append([]string{}, reasons...)})
}

// Rename gives a campaign, an ad group or an ad another name, as somebody could in the network's own ads manager.
func (n *Network) Rename(a *Account, id, name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, rows := range [][]Object{a.campaigns, a.groups, a.ads} {
		if o := row(rows, id); o != nil {
			o["name"] = name
		}
	}
}

// Campaigns returns the campaigns of an ad account, archived ones too.
func (n *Network) Campaigns(a *Account) []Object { return n.copyOf(&a.campaigns) }

// Groups returns the ad groups of an ad account.
func (n *Network) Groups(a *Account) []Object { return n.copyOf(&a.groups) }

// Ads returns the ads of an ad account.
func (n *Network) Ads(a *Account) []Object { return n.copyOf(&a.ads) }

// Pins returns the Pins of a token's user.
func (n *Network) Pins(token string) []Object { return n.copyOf(&n.users[token].pins) }

func (n *Network) copyOf(rows *[]Object) []Object {
	n.mu.Lock()
	defer n.mu.Unlock()
	return each(*rows, func(o Object) Object { return merge(o, nil) })
}
