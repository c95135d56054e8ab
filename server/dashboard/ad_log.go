package dashboard

import (
	"net/http"
	"slices"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
)

const adLogPage = adsPage + "/log"

// adOperations are what is done to ads.
var adOperations = []sdk.AdOperation{
	sdk.AdOperationCreateAd, sdk.AdOperationBoostPost, sdk.AdOperationUpdateCampaign, sdk.AdOperationUpdateAdGroup, sdk.AdOperationUpdateAd,
	sdk.AdOperationPauseCampaign, sdk.AdOperationPauseAdGroup, sdk.AdOperationPauseAd, sdk.AdOperationResumeCampaign, sdk.AdOperationResumeAdGroup, sdk.AdOperationResumeAd,
	sdk.AdOperationDeleteCampaign, sdk.AdOperationDeleteAd, sdk.AdOperationCreateAudience, sdk.AdOperationUploadAudienceUsers, sdk.AdOperationRemoveAudienceUsers,
	sdk.AdOperationDeleteAudience, sdk.AdOperationUpdateLimits,
}

var adActionStates = []string{"done", "Done", "refused", "Refused", "begun", "Being asked", "unknown", "Not known"}

func adActionBadge(s sdk.AdActionState) *ui.Badge {
	b := &ui.Badge{Text: optionText(string(s), adActionStates...)}
	switch s {
	case sdk.AdActionStateDone:
		b.Tone, b.Icon = "good", "check"
	case sdk.AdActionStateRefused:
		b.Tone, b.Icon = "bad", "alert"
	case sdk.AdActionStateBegun, sdk.AdActionStateUnknown:
		b.Tone, b.Icon = "warn", "clock"
	}
	return b
}

// adLog shows what networks were asked for, and what became of it.
func (d *Dashboard) adLog(v *visit) error {
	after, before := v.position()
	from, until, err := v.days()
	if err != nil {
		return err
	}
	in := &sdk.ListAdActionsParams{Limit: new(onPage), StartingAfter: after, EndingBefore: before, TargetID: query(v, "target"), CreatedAfter: from, CreatedBefore: until}
	if operation := v.QueryParam("operation"); operation != "" {
		in.Operation = new(sdk.AdOperation(operation))
	}
	if state := v.QueryParam("state"); state != "" {
		in.State = new(sdk.AdActionState(state))
	}
	list, err := d.api.AdActions.List(v.ctx(), in)
	if err != nil {
		return err
	}
	t := &ui.Table{Label: "Log", Columns: []string{"What", "To what", "Adds a day", "State", "What was said", "By", "When"}, Empty: v.nothing(&ui.Empty{Text: "Whatever a network is asked for stands here, for good. Nothing was asked for yet."})}
	for i := range list.Data {
		t.Rows = append(t.Rows, adActionRow(v, &list.Data[i]))
	}
	if n := len(list.Data); n > 0 {
		v.turn(t, list.Data[0].ID, list.Data[n-1].ID, list.HasMore)
	}
	operations := []string{"", "All"}
	for _, operation := range adOperations {
		operations = append(operations, string(operation), snakeWords(string(operation)))
	}
	return v.show(http.StatusOK, ui.Page{Heading: "Log", Up: &ui.Link{Text: "Ads", Address: adsPage}, Tabs: adTabs(adLogPage), Table: t,
		Filter: &ui.Form{Get: true, Inline: true, Submit: "Show", Controls: []ui.Control{
			{Kind: "select", Name: "operation", Label: "What", Options: chosen(v.QueryParam("operation"), operations...)},
			{Kind: "select", Name: "state", Label: "State", Options: chosen(v.QueryParam("state"), slices.Concat([]string{"", "All"}, adActionStates)...)},
			{Name: "target", Label: "Object", Value: v.QueryParam("target"), Hint: "By its id.", Longest: 255},
			{Kind: "date", Name: "from", Label: "From", Value: v.QueryParam("from")},
			{Kind: "date", Name: "to", Label: "To", Value: v.QueryParam("to")},
		}},
	})
}

func adActionRow(v *visit, a *sdk.AdAction) []ui.Cell {
	adds, said := ui.Cell{Number: true}, ui.Cell{}
	if a.Currency != nil {
		adds = spendCell(a.DailyAmount, *a.Currency)
	}
	if a.Failure != nil {
		said.Text = a.Failure.Message
	}
	by := ui.Cell{Text: "The server"}
	switch {
	case a.APIKeyID != nil:
		by = ui.Cell{Text: *a.APIKeyID, Code: true}
	case a.RequestID != nil: // a person: the activity names them
		by = ui.Cell{Text: "A member", Address: activityPage + "?target=" + core.Deref(a.TargetID)}
	}
	return []ui.Cell{{Text: snakeWords(string(a.Operation))}, {Text: core.Deref(a.TargetID), Code: true}, adds, {Badge: adActionBadge(a.State)}, said, by, v.at(a.CreatedAt.Time())}
}
