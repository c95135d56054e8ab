package advert

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
)

func TestSocialAccount_IsActivatedOnceAndKeepsItsTokenSealed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, account := New(d), dbtest.Account(t, d)
		_, err := s.ActivatedChannels(t.Context(), account)
		dbtest.RequireCode(t, err, core.CodeNotActivated)
		_, err = s.ConnectSocialAccount(t.Context(), account, NewSocialAccount{Platform: "myspace"})
		dbtest.RequireInvalid(t, err, "platform")
		made, err := s.ConnectSocialAccount(t.Context(), account, NewSocialAccount{Platform: PlatformTikTok, Driver: "sandbox", SocialAccess: SocialAccess{Token: "secret-token"}})
		require.NoError(t, err)
		assert.Equal(t, AdsStatusInactive, made.AdsStatus)
		assert.NotContains(t, string(made.SealedToken), "secret-token")
		_, err = s.ActivatedChannel(t.Context(), account, made.ID)
		dbtest.RequireCode(t, err, core.CodeNotActivated)

		first, err := s.ActivateSocialAccount(t.Context(), account, made.ID)
		require.NoError(t, err)
		again, err := s.ActivateSocialAccount(t.Context(), account, made.ID)
		require.NoError(t, err)
		assert.Equal(t, first, again)
		token, err := s.ChannelToken(again)
		require.NoError(t, err)
		assert.Equal(t, "secret-token", token)
		moved := *again
		moved.ID = core.NewID(core.KindSocialAccount)
		_, err = s.ChannelToken(&moved)
		require.ErrorIs(t, err, core.ErrSealed, "a sealed token is of no use in another row")

		require.NoError(t, s.FailSocialAccount(t.Context(), made, "Session has expired."))
		_, err = s.ActivatedChannel(t.Context(), account, made.ID)
		dbtest.RequireCode(t, err, core.CodeNotActivated)
		for _, unknown := range []string{"", "act_1", core.NewID(core.KindSocialAccount)} {
			_, err = s.ActivatedChannel(t.Context(), account, unknown)
			dbtest.RequireCode(t, err, core.CodeMissing)
			assert.Equal(t, "account_id", dbtest.AsError(err).Param)
		}
	})
}

func TestPublishedPost_SaysWhyItCannotBeBoosted(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		posts := []SocialPost{{PlatformID: "p1", Status: SocialPostPublished, Text: "Hello"}, {PlatformID: "p2", Status: SocialPostDraft}}
		require.NoError(t, a.PutSocialPosts(t.Context(), a.channel, posts))
		require.NoError(t, a.PutSocialPosts(t.Context(), a.channel, posts))
		list, more, err := a.ListSocialPosts(t.Context(), a.account, a.channel.ID, core.Page{Limit: 10})
		require.NoError(t, err)
		assert.False(t, more)
		require.Len(t, list, 2)
		assert.Equal(t, "p1", list[0].PlatformID)
		for _, ref := range []string{"p1", list[0].ID} {
			post, err := a.PublishedPost(t.Context(), a.channel, ref)
			require.NoError(t, err)
			assert.Equal(t, "Hello", post.Text)
		}
		_, err = a.PublishedPost(t.Context(), a.channel, "p2")
		dbtest.RequireInvalid(t, err, "post_id")
		_, err = a.PublishedPost(t.Context(), a.channel, "p3")
		dbtest.RequireCode(t, err, core.CodeMissing)
		other := newAdvertiser(t, a.Store, a.account, PlatformInstagram)
		_, err = a.PublishedPost(t.Context(), other.channel, "p1")
		dbtest.RequireInvalid(t, err, "post_id")
	})
}

func TestPutAccounts_FollowsWhatTheChannelSees(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		usable := func(id string) Account {
			return Account{PlatformID: id, Name: id, Currency: "EUR", Timezone: "Europe/Berlin", Status: AccountActive}
		}
		require.NoError(t, a.PutAccounts(t.Context(), a.channel, []Account{usable("act_2"), usable("act_3")}))
		list, err := a.ListAccounts(t.Context(), a.account, a.channel.ID, "", Page{Limit: 2})
		require.NoError(t, err)
		require.Len(t, list.Items, 2)
		assert.True(t, list.HasMore)
		assert.Equal(t, "act_2", list.Items[0].PlatformID)
		assert.Equal(t, "eur", list.Items[0].Currency)
		gone, err := a.GetAccount(t.Context(), a.channel, "act_1")
		require.NoError(t, err)
		assert.Equal(t, AccountDisabled, gone.Status)
		assert.False(t, gone.IsSelectable())
		_, err = a.GetAccount(t.Context(), a.channel, "act_9")
		dbtest.RequireCode(t, err, core.CodeMissing)
		assert.Equal(t, "ad_account_id", dbtest.AsError(err).Param)
	})
}

func TestPutBusinessCenters_RemovesWhatIsGone(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		put := func(seen ...BusinessCenter) []BusinessCenter {
			require.NoError(t, a.PutBusinessCenters(t.Context(), a.channel, seen))
			list, err := a.ListBusinessCenters(t.Context(), a.account, a.channel.ID, Page{Limit: 10})
			require.NoError(t, err)
			return list.Items
		}
		both := put(BusinessCenter{PlatformID: "1", Name: "Agency"}, BusinessCenter{PlatformID: "2", AdvertiserCount: new(int64(0))})
		require.Len(t, both, 2)
		assert.Nil(t, both[0].AdvertiserCount, "unknown is not none")
		assert.Equal(t, int64(0), *both[1].AdvertiserCount)
		assert.Len(t, put(BusinessCenter{PlatformID: "2"}), 1)
		assert.Empty(t, put())
	})
}

func TestClaimSync_IsForOne(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		soon := a.Now().Add(time.Hour)
		due, err := a.DueAccounts(t.Context(), soon, 0, 10)
		require.NoError(t, err)
		require.Len(t, due, 1)
		first, err := a.ClaimSync(t.Context(), due[0])
		require.NoError(t, err)
		second, err := a.ClaimSync(t.Context(), due[0])
		require.NoError(t, err)
		assert.True(t, first)
		assert.False(t, second)
		due, err = a.DueAccounts(t.Context(), due[0].SyncedAt+1, 0, 10)
		require.NoError(t, err)
		assert.Empty(t, due)
		_, err = a.DeactivateSocialAccount(t.Context(), a.account, a.channel.ID)
		require.NoError(t, err)
		due, err = a.DueAccounts(t.Context(), soon, 0, 10)
		require.NoError(t, err)
		assert.Empty(t, due, "nobody looks at what is deactivated")
	})
}
