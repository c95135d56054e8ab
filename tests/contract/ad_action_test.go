package contract

import (
	"slices"
	"strings"
	"testing"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestListAdActions_IsTheAuditTrail(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		a := advertise(t, c, sdk.AdPlatformFacebook)
		var made sdk.Response
		ad := ok[*sdk.Ad](t)(c.Ads.Create(background, a.draft("Seen"), sdk.WithResponse(&made)))
		ok[*sdk.AdStatusResult](t)(c.AdGroups.Pause(background, ad.AdGroupID, onFacebook))
		_, err := c.Ads.Create(background, a.draft("Refused"), sdk.WithHeader("X-Sandbox-Fault", "reject"))
		if err == nil {
			t.Fatal("the network refused nothing")
		}
		var trail []sdk.AdAction
		for action, err := range sdk.All(background, c.AdActions.List, &sdk.ListAdActionsParams{Limit: new(int64(1))}) {
			if err != nil {
				t.Fatal(err)
			}
			trail = append(trail, action)
		}
		var operations []sdk.AdOperation
		for _, action := range trail {
			operations = append(operations, action.Operation)
			if action.Object != "ad_action" || *action.AccountID != a.channel || action.APIKeyID == nil || !strings.HasPrefix(*action.APIKeyID, "key_") {
				t.Errorf("an action is %+v", action)
			}
		}
		if !slices.Equal(operations, []sdk.AdOperation{"create_ad", "pause_ad_group", "create_ad"}) {
			t.Fatalf("the trail is %v", operations)
		}
		refused, created := trail[0], trail[2]
		if refused.State != sdk.AdActionStateRefused || refused.Failure == nil || refused.TargetID != nil {
			t.Errorf("the refused action is %+v", refused)
		}
		if created.State != sdk.AdActionStateDone || created.Approval != "ask" || *created.RequestID != made.RequestID || created.TargetID == nil || *created.DailyAmount != "20.00" {
			t.Errorf("the first action is %+v", created)
		}
		filtered := ok[*sdk.AdActionList](t)(c.AdActions.List(background, &sdk.ListAdActionsParams{
			State: new(sdk.AdActionStateDone), Operation: new(sdk.AdOperationPauseAdGroup), AccountID: &a.channel, TargetID: &ad.AdGroupID,
		}))
		if len(filtered.Data) != 1 || filtered.Data[0].ID != trail[1].ID {
			t.Errorf("filtered, the trail is %+v", filtered.Data)
		}
	})
}
