package ads_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

func TestListAds_AsksEachAdAccountOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.activate(advert.PlatformGoogle)
		list, err := w.Service.ListAds(t.Context(), w.by.Account, ads.ListAds{Paging: ads.Paging{Limit: 100}})
		require.NoError(t, err)
		require.Len(t, list.Items, 72, "two channels with three ad accounts of 12 ads each")
		assert.Equal(t, 6, w.line.of("Report"))
		for _, ids := range w.line.report {
			assert.Len(t, ids, 12)
		}
		spent := 0
		for _, ad := range list.Items {
			require.NotNil(t, ad.Metrics)
			assert.NotZero(t, ad.SyncedAt)
			if *ad.Metrics.Spend > 0 {
				spent++
			}
		}
		assert.NotZero(t, spent)
	})
}

func TestListAds_WalkShowsEachAdOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		seen := map[string]int{}
		in := ads.ListAds{AccountID: w.channel.ID, Paging: ads.Paging{Limit: 7}}
		for pages := 0; ; pages++ {
			list, err := w.Service.ListAds(t.Context(), w.by.Account, in)
			require.NoError(t, err)
			for _, ad := range list.Items {
				seen[ad.Row.PlatformID]++
			}
			assert.Equal(t, list.HasMore, list.NextCursor != "")
			if in.Cursor = list.NextCursor; in.Cursor == "" {
				break
			}
			w.create(w.ad())
			require.Less(t, pages, 20)
		}
		assert.Len(t, seen, 36)
		for id, times := range seen {
			assert.Equal(t, 1, times, id)
		}
		third, err := w.Service.ListAds(t.Context(), w.by.Account, ads.ListAds{Paging: ads.Paging{Limit: 10, Page: 3}})
		require.NoError(t, err)
		assert.Len(t, third.Items, 10)
		beyond, err := w.Service.ListAds(t.Context(), w.by.Account, ads.ListAds{Paging: ads.Paging{Limit: 10, Page: 30}})
		require.NoError(t, err)
		assert.Empty(t, beyond.Items)
		assert.False(t, beyond.HasMore)
	})
}

func TestListAds_Filters(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		native := w.create(w.ad()).Row
		for name, test := range map[string]struct {
			in    ads.ListAds
			count int
		}{
			"native":             {ads.ListAds{Source: "native"}, 1},
			"all":                {ads.ListAds{Source: "all"}, 37},
			"campaign":           {ads.ListAds{CampaignID: native.CampaignID}, 1},
			"ad account":         {ads.ListAds{AdAccountID: w.account.PlatformID}, 13},
			"other network":      {ads.ListAds{AccountID: w.channel.ID, Platform: "google"}, 0},
			"days hide nothing":  {ads.ListAds{From: "2020-01-01", To: "2020-01-02"}, 37},
			"two states":         {ads.ListAds{Status: "completed, rejected", AdAccountID: w.account.PlatformID}, 5},
			"contradicting ones": {ads.ListAds{Source: "native", Status: "completed"}, 0},
		} {
			test.in.Limit = 100
			list, err := w.Service.ListAds(t.Context(), w.by.Account, test.in)
			require.NoError(t, err, name)
			assert.Len(t, list.Items, test.count, name)
		}
	})
}

func TestListAds_SaysWhatIsWrong(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		first, err := w.Service.ListAds(t.Context(), w.by.Account, ads.ListAds{Paging: ads.Paging{Limit: 5}})
		require.NoError(t, err)
		inactive := w.connect(w.by, advert.PlatformTikTok)
		for name, test := range map[string]struct {
			in    ads.ListAds
			code  core.Code
			param string
		}{
			"unknown channel":        {ads.ListAds{AccountID: "sacct_1"}, core.CodeMissing, "account_id"},
			"inactive channel":       {ads.ListAds{AccountID: inactive.ID}, core.CodeNotActivated, "account_id"},
			"unknown platform":       {ads.ListAds{Platform: "myspace"}, core.CodeBadRequest, "platform"},
			"unknown status":         {ads.ListAds{Status: "active,running"}, core.CodeBadRequest, "status"},
			"unknown source":         {ads.ListAds{Source: "mine"}, core.CodeBadRequest, "source"},
			"impossible day":         {ads.ListAds{From: "2026-02-30"}, core.CodeBadRequest, "from"},
			"no day":                 {ads.ListAds{To: "tomorrow"}, core.CodeBadRequest, "to"},
			"from after to":          {ads.ListAds{From: "2026-02-02", To: "2026-02-01"}, core.CodeBadRequest, "from"},
			"from in the future":     {ads.ListAds{From: time.Now().AddDate(0, 0, 3).Format(time.DateOnly)}, core.CodeBadRequest, "from"},
			"two years and a day":    {ads.ListAds{From: "2024-01-01", To: "2026-01-01"}, core.CodeBadRequest, "from"},
			"limit":                  {ads.ListAds{Paging: ads.Paging{Limit: 101}}, core.CodeBadRequest, "limit"},
			"no limit":               {ads.ListAds{Paging: ads.Paging{Limit: -1}}, core.CodeBadRequest, "limit"},
			"no page":                {ads.ListAds{Paging: ads.Paging{Page: -1}}, core.CodeBadRequest, "page"},
			"no cursor":              {ads.ListAds{Paging: ads.Paging{Cursor: "x"}}, core.CodeBadRequest, "cursor"},
			"cursor of other filter": {ads.ListAds{Source: "native", Paging: ads.Paging{Cursor: first.NextCursor}}, core.CodeBadRequest, "cursor"},
		} {
			_, err := w.Service.ListAds(t.Context(), w.by.Account, test.in)
			t.Log(name)
			refused(t, err, test.code, test.param)
		}
	})
}

func TestListAds_NothingActivatedIsConflict(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ad := w.create(w.ad()).Row
		_, err := w.Service.DeactivateSocialAccount(t.Context(), w.by.Account, w.channel.ID)
		require.NoError(t, err)
		nobody := w.newAccount("New shop")
		for name, do := range map[string]func(ads.Actor) error{
			"ads": func(by ads.Actor) error {
				_, err := w.Service.ListAds(t.Context(), by.Account, ads.ListAds{})
				return err
			},
			"campaigns": func(by ads.Actor) error {
				_, err := w.Service.ListCampaigns(t.Context(), by.Account, ads.ListCampaigns{})
				return err
			},
			"campaign": func(by ads.Actor) error {
				_, err := w.Service.GetCampaign(t.Context(), by.Account, ad.CampaignID, ads.GetAdObject{})
				return err
			},
			"ad groups": func(by ads.Actor) error {
				_, err := w.Service.ListCampaignAdGroups(t.Context(), by.Account, ad.CampaignID, ads.ListAdGroups{})
				return err
			},
			"ad group": func(by ads.Actor) error {
				_, err := w.Service.GetAdGroup(t.Context(), by.Account, "nobody's", ads.GetAdObject{})
				return err
			},
			"update": func(by ads.Actor) error {
				_, err := w.UpdateCampaign(t.Context(), by, ad.CampaignID, ads.UpdateBudget{})
				return err
			},
			"delete": func(by ads.Actor) error { _, err := w.DeleteCampaign(t.Context(), by, ad.CampaignID, ""); return err },
			"pause":  func(by ads.Actor) error { _, err := w.PauseAdGroup(t.Context(), by, ad.AdGroupID, ""); return err },
			"audience": func(by ads.Actor) error {
				_, err := w.Service.GetAudience(t.Context(), by.Account, "aud_1")
				return err
			},
			"bulk": func(by ads.Actor) error {
				_, err := w.BulkPauseCampaigns(t.Context(), by, ads.Bulk{Items: []ads.BulkItem{{ID: ad.CampaignID}}})
				return err
			},
		} {
			t.Log(name)
			refused(t, do(w.by), core.CodeNotActivated, "account_id")
			refused(t, do(nobody), core.CodeNotActivated, "account_id")
		}

		other := w.activate(advert.PlatformGoogle)
		list, err := w.Service.ListAds(t.Context(), w.by.Account, ads.ListAds{})
		require.NoError(t, err)
		for _, one := range list.Items {
			assert.Equal(t, other.ID, one.Row.ChannelID, "lists leave the inactive channel out")
		}
		_, err = w.Service.GetCampaign(t.Context(), w.by.Account, ad.CampaignID, ads.GetAdObject{})
		refused(t, err, core.CodeNotActivated, "account_id")
		_, err = w.Service.GetCampaign(t.Context(), w.by.Account, "nobody's", ads.GetAdObject{})
		refused(t, err, core.CodeMissing, "")
	})
}

func TestGetCampaign_LearnsWhatChanged(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		in := w.ad()
		in.EndDate = time.Now().UTC().AddDate(0, 0, 3).Format(time.DateOnly)
		ad := w.create(in).Row
		shown, err := w.Service.GetCampaign(t.Context(), w.by.Account, ad.CampaignID, ads.GetAdObject{})
		require.NoError(t, err)
		assert.Equal(t, advert.StatusActive, shown.Status)
		assert.Equal(t, 1, shown.Row.AdGroupCount)
		assert.Equal(t, 89, shown.Days.From.DaysUntil(shown.Days.To))

		w.advance.Store(int64(5 * 24 * time.Hour))
		shown, err = w.Service.GetCampaign(t.Context(), w.by.Account, ad.CampaignID, ads.GetAdObject{})
		require.NoError(t, err)
		assert.Equal(t, advert.StatusCompleted, shown.Status)
		assert.NotZero(t, *shown.Metrics.Spend)
		group, err := w.Service.GetAdGroup(t.Context(), w.by.Account, ad.AdGroupID, ads.GetAdObject{Platform: "facebook", From: "2020-01-01", To: "2020-02-01"})
		require.NoError(t, err)
		assert.Equal(t, advert.StatusCompleted, group.Status)
		assert.Nil(t, group.Metrics.Spend, "Meta has no figures of so long ago")
		assert.Zero(t, group.Days.From)
		assert.Contains(t, group.Days.Warnings[0], "2020-01-01 to 2020-02-01")
		group, err = w.Service.GetAdGroup(t.Context(), w.by.Account, ad.AdGroupID, ads.GetAdObject{Platform: "facebook", To: "2025-02-01"})
		require.NoError(t, err)
		assert.Zero(t, *group.Metrics.Spend, "the days of the figures")
		_, err = w.PauseAdGroup(t.Context(), w.by, ad.AdGroupID, "")
		refused(t, err, core.CodeInvalid, "status")
	})
}

func TestGetCampaign_AdsDecideOverWhatIsOn(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.line.naive.Store(true)
		refused, good := w.ad(), w.ad()
		refused.Creative.Headline = "[reject] Miracle cure"
		bad, fine := w.create(refused).Row, w.create(good).Row
		status := func(id string) (campaign, group advert.Status) {
			c, err := w.Service.GetCampaign(t.Context(), w.by.Account, id, ads.GetAdObject{})
			require.NoError(t, err)
			groups, err := w.Service.ListCampaignAdGroups(t.Context(), w.by.Account, id, ads.ListAdGroups{})
			require.NoError(t, err)
			return c.Status, groups.Items[0].Status
		}
		_, err := w.Service.SyncSocialAccount(t.Context(), w.by.Account, w.channel.ID)
		require.NoError(t, err)
		found, err := w.Service.ListCampaigns(t.Context(), w.by.Account, ads.ListCampaigns{Status: "rejected"})
		require.NoError(t, err)
		require.Len(t, found.Items, 1, "the filter knows, too")
		assert.Equal(t, bad.CampaignID, found.Items[0].Row.PlatformID)

		campaign, group := status(bad.CampaignID)
		assert.Equal(t, []advert.Status{advert.StatusRejected, advert.StatusRejected}, []advert.Status{campaign, group})
		campaign, group = status(fine.CampaignID)
		assert.Equal(t, []advert.Status{advert.StatusActive, advert.StatusActive}, []advert.Status{campaign, group})
		_, err = w.PauseAdGroup(t.Context(), w.by, fine.AdGroupID, "")
		require.NoError(t, err)
		campaign, group = status(fine.CampaignID)
		assert.Equal(t, []advert.Status{advert.StatusPaused, advert.StatusPaused}, []advert.Status{campaign, group})
	})
}

func TestListCampaigns_FaultsOfNetworks(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		get := func() error {
			_, err := w.Service.ListCampaigns(t.Context(), w.by.Account, ads.ListCampaigns{})
			return err
		}
		w.line.say("Report", &ads.RateLimited{After: 9 * time.Second})
		assert.Equal(t, 9*time.Second, refused(t, get(), core.CodeRateLimit, "platform").After)
		for _, fault := range []error{ads.ErrUnavailable, context.DeadlineExceeded} {
			w.line.say("Report", fmt.Errorf("line: %w", fault))
			silent := refused(t, get(), "api_error", "")
			assert.Contains(t, silent.Message, "facebook did not answer")
			assert.Equal(t, core.Unknown, silent.Outcome, "no key is freed by it")
		}
		w.line.say("Report", errors.New("our own fault"))
		unknown(t, get())
		w.line.say("Report", ads.ErrUnauthorized)
		refused(t, get(), core.CodeNotActivated, "account_id")
		w.line.say("", nil)
		refused(t, get(), core.CodeNotActivated, "account_id")
	})
}

func TestListAds_OneChannelDoesNotFailTheOthers(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		fine := w.create(w.ad()).Row
		channel := w.activate(advert.PlatformGoogle)
		in := w.ad()
		in.AccountID, in.AdAccountID = channel.ID, w.adAccount(channel).PlatformID
		bad := w.create(in).Row
		gone, err := w.Advert.ConnectSocialAccount(t.Context(), w.by.Account, advert.NewSocialAccount{Platform: advert.PlatformGoogle, Driver: "gone"})
		require.NoError(t, err)
		lists := map[string]func(channel string, limit int) (map[string]*advert.Metrics, error){
			"ads": func(channel string, limit int) (map[string]*advert.Metrics, error) {
				list, err := w.Service.ListAds(t.Context(), w.by.Account, ads.ListAds{Paging: ads.Paging{Limit: limit}, Source: "native", AccountID: channel})
				if err != nil {
					return nil, err
				}
				all := map[string]*advert.Metrics{}
				for _, one := range list.Items {
					all[one.Row.ChannelID] = one.Metrics
					assert.Equal(t, advert.StatusActive, one.Status)
				}
				return all, nil
			},
			"campaigns": func(channel string, limit int) (map[string]*advert.Metrics, error) {
				list, err := w.Service.ListCampaigns(t.Context(), w.by.Account, ads.ListCampaigns{Paging: ads.Paging{Limit: limit}, Source: "native", AccountID: channel})
				if err != nil {
					return nil, err
				}
				all := map[string]*advert.Metrics{}
				for _, one := range list.Items {
					all[one.Row.ChannelID] = one.Metrics
				}
				return all, nil
			},
		}
		for name, list := range lists {
			for _, fault := range []error{&ads.RateLimited{After: time.Second}, ads.ErrUnavailable} {
				w.line.say("Report "+channel.ID, fault)
				all, err := list("", 0)
				require.NoError(t, err, "%s: %s", name, fault)
				require.Len(t, all, 2)
				assert.NotNil(t, all[fine.ChannelID])
				assert.Nil(t, all[bad.ChannelID], "it was not heard, which is not zero")
				alone, err := list("", 1)
				require.NoError(t, err, "a page may have nothing else")
				assert.Len(t, alone, 1)
				_, err = list(channel.ID, 0)
				assert.Error(t, err, "who asks for one channel is told")
			}
		}
		w.line.say("Report "+channel.ID, ads.ErrUnauthorized)
		_, err = lists["ads"]("", 0)
		require.NoError(t, err)
		marked, err := w.Advert.GetSocialAccount(t.Context(), w.by.Account, channel.ID)
		require.NoError(t, err)
		assert.Equal(t, advert.AdsStatusError, marked.AdsStatus)

		_, err = w.Advert.ActivateSocialAccount(t.Context(), w.by.Account, gone.ID)
		require.NoError(t, err)
		require.NoError(t, w.Advert.PutAccounts(t.Context(), gone, []advert.Account{{PlatformID: "1", Name: "Old", Currency: "USD", Timezone: "UTC", Status: advert.AccountActive}}))
		old, err := w.Advert.GetAccount(t.Context(), gone, "1")
		require.NoError(t, err)
		require.NoError(t, w.Advert.PutBatch(t.Context(), old, advert.Batch{Campaigns: []advert.Campaign{{
			PlatformID: "9", Name: "Old", ConfiguredStatus: advert.ConfiguredActive, Status: advert.StatusActive, Goal: advert.GoalTraffic,
			BudgetLevel: advert.BudgetLevelCampaign, BudgetAmount: advert.AmountUnit, BudgetType: advert.BudgetTypeDaily,
		}}}, w.Store.Now()))
		list, err := w.Service.ListCampaigns(t.Context(), w.by.Account, ads.ListCampaigns{Platform: "google"})
		require.NoError(t, err, "nobody speaks for that channel any more")
		assert.Len(t, list.Items, 1)
	})
}

func TestListAds_HasOneEndForAllChannels(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.apart(6)
		var ends sync.Map
		w.line.hold = func(ctx context.Context) {
			end, _ := ctx.Deadline()
			ends.Store(end.UnixNano(), true)
			time.Sleep(10 * time.Millisecond)
		}
		calls := w.line.of("Report")
		_, err := w.Service.ListAds(t.Context(), w.by.Account, ads.ListAds{Source: "native"})
		require.NoError(t, err)
		assert.Equal(t, 6, w.line.of("Report")-calls)
		count := 0
		ends.Range(func(any, any) bool { count++; return true })
		assert.Equal(t, 1, count)
	})
}

func TestListBusinessCenters_OnlyTikTokHasThem(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		list := func(channel string) (*advert.List[advert.BusinessCenter], error) {
			return w.Service.ListBusinessCenters(t.Context(), w.by.Account, ads.ListBusinessCenters{AccountID: channel})
		}
		_, err := list("")
		refused(t, err, core.CodeParameterMissing, "account_id")
		_, err = list(w.channel.ID)
		refused(t, err, core.CodeInvalid, "account_id")
		centers, err := list(w.activate(advert.PlatformTikTok).ID)
		require.NoError(t, err)
		assert.Len(t, centers.Items, 2)
	})
}
