package metafake

import (
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
)

// decode reads a parameter that is JSON and has been checked.
func (r *request) decode(name string, into any) {
	if text := r.params.Get(name); text != "" {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			panic(err)
		}
	}
}

// kept are the fields of campaigns, ad sets and ads that are kept as they were sent.
var kept = map[string][]string{
	"Campaign": {"name", "objective", "bid_strategy", "daily_budget", "lifetime_budget", "status", "buying_type"},
	"AdSet": {"name", "campaign_id", "bid_strategy", "daily_budget", "lifetime_budget", "status", "optimization_goal", "billing_event",
		"destination_type", "start_time", "end_time", "dsa_beneficiary", "dsa_payor"},
	"Ad": {"name", "adset_id", "status"},
}

// keep sets the fields of a node that a request names.
func (f *Fake) keep(o *object, r *request) {
	for _, name := range kept[o.node] {
		if r.params.Has(name) {
			o.set(f.table, name, r.params.Get(name))
		}
	}
	for _, name := range []string{"targeting", "promoted_object", "bid_constraints"} {
		if r.params.Has(name) {
			var v map[string]any
			r.decode(name, &v)
			o.set(f.table, name, v)
		}
	}
	if r.params.Has("bid_amount") {
		n, _ := strconv.ParseInt(r.params.Get("bid_amount"), 10, 64)
		o.set(f.table, "bid_amount", n)
	}
	f.label(o, r)
}

// label puts labels on a node. A name that is new makes a new label.
func (f *Fake) label(o *object, r *request) {
	var labels []struct{ ID, Name string }
	r.decode("adlabels", &labels)
	var nodes []*object
	for _, l := range labels {
		nodes = append(nodes, f.labelNamed(r, l.Name))
	}
	if nodes != nil {
		o.set(f.table, "adlabels", nodes)
	}
}

func (f *Fake) labelNamed(r *request, name string) *object {
	for _, id := range f.edges[r.id+"/adlabels"] {
		if f.nodes[id].text("name") == name {
			return f.nodes[id]
		}
	}
	l := f.add("AdLabel", map[string]any{"name": name, "created_time": f.stamp()})
	f.link(r.id, "adlabels", l)
	return l
}

// minimum returns an ad account's smallest daily budget.
func (f *Fake) minimum(account string) int64 {
	n, _ := f.nodes["act_"+account].fields["min_daily_budget"].(int64)
	return n
}

// createCampaign creates a campaign, after it has checked its objective and budget.
func (f *Fake) createCampaign(r *request) (any, *Error) {
	p := r.params
	if p.Get("name") == "" || p.Get("objective") == "" || p.Get("status") == "" {
		return nil, invalid("name, objective and status are needed")
	}
	switch {
	case !p.Has("special_ad_categories"):
		return nil, broken("C1", 0, "special_ad_categories is needed, [] for none.")
	case !strings.HasPrefix(p.Get("objective"), "OUTCOME_"):
		return nil, broken("C4", 0, "Legacy objectives cannot be used for new campaigns.")
	case p.Get("status") != "ACTIVE" && p.Get("status") != "PAUSED":
		return nil, broken("C6", 0, "A campaign is created ACTIVE or PAUSED.")
	}
	categories := []string{}
	if r.decode("special_ad_categories", &categories); slices.Contains(categories, "ISSUES_ELECTIONS_POLITICS") && !p.Has("special_ad_category_country") {
		return nil, broken("C2", 0, "An ad about issues, elections or politics needs special_ad_category_country.")
	}
	budget := p.Get("daily_budget") + p.Get("lifetime_budget")
	switch {
	case p.Has("daily_budget") && p.Has("lifetime_budget"):
		return nil, broken("B1", 1885650, "Set either a daily or a lifetime budget.")
	case budget == "" && !p.Has("is_adset_budget_sharing_enabled"):
		return nil, broken("C3", 4834011, "You must specify True or False in is_adset_budget_sharing_enabled if you do not use campaign budget.")
	case budget == "" && p.Has("bid_strategy"):
		return nil, broken("C5", 0, "A campaign without a budget has no bid strategy.")
	}
	if e := f.checkBudget(r, r.account(), ""); e != nil {
		return nil, e
	}
	o := f.add("Campaign", map[string]any{"account_id": r.account(), "created_time": f.stamp(), "updated_time": f.stamp(),
		"special_ad_categories": categories})
	f.keep(o, r)
	if budget != "" && !p.Has("bid_strategy") {
		o.set(f.table, "bid_strategy", defaultStrategy)
	}
	return map[string]any{"id": o.id()}, nil
}

// defaultStrategy is how Meta bids if nobody says how: rule C7. It needs an amount.
const defaultStrategy = "LOWEST_COST_WITH_BID_CAP"

// checkBudget refuses a budget below the smallest one of the account.
func (f *Fake) checkBudget(r *request, account, goal string) *Error {
	for _, name := range []string{"daily_budget", "lifetime_budget"} {
		n, err := strconv.ParseInt(r.params.Get(name), 10, 64)
		if least := leastOf(f.minimum(account), goal); err == nil && n < least {
			return broken("B2", 1885272, "Your budget is too low. The smallest is %d.", least).blame(name)
		}
	}
	return nil
}

func (f *Fake) createAdSet(r *request) (any, *Error) {
	campaign := f.nodes[r.params.Get("campaign_id")]
	if campaign == nil || campaign.node != "Campaign" || campaign.text("account_id") != r.account() {
		return nil, invalid("Param campaign_id must be the id of a campaign of this account")
	}
	for _, check := range []func(*request, *object) *Error{f.checkGroupBudget, f.checkBid, f.checkOptimization, f.checkTargeting, f.checkSchedule} {
		if e := check(r, campaign); e != nil {
			return nil, e
		}
	}
	o := f.add("AdSet", map[string]any{"account_id": r.account(), "campaign": campaign, "created_time": f.stamp(), "updated_time": f.stamp()})
	f.keep(o, r)
	return map[string]any{"id": o.id()}, nil
}

func hasBudget(o *object) bool { return o.text("daily_budget")+o.text("lifetime_budget") != "" }

func (f *Fake) checkGroupBudget(r *request, campaign *object) *Error {
	daily, lifetime := r.params.Has("daily_budget"), r.params.Has("lifetime_budget")
	switch {
	case hasBudget(campaign) && (daily || lifetime):
		return broken("B1", 1885621, "You can only set an ad set budget or a campaign budget.")
	case !hasBudget(campaign) && daily == lifetime:
		return broken("B1", 1885650, "Set either a daily or a lifetime budget.")
	case lifetime && !r.params.Has("end_time"):
		return broken("B3", 0, "An ad set with a lifetime budget needs an end time.")
	case campaign.text("lifetime_budget") != "" && !r.params.Has("end_time"):
		return broken("B3", 0, "An ad set in a campaign with a lifetime budget needs an end time.")
	}
	if e := checkBidBudget(r); e != nil {
		return e
	}
	return f.checkBudget(r, campaign.text("account_id"), r.params.Get("optimization_goal"))
}

// checkBid checks that there is what the bid strategy needs, and nothing else. If the campaign has a budget, the strategy is
// the campaign's.
func (f *Fake) checkBid(r *request, campaign *object) *Error {
	strategy := r.params.Get("bid_strategy")
	if hasBudget(campaign) {
		if strategy != "" {
			return broken("C5", 0, "The campaign decides about the bid strategy.")
		}
		strategy = campaign.text("bid_strategy")
	}
	if strategy == "" {
		strategy = defaultStrategy
	}
	goal := r.params.Get("optimization_goal")
	if r.node.node == "AdSet" {
		goal = r.node.text("optimization_goal")
	}
	var floor struct {
		Floor *int64 `json:"roas_average_floor"`
	}
	r.decode("bid_constraints", &floor)
	switch {
	case isCapped(strategy) && !r.params.Has("bid_amount"):
		return broken("C7", 2490487, "Bid amount or bid constraints are needed for the bid strategy %s.", strategy)
	case !isCapped(strategy) && r.params.Has("bid_amount"):
		return broken("S5", 0, "%s takes no bid_amount.", strategy)
	case strategy == "LOWEST_COST_WITH_MIN_ROAS" && (floor.Floor == nil || goal != "VALUE"):
		return broken("S6", 2490487, "A smallest ROAS needs bid_constraints.roas_average_floor and the optimization goal VALUE.")
	case floor.Floor != nil && (*floor.Floor < 100 || *floor.Floor > 10_000_000):
		return broken("S6", 2490487, "roas_average_floor is a number from 100 (0.01) to 10000000 (1000).")
	case floor.Floor != nil && strategy != "LOWEST_COST_WITH_MIN_ROAS":
		return broken("S5", 0, "%s takes no bid_constraints.", strategy)
	}
	return nil
}

func (f *Fake) checkOptimization(r *request, campaign *object) *Error {
	if r.params.Get("billing_event") == "" {
		return broken("S2", 0, "billing_event is needed.")
	}
	return checkSet(r, campaign)
}

func (f *Fake) checkSchedule(r *request, _ *object) *Error {
	end := r.params.Get("end_time")
	if end == "" || end == "0" {
		return nil
	}
	at := moment(end)
	if !at.After(f.Now()) || r.params.Has("start_time") && !at.After(moment(r.params.Get("start_time"))) {
		return refused(1487793, "The end time must be in the future and after the start time.")
	}
	start := f.Now()
	if r.params.Has("start_time") {
		start = moment(r.params.Get("start_time"))
	}
	if r.params.Has("daily_budget") && at.Sub(start) <= 24*time.Hour {
		return broken("B3", 0, "An ad set with a daily budget runs for more than 24 hours.")
	}
	return nil
}

func moment(text string) time.Time {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return time.Unix(n, 0)
	}
	t, err := time.Parse(timeLayout, text)
	if err != nil {
		t, _ = time.Parse(time.RFC3339, text)
	}
	return t
}

// update changes a campaign, an ad set or an ad.
func (f *Fake) update(r *request) (any, *Error) {
	o, account := r.node, r.node.text("account_id")
	if o.text("status") == "DELETED" {
		return nil, refused(1487056, "A deleted object cannot be changed.")
	}
	if e := f.checkChange(r, o); e != nil {
		return nil, e
	}
	if e := checkArchived(r, o); e != nil {
		return nil, e
	}
	if e := checkSpent(r, o); e != nil {
		return nil, e
	}
	if e := f.checkRetargeted(r, o); e != nil {
		return nil, e
	}
	if e := f.checkBudget(r, account, o.text("optimization_goal")); e != nil {
		return nil, e
	}
	if e := f.setCaps(r, o); e != nil {
		return nil, e
	}
	if r.params.Has("creative") {
		creative, e := f.creativeOf(r, o.fields["adset"].(*object))
		if e != nil {
			return nil, e
		}
		o.set(f.table, "creative", creative)
		delete(f.states, o.id()) // the review begins again
	}
	f.keep(o, r)
	f.dropBids(o, r.params.Get("bid_strategy"))
	o.set(f.table, "updated_time", f.stamp())
	return map[string]any{"success": true}, nil
}

// dropBids removes from an ad set, or from those of a campaign, what a new bid strategy has no use for.
func (f *Fake) dropBids(of *object, strategy string) {
	if strategy == "" {
		return
	}
	for _, o := range f.nodes {
		if o.node != "AdSet" || o != of && o.fields["campaign"] != of {
			continue
		}
		if !isCapped(strategy) {
			delete(o.fields, "bid_amount")
		}
		if strategy != "LOWEST_COST_WITH_MIN_ROAS" {
			delete(o.fields, "bid_constraints")
		}
	}
}

// isCapped reports whether a bid strategy needs a bid amount.
func isCapped(strategy string) bool {
	return strategy == "LOWEST_COST_WITH_BID_CAP" || strategy == "COST_CAP"
}

// setCaps sets the caps of a campaign's ad sets, and refuses a strategy with a cap while an ad set has none.
func (f *Fake) setCaps(r *request, campaign *object) *Error {
	var caps map[string]json.Number
	r.decode("adset_bid_amounts", &caps)
	for id, amount := range caps {
		n, err := strconv.ParseInt(amount.String(), 10, 64)
		if group := f.nodes[id]; group == nil || group.fields["campaign"] != campaign || group.node != "AdSet" || err != nil {
			return invalid("Param adset_bid_amounts must have ids of ad sets of the campaign as keys, and amounts")
		}
		f.nodes[id].set(f.table, "bid_amount", n)
	}
	strategy := r.params.Get("bid_strategy")
	for _, id := range f.order {
		o := f.nodes[id]
		switch {
		case campaign.node != "Campaign" || o == nil || o.node != "AdSet" || o.fields["campaign"] != campaign:
		case isCapped(strategy) && o.fields["bid_amount"] == nil:
			return broken("S5", 0, "Every ad set of the campaign needs a bid amount.")
		case strategy == "LOWEST_COST_WITH_MIN_ROAS" && o.text("optimization_goal") != "VALUE":
			return broken("S6", 2490487, "A smallest ROAS needs the optimization goal VALUE.")
		}
	}
	return nil
}

// checkChange refuses to change the type or the level of a budget, and a strategy without what it needs.
func (f *Fake) checkChange(r *request, o *object) *Error {
	for name, other := range map[string]string{"daily_budget": "lifetime_budget", "lifetime_budget": "daily_budget"} {
		if r.params.Has(name) && (o.text(name) == "" || o.text(other) != "") {
			return broken("B1", 1885621, "The budget cannot change its type or its level.")
		}
	}
	if o.node == "Campaign" && r.params.Has("bid_strategy") && !hasBudget(o) {
		return broken("C5", 0, "A campaign without a budget has no bid strategy.")
	}
	if o.node != "AdSet" || !r.params.Has("bid_strategy") {
		return nil
	}
	return f.checkBid(r, o.fields["campaign"].(*object))
}

// remove deletes a node, and with a campaign or an ad set what is below it.
func (f *Fake) remove(r *request) (any, *Error) {
	o := r.node
	if o.node == "AdCreative" || o.node == "CustomAudience" {
		delete(f.nodes, o.id())
		return map[string]any{"success": true}, nil
	}
	if o.text("status") == "DELETED" {
		return nil, missing(r.method, r.id)
	}
	f.markDeleted(o)
	return map[string]any{"success": true}, nil
}

func (f *Fake) markDeleted(o *object) {
	o.set(f.table, "status", "DELETED")
	for _, id := range f.order {
		child := f.nodes[id]
		if child != nil && (child.fields["campaign"] == o || child.fields["adset"] == o) {
			child.set(f.table, "status", "DELETED")
		}
	}
}

// settle computes the states of a node from its own switch and from those above it.
func (f *Fake) settle(o *object) {
	if kept[o.node] == nil {
		return
	}
	state := o.text("status")
	o.set(f.table, "configured_status", state)
	if forced := f.states[o.id()]; forced != "" && state == "ACTIVE" {
		o.set(f.table, "effective_status", forced)
		return
	}
	for _, above := range []struct{ field, paused string }{{"campaign", "CAMPAIGN_PAUSED"}, {"adset", "ADSET_PAUSED"}} {
		parent, _ := o.fields[above.field].(*object)
		if parent != nil && parent.text("status") == "PAUSED" && state == "ACTIVE" {
			state = above.paused
		}
	}
	o.set(f.table, "effective_status", state)
}

// sum adds decimals exactly.
func sum(a, b string) string {
	x, _ := new(big.Rat).SetString(a)
	y, _ := new(big.Rat).SetString(b)
	return x.Add(x, y).FloatString(2)
}
