package advert

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
)

func TestFailSocialAccount_LeavesAnAccessThatWasNotRefused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, account := New(d), dbtest.Account(t, d)
		in := NewSocialAccount{Platform: PlatformFacebook, Driver: "meta", PlatformID: "1", SocialAccess: SocialAccess{Token: "first"}}
		made, err := s.ConnectSocialAccount(t.Context(), account, in)
		require.NoError(t, err)
		asked, err := s.ActivateSocialAccount(t.Context(), account, made.ID)
		require.NoError(t, err)
		in.Token = "second"
		_, err = s.RenewSocialAccount(t.Context(), account, made.ID, in)
		require.NoError(t, err)
		require.NoError(t, s.FailSocialAccount(t.Context(), asked, "Session has expired."), "of the first, and heard late")
		now, err := s.ActivatedChannel(t.Context(), account, made.ID)
		require.NoError(t, err)
		require.NoError(t, s.FailSocialAccount(t.Context(), now, "Session has expired."))
		_, err = s.ActivatedChannel(t.Context(), account, made.ID)
		dbtest.RequireCode(t, err, core.CodeNotActivated)
	})
}

func TestConnectSocialAccount_KeepsTheChannelOfAProfile(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, account := New(d), dbtest.Account(t, d)
		in := NewSocialAccount{Platform: PlatformInstagram, Driver: "meta", PlatformID: "1", DisplayName: "Shop", AdAccountIDs: []string{"act_1"}, SocialAccess: SocialAccess{Token: "first"}}
		first, err := s.ConnectSocialAccount(t.Context(), account, in)
		require.NoError(t, err)
		_, err = s.ActivateSocialAccount(t.Context(), account, first.ID)
		require.NoError(t, err)
		require.NoError(t, s.FailSocialAccount(t.Context(), first, "Session has expired."))

		again, err := s.ConnectSocialAccount(t.Context(), account, NewSocialAccount{Platform: PlatformInstagram, Driver: "meta", PlatformID: "17", AlsoID: "1", SocialAccess: SocialAccess{Token: "second"}})
		require.NoError(t, err)
		assert.Equal(t, first.ID, again.ID, "it is known by its other id")
		read, err := s.GetSocialAccount(t.Context(), account, first.ID)
		require.NoError(t, err)
		assert.Equal(t, []any{AdsStatusActive, "", "Shop", "17", []string{"act_1"}}, []any{read.AdsStatus, read.LastError, read.DisplayName, read.PlatformID, read.AdAccountIDs.V})
		token, err := s.ChannelToken(read)
		require.NoError(t, err)
		assert.Equal(t, "second", token)

		for what, other := range map[string]NewSocialAccount{
			"driver":   {Platform: PlatformInstagram, Driver: "sandbox", PlatformID: "17"},
			"platform": {Platform: PlatformFacebook, Driver: "meta", PlatformID: "17"},
			"profile":  {Platform: PlatformInstagram, Driver: "meta", PlatformID: "18"},
			"nobody's": {Platform: PlatformInstagram, Driver: "meta"},
		} {
			made, err := s.ConnectSocialAccount(t.Context(), account, other)
			require.NoError(t, err)
			assert.NotEqual(t, first.ID, made.ID, what)
		}
		made, err := s.ConnectSocialAccount(t.Context(), dbtest.Account(t, d), in)
		require.NoError(t, err)
		assert.NotEqual(t, first.ID, made.ID, "another account")
	})
}

func TestConnectSocialAccount_MakesOneChannelOfAProfileAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, account := New(d), dbtest.Account(t, d)
		made := make(chan string, 4)
		for range cap(made) {
			go func() {
				a, err := s.ConnectSocialAccount(t.Context(), account, NewSocialAccount{Platform: PlatformPinterest, Driver: "pinterest", PlatformID: "1", SocialAccess: SocialAccess{Token: "t"}})
				if assert.NoError(t, err) {
					made <- a.ID
				} else {
					made <- ""
				}
			}()
		}
		first := <-made
		for range cap(made) - 1 {
			assert.Equal(t, first, <-made)
		}
	})
}

func TestRenewSocialAccount_IsOfTheSameProfile(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, account := New(d), dbtest.Account(t, d)
		connect := func(id string) *SocialAccount {
			a, err := s.ConnectSocialAccount(t.Context(), account, NewSocialAccount{Platform: PlatformFacebook, Driver: "meta", PlatformID: id, SocialAccess: SocialAccess{Token: "first"}})
			require.NoError(t, err)
			return a
		}
		nobodys, one := connect(""), connect("1")
		_, err := s.RenewSocialAccount(t.Context(), account, nobodys.ID, NewSocialAccount{Platform: PlatformFacebook, Driver: "meta", PlatformID: "1", SocialAccess: SocialAccess{Token: "second"}})
		var refused *core.Error
		require.True(t, errors.As(err, &refused), "%v", err)
		assert.Equal(t, []any{core.CodeInvalid, "token"}, []any{refused.Code, refused.Param})
		assert.Contains(t, refused.Message, one.ID)
		found, err := s.RenewSocialAccount(t.Context(), account, nobodys.ID, NewSocialAccount{Platform: PlatformFacebook, Driver: "meta", PlatformID: "2", SocialAccess: SocialAccess{Token: "second"}})
		require.NoError(t, err)
		assert.Equal(t, "2", found.PlatformID)
		assert.Equal(t, found.ID, connect("2").ID)
	})
}

func TestDeleteSocialAccount_ErasesTheTokenAndKeepsTheRest(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		in := NewSocialAccount{Platform: PlatformFacebook, Driver: "meta", PlatformID: "7", SocialAccess: SocialAccess{Token: "secret"}}
		channel, err := a.ConnectSocialAccount(t.Context(), a.account, in)
		require.NoError(t, err)
		_, err = a.ActivateSocialAccount(t.Context(), a.account, channel.ID)
		require.NoError(t, err)
		require.NoError(t, a.PutAccounts(t.Context(), channel, []Account{{PlatformID: "act_7", Name: "Main", Currency: "USD", Timezone: "UTC", Status: AccountActive}}))
		a.in, err = a.GetAccount(t.Context(), channel, "act_7")
		require.NoError(t, err)
		a.campaign(t, "c7", 5)

		deleted, err := a.DeleteSocialAccount(t.Context(), a.account, channel.ID)
		require.NoError(t, err)
		assert.Equal(t, DeletedSocialAccount{channel.ID, 1, 1}, *deleted)
		assert.Zero(t, a.count(t, `SELECT length(token) FROM social_accounts WHERE id = ?`, channel.ID))
		assert.Equal(t, 1, a.count(t, `SELECT count(*) FROM ad_campaigns WHERE channel_id = ?`, channel.ID))
		_, err = a.DeleteSocialAccount(t.Context(), a.account, channel.ID)
		require.Error(t, err)
		channels, _, err := a.ListSocialAccounts(t.Context(), a.account, ListSocialAccounts{Page: core.Page{Limit: 10}})
		require.NoError(t, err)
		assert.Len(t, channels, 1)

		again, err := a.ConnectSocialAccount(t.Context(), a.account, in)
		require.NoError(t, err)
		assert.Equal(t, []any{channel.ID, AdsStatusInactive}, []any{again.ID, again.AdsStatus})
		_, err = a.GetSocialAccount(t.Context(), a.account, channel.ID)
		require.NoError(t, err)
	})
}
