package contract

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
			assert.Equal(t, "ad_action", action.Object, "an action")
			assert.Equal(t, a.channel, *action.AccountID, "an action")
			require.NotNil(t, action.APIKeyID, "an action")
			assert.True(t, strings.HasPrefix(*action.APIKeyID, "key_"), "an action")
		}
		if !slices.Equal(operations, []sdk.AdOperation{"create_ad", "pause_ad_group", "create_ad"}) {
			t.Fatalf("the trail is %v", operations)
		}
		refused, created := trail[0], trail[2]
		assert.Equal(t, sdk.AdActionStateRefused, refused.State, "the refused action")
		assert.NotNil(t, refused.Failure, "the refused action")
		assert.Nil(t, refused.TargetID, "the refused action")
		assert.Equal(t, sdk.AdActionStateDone, created.State, "the first action")
		assert.Equal(t, "ask", created.Approval, "the first action")
		assert.Equal(t, made.RequestID, *created.RequestID, "the first action")
		require.NotNil(t, created.TargetID, "the first action")
		assert.EqualValues(t, "20.00", *created.DailyAmount, "the first action")
		first := ok[*sdk.AdActionList](t)(c.AdActions.List(background, &sdk.ListAdActionsParams{Limit: new(int64(1))}))
		require.True(t, first.HasMore, "the first page of one line")
		require.NotNil(t, first.NextCursor, "the first page of one line")
		byCursor := ok[*sdk.AdActionList](t)(c.AdActions.List(background, &sdk.ListAdActionsParams{Limit: new(int64(100)), Cursor: first.NextCursor}))
		byID := ok[*sdk.AdActionList](t)(c.AdActions.List(background, &sdk.ListAdActionsParams{Limit: new(int64(100)), StartingAfter: &first.Data[0].ID}))
		require.NotEmpty(t, byCursor.Data)
		require.Len(t, byCursor.Data, len(byID.Data))
		assert.Equal(t, byID.Data[0].ID, byCursor.Data[0].ID)
		assert.Nil(t, byCursor.NextCursor)
		filtered := ok[*sdk.AdActionList](t)(c.AdActions.List(background, &sdk.ListAdActionsParams{
			State: new(sdk.AdActionStateDone), Operation: new(sdk.AdOperationPauseAdGroup), AccountID: &a.channel, TargetID: &ad.AdGroupID,
		}))
		require.Len(t, filtered.Data, 1, "filtered, the trail")
		assert.Equal(t, trail[1].ID, filtered.Data[0].ID, "filtered, the trail")
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
