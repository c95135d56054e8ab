package ads_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

func people(n int) []ads.User {
	users := make([]ads.User, n)
	for i := range users {
		users[i].Email = fmt.Sprintf("user%d@example.com", i)
	}
	return users
}

func (w *world) audience(kind string) *advert.Audience {
	w.t.Helper()
	in := ads.CreateAudience{AccountID: w.channel.ID, AdAccountID: w.account.PlatformID, Name: "Buyers", Type: kind}
	if kind == "retargeting" {
		in.PixelID = "123"
	}
	a, err := w.Service.CreateAudience(w.t.Context(), w.by, in)
	require.NoError(w.t, err)
	return a
}

func TestUploadAudienceUsers_CountsUsers(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		a := w.audience("customer_list")
		users := append(people(3), ads.User{Email: "USER0@example.com "}, ads.User{}, ads.User{EmailSHA256: "abc"})
		result, err := w.UploadAudienceUsers(t.Context(), w.by, a.ID, users)
		require.NoError(t, err)
		assert.Equal(t, []int{6, 3, 2, 1}, []int{result.Received, result.Accepted, result.Invalid, result.Duplicates})
		require.Len(t, result.Errors, 2)
		assert.Equal(t, 4, result.Errors[0].Index)
		assert.Equal(t, 5, result.Errors[1].Index)

		again, err := w.UploadAudienceUsers(t.Context(), w.by, a.ID, people(4))
		require.NoError(t, err)
		assert.Equal(t, []int{4, 1, 3}, []int{again.Received, again.Accepted, again.Duplicates})
		calls := w.line.of("UploadUsers")
		none, err := w.UploadAudienceUsers(t.Context(), w.by, a.ID, people(4))
		require.NoError(t, err)
		assert.Equal(t, 4, none.Duplicates)
		assert.Equal(t, calls, w.line.of("UploadUsers"), "the network has them")
	})
}

func TestUploadAudienceUsers_SaysWhatIsWrong(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		a := w.audience("customer_list")
		upload := func(id string, users []ads.User) error {
			_, err := w.UploadAudienceUsers(t.Context(), w.by, id, users)
			return err
		}
		refused(t, upload("aud_1", people(1)), core.CodeMissing, "")
		refused(t, upload(a.ID, []ads.User{}), core.CodeInvalid, "users")
		refused(t, upload(a.ID, people(10_001)), core.CodeInvalid, "users")
		refused(t, upload(a.ID, make([]ads.User, 5)), core.CodeInvalid, "users")
		refused(t, upload(w.audience("retargeting").ID, people(1)), core.CodeInvalid, "type")
		assert.Zero(t, w.line.of("UploadUsers"))
	})
}

func TestUploadAudienceUsers_TenThousandAtOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		a := w.audience("customer_list")
		begin := time.Now()
		result, err := w.UploadAudienceUsers(t.Context(), w.by, a.ID, people(10_000))
		require.NoError(t, err)
		t.Logf("10,000 users in %s", time.Since(begin))
		assert.Equal(t, 10_000, result.Accepted)
		shown, err := w.Service.GetAudience(t.Context(), w.by.Account, a.ID)
		require.NoError(t, err)
		assert.Equal(t, advert.AudienceStatusReady, shown.Status)
		require.NotNil(t, shown.Size)
		assert.InDelta(t, 6000, *shown.Size, 300)
	})
}

func TestCreateAudience_SaysWhatIsWrong(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		good := ads.CreateAudience{AccountID: w.channel.ID, AdAccountID: w.account.PlatformID, Name: "Like them", Type: "lookalike", Country: "US", Ratio: "0.1"}
		for name, test := range map[string]struct {
			change func(*ads.CreateAudience)
			code   core.Code
			param  string
		}{
			"no channel":         {func(in *ads.CreateAudience) { in.AccountID = "" }, core.CodeParameterMissing, "account_id"},
			"no ad account":      {func(in *ads.CreateAudience) { in.AdAccountID = "" }, core.CodeParameterMissing, "ad_account_id"},
			"no name":            {func(in *ads.CreateAudience) { in.Name = "" }, core.CodeParameterMissing, "name"},
			"no type":            {func(in *ads.CreateAudience) { in.Type = "" }, core.CodeParameterMissing, "type"},
			"unknown ad account": {func(in *ads.CreateAudience) { in.AdAccountID = "1" }, core.CodeMissing, "ad_account_id"},
			"unknown type":       {func(in *ads.CreateAudience) { in.Type = "fans" }, core.CodeInvalid, "type"},
			"no source":          {func(*ads.CreateAudience) {}, core.CodeInvalid, "source_audience_id"},
			"unknown source":     {func(in *ads.CreateAudience) { in.SourceAudienceID = core.NewID(core.KindAudience) }, core.CodeMissing, "source_audience_id"},
			"no pixel":           {func(in *ads.CreateAudience) { in.Type = "website" }, core.CodeInvalid, "pixel_id"},
		} {
			in := good
			test.change(&in)
			_, err := w.Service.CreateAudience(t.Context(), w.by, in)
			t.Log(name)
			refused(t, err, test.code, test.param)
		}
		assert.Zero(t, w.line.of("CreateAudience"))
	})
}

func TestListAudiences_HasWhatIsAtTheNetwork(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		first, second := w.audience("customer_list"), w.audience("retargeting")
		in := ads.ListAudiences{AccountID: w.channel.ID, AdAccountID: w.account.PlatformID, Paging: ads.Paging{Limit: 1}}
		var ids []string
		for {
			page, err := w.Service.ListAudiences(t.Context(), w.by.Account, in)
			require.NoError(t, err)
			for _, a := range page.Items {
				ids = append(ids, a.ID)
			}
			if in.Cursor = page.NextCursor; in.Cursor == "" {
				break
			}
		}
		assert.Equal(t, []string{second.ID, first.ID}, ids)

		_, err := w.DeleteAudience(t.Context(), w.by, first.ID)
		require.NoError(t, err)
		_, err = w.DeleteAudience(t.Context(), w.by, first.ID)
		refused(t, err, core.CodeMissing, "")
		page, err := w.Service.ListAudiences(t.Context(), w.by.Account, ads.ListAudiences{AccountID: w.channel.ID, AdAccountID: w.account.PlatformID})
		require.NoError(t, err)
		assert.Len(t, page.Items, 1)
		for _, in := range []struct {
			list  ads.ListAudiences
			param string
		}{
			{ads.ListAudiences{AdAccountID: w.account.PlatformID}, "account_id"},
			{ads.ListAudiences{AccountID: w.channel.ID}, "ad_account_id"},
		} {
			_, err = w.Service.ListAudiences(t.Context(), w.by.Account, in.list)
			refused(t, err, core.CodeParameterMissing, in.param)
		}
	})
}
