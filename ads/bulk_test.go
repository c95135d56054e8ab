package ads_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// campaigns creates n campaigns of 20 dollars a day and returns them as items.
func (w *world) campaigns(n int) []ads.BulkItem {
	w.t.Helper()
	items := make([]ads.BulkItem, n)
	for i := range items {
		items[i] = ads.BulkItem{ID: w.create(w.ad()).Row.CampaignID}
	}
	return items
}

func outcomes(r *ads.BulkResult) []ads.BulkOutcome {
	all := make([]ads.BulkOutcome, len(r.Results))
	for i, one := range r.Results {
		all[i] = one.Outcome
	}
	return all
}

func TestBulkPauseCampaigns_AnswersEachItemInOrder(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		items := w.campaigns(3)
		off := w.connect(w.by, advert.PlatformGoogle)
		sent := []ads.BulkItem{
			items[1], {ID: "nobody's"}, items[0], items[1], {ID: items[2].ID, Platform: "google"}, {ID: items[2].ID, Platform: "myspace"},
			{ID: items[2].ID, Platform: "facebook"}, {},
		}
		result, err := w.BulkPauseCampaigns(t.Context(), w.by, ads.Bulk{Items: sent})
		require.NoError(t, err)
		u, s, f := ads.BulkUpdated, ads.BulkSkipped, ads.BulkFailed
		assert.Equal(t, []ads.BulkOutcome{u, f, u, s, f, f, u, f}, outcomes(result))
		assert.Equal(t, []int{3, 1, 4}, []int{result.Updated, result.Skipped, result.Failed})
		for i, one := range result.Results {
			assert.Equal(t, i, one.Index)
			assert.Equal(t, sent[i].ID, one.ID)
		}
		assert.Equal(t, core.CodeMissing, result.Results[1].Error.Code)
		assert.Equal(t, "duplicate", result.Results[3].Reason)
		assert.Equal(t, core.CodeMissing, result.Results[4].Error.Code)
		assert.Equal(t, core.CodeInvalid, result.Results[5].Error.Code)
		assert.Equal(t, core.CodeParameterMissing, result.Results[7].Error.Code)
		assert.Equal(t, advert.StatusPaused, result.Results[0].Status)
		assert.Equal(t, advert.StatusPaused, result.Results[3].Status, "the other one of its name was paused")
		assert.Equal(t, 1, result.Results[0].Updated)
		assert.Equal(t, 1, w.line.of("SetStatus"), "one ad account, one call")
		assert.NotEmpty(t, off.ID)

		again, err := w.BulkPauseCampaigns(t.Context(), w.by, ads.Bulk{Items: items})
		require.NoError(t, err)
		assert.Equal(t, []ads.BulkOutcome{s, s, s}, outcomes(again))
		assert.Equal(t, "unchanged", again.Results[0].Reason)
		assert.Equal(t, 1, w.line.of("SetStatus"), "what is off is not switched off")
	})
}

func TestBulkResumeCampaigns_LimitsAllOfThemTogether(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		items := w.campaigns(4)
		_, err := w.BulkPauseCampaigns(t.Context(), w.by, ads.Bulk{Items: items})
		require.NoError(t, err)
		w.limit(100, w.seeded()+50)
		calls := w.line.of("SetStatus")
		for _, dry := range []bool{true, false} {
			result, err := w.BulkResumeCampaigns(t.Context(), w.by, ads.Bulk{Items: items, DryRun: dry})
			require.NoError(t, err)
			u, f := ads.BulkUpdated, ads.BulkFailed
			assert.Equal(t, []ads.BulkOutcome{u, u, f, f}, outcomes(result), "dry run: %v", dry)
			assert.Equal(t, core.CodeSpendLimit, result.Results[2].Error.Code)
			assert.Equal(t, dry, result.Plan != nil)
			if dry {
				assert.Len(t, result.Plan.Calls, 2)
				require.Len(t, result.Plan.Warnings, 2, "what would not be done, and why")
				assert.Contains(t, result.Plan.Warnings[0], items[2].ID+" would fail: ")
				assert.Equal(t, calls, w.line.of("SetStatus"))
			}
		}
		assert.Equal(t, calls+1, w.line.of("SetStatus"))
	})
}

func TestBulk_Sizes(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		_, err := w.BulkPauseCampaigns(t.Context(), w.by, ads.Bulk{})
		refused(t, err, core.CodeParameterMissing, "campaigns")
		_, err = w.BulkPauseCampaigns(t.Context(), w.by, ads.Bulk{Items: []ads.BulkItem{}})
		refused(t, err, core.CodeInvalid, "campaigns")
		_, err = w.BulkPauseCampaigns(t.Context(), w.by, ads.Bulk{Items: make([]ads.BulkItem, 51)})
		refused(t, err, core.CodeInvalid, "campaigns")
		items := w.campaigns(50)
		begin := time.Now()
		result, err := w.BulkPauseCampaigns(t.Context(), w.by, ads.Bulk{Items: items})
		require.NoError(t, err)
		t.Logf("50 campaigns in %s", time.Since(begin))
		assert.Equal(t, 50, result.Updated)
	})
}

func TestBulkPauseCampaigns_FaultOfTheWholeRequestIsNoItems(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		items := w.campaigns(2)
		pause := func(ctx context.Context) (any, error) { return w.BulkPauseCampaigns(ctx, w.by, ads.Bulk{Items: items}) }
		w.line.say("SetStatus", &ads.RateLimited{After: 3 * time.Second})
		_, _, err := w.request("k1", pause)
		e := refused(t, err, core.CodeRateLimit, "platform")
		assert.Equal(t, 3*time.Second, e.After)
		for _, action := range w.actions()[:2] {
			assert.Equal(t, advert.ActionRefused, action.State)
		}
		w.line.say("", nil)
		_, _, err = w.request("k1", pause)
		require.NoError(t, err, "the key is free")
	})
}

func TestBulkPauseCampaigns_LostAnswerIsLookedInto(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		items := w.campaigns(2)
		w.line.lose.Store(true)
		result, err := w.BulkPauseCampaigns(t.Context(), w.by, ads.Bulk{Items: items})
		require.NoError(t, err)
		for _, one := range result.Results {
			assert.Equal(t, ads.BulkFailed, one.Outcome)
			assert.EqualValues(t, "api_error", one.Error.Code)
			assert.True(t, one.Error.Retryable)
		}
		w.line.lose.Store(false)
		w.due()
		require.NoError(t, w.Reconcile(t.Context()))
		for _, action := range w.actions()[:2] {
			assert.Equal(t, advert.ActionDone, action.State)
		}
		again, err := w.BulkPauseCampaigns(t.Context(), w.by, ads.Bulk{Items: items})
		require.NoError(t, err)
		assert.Equal(t, 2, again.Skipped, "they are off")
	})
}

func TestBulkPauseCampaigns_OneNetworkDoesNotKeepAnotherFromIt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		first := w.campaigns(1)
		w.channel = w.activate(advert.PlatformGoogle)
		w.account = w.adAccount(w.channel)
		items := append(first, w.campaigns(1)...)
		calls := 0
		w.line.mu.Lock()
		w.line.answer = func(call string) error {
			if call != "SetStatus" {
				return nil
			}
			if calls++; calls == 1 {
				return &ads.RateLimited{After: time.Second}
			}
			return nil
		}
		w.line.mu.Unlock()
		result, err := w.BulkPauseCampaigns(t.Context(), w.by, ads.Bulk{Items: items})
		require.NoError(t, err)
		assert.Equal(t, 1, result.Updated)
		assert.Equal(t, 1, result.Failed)
		for _, one := range result.Results {
			if one.Error != nil {
				assert.Equal(t, core.CodeRateLimit, one.Error.Code)
				assert.True(t, one.Error.Retryable)
			}
		}
	})
}

// apart creates n campaigns, each through a channel of its own.
func (w *world) apart(n int) []ads.BulkItem {
	w.t.Helper()
	items := make([]ads.BulkItem, n)
	for i := range items {
		channel := w.activate(advert.PlatformFacebook)
		in := w.ad()
		in.AccountID, in.AdAccountID = channel.ID, w.adAccount(channel).PlatformID
		items[i] = ads.BulkItem{ID: w.create(in).Row.CampaignID}
	}
	return items
}

// slowly makes the network take so long for a switch.
func (w *world) slowly(d time.Duration) {
	w.line.mu.Lock()
	defer w.line.mu.Unlock()
	w.line.answer = func(call string) error {
		if call == "SetStatus" {
			w.advance.Add(int64(d))
		}
		return nil
	}
}

func TestBulkResumeCampaigns_AsksNobodyOnceTheLeasesMayEnd(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		items := w.apart(9)
		_, err := w.BulkPauseCampaigns(t.Context(), w.by, ads.Bulk{Items: items})
		require.NoError(t, err)
		before, calls := w.seeded(), w.line.of("SetStatus")
		w.slowly(26 * time.Second)
		result, err := w.BulkResumeCampaigns(t.Context(), w.by, ads.Bulk{Items: items})
		require.NoError(t, err)
		asked := w.line.of("SetStatus") - calls
		assert.Positive(t, asked)
		assert.LessOrEqual(t, asked, 4, "those that were under way by then")
		assert.Equal(t, []int{asked, len(items) - asked}, []int{result.Updated, result.Failed})
		for _, one := range result.Results {
			if one.Error != nil {
				assert.EqualValues(t, "api_error", one.Error.Code)
				assert.Contains(t, one.Error.Message, "Nothing was changed")
				assert.True(t, one.Error.Retryable)
			}
		}
		refused := 0
		for _, action := range w.actions()[:len(items)] {
			assert.True(t, action.IsFinal())
			if action.State == advert.ActionRefused {
				refused++
			}
		}
		assert.Equal(t, len(items)-asked, refused)
		assert.Equal(t, before+20*int64(asked), w.seeded(), "what was not asked for is not spent")

		w.slowly(0)
		again, err := w.BulkResumeCampaigns(t.Context(), w.by, ads.Bulk{Items: items})
		require.NoError(t, err)
		assert.Equal(t, []int{len(items) - asked, asked}, []int{again.Updated, again.Skipped})
	})
}

func TestBulkPauseCampaigns_WhatWasAskedBeforeStaysOpenWithoutTime(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		items := w.apart(9)
		w.line.die.Store(true)
		pause := func(ctx context.Context) (any, error) { return w.BulkPauseCampaigns(ctx, w.by, ads.Bulk{Items: items}) }
		assert.Panics(t, func() { _, _, _ = w.request("k1", pause) })
		w.line.die.Store(false)
		w.due()
		w.slowly(26 * time.Second)
		_, _, err := w.request("k1", pause)
		require.NoError(t, err)
		for _, action := range w.actions()[:len(items)] {
			assert.NotEqual(t, advert.ActionRefused, action.State, "it may have been done the first time")
		}
		w.due()
		require.NoError(t, w.Reconcile(t.Context()))
		for _, action := range w.actions()[:len(items)] {
			assert.Equal(t, advert.ActionDone, action.State)
		}
	})
}

func TestBulkResumeCampaigns_WhatTheReconcilerTookForRefusedIsDone(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		items := w.campaigns(1)
		_, err := w.BulkPauseCampaigns(t.Context(), w.by, ads.Bulk{Items: items})
		require.NoError(t, err)
		before := w.seeded()
		w.line.mu.Lock()
		w.line.answer = func(call string) error {
			if call == "SetStatus" { // and it takes longer than anybody thought
				w.giveUp()
				assert.Equal(t, advert.ActionRefused, w.actions()[0].State)
			}
			return nil
		}
		w.line.mu.Unlock()
		result, err := w.BulkResumeCampaigns(t.Context(), w.by, ads.Bulk{Items: items})
		require.NoError(t, err)
		assert.Equal(t, 1, result.Updated, "%+v", result.Results)
		assert.Equal(t, advert.ActionDone, w.actions()[0].State)
		assert.Equal(t, before+20, w.seeded(), "the mirror has it")
	})
}

func TestBulkPauseCampaigns_OverIsOver(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		list, err := w.Service.ListCampaigns(t.Context(), w.by.Account, ads.ListCampaigns{Status: "completed"})
		require.NoError(t, err)
		require.NotEmpty(t, list.Items)
		result, err := w.BulkPauseCampaigns(t.Context(), w.by, ads.Bulk{Items: []ads.BulkItem{{ID: list.Items[0].Row.PlatformID}}})
		require.NoError(t, err)
		assert.Equal(t, core.CodeInvalid, result.Results[0].Error.Code)
		assert.Equal(t, fmt.Sprint(ads.BulkFailed), string(result.Results[0].Outcome))
	})
}
