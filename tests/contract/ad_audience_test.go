package contract

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
		assert.Equal(t, "audience", list.Object, "the customer list")
		assert.Equal(t, sdk.AdAudienceTypeCustomerList, list.Type, "the customer list")
		assert.Equal(t, a.channel, list.AccountID, "the customer list")
		assert.Equal(t, a.account, list.AdAccountID, "the customer list")
		assert.EqualValues(t, "facebook", list.Platform, "the customer list")
		visitors := ok[*sdk.AdAudience](t)(c.AdAudiences.Create(background, &sdk.AdAudienceCreate{
			AccountID: a.channel, AdAccountID: a.account, Name: "Visitors", Type: "website", PixelID: new("pixel_1"), RetentionDays: new(int64(30)),
		}))
		assert.Equal(t, sdk.AdAudienceTypeRetargeting, visitors.Type, "the visitors")
		assert.Equal(t, "pixel_1", *visitors.PixelID, "the visitors")
		assert.EqualValues(t, 30, *visitors.RetentionDays, "the visitors")
		ok[*sdk.AdAudienceUpload](t)(c.AdAudiences.UploadUsers(background, list.ID, &sdk.AdAudienceUsers{Users: people(300)}))
		like := ok[*sdk.AdAudience](t)(c.AdAudiences.Create(background, &sdk.AdAudienceCreate{
			AccountID: a.channel, AdAccountID: a.account, Name: "Like them", Type: "lookalike", SourceAudienceID: &list.ID, Country: new("DE"), Ratio: new(json.Number("0.05")),
		}))
		assert.Equal(t, sdk.AdAudienceTypeLookalike, like.Type, "the lookalike")
		assert.Equal(t, list.ID, *like.SourceAudienceID, "the lookalike")
		assert.EqualValues(t, "0.05", *like.Ratio, "the lookalike")
		assert.Equal(t, "DE", *like.Country, "the lookalike")
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
	onEachAlone(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		a := advertise(t, c, sdk.AdPlatformFacebook)
		list := a.audience(t, "Buyers")
		upload := func(users ...sdk.AdAudienceUser) (*sdk.AdAudienceUpload, error) {
			return c.AdAudiences.UploadUsers(background, list.ID, &sdk.AdAudienceUsers{Users: users})
		}
		ada := sdk.AdAudienceUser{Email: new("ada@example.com")}
		result := ok[*sdk.AdAudienceUpload](t)(upload(ada, sdk.AdAudienceUser{EmailSHA256: new("nonsense")}, sdk.AdAudienceUser{Email: new(" ADA@example.com ")}, sdk.AdAudienceUser{}))
		assert.Equal(t, "audience_upload", result.Object, "the result")
		assert.Equal(t, list.ID, result.AudienceID, "the result")
		assert.EqualValues(t, 4, result.Received, "the result")
		assert.EqualValues(t, 1, result.Accepted, "the result")
		assert.EqualValues(t, 1, result.Duplicates, "the result")
		assert.EqualValues(t, 2, result.Invalid, "the result")
		assert.EqualValues(t, 4, result.NumReceived, "the result")
		assert.EqualValues(t, 2, result.NumInvalid, "the result")
		require.Len(t, result.Errors, 2, "the result")
		assert.EqualValues(t, 1, result.Errors[0].Index, "the result")
		assert.EqualValues(t, 3, result.Errors[1].Index, "the result")
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
		assert.Equal(t, "audience_upload", result.Object, "the result")
		assert.Equal(t, list.ID, result.AudienceID, "the result")
		assert.EqualValues(t, 4, result.Received, "the result")
		assert.EqualValues(t, 1, result.Removed, "the result")
		assert.EqualValues(t, 1, result.NotFound, "the result")
		assert.EqualValues(t, 1, result.Duplicates, "the result")
		assert.EqualValues(t, 1, result.Invalid, "the result")
		require.Len(t, result.Errors, 1, "the result")
		assert.EqualValues(t, 3, result.Errors[0].Index, "the result")
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
					failure := done[0].Failure
					assert.Nil(t, done[0].APIKeyID, "%s: the action", platform)
					assert.Equal(t, state == sdk.AdActionStateRefused, failure != nil, "%s: the action", platform)
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
		assert.Equal(t, list.ID, gone.ID, "the confirmation")
		assert.Equal(t, "audience", gone.Object, "the confirmation")
		assert.True(t, gone.Deleted, "the confirmation")
		_, err := c.AdAudiences.Get(background, list.ID)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		_, err = c.AdAudiences.UploadUsers(background, list.ID, &sdk.AdAudienceUsers{Users: []sdk.AdAudienceUser{{Email: new("ada@example.com")}}})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
	})
}

// hashed is what is known of an identifier once it is here.
func hashed(plain string) string {
	sum := sha256.Sum256([]byte(plain))
	return hex.EncodeToString(sum[:])
}

// people are users with addresses of their own.
func people(count int) []sdk.AdAudienceUser {
	users := make([]sdk.AdAudienceUser, count)
	for i := range users {
		users[i].Email = new(fmt.Sprintf("person-%d@private.example", i))
	}
	return users
}

// upload uploads users.
func (n onNetwork) upload(audience string, users []sdk.AdAudienceUser, o ...sdk.Option) (*sdk.AdAudienceUpload, error) {
	return n.AdAudiences.UploadUsers(background, audience, &sdk.AdAudienceUsers{Users: users}, o...)
}

// TestAudienceUsers_AreAtMostTenThousand uploads as many as there may be in one call, and one more, to the network that
// takes the fewest at a time. How long it takes is measured in tests/fault, with every network.
func TestAudienceUsers_AreAtMostTenThousand(t *testing.T) {
	onOneNetworkAlone(t, sdk.AdPlatformTwitter, func(t *testing.T, n onNetwork) {
		list := n.audience(t, "Everybody")
		unchanged(t, n.server, "an upload that is refused", func() {
			for _, users := range [][]sdk.AdAudienceUser{{}, people(10_001)} {
				_, err := n.upload(list.ID, users)
				refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "users")
			}
		})
		result := ok[*sdk.AdAudienceUpload](t)(n.upload(list.ID, people(10_000)))
		assert.EqualValues(t, 10_000, result.Received, "the upload")
		assert.EqualValues(t, 10_000, result.Accepted, "the upload")
		assert.Zero(t, result.Invalid, "the upload")
		assert.Zero(t, result.Duplicates, "the upload")
		assert.Empty(t, result.Errors, "the upload")
		again := ok[*sdk.AdAudienceUpload](t)(n.upload(list.ID, people(10_000)))
		assert.EqualValues(t, 10_000, again.Received, "the same users")
		assert.Zero(t, again.Accepted, "the same users")
		assert.EqualValues(t, 10_000, again.Duplicates, "the same users")
		if held := n.server.Strings(t, `SELECT count(*) FROM ad_audience_members WHERE audience_id = '`+list.ID+`'`); held[0] != "10000" {
			t.Errorf("%s identifiers are held", held)
		}
	})
}

// TestAudienceUsers_ThatAreWrongDoNotKeepOthersOut counts each kind of user.
func TestAudienceUsers_ThatAreWrongDoNotKeepOthersOut(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		list := n.audience(t, "Mixed")
		users := []sdk.AdAudienceUser{
			{Email: new("ada@private.example")},
			{},
			{EmailSHA256: new("nonsense")},
			{EmailSHA256: new(hashed("bob@private.example")[:63])},
			{EmailSHA256: new(strings.Repeat("g", 64))},
			{Email: new("no address")},
			{Email: new("  ADA@Private.Example ")},
			{EmailSHA256: new(hashed("ada@private.example"))},
			{EmailSHA256: new(strings.ToUpper(hashed("bob@private.example")))},
			{FirstName: new("Ada"), LastName: new("Lovelace")},
		}
		result := ok[*sdk.AdAudienceUpload](t)(n.upload(list.ID, users))
		assert.EqualValues(t, 10, result.Received, "the upload")
		assert.EqualValues(t, 2, result.Accepted, "the upload")
		assert.EqualValues(t, 2, result.Duplicates, "the upload")
		assert.EqualValues(t, 6, result.Invalid, "the upload")
		assert.EqualValues(t, 10, result.NumReceived, "the upload")
		assert.EqualValues(t, 6, result.NumInvalid, "the upload")
		var wrong []int64
		for _, e := range result.Errors {
			wrong = append(wrong, e.Index)
			assert.NotNil(t, e.Param, "an error")
			assert.NotEmpty(t, e.Message, "an error")
			assert.NotContains(t, e.Message, "no address", "an error")
		}
		if !slices.Equal(wrong, []int64{1, 2, 3, 4, 5, 9}) {
			t.Errorf("wrong are %v", wrong)
		}
		_, err := n.upload(list.ID, slices.Concat(users[1:6], users[9:]))
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "users")
		many := slices.Repeat([]sdk.AdAudienceUser{{}}, 300)
		many[150] = sdk.AdAudienceUser{Email: new("cy@private.example")}
		result = ok[*sdk.AdAudienceUpload](t)(n.upload(list.ID, many))
		assert.EqualValues(t, 299, result.Invalid)
		require.Len(t, result.Errors, 100)
		assert.EqualValues(t, 1, result.Accepted)
	})
}

func TestAudienceUsers_AreForCustomerListsThatAreThere(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		list := n.audience(t, "List")
		ok[*sdk.AdAudienceUpload](t)(n.upload(list.ID, people(300))) // some networks have a list only from then on
		kinds := []*sdk.AdAudienceCreate{{Type: "retargeting", PixelID: new("1")}}
		if slices.Contains(n.can.AudienceTypes, "lookalike") {
			kinds = append(kinds, &sdk.AdAudienceCreate{Type: "lookalike", SourceAudienceID: &list.ID, Country: new("GB"), Ratio: amount("0.05")})
		}
		for _, kind := range kinds {
			kind.AccountID, kind.AdAccountID, kind.Name = n.channel, n.account, kind.Type
			made := ok[*sdk.AdAudience](t)(n.AdAudiences.Create(background, kind))
			_, err := n.upload(made.ID, people(1))
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "type")
		}
		ok[*sdk.Deleted](t)(n.AdAudiences.Delete(background, list.ID))
		for _, gone := range []string{list.ID, randomID("aud"), "nothing"} {
			_, err := n.upload(gone, people(1))
			refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		}
	})
}

func TestAudience_IsOfATypeOfTheNetwork(t *testing.T) {
	lookalikes := []sdk.AdPlatform{"facebook", "instagram", "tiktok", "pinterest"}
	onNetworks(t, func(t *testing.T, n onNetwork) {
		source := n.audience(t, "Source")
		ok[*sdk.AdAudienceUpload](t)(n.upload(source.ID, people(200)))
		like := func(change func(*sdk.AdAudienceCreate)) *sdk.AdAudienceCreate {
			c := &sdk.AdAudienceCreate{
				AccountID: n.channel, AdAccountID: n.account, Name: "Like", Type: "lookalike", SourceAudienceID: &source.ID, Country: new("GB"), Ratio: amount("0.05"),
			}
			change(c)
			return c
		}
		fails := func(param string, change func(*sdk.AdAudienceCreate)) {
			t.Helper()
			_, err := n.AdAudiences.Create(background, like(change))
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, param)
		}
		fails("type", func(c *sdk.AdAudienceCreate) { c.Type = "friends" })
		fails("pixel_id", func(c *sdk.AdAudienceCreate) { c.Type, c.SourceAudienceID = "retargeting", nil })
		fails("retention_days", func(c *sdk.AdAudienceCreate) {
			c.Type, c.PixelID, c.RetentionDays = "website", new("1"), new(int64(181))
		})
		for _, none := range []string{randomID("aud"), "nothing"} {
			_, err := n.AdAudiences.Create(background, like(func(c *sdk.AdAudienceCreate) { c.SourceAudienceID = &none }))
			refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "source_audience_id")
		}
		if !slices.Contains(lookalikes, n.platform) {
			fails("type", func(*sdk.AdAudienceCreate) {})
			return
		}
		fails("source_audience_id", func(c *sdk.AdAudienceCreate) { c.SourceAudienceID = nil })
		fails("country", func(c *sdk.AdAudienceCreate) { c.Country = nil })
		fails("country", func(c *sdk.AdAudienceCreate) { c.Country = new("Germany") })
		if len(n.can.AudienceUsers.LookalikeCountries) > 0 {
			fails("country", func(c *sdk.AdAudienceCreate) { c.Country = new("DE") })
		}
		fails("ratio", func(c *sdk.AdAudienceCreate) { c.Ratio = amount("0.21") })
		fails("ratio", func(c *sdk.AdAudienceCreate) { c.Ratio = nil })
		made := ok[*sdk.AdAudience](t)(n.AdAudiences.Create(background, like(func(*sdk.AdAudienceCreate) {})))
		assert.EqualValues(t, "lookalike", made.Type, "the lookalike")
		assert.Equal(t, source.ID, *made.SourceAudienceID, "the lookalike")
	})
}

func TestBusinessCenters_AreOfOneNetwork(t *testing.T) {
	onNetworksAlone(t, func(t *testing.T, n onNetwork) {
		list, err := n.BusinessCenters.List(background, &sdk.ListBusinessCentersParams{AccountID: n.channel})
		if n.platform != sdk.AdPlatformTikTok {
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "account_id")
			return
		}
		require.NoError(t, err)
		require.Len(t, list.Data, 2)
		n.server.Must(t, `DELETE FROM ad_business_centers`) // one who advertises alone has none
		list = ok[*sdk.BusinessCenterList](t)(n.BusinessCenters.List(background, &sdk.ListBusinessCentersParams{AccountID: n.channel}))
		require.Empty(t, list.Data, "without any, the list")
		assert.False(t, list.HasMore, "without any, the list")
		assert.Nil(t, list.NextCursor, "without any, the list")
	})
}

// TestAudienceUsers_AreKeptByTheirHashesAlone uploads everything that can be known of people, on every way to an error.
// It looks for it in every column of every table and in every answer.
func TestAudienceUsers_AreKeptByTheirHashesAlone(t *testing.T) {
	onNetworksAlone(t, func(t *testing.T, n onNetwork) {
		list := n.audience(t, "Private")
		secrets := []string{"ada.private", "wrong.private", "lovelace-private", "4915112345678", "+4915112345678", "4915199999999", "lost.private", "again.private", "street-private"}
		user := sdk.AdAudienceUser{
			Email: new(" Ada.Private@example.com"), Phone: new("+49 151 12345678"), LastName: new("Lovelace-Private"), FirstName: new("Ada-Private"), City: new("Street-Private"),
		}
		var answers []byte
		told := func(result *sdk.AdAudienceUpload, err error) {
			answers = append(answers, fmt.Sprint(err)...)
			text, _ := json.Marshal(result)
			answers = append(answers, text...)
		}
		told(n.upload(list.ID, []sdk.AdAudienceUser{user, {Email: new("wrong.private at example.com")}, {Phone: new("+4915199999999x")}}))
		told(n.upload(list.ID, []sdk.AdAudienceUser{{Email: new("wrong.private at example.com")}}))
		told(n.upload(list.ID, []sdk.AdAudienceUser{{Email: new("lost.private@example.com")}}, fault("timeout_after_commit")))
		told(n.upload(list.ID, []sdk.AdAudienceUser{{Email: new("again.private@example.com")}}, fault("reject")))
		told(n.upload(list.ID, []sdk.AdAudienceUser{{Email: new("again.private@example.com")}}, unreachable))
		resp := n.send(t, http.MethodPost, "/v1/ads/audiences/"+list.ID+"/users", `{"users":[{"email":"wrong.private@example.com","e_mail":"wrong.private@example.com"}]}`)
		answers = append(answers, resp.Body...)
		held := bytes.ToLower(n.server.Dump(t))
		if !bytes.Contains(held, []byte(hashed("ada.private@example.com"))) {
			t.Error("the database does not even hold the hash")
		}
		for _, secret := range secrets {
			if bytes.Contains(held, []byte(secret)) {
				t.Errorf("the database holds %s", secret)
			}
			if bytes.Contains(bytes.ToLower(answers), []byte(secret)) {
				t.Errorf("an answer holds %s: %s", secret, answers)
			}
		}
	})
}
