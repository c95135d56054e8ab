package adwalk

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/tillwright/tillwright/sdk"
)

// promotes are values for what a goal needs in its promoted object.
func (w *World) promotes(rule sdk.AdGoalRule) object {
	values := object{
		"pixel_id": w.Pixel, "custom_conversion_id": "6061", "lead_gen_form_id": "6062", "product_set_id": "6063", "product_catalog_id": "6064", "application_id": "6065",
		"object_store_url": "https://apps.example/app", "page_id": "6066", "optimization_event": "SHOPPING", "app_id": "6067",
	}
	promoted := object{}
	for _, keys := range rule.Requires {
		promoted[keys[0]] = values[keys[0]]
	}
	return promoted
}

// ruleOf returns the rule of a goal that the network has.
func (w *World) ruleOf(goal sdk.AdGoal) sdk.AdGoalRule {
	return w.Can.GoalRules[slices.IndexFunc(w.Can.GoalRules, func(r sdk.AdGoalRule) bool { return r.Goal == goal })]
}

// pursues returns what an ad for a goal has.
func (w *World) pursues(goal sdk.AdGoal) object {
	change := object{"goal": goal}
	if promoted := w.promotes(w.ruleOf(goal)); len(promoted) > 0 {
		change["promoted_object"] = promoted
	}
	if slices.Contains(w.Can.Media.VideoGoals, goal) {
		for name, value := range w.shows("video") {
			change[name] = value
		}
	}
	return change
}

// boost boosts the post for a goal.
func (w *World) boost(change object, other ...object) error {
	body := object{
		"account_id": w.Channel, "ad_account_id": w.AdAccount, "post_id": w.Post, "name": "Boost", "status": "paused", "countries": []string{"US"},
		"budget": object{"amount": 100, "type": "daily"}, "goal": change["goal"], "promoted_object": change["promoted_object"],
	}
	for _, change := range other {
		maps.Copy(body, change)
	}
	boosted := &sdk.AdBoost{}
	into(body, boosted)
	_, err := w.Ads.Boost(background, boosted)
	return err
}

func (w *World) goals(t *testing.T) {
	for _, word := range words("AdGoal") {
		if !has(w.Can.Goals, word) {
			w.no(t, "goal", word, w.make(object{"goal": word}))
			w.no(t, "goal", "a boost for "+word, w.boost(object{"goal": word}))
			continue
		}
		goal := sdk.AdGoal(word)
		rule, change := w.ruleOf(goal), w.pursues(goal)
		byAd := has(rule.MadeBy, "ad")
		w.is(t, byAd, "goal", "an ad for "+word, w.make(change))
		w.is(t, has(rule.MadeBy, "boost"), "goal", "a boost for "+word, w.boost(change))
		if slices.Contains(w.Can.Media.VideoGoals, goal) && has(rule.MadeBy, "boost") {
			w.no(t, "post_id", word+" of a post with a picture", w.boost(change, object{"post_id": w.Picture}))
		}
		if slices.Contains(w.Can.Media.VideoGoals, goal) && has(w.Can.Media.Kinds, "image") {
			w.no(t, "video_url", word+" with a picture", w.make(change, w.shows("image")))
		}
		if byAd {
			w.needs(t, rule, change)
		}
	}
}

// needs leaves out each thing that a goal needs, and sends each event that it can have.
func (w *World) needs(t *testing.T, rule sdk.AdGoalRule, change object) {
	t.Helper()
	for _, keys := range rule.Requires {
		left := w.promotes(rule)
		delete(left, keys[0])
		w.no(t, "promoted_object."+keys[0], fmt.Sprintf("%s without %s", rule.Goal, keys), w.make(change, object{"promoted_object": left}))
	}
	if len(rule.Events) == 0 {
		return
	}
	for _, event := range append(slices.Clone(rule.Events), "NO_SUCH_EVENT") {
		promoted := w.promotes(rule)
		promoted["custom_event_type"] = event
		if event == "OTHER" {
			promoted["custom_event_str"] = "Rent"
		}
		w.is(t, slices.Contains(rule.Events, event), "promoted_object.custom_event_type", fmt.Sprintf("%s by %s", rule.Goal, event), w.make(change, object{"promoted_object": promoted}))
	}
}

func (w *World) budgets(t *testing.T) {
	for _, level := range words("AdBudgetLevel") {
		can := has(w.Can.BudgetLevels, level)
		w.is(t, can, "budget_level", "a daily budget of the "+level, w.make(object{"budget_level": level}))
		w.is(t, can, "budget_level", "a lifetime budget of the "+level, w.make(object{"budget_level": level, "budget_type": "lifetime", "budget_amount": 700, "end_date": day(6)}))
	}
	w.no(t, "budget_amount", "a budget below the least", w.make(object{"budget_amount": less(w.Can.MinimumDailyBudget)}))
}

func (w *World) bids(t *testing.T) {
	values := object{"bid_amount": 2, "roas_average_floor": 1.5}
	for _, strategy := range []string{"LOWEST_COST_WITHOUT_CAP", "LOWEST_COST_WITH_BID_CAP", "COST_CAP", "LOWEST_COST_WITH_MIN_ROAS"} {
		at := slices.IndexFunc(w.Can.BidStrategies, func(r sdk.AdBidRule) bool { return r.Strategy == strategy })
		if at < 0 {
			w.no(t, "bid_strategy", strategy, w.make(object{"bid_strategy": strategy}))
			continue
		}
		rule := w.Can.BidStrategies[at]
		bid := object{"bid_strategy": strategy}
		for _, field := range rule.Requires {
			bid[field] = values[field]
		}
		for _, goal := range w.Can.Goals {
			if has(w.ruleOf(goal).MadeBy, "ad") {
				w.is(t, slices.Contains(rule.Goals, goal), "bid_strategy", fmt.Sprintf("%s for %s", strategy, goal), w.make(w.pursues(goal), bid))
			}
		}
		change := w.pursues(rule.Goals[0])
		for _, level := range w.Can.BudgetLevels {
			w.yes(t, fmt.Sprintf("%s with a budget of the %s", strategy, level), w.make(change, bid, object{"budget_level": level}))
		}
		for _, field := range rule.Requires {
			w.no(t, field, strategy+" without "+field, w.make(change, bid, object{field: nil}))
		}
		for _, field := range rule.Forbids {
			w.no(t, field, strategy+" with "+field, w.make(change, bid, object{field: values[field]}))
		}
	}
}
