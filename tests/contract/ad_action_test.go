package contract

import (
	"encoding/json"
	"regexp"
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
		first := ok[*sdk.AdActionList](t)(c.AdActions.List(background, &sdk.ListAdActionsParams{Limit: new(int64(1))}))
		if !first.HasMore || first.NextCursor == nil {
			t.Fatalf("the first page of one line is %+v", first)
		}
		byCursor := ok[*sdk.AdActionList](t)(c.AdActions.List(background, &sdk.ListAdActionsParams{Limit: new(int64(100)), Cursor: first.NextCursor}))
		byID := ok[*sdk.AdActionList](t)(c.AdActions.List(background, &sdk.ListAdActionsParams{Limit: new(int64(100)), StartingAfter: &first.Data[0].ID}))
		if len(byCursor.Data) == 0 || len(byCursor.Data) != len(byID.Data) || byCursor.Data[0].ID != byID.Data[0].ID || byCursor.NextCursor != nil {
			t.Errorf("the cursor leads to %+v, the id to %+v", byCursor, byID)
		}
		filtered := ok[*sdk.AdActionList](t)(c.AdActions.List(background, &sdk.ListAdActionsParams{
			State: new(sdk.AdActionStateDone), Operation: new(sdk.AdOperationPauseAdGroup), AccountID: &a.channel, TargetID: &ad.AdGroupID,
		}))
		if len(filtered.Data) != 1 || filtered.Data[0].ID != trail[1].ID {
			t.Errorf("filtered, the trail is %+v", filtered.Data)
		}
	})
}

// Every operation is on the trail in the words of the API: nobody has to know what the program calls them.
func TestListAdActions_ShowsWordsOfTheAPI(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		a := advertise(t, c, sdk.AdPlatformFacebook)
		ad := ok[*sdk.Ad](t)(c.Ads.Create(background, a.draft("Seen")))
		ok[*sdk.AdStatusResult](t)(c.AdGroups.Pause(background, ad.AdGroupID, onFacebook))
		ok[*sdk.AdStatusResult](t)(c.AdGroups.Resume(background, ad.AdGroupID, onFacebook))
		refs := []sdk.AdCampaignRef{{ID: ad.CampaignID}}
		ok[*sdk.AdBulkResult](t)(c.AdCampaigns.BulkPause(background, &sdk.AdCampaignBulk{Campaigns: refs}))
		ok[*sdk.AdBulkResult](t)(c.AdCampaigns.BulkResume(background, &sdk.AdCampaignBulk{Campaigns: refs}))
		audience := a.audience(t, "Buyers")
		ok[*sdk.AdAudienceUpload](t)(c.AdAudiences.UploadUsers(background, audience.ID, &sdk.AdAudienceUsers{Users: []sdk.AdAudienceUser{{Email: new("ada@example.com")}, {Email: new("nobody")}}}))
		ok[*sdk.AdAudienceRemoval](t)(c.AdAudiences.RemoveUsers(background, audience.ID, &sdk.AdAudienceUsers{Users: []sdk.AdAudienceUser{{Email: new("ada@example.com")}, {Email: new("nobody")}}}))
		ok[*sdk.AdLimits](t)(c.AdLimits.Update(background, &sdk.AdLimitsUpdate{BlockedOperations: []sdk.AdOperation{"delete_audience"}}))
		word := regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
		var check func(operation sdk.AdOperation, value any)
		check = func(operation sdk.AdOperation, value any) {
			switch value := value.(type) {
			case map[string]any:
				for name, inner := range value {
					if !word.MatchString(name) {
						t.Errorf("%s has a field %s", operation, name)
					}
					check(operation, inner)
				}
			case []any:
				for _, inner := range value {
					check(operation, inner)
				}
			}
		}
		seen := map[sdk.AdOperation]bool{}
		for _, action := range ok[*sdk.AdActionList](t)(c.AdActions.List(background, nil)).Data {
			seen[action.Operation] = true
			for _, state := range []json.RawMessage{action.Before, action.After} {
				var value map[string]any
				if err := json.Unmarshal(state, &value); err != nil {
					t.Fatal(err)
				}
				check(action.Operation, value)
				if action.Operation == sdk.AdOperationPauseAdGroup && value["configured_status"] != "active" && value["status"] == nil {
					t.Errorf("a pause has %s", state)
				}
			}
		}
		if len(seen) != 9 {
			t.Errorf("on the trail are %v", seen)
		}
	})
}
