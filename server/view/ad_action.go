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
		Before:      adState(a.Op, a.Before),
		After:       adState(a.Op, a.After),
		CreatedAt:   at(a.CreatedAt),
		UpdatedAt:   at(a.UpdatedAt),
	}
	if f := a.Failure.V; f != nil {
		out.Failure = &api.AdFailure{Code: string(f.Code), Param: text(f.Param), Message: f.Message}
	}
	return out
}

// adTerms are what a change of a campaign or ad group was about, as the store keeps them.
type adTerms struct {
	Budget *struct {
		Amount store.AdAmount   `json:"amount"`
		Type   store.BudgetType `json:"type"`
	} `json:"budget"`
	EndsAt      *store.Time        `json:"ends_at"`
	BidStrategy *store.BidStrategy `json:"bid_strategy"`
	BidAmount   *store.AdAmount    `json:"bid_amount"`
	RoasFloor   *store.AdRatio     `json:"roas_floor"`
	SettledBy   string             `json:"settled_by"`
}

// adState renders what a thing was, or became, with amounts in whole units as everywhere else. Only changes have any.
func adState(op store.AdOp, state store.AdObject) json.RawMessage {
	text := json.RawMessage(state.Text())
	var terms adTerms
	if op != store.AdOpUpdateCampaign && op != store.AdOpUpdateGroup || json.Unmarshal(text, &terms) != nil {
		return text
	}
	out := map[string]any{}
	if b := terms.Budget; b != nil {
		out["budget"] = map[string]any{"amount": amount(b.Amount), "type": b.Type}
	}
	if terms.EndsAt != nil {
		out["ends_at"] = terms.EndsAt.String()
	}
	if terms.BidStrategy != nil {
		out["bid_strategy"] = *terms.BidStrategy
	}
	if terms.BidAmount != nil {
		out["bid_amount"] = amountOrNull(*terms.BidAmount)
	}
	if terms.RoasFloor != nil {
		out["roas_floor"] = ratioOrNull(*terms.RoasFloor)
	}
	if terms.SettledBy != "" {
		out["settled_by"] = terms.SettledBy
	}
	rendered, err := json.Marshal(out)
	if err != nil {
		return text
	}
	return rendered
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
