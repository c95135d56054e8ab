package ads_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// settle settles the newest action by hand, once nothing of it can be on its way any more.
func (w *world) settle(in ads.SettleByHand) (*advert.Action, error) {
	w.t.Helper()
	w.advance.Add(int64(2 * time.Minute))
	plan, err := w.PlanSettlement(w.t.Context(), w.by.Account, w.actions()[0].ID, in)
	if err != nil {
		return nil, err
	}
	return w.Settle(w.t.Context(), plan)
}

// lostAd is a request to create an ad of which nobody knows what became, at a network that does not tell.
func (w *world) lostAd(key string, takesPlace bool) {
	w.t.Helper()
	w.line.lose.Store(takesPlace)
	if !takesPlace {
		w.line.say("Create", ads.ErrIndeterminate)
	}
	_, err := w.keyed(key)
	unknown(w.t, err)
	w.line.lose.Store(false)
	w.line.say("Find", errors.New("no access"))
	_, err = w.keyed(key)
	unknown(w.t, err)
}

func TestSettle_NotDoneFreesTheSumAndTheKey(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		before := w.seeded()
		w.lostAd("k1", false)
		assert.Equal(t, before+20, w.seeded())
		_, err := w.PlanSettlement(t.Context(), w.by.Account, w.actions()[0].ID, ads.SettleByHand{})
		assert.Contains(t, refused(t, err, core.CodeInvalid, "state").Message, "may still take place")

		action, err := w.settle(ads.SettleByHand{})
		require.NoError(t, err)
		assert.Equal(t, advert.ActionRefused, action.State)
		assert.EqualValues(t, "api_error", action.Failure.V.Code)
		assert.JSONEq(t, `{"settled_by": "hand"}`, w.actions()[0].After.Text(), "the trail says who said so")
		assert.Equal(t, before, w.seeded())

		_, err = w.keyed("k1")
		var e *core.Error
		require.ErrorAs(t, err, &e, "the request has its answer")
		assert.EqualValues(t, "api_error", e.Code)
		w.line.say("", nil)
		_, err = w.keyed("k1")
		require.NoError(t, err, "and its key is free")
		assert.Len(t, w.native(), 1)
	})
}

func TestSettle_ChangesNothingThatIsSettled(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.create(w.ad())
		done := w.actions()[0]
		for _, in := range []ads.SettleByHand{{}, {Done: true, PlatformID: "1"}} {
			_, err := w.settle(in)
			assert.Contains(t, refused(t, err, core.CodeInvalid, "state").Message, "it is done")
		}
		assert.Equal(t, done, w.actions()[0])

		w.lostAd("k1", false)
		w.advance.Add(int64(2 * time.Minute))
		plan, err := w.PlanSettlement(t.Context(), w.by.Account, w.actions()[0].ID, ads.SettleByHand{})
		require.NoError(t, err)
		w.line.say("", nil)
		w.giveUp()
		settled := w.actions()[0]
		_, err = w.Settle(t.Context(), plan)
		refused(t, err, core.CodeInvalid, "state")
		assert.Equal(t, settled, w.actions()[0])
		_, err = w.PlanSettlement(t.Context(), w.newAccount("Bob's shop").Account, settled.ID, ads.SettleByHand{})
		refused(t, err, core.CodeMissing, "")
	})
}

func TestSettle_LeavesAloneWhatANetworkIsBeingAskedFor(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.lostAd("k1", false)
		w.advance.Add(int64(2 * time.Minute))
		plan, err := w.PlanSettlement(t.Context(), w.by.Account, w.actions()[0].ID, ads.SettleByHand{})
		require.NoError(t, err)
		require.NoError(t, w.Advert.TakeAction(t.Context(), w.by.Account, plan.Action.ID))
		_, err = w.Settle(t.Context(), plan)
		refused(t, err, core.CodeInProgress, "")
		assert.Equal(t, advert.ActionBegun, w.actions()[0].State)
	})
}

func TestSettle_DoneCountsAnAdThatTheMirrorKnows(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		before := w.seeded()
		w.lostAd("k1", true)
		_, err := w.settle(ads.SettleByHand{Done: true})
		assert.Contains(t, refused(t, err, core.CodeInvalid, "platform_id").Message, "send the id that facebook gave it")

		_, err = w.SyncSocialAccount(t.Context(), w.by.Account, w.channel.ID)
		require.NoError(t, err)
		list, err := w.Service.ListAds(t.Context(), w.by.Account, ads.ListAds{AdAccountID: w.account.PlatformID})
		require.NoError(t, err)
		require.Equal(t, "Spring", list.Items[0].Row.Name)
		_, err = w.settle(ads.SettleByHand{Done: true, PlatformID: list.Items[0].Row.PlatformID})
		require.NoError(t, err)
		assert.Equal(t, before+20, w.seeded(), "it counts once")
		require.Len(t, w.native(), 1)

		body, err := w.keyed("k1")
		require.NoError(t, err)
		assert.Contains(t, body, list.Items[0].Row.PlatformID)
		assert.Equal(t, 1, w.line.of("Create"))

		w.line.say("", nil)
		w.lostAd("k2", false)
		_, err = w.settle(ads.SettleByHand{Done: true, PlatformID: list.Items[0].Row.PlatformID})
		assert.Contains(t, refused(t, err, core.CodeInvalid, "platform_id").Message, "Another action made the ad")
	})
}

func TestSettle_DoneCountsAnAdThatNobodyHasSeen(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		before := w.seeded()
		w.lostAd("k1", false)
		_, err := w.settle(ads.SettleByHand{Done: true, PlatformID: "ad_9"})
		refused(t, err, core.CodeInvalid, "ad_group_id")
		action, err := w.settle(ads.SettleByHand{Done: true, PlatformID: "ad_9", CampaignID: "c_9", AdGroupID: "g_9"})
		require.NoError(t, err)
		assert.Equal(t, "ad_9", action.TargetID)
		assert.Equal(t, before+20, w.seeded())
		group, err := w.Advert.GetGroup(t.Context(), w.by.Account, advert.PlatformFacebook, "g_9")
		require.NoError(t, err)
		assert.Equal(t, "c_9", group.CampaignID)
		assert.Equal(t, 20*advert.AmountUnit, group.BudgetAmount+group.Campaign.BudgetAmount)
		body, err := w.keyed("k1")
		require.NoError(t, err)
		assert.Contains(t, body, "ad_9")
	})
}

func TestSettle_DoneBringsTheMirrorToWhereTheNetworkIs(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ad := w.create(w.ad()).Row
		before := w.seeded()
		list, err := w.CreateAudience(t.Context(), w.by, ads.CreateAudience{AccountID: w.channel.ID, AdAccountID: w.account.PlatformID, Name: "List", Type: "customer_list"})
		require.NoError(t, err)
		group := func() *advert.Group {
			g, err := w.Advert.GetGroup(t.Context(), w.by.Account, ad.Platform, ad.AdGroupID)
			require.NoError(t, err)
			return g
		}
		for _, step := range []struct {
			name, call string
			do         func() error
			in         ads.SettleByHand
			check      func()
		}{
			{"update", "Update", func() error {
				_, err := w.UpdateAdGroup(t.Context(), w.by, ad.AdGroupID, budget("30", "daily"))
				return err
			}, ads.SettleByHand{}, func() {
				assert.Equal(t, 30*advert.AmountUnit, group().BudgetAmount)
				assert.Equal(t, before+10, w.seeded())
			}},
			{"pause", "SetStatus", func() error { _, err := w.PauseAdGroup(t.Context(), w.by, ad.AdGroupID, ""); return err }, ads.SettleByHand{}, func() {
				assert.Equal(t, advert.ConfiguredPaused, group().ConfiguredStatus)
				assert.Equal(t, before-20, w.seeded())
			}},
			{"resume", "SetStatus", func() error { _, err := w.ResumeAdGroup(t.Context(), w.by, ad.AdGroupID, ""); return err }, ads.SettleByHand{}, func() {
				assert.Equal(t, advert.ConfiguredActive, group().ConfiguredStatus)
				assert.Equal(t, before+10, w.seeded())
			}},
			{"upload", "UploadUsers", func() error {
				_, err := w.UploadAudienceUsers(t.Context(), w.by, list.ID, []ads.User{{Email: "ada@example.com"}})
				return err
			}, ads.SettleByHand{}, func() { assert.Contains(t, string(w.actions()[0].After), `"accepted":1`) }},
			{"audience", "CreateAudience", func() error {
				_, err := w.CreateAudience(t.Context(), w.by, ads.CreateAudience{AccountID: w.channel.ID, AdAccountID: w.account.PlatformID, Name: "Other", Type: "customer_list"})
				return err
			}, ads.SettleByHand{PlatformID: "pa_9"}, func() {
				a, err := w.Advert.GetAudience(t.Context(), w.by.Account, w.actions()[0].TargetID, "")
				require.NoError(t, err)
				assert.Equal(t, "pa_9", *a.PlatformID)
			}},
			{"delete an audience", "DeleteAudience", func() error { _, err := w.DeleteAudience(t.Context(), w.by, list.ID); return err }, ads.SettleByHand{}, func() {
				_, err := w.Advert.GetAudience(t.Context(), w.by.Account, list.ID, "")
				refused(t, err, core.CodeMissing, "")
			}},
			{"delete", "Delete", func() error { _, err := w.DeleteCampaign(t.Context(), w.by, ad.CampaignID, ""); return err }, ads.SettleByHand{}, func() {
				assert.NotNil(t, group().DeletedAt)
				assert.Equal(t, before-20, w.seeded())
			}},
		} {
			w.line.say(step.call, ads.ErrIndeterminate)
			unknown(t, step.do())
			step.in.Done = true
			action, err := w.settle(step.in)
			require.NoError(t, err, step.name)
			assert.Equal(t, advert.ActionDone, action.State, step.name)
			assert.Contains(t, string(action.After), `"settled_by":"hand"`, step.name)
			step.check()
		}
		w.line.say("Update", ads.ErrIndeterminate)
		ad = w.create(w.ad()).Row
		_, err = w.UpdateAdGroup(t.Context(), w.by, ad.AdGroupID, budget("30", "daily"))
		unknown(t, err)
		_, err = w.settle(ads.SettleByHand{Done: true, PlatformID: ad.AdGroupID})
		assert.Contains(t, refused(t, err, core.CodeInvalid, "platform_id").Message, "leave the id out")
	})
}
