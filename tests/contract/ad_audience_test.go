package contract

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

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
		if held := dump(t, s.Database); strings.Contains(strings.ToLower(string(held)), "ada@example.com") {
			t.Error("the database holds an address in plain text")
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
