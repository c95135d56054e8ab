package view

import (
	"encoding/json"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store"
)

// AdAction renders a line of the audit trail.
func AdAction(a *store.AdAction) api.AdAction {
	out := api.AdAction{
		ID:          a.ID,
		Object:      "ad_action",
		Operation:   api.AdOperation(a.Op),
		State:       api.AdActionState(a.State),
		AccountID:   text(a.ChannelID),
		Platform:    word[api.AdPlatform](a.Platform),
		AdAccountID: text(a.AdAccountID),
		TargetID:    text(a.TargetID),
		Approval:    a.Approval,
		APIKeyID:    text(a.Actor),
		RequestID:   text(a.RequestID),
		Currency:    text(a.Currency),
		DailyAmount: amountOrNull(a.Daily),
		Before:      json.RawMessage(a.Before.Text()),
		After:       json.RawMessage(a.After.Text()),
		CreatedAt:   at(a.CreatedAt),
		UpdatedAt:   at(a.UpdatedAt),
	}
	if f := a.Failure.V; f != nil {
		out.Failure = &api.AdFailure{Code: string(f.Code), Param: text(f.Param), Message: f.Message}
	}
	return out
}

// ListAdActions reads the query of a list.
func ListAdActions(q api.ListAdActionsParams) store.ListAdActions {
	return store.ListAdActions{
		Page:       Page(q.Limit, q.StartingAfter, q.EndingBefore),
		ListFilter: Filter(q.CreatedAfter, q.CreatedBefore, nil, nil),
		Channel:    value(q.AccountID),
		Op:         store.AdOp(value(q.Operation)),
		State:      store.AdActionState(value(q.State)),
		TargetID:   value(q.TargetID),
	}
}
