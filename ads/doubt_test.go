package ads_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/ads/sandbox"
	"github.com/tillwright/tillwright/store/advert"
)

// turns are the two switches of what has a budget.
type turns struct{ pause, resume func() error }

// turns returns the switches of an ad group and of its campaign.
func (w *world) turns(ad advert.Ad) map[string]turns {
	one, ctx := ads.Bulk{Items: []ads.BulkItem{{ID: ad.CampaignID}}}, w.t.Context()
	return map[string]turns{
		"ad group": {
			func() error { _, err := w.PauseAdGroup(ctx, w.by, ad.AdGroupID, ""); return err },
			func() error { _, err := w.ResumeAdGroup(ctx, w.by, ad.AdGroupID, ""); return err },
		},
		"campaign": {
			func() error { _, err := w.BulkPauseCampaigns(ctx, w.by, one); return err },
			func() error { _, err := w.BulkResumeCampaigns(ctx, w.by, one); return err },
		},
	}
}

// before makes something happen once before the next write takes place at a network.
func (w *world) before(call string, do func()) {
	w.line.mu.Lock()
	defer w.line.mu.Unlock()
	w.line.answer = func(is string) error {
		if is == call {
			w.line.answer = nil
			w.line.mu.Unlock()
			defer w.line.mu.Lock()
			do()
		}
		return nil
	}
}

// looks lets a minute pass and what is in doubt be looked at.
func (w *world) looks() {
	w.t.Helper()
	w.advance.Add(int64(2 * time.Minute))
	require.NoError(w.t, w.SyncDue(w.t.Context()))
}

func TestSwitch_NoClockSaysWhichAnswerIsNewer(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ad := w.create(w.ad()).Row
		on, looks := w.seeded(), 0
		w.line.hold = func(ctx context.Context) {
			looks++
			end, ends := ctx.Deadline()
			require.True(t, ends, "an action takes less than its lease")
			assert.Less(t, time.Until(end), 10*time.Second, "an action takes less than its lease")
		}
		defer func() { assert.NotZero(t, looks) }()
		for name, turn := range w.turns(ad) {
			for what, ahead := range map[string]time.Duration{"ahead": time.Hour, "behind": -time.Hour} {
				w.advance.Add(int64(ahead))
				w.meanwhile(func() {
					w.advance.Add(-int64(ahead)) // a replica with another clock
					require.NoError(t, turn.pause())
					require.NoError(t, turn.resume())
					w.advance.Add(int64(ahead))
				})
				require.NoError(t, turn.pause())
				assert.Equal(t, on, w.seeded(), "%s: a pause by a clock %s", name, what)
				w.advance.Add(-int64(ahead))

				w.advance.Add(int64(ahead))
				require.NoError(t, turn.pause())
				w.advance.Add(-int64(ahead))
				require.NoError(t, turn.resume())
				assert.Equal(t, on, w.seeded(), "%s: a resume after a pause by a clock %s", name, what)
			}
		}
	})
}

func TestSwitch_OfWhichNobodyKnowsTheLastIsLookedAtSoon(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ad := w.create(w.ad()).Row
		on := w.seeded()
		for name, turn := range w.turns(ad) {
			w.before("SetStatus", func() {
				require.NoError(t, turn.pause())
				require.NoError(t, turn.resume())
				w.line.say("Report", ads.ErrUnavailable)
			})
			require.NoError(t, turn.pause())
			w.line.say("", nil)
			assert.Equal(t, on, w.seeded(), name+": it may be on")
			w.looks()
			assert.Equal(t, on-20, w.seeded(), name+": the pause was last")

			w.meanwhile(func() { require.NoError(t, turn.pause()) })
			require.NoError(t, turn.resume())
			w.looks()
			assert.Equal(t, on-20, w.seeded(), name+": a pause after a resume was last")

			syncs := w.line.syncs.Load()
			w.looks()
			assert.Equal(t, syncs, w.line.syncs.Load(), "once is enough")
			require.NoError(t, turn.resume())
		}
	})
}

func TestSync_LooksUntilItHasSeenWhatIsInDoubt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ad := w.create(w.ad()).Row
		on, turn, s := w.seeded(), w.turns(ad)["campaign"], w.slow(0)
		list, err := w.Service.ListCampaigns(t.Context(), w.by.Account, ads.ListCampaigns{AdAccountID: w.account.PlatformID})
		require.NoError(t, err)
		end := strconv.Itoa(len(list.Items))
		s.fail[end] = ads.ErrUnavailable
		require.Contains(t, s.round(), end, "this walk goes on from its end")

		w.before("SetStatus", func() {
			require.NoError(t, turn.pause())
			require.NoError(t, turn.resume())
			w.line.say("Report", ads.ErrUnavailable)
		})
		require.NoError(t, turn.pause())
		w.line.say("", nil)
		look := func() []string {
			s.asked = nil
			w.advance.Add(int64(2 * time.Minute))
			_ = w.SyncDue(t.Context())
			return s.asked
		}
		assert.Equal(t, []string{end}, look(), "its network is out of order")
		clear(s.fail)
		assert.Equal(t, []string{end}, look(), "the campaign was read before the doubt came")
		assert.Equal(t, on, w.seeded(), "it may be on")
		assert.Contains(t, look(), "", "a walk of its own")
		assert.Equal(t, on-20, w.seeded(), "the pause was last")
		assert.Empty(t, look(), "once is enough")
	})
}

func TestUpdate_SeesWhatSomebodyElseSwitchedOn(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		in := w.ad()
		in.BudgetLevel = "campaign"
		ad := w.create(in).Row
		on := w.seeded()
		require.NoError(t, w.turns(ad)["campaign"].pause())
		assert.Equal(t, on-20, w.seeded())
		w.before("Update", func() {
			w.advance.Add(int64(time.Hour))
			require.NoError(t, w.SyncDue(t.Context()))
			manager := sandbox.New(w.Advert, ad.Platform, sandbox.Options{})
			conn := ads.Conn{Account: w.by.Account, Channel: w.channel.ID, Platform: ad.Platform, Now: func() time.Time { return w.Store.Now().Time() }}
			campaign := ads.Ref{AdAccount: w.account.PlatformID, Level: advert.LevelCampaign, ID: ad.CampaignID}
			require.NoError(t, manager.Drift(t.Context(), conn, campaign, ads.DriftResume))
		})
		_, err := w.UpdateCampaign(t.Context(), w.by, ad.CampaignID, budget("30", "daily"))
		require.NoError(t, err)
		assert.Equal(t, on+10, w.seeded())
	})
}

func TestUpdate_LooksAtWhatSomebodyElseRaised(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		in := w.ad()
		in.BudgetLevel = "campaign"
		ad := w.create(in).Row
		on := w.seeded()
		change := func() {
			_, err := w.UpdateCampaign(t.Context(), w.by, ad.CampaignID, budget("30", "daily"))
			require.NoError(t, err)
			assert.Equal(t, on+10, w.seeded(), "the answer")
		}
		w.meanwhile(func() {
			manager := sandbox.New(w.Advert, ad.Platform, sandbox.Options{})
			conn := ads.Conn{Account: w.by.Account, Channel: w.channel.ID, Platform: ad.Platform, Now: func() time.Time { return w.Store.Now().Time() }}
			campaign := ads.Ref{AdAccount: w.account.PlatformID, Level: advert.LevelCampaign, ID: ad.CampaignID}
			_, err := manager.Update(t.Context(), conn, campaign, ads.Patch{Currency: "usd", Budget: &ads.Budget{Amount: 500 * advert.AmountUnit, Type: "daily"}})
			require.NoError(t, err)
			w.advance.Add(int64(16 * time.Minute))
			require.NoError(t, w.SyncDue(t.Context()))
		})
		change()
		w.looks()
		assert.Equal(t, on+480, w.seeded(), "somebody raised it after the answer")
		change()
		syncs := w.line.syncs.Load()
		w.looks()
		assert.Equal(t, syncs, w.line.syncs.Load(), "nobody else changed it")
	})
}

func TestSettle_APauseByHandUndoesNoLaterResume(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ad := w.create(w.ad()).Row
		on := w.seeded()
		for name, turn := range w.turns(ad) {
			w.line.say("SetStatus", ads.ErrIndeterminate)
			_ = turn.pause() // its outcome is not known
			w.line.say("", nil)
			open := w.actions()[0]
			require.False(t, open.IsFinal())
			require.NoError(t, turn.pause())
			require.NoError(t, turn.resume())
			plan, err := w.PlanSettlement(t.Context(), w.by.Account, open.ID, ads.SettleByHand{Done: true})
			require.NoError(t, err)
			_, err = w.Settle(context.WithoutCancel(t.Context()), plan)
			require.NoError(t, err)
			w.spends(on, name)
		}
	})
}
