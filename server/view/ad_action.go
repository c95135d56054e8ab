package view

import (
	"encoding/json"
	"errors"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/sdk/wire"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// AdAction renders a line of the audit trail.
func AdAction(a *advert.Action) api.AdAction {
	return api.AdAction{
		ID:          a.ID,
		Object:      "ad_action",
		Operation:   api.AdOperation(a.Op),
		State:       api.AdActionState(a.State),
		AccountID:   textOrNil(a.ChannelID),
		Platform:    word[api.AdPlatform](a.Platform),
		AdAccountID: textOrNil(a.AdAccountID),
		TargetID:    textOrNil(a.TargetID),
		Approval:    a.Approval,
		APIKeyID:    textOrNil(a.Actor),
		RequestID:   textOrNil(a.RequestID),
		Currency:    textOrNil(a.Currency),
		DailyAmount: amountOrNull(a.Daily),
		Before:      adState(a.Op, a.Before),
		After:       adState(a.Op, a.After),
		Failure:     adFailure(a.Failure.V),
		CreatedAt:   at(a.CreatedAt),
		UpdatedAt:   at(a.UpdatedAt),
	}
}

func adFailure(f *advert.Failure) *api.AdFailure {
	if f == nil {
		return nil
	}
	return &api.AdFailure{Code: string(f.Code), Param: textOrNil(f.Param), Message: f.Message}
}

// adTerms is how the store keeps what a change of a campaign, ad group or ad was about: only what was changed is set.
type adTerms struct {
	Budget *struct {
		Amount advert.Amount     `json:"amount"`
		Type   advert.BudgetType `json:"type"`
	} `json:"budget"`
	EndsAt      *core.Time          `json:"ends_at"`
	BidStrategy *advert.BidStrategy `json:"bid_strategy"`
	BidAmount   *advert.Amount      `json:"bid_amount"`
	RoasFloor   *advert.Ratio       `json:"roas_floor"`
	Name        *string             `json:"name"`
	Configured  *advert.Configured  `json:"configured_status"`
	Creative    *advert.Creative    `json:"creative"`
	SettledBy   string              `json:"settled_by"`
}

// adState renders what something was before an operation, or became by it, with the API's names and amounts in whole currency
// units. The store keeps it in the program's own words, and old lines have names of Go types in it. What cannot be read is
// shown as it is kept.
func adState(op advert.Op, state advert.Object) json.RawMessage {
	text := json.RawMessage(state.Text())
	var out any
	switch op {
	case advert.OpUpdateCampaign, advert.OpUpdateGroup, advert.OpUpdateAd:
		var terms adTerms
		if json.Unmarshal(text, &terms) != nil {
			return text
		}
		out = terms.words()
	case advert.OpPauseCampaign, advert.OpResumeCampaign, advert.OpPauseGroup, advert.OpResumeGroup, advert.OpPauseAd, advert.OpResumeAd:
		var turned map[string]json.RawMessage
		if json.Unmarshal(text, &turned) != nil || turned["to"] == nil {
			return text
		}
		turned["configured_status"] = turned["to"]
		delete(turned, "to")
		delete(turned, "ref") // target_id says the same
		out = turned
	case advert.OpUploadAudience, advert.OpRemoveAudience:
		var counted map[string]json.RawMessage
		var wrong []uploadError
		if json.Unmarshal(text, &counted) != nil || json.Unmarshal(counted["errors"], &wrong) != nil || wrong == nil {
			return text
		}
		errors, err := json.Marshal(wrong)
		if err != nil {
			return text
		}
		counted["errors"] = errors
		out = counted
	default:
		return text
	}
	rendered, err := json.Marshal(out)
	if err != nil {
		return text
	}
	return rendered
}

// uploadError is a person in an upload who was refused. Its fields are read in any case, because old lines have Go's names of
// them.
type uploadError struct {
	Index   int    `json:"index"`
	Param   string `json:"param"`
	Message string `json:"message"`
}

// words returns the terms with the API's names. What was not changed is left out.
func (t adTerms) words() map[string]any {
	out := map[string]any{}
	if b := t.Budget; b != nil {
		out["budget"] = map[string]any{"amount": amount(b.Amount), "type": b.Type}
	}
	if t.EndsAt != nil {
		out["ends_at"] = t.EndsAt.String()
	}
	if t.BidStrategy != nil {
		out["bid_strategy"] = *t.BidStrategy
	}
	if t.BidAmount != nil {
		out["bid_amount"] = amountOrNull(*t.BidAmount)
	}
	if t.RoasFloor != nil {
		out["roas_floor"] = ratioOrNull(*t.RoasFloor)
	}
	if t.Name != nil {
		out["name"] = *t.Name
	}
	if t.Configured != nil {
		out["configured_status"] = *t.Configured
	}
	if t.Creative != nil {
		out["creative"] = creative(*t.Creative)
	}
	if t.SettledBy != "" {
		out["settled_by"] = t.SettledBy
	}
	return out
}

// AdActions renders a page of the audit trail. Its cursor is the id of its last line: ids carry the order of this list.
func AdActions(rows []advert.Action, more bool, page core.Page) wire.CursorList[api.AdAction] {
	shown := &advert.List[advert.Action]{Items: rows, HasMore: more}
	if len(rows) > 0 && (more || page.EndingBefore != "") {
		shown.NextCursor = rows[len(rows)-1].ID
	}
	return CursorList("/v1/ads/actions", shown, AdAction)
}

// AdActionsRefusal corrects which parameter an error names: if the client sent a cursor, it is that and not starting_after.
func AdActionsRefusal(err error, q api.ListAdActionsParams) error {
	var e *core.Error
	if q.Cursor != nil && errors.As(err, &e) && e.Param == "starting_after" {
		return &core.Error{Code: e.Code, Param: "cursor", Message: "cursor must be the next_cursor of an answer of this list."}
	}
	return err
}

// ListAdActions reads the query of a list. A cursor means the same as starting_after, and is preferred to both other positions.
func ListAdActions(q api.ListAdActionsParams) advert.ListActions {
	if q.Cursor != nil {
		q.StartingAfter, q.EndingBefore = q.Cursor, nil
	}
	return advert.ListActions{
		Page:       Page(q.Limit, q.StartingAfter, q.EndingBefore),
		ListFilter: Filter(q.CreatedAfter, q.CreatedBefore, nil, nil),
		Channel:    value(q.AccountID),
		Op:         advert.Op(value(q.Operation)),
		State:      advert.ActionState(value(q.State)),
		TargetID:   value(q.TargetID),
	}
}
