package view

import (
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store/activity"
	"github.com/tillwright/tillwright/store/core"
)

// Activity returns what renders a line of what was done, for a key: what became different only of what it may read.
func Activity(may func(scope string) bool) func(*activity.Activity) api.Activity {
	return func(a *activity.Activity) api.Activity {
		return api.Activity{
			ID:        a.ID,
			Object:    "activity",
			Actor:     activityActor(a),
			Operation: a.Operation,
			Target:    api.ActivityTarget{Object: a.TargetObject, ID: a.TargetID},
			Changes:   activityChanges(a, may),
			RequestID: a.RequestID,
			IP:        a.IP,
			CreatedAt: at(a.CreatedAt),
		}
	}
}

func activityActor(a *activity.Activity) api.ActivityActor {
	id := textOrNil(a.ActorID)
	if a.ActorID == string(a.ActorType) {
		id = nil
	}
	return api.ActivityActor{Type: api.ActivityActorType(a.ActorType), ID: id, Name: a.ActorName}
}

func activityChanges(a *activity.Activity, may func(scope string) bool) map[string]api.ActivityChange {
	if a.Changes.V == nil || !may(a.Scope) {
		return nil
	}
	changes := make(map[string]api.ActivityChange, len(*a.Changes.V))
	for field, c := range *a.Changes.V {
		changes[field] = api.ActivityChange{Before: c.Before, After: c.After, Cut: c.Cut}
	}
	return changes
}

// ListActivity reads the query of a list.
func ListActivity(q api.ListActivityParams) activity.ListActivities {
	in := activity.ListActivities{
		Page:       Page(q.Limit, q.StartingAfter, q.EndingBefore),
		ListFilter: Filter(q.CreatedAfter, q.CreatedBefore, nil, nil),
		Actor:      value(q.Actor),
		Operation:  value(q.Operation),
		Target:     value(q.Target),
	}
	for _, id := range []*string{&in.Actor, &in.Target} { // a customer's id has another spelling
		if customer, ok := core.ParseID(core.KindCustomer, *id); ok {
			*id = customer
		}
	}
	return in
}
