package contract

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// audience creates a customer list.
func (a advertiser) audience(t *testing.T, name string) *sdk.AdAudience {
	t.Helper()
	return ok[*sdk.AdAudience](t)(a.AdAudiences.Create(background, &sdk.AdAudienceCreate{AccountID: a.channel, AdAccountID: a.account, Name: name, Type: "customer_list"}))
}

func TestCreateAdAudience_OfEachType(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		a := advertise(t, c, sdk.AdPlatformFacebook)
		list := a.audience(t, "Buyers")
		if list.Object != "audience" || list.Type != sdk.AdAudienceTypeCustomerList || list.AccountID != a.channel || list.AdAccountID != a.account || list.Platform != "facebook" {
			t.Errorf("the customer list is %+v", list)
		}
		visitors := ok[*sdk.AdAudience](t)(c.AdAudiences.Create(background, &sdk.AdAudienceCreate{
			AccountID: a.channel, AdAccountID: a.account, Name: "Visitors", Type: "website", PixelID: new("pixel_1"), RetentionDays: new(int64(30)),
		}))
		if visitors.Type != sdk.AdAudienceTypeRetargeting || *visitors.PixelID != "pixel_1" || *visitors.RetentionDays != 30 {
			t.Errorf("the visitors are %+v", visitors)
		}
		ok[*sdk.AdAudienceUpload](t)(c.AdAudiences.UploadUsers(background, list.ID, &sdk.AdAudienceUsers{Users: people(300)}))
		like := ok[*sdk.AdAudience](t)(c.AdAudiences.Create(background, &sdk.AdAudienceCreate{
			AccountID: a.channel, AdAccountID: a.account, Name: "Like them", Type: "lookalike", SourceAudienceID: &list.ID, Country: new("DE"), Ratio: new(json.Number("0.05")),
		}))
		if like.Type != sdk.AdAudienceTypeLookalike || *like.SourceAudienceID != list.ID || *like.Ratio != "0.05" || *like.Country != "DE" {
			t.Errorf("the lookalike is %+v", like)
		}
		params := &sdk.ListAdAudiencesParams{AccountID: a.channel, AdAccountID: a.account, Limit: new(int64(1))}
		var listed []string
		for audience, err := range sdk.All(background, c.AdAudiences.List, params) {
			if err != nil {
				t.Fatal(err)
			}
			listed = append(listed, audience.ID)
		}
		if fmt.Sprint(listed[:3]) != fmt.Sprint([]string{like.ID, visitors.ID, list.ID}) {
			t.Errorf("the list is %v", listed)
		}
		for param, wrong := range map[string]sdk.AdAudienceCreate{
			"type":               {Type: "friends"},
			"source_audience_id": {Type: "lookalike", Country: new("DE"), Ratio: new(json.Number("0.05"))},
			"pixel_id":           {Type: "retargeting"},
			"ratio":              {Type: "lookalike", SourceAudienceID: &list.ID, Country: new("DE"), Ratio: new(json.Number("0.5"))},
		} {
			wrong.AccountID, wrong.AdAccountID, wrong.Name = a.channel, a.account, "Wrong"
			_, err := c.AdAudiences.Create(background, &wrong)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, param)
		}
	})
}

func TestUploadAdAudienceUsers_CountsEach(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		a := advertise(t, c, sdk.AdPlatformFacebook)
		list := a.audience(t, "Buyers")
		upload := func(users ...sdk.AdAudienceUser) (*sdk.AdAudienceUpload, error) {
			return c.AdAudiences.UploadUsers(background, list.ID, &sdk.AdAudienceUsers{Users: users})
		}
		ada := sdk.AdAudienceUser{Email: new("ada@example.com")}
		result := ok[*sdk.AdAudienceUpload](t)(upload(ada, sdk.AdAudienceUser{EmailSHA256: new("nonsense")}, sdk.AdAudienceUser{Email: new(" ADA@example.com ")}, sdk.AdAudienceUser{}))
		if result.Object != "audience_upload" || result.AudienceID != list.ID || result.Received != 4 || result.Accepted != 1 || result.Duplicates != 1 || result.Invalid != 2 ||
			result.NumReceived != 4 || result.NumInvalid != 2 || len(result.Errors) != 2 || result.Errors[0].Index != 1 || result.Errors[1].Index != 3 {
			t.Errorf("the result is %+v", result)
		}
		_, err := upload(sdk.AdAudienceUser{}, sdk.AdAudienceUser{Phone: new("1")})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "users")
		_, err = upload(make([]sdk.AdAudienceUser, 10_001)...)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "users")
		visitors := ok[*sdk.AdAudience](t)(c.AdAudiences.Create(background, &sdk.AdAudienceCreate{AccountID: a.channel, AdAccountID: a.account, Name: "V", Type: "retargeting", PixelID: new("1")}))
		_, err = c.AdAudiences.UploadUsers(background, visitors.ID, &sdk.AdAudienceUsers{Users: []sdk.AdAudienceUser{ada}})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "type")
		if held := s.Dump(t); strings.Contains(strings.ToLower(string(held)), "ada@example.com") {
			t.Error("the database holds an address in plain text")
		}
	})
}

func TestRemoveAdAudienceUsers_CountsEach(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		a := advertise(t, c, sdk.AdPlatformFacebook)
		list := a.audience(t, "Buyers")
		body := func(users ...sdk.AdAudienceUser) *sdk.AdAudienceUsers { return &sdk.AdAudienceUsers{Users: users} }
		ada, bob := sdk.AdAudienceUser{Email: new("ada@example.com")}, sdk.AdAudienceUser{Email: new("bob@example.com")}
		ok[*sdk.AdAudienceUpload](t)(c.AdAudiences.UploadUsers(background, list.ID, body(ada)))
		result := ok[*sdk.AdAudienceRemoval](t)(c.AdAudiences.RemoveUsers(background, list.ID, body(ada, bob, ada, sdk.AdAudienceUser{})))
		if result.Object != "audience_upload" || result.AudienceID != list.ID || result.Received != 4 || result.Removed != 1 || result.NotFound != 1 ||
			result.Duplicates != 1 || result.Invalid != 1 || len(result.Errors) != 1 || result.Errors[0].Index != 3 {
			t.Errorf("the result is %+v", result)
		}
		if held := s.Strings(t, `SELECT hash FROM ad_audience_members WHERE audience_id = '`+list.ID+`'`); len(held) != 0 {
			t.Errorf("the hashes of those who left are still held: %v", held)
		}
		_, err := c.AdAudiences.RemoveUsers(background, list.ID, body(sdk.AdAudienceUser{}))
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "users")
		_, err = c.AdAudiences.RemoveUsers(background, randomID("aud"), body(ada))
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
	})
}

// TestDeleteCustomer_LeavesCustomerLists deletes a customer, and looks at what the networks were told.
func TestDeleteCustomer_LeavesCustomerLists(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		ada := sdk.AdAudienceUser{Email: new("ada@example.com")}
		for platform, state := range map[sdk.AdPlatform]sdk.AdActionState{sdk.AdPlatformPinterest: sdk.AdActionStateDone, sdk.AdPlatformLinkedIn: sdk.AdActionStateRefused} {
			list := advertise(t, c, platform).audience(t, "Buyers")
			ok[*sdk.AdAudienceUpload](t)(c.AdAudiences.UploadUsers(background, list.ID, &sdk.AdAudienceUsers{Users: []sdk.AdAudienceUser{ada}}))
			customer := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "Ada@example.com"}))
			ok[*sdk.Deleted](t)(c.Customers.Delete(background, customer.ID, nil))
			params := &sdk.ListAdActionsParams{TargetID: &list.ID, Operation: new(sdk.AdOperationRemoveAudienceUsers), State: &state}
			for until := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
				done := ok[*sdk.AdActionList](t)(c.AdActions.List(background, params)).Data
				if len(done) == 1 {
					if failure := done[0].Failure; done[0].APIKeyID != nil || (failure != nil) != (state == sdk.AdActionStateRefused) {
						t.Errorf("%s: the action is %+v", platform, done[0])
					}
					break
				}
				if time.Now().After(until) {
					t.Fatalf("%s: after a minute %d actions are %s", platform, len(done), state)
				}
			}
			if held := s.Strings(t, `SELECT hash FROM ad_audience_members WHERE audience_id = '`+list.ID+`'`); len(held) != 0 {
				t.Errorf("%s: the hashes of who was deleted are still held: %v", platform, held)
			}
		}
	})
}

func TestDeleteAdAudience_IsGone(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		a := advertise(t, c, sdk.AdPlatformFacebook)
		list := a.audience(t, "Short")
		ok[*sdk.AdAudience](t)(c.AdAudiences.Get(background, list.ID))
		gone := ok[*sdk.Deleted](t)(c.AdAudiences.Delete(background, list.ID))
		if gone.ID != list.ID || gone.Object != "audience" || !gone.Deleted {
			t.Errorf("the confirmation is %+v", gone)
		}
		_, err := c.AdAudiences.Get(background, list.ID)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		_, err = c.AdAudiences.UploadUsers(background, list.ID, &sdk.AdAudienceUsers{Users: []sdk.AdAudienceUser{{Email: new("ada@example.com")}}})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
	})
}
