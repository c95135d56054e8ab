package advert

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/dbtest"
)

func TestFindAccount_SaysWhatTellsThoseOfTheSameIDApart(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		find := func(channel string, platform Platform) (*Account, error) {
			return a.FindAccount(t.Context(), a.account, channel, platform, "act_1")
		}
		only, err := find("", "")
		require.NoError(t, err)
		assert.Equal(t, a.channel.ID, only.ChannelID)

		instagram := newAdvertiser(t, a.Store, a.account, PlatformInstagram)
		_, err = find("", "")
		dbtest.RequireCode(t, err, core.CodeParameterMissing)
		assert.Equal(t, "platform", dbtest.AsError(err).Param)
		there, err := find("", PlatformInstagram)
		require.NoError(t, err)
		assert.Equal(t, instagram.channel.ID, there.ChannelID)
		_, err = find(instagram.channel.ID, PlatformFacebook)
		dbtest.RequireCode(t, err, core.CodeInvalid)

		second, err := a.ConnectSocialAccount(t.Context(), a.account, NewSocialAccount{Platform: PlatformFacebook, Driver: "sandbox", PlatformID: "2", Username: "bob", SocialAccess: SocialAccess{Token: "another"}})
		require.NoError(t, err)
		second, err = a.ActivateSocialAccount(t.Context(), a.account, second.ID)
		require.NoError(t, err)
		require.NoError(t, a.PutAccounts(t.Context(), second, []Account{{PlatformID: "act_1", Currency: "USD", Timezone: "UTC", Status: AccountActive}}))
		_, err = find("", PlatformFacebook)
		dbtest.RequireCode(t, err, core.CodeParameterMissing)
		assert.Equal(t, "account_id", dbtest.AsError(err).Param)
		its, err := find(second.ID, "")
		require.NoError(t, err)
		assert.Equal(t, second.ID, its.ChannelID)
	})
}

func TestUpdateAccount_KeepsOursWhateverTheNetworkTells(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		told := Account{PlatformID: "act_1", Currency: "USD", Timezone: "UTC", Status: AccountActive, Country: "DE", DefaultBeneficiary: "Theirs", DefaultPayor: "Theirs"}
		put := func() *Account {
			require.NoError(t, a.PutAccounts(t.Context(), a.channel, []Account{told}))
			found, err := a.FindAccount(t.Context(), a.account, "", "", "act_1")
			require.NoError(t, err)
			return found
		}
		before := put()
		changed, err := a.UpdateAccount(t.Context(), before, UpdateAccount{DSAPayor: new("Ours")})
		require.NoError(t, err)
		assert.Equal(t, []string{"Theirs", "Ours"}, []string{changed.Beneficiary(), changed.Payor()})
		told.DefaultPayor = "Theirs now"
		assert.Equal(t, "Ours", put().Payor())
		again, err := a.UpdateAccount(t.Context(), before, UpdateAccount{DSAPayor: new("Ours")})
		require.NoError(t, err)
		assert.Equal(t, put().UpdatedAt, again.UpdatedAt, "nothing was changed")
		removed, err := a.UpdateAccount(t.Context(), before, UpdateAccount{DSAPayor: new("")})
		require.NoError(t, err)
		assert.Equal(t, "Theirs now", removed.Payor())
	})
}
