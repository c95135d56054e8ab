package ads_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/ads/sandbox"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

func TestActivateSocialAccount_MirrorsWhatIsThere(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for _, platform := range advert.Platforms {
			channel := w.connect(w.by, platform)
			assert.Equal(t, advert.AdsStatusInactive, channel.AdsStatus)
			_, _, err := w.request(channel.ID, func(ctx context.Context) (any, error) {
				return w.Service.ActivateSocialAccount(ctx, w.by.Account, channel.ID)
			})
			require.NoError(t, err)
			list, err := w.Service.ListCampaigns(t.Context(), w.by.Account, ads.ListCampaigns{AccountID: channel.ID})
			require.NoError(t, err)
			assert.Len(t, list.Items, 9, platform)
			again, err := w.Service.ActivateSocialAccount(t.Context(), w.by.Account, channel.ID)
			require.NoError(t, err)
			assert.True(t, again.IsActivated())
		}
		_, err := w.Service.ActivateSocialAccount(t.Context(), w.by.Account, "sacct_1")
		refused(t, err, core.CodeMissing, "account_id")
		_, err = w.Service.ActivateSocialAccount(t.Context(), w.by.Account, "")
		refused(t, err, core.CodeParameterMissing, "account_id")
	})
}

func TestConnectSocialAccount_ChoosesWhoSpeaks(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		connect := func(in ads.ConnectSocialAccount) error {
			_, err := w.ConnectSocialAccount(t.Context(), w.by.Account, in)
			return err
		}
		refused(t, connect(ads.ConnectSocialAccount{}), core.CodeParameterMissing, "platform")
		refused(t, connect(ads.ConnectSocialAccount{Platform: "myspace"}), core.CodeInvalid, "platform")
		refused(t, connect(ads.ConnectSocialAccount{Platform: "facebook", Driver: "meta"}), core.CodeInvalid, "driver")

		real := ads.New(w.Advert, ads.Drivers{"meta": {advert.PlatformFacebook: sandbox.New(w.Advert, advert.PlatformFacebook, sandbox.Options{})}}, ads.Consents{}, nil)
		_, err := real.ConnectSocialAccount(t.Context(), w.by.Account, ads.ConnectSocialAccount{Platform: "facebook"})
		refused(t, err, core.CodeInvalid, "driver")
		_, err = real.ConnectSocialAccount(t.Context(), w.by.Account, ads.ConnectSocialAccount{Platform: "facebook", Driver: "meta"})
		refused(t, err, core.CodeInvalid, "token")
		channel, err := real.ConnectSocialAccount(t.Context(), w.by.Account, ads.ConnectSocialAccount{Platform: "facebook", Token: "secret"})
		require.NoError(t, err)
		assert.Equal(t, "meta", channel.Driver)
		_, err = w.Service.ActivateSocialAccount(t.Context(), w.by.Account, channel.ID)
		refused(t, err, core.CodeNotActivated, "account_id")
	})
}

func TestSync_NoticesWhatHappensElsewhere(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		list, err := w.Service.ListCampaigns(t.Context(), w.by.Account, ads.ListCampaigns{AdAccountID: w.account.PlatformID})
		require.NoError(t, err)
		renamed, deleted := list.Items[0].Row, list.Items[1].Row
		manager := sandbox.New(w.Advert, advert.PlatformFacebook, sandbox.Options{})
		conn := ads.Conn{Account: w.by.Account, Channel: w.channel.ID, Platform: advert.PlatformFacebook, Now: func() time.Time { return w.Store.Now().Time() }}
		require.NoError(t, manager.Manage(t.Context(), conn, ads.Ref{AdAccount: w.account.PlatformID, Level: advert.LevelCampaign, ID: renamed.PlatformID}, sandbox.Edit{Name: new("Renamed")}))
		require.NoError(t, manager.Manage(t.Context(), conn, ads.Ref{AdAccount: w.account.PlatformID, Level: advert.LevelCampaign, ID: deleted.PlatformID}, sandbox.Edit{Delete: true}))

		require.NoError(t, w.SyncDue(t.Context()))
		row, err := w.Advert.GetCampaign(t.Context(), w.by.Account, advert.PlatformFacebook, renamed.PlatformID)
		require.NoError(t, err)
		assert.NotEqual(t, "Renamed", row.Name, "its turn has not come")

		w.advance.Store(int64(16 * time.Minute))
		require.NoError(t, w.SyncDue(t.Context()))
		row, err = w.Advert.GetCampaign(t.Context(), w.by.Account, advert.PlatformFacebook, renamed.PlatformID)
		require.NoError(t, err)
		assert.Equal(t, "Renamed", row.Name)
		row, err = w.Advert.GetCampaign(t.Context(), w.by.Account, advert.PlatformFacebook, deleted.PlatformID)
		require.NoError(t, err)
		assert.Equal(t, advert.StatusCancelled, row.Status)

		due, err := w.Advert.DueAccounts(t.Context(), w.Store.Now().Add(-15*time.Minute), 0, 100)
		require.NoError(t, err)
		assert.Empty(t, due, "each has had its turn")

		_, err = w.Service.SyncSocialAccount(t.Context(), w.by.Account, w.channel.ID)
		require.NoError(t, err)
		_, err = w.Service.SyncSocialAccount(t.Context(), w.by.Account, "sacct_1")
		refused(t, err, core.CodeMissing, "")
		_, err = w.Service.SyncSocialAccount(t.Context(), w.by.Account, w.connect(w.by, advert.PlatformGoogle).ID)
		refused(t, err, core.CodeNotActivated, "account_id")
	})
}

func TestCapabilities_ListsTheSeven(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		all := w.Capabilities()
		require.Len(t, all, 7)
		for i, platform := range advert.Platforms {
			assert.Equal(t, platform, all[i].Platform)
		}
	})
}

func TestSyncSocialAccount_MarksAChannelWhoseAccessIsNotAccepted(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.line.say("Posts", ads.ErrUnauthorized)
		for name, do := range map[string]func(context.Context) (any, error){
			"sync": func(ctx context.Context) (any, error) {
				return w.SyncSocialAccount(ctx, w.by.Account, w.channel.ID)
			},
			"boost": func(ctx context.Context) (any, error) {
				return w.BoostPost(ctx, w.by, ads.BoostPost{
					AccountID: w.channel.ID, AdAccountID: w.account.PlatformID, PostID: "nobody's", Name: "Boost", Goal: "engagement",
					Budget: &ads.BudgetInput{Amount: "20", Type: "daily"},
				})
			},
		} {
			_, err := w.Advert.ActivateSocialAccount(t.Context(), w.by.Account, w.channel.ID)
			require.NoError(t, err)
			_, _, err = w.request(name, do)
			refused(t, err, core.CodeNotActivated, "account_id")
			channel, err := w.Advert.GetSocialAccount(t.Context(), w.by.Account, w.channel.ID)
			require.NoError(t, err)
			assert.Equal(t, advert.AdsStatusError, channel.AdsStatus, name)
		}
	})
}

func TestConnectSocialAccount_DoesNotTakeARealTokenToTheSandbox(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		in := ads.ConnectSocialAccount{Platform: "facebook", Token: "EAAB-real"}
		_, err := w.ConnectSocialAccount(t.Context(), w.by.Account, in)
		e := refused(t, err, core.CodeInvalid, "token")
		assert.Contains(t, e.Message, "turns facebook on with TILLWRIGHT_ADS_NETWORKS")
		_, err = w.ConnectSocialAccount(t.Context(), w.by.Account, ads.ConnectSocialAccount{Platform: "google", Token: "EAAB-real"})
		e = refused(t, err, core.CodeInvalid, "token")
		assert.NotContains(t, e.Message, "TILLWRIGHT_ADS_NETWORKS", "no setting helps")
		assert.Contains(t, e.Message, "Tokens can connect facebook, instagram, pinterest, tiktok.")
		in.Driver = ads.DriverSandbox
		channel, err := w.ConnectSocialAccount(t.Context(), w.by.Account, in)
		require.NoError(t, err, "it is meant")
		assert.Equal(t, ads.DriverSandbox, channel.Driver)
	})
}
