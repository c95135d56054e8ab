package advert

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
)

// Whoever holds a campaign can have what is below it, and campaigns with greater ids: everybody else waits for the first.
func TestMirror_IsLockedInOneOrder(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		for _, id := range []string{"c1", "c2"} {
			a.campaign(t, id, 10)
		}
		begun := func(op Op, target string) string {
			begun, err := a.BeginAction(t.Context(), a.account, BeginAction{Op: op, AdAccount: a.in, TargetID: target})
			require.NoError(t, err)
			return begun.Action.ID
		}
		both := hierarchyOf("c2", 20*AmountUnit)
		both.Campaigns = append(both.Campaigns, hierarchyOf("c1", 20*AmountUnit).Campaigns...)
		group := Batch{Groups: hierarchyOf("c1", 0).Groups}
		off := func(id string) Outcome {
			return Outcome{State: ActionDone, Changed: Batch{Campaigns: []Campaign{{PlatformID: id, ConfiguredStatus: ConfiguredPaused, Status: StatusPaused}}}}
		}
		update, second, first, gone := begun(OpUpdateGroup, "c1g"), begun(OpPauseCampaign, "c2"), begun(OpPauseCampaign, "c1"), begun(OpDeleteCampaign, "c1")
		for _, test := range []struct {
			name  string
			level Level
			free  string
			do    func(context.Context) error
		}{
			{"change an ad group", LevelGroup, "c1g", func(ctx context.Context) error {
				_, err := a.SettleAction(ctx, a.account, update, Outcome{State: ActionDone, Changed: group})
				return err
			}},
			{"switch several campaigns", LevelCampaign, "c2", func(ctx context.Context) error {
				_, err := a.SettleActions(ctx, a.account, []Settlement{{second, off("c2")}, {first, off("c1")}})
				return err
			}},
			{"mirror a stretch", LevelCampaign, "c2", func(ctx context.Context) error { return a.PutBatch(ctx, a.in, both, a.Now()) }},
			{"report ad groups", LevelGroup, "c1g", func(ctx context.Context) error {
				return a.RecordStates(ctx, a.account, PlatformFacebook, LevelGroup, []State{{PlatformID: "c1g", Configured: ConfiguredPaused}}, a.Now())
			}},
			{"end a walk", LevelAd, "c2a", func(ctx context.Context) error { return a.FinishSync(ctx, a.in, a.Now().Add(time.Hour)) }},
			{"delete a campaign", LevelAd, "c1a", func(ctx context.Context) error {
				_, err := a.SettleAction(ctx, a.account, gone, Outcome{State: ActionDone, CancelledCampaign: "c1"})
				return err
			}},
		} {
			await, done := dbtest.Waiter(t, a.db), make(chan error, 1)
			_, err := db.Tx(t.Context(), a.db, func(ctx context.Context, u *db.Unit) (any, error) {
				lock := u.Lock()
				if _, err := db.Select[string](ctx, u, `SELECT platform_id FROM ad_campaigns WHERE account_id = ? AND platform_id = 'c1'`+lock, a.account); err != nil {
					return nil, err
				}
				go func() { done <- test.do(t.Context()) }()
				await()
				if a.db.Engine != core.SQLite {
					lock += ` NOWAIT`
				}
				return db.Select[string](ctx, u, `SELECT platform_id FROM `+levelTables[test.level]+` WHERE account_id = ? AND platform_id = ?`+lock, a.account, test.free)
			})
			assert.NoError(t, err, "%s: who holds the campaign has to wait for %s", test.name, test.free)
			assert.NoError(t, <-done, test.name)
		}
	})
}

// Two requests that mark the same ad accounts do not wait for each other.
func TestSettleActions_MarksAdAccountsInOneOrder(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		second := *a.in
		second.PlatformID = "act_2"
		require.NoError(t, a.PutAccounts(t.Context(), a.channel, []Account{*a.in, second}))
		var settlements []Settlement
		for _, in := range []*Account{&second, a.in} {
			id := "in_" + in.PlatformID
			require.NoError(t, a.PutBatch(t.Context(), in, hierarchyOf(id, 10*AmountUnit), a.Now()))
			begun, err := a.BeginAction(t.Context(), a.account, BeginAction{Op: OpPauseCampaign, AdAccount: in, TargetID: id})
			require.NoError(t, err)
			off := Batch{Campaigns: []Campaign{{PlatformID: id, ConfiguredStatus: ConfiguredPaused, Status: StatusPaused}}}
			settlements = append(settlements, Settlement{begun.Action.ID, Outcome{State: ActionDone, Changed: off}})
		}
		await, done := dbtest.Waiter(t, a.db), make(chan error, 1)
		_, err := db.Tx(t.Context(), a.db, func(ctx context.Context, u *db.Unit) (any, error) {
			lock := u.Lock()
			if _, err := db.Select[string](ctx, u, `SELECT platform_id FROM ad_accounts WHERE account_id = ? AND platform_id = 'act_1'`+lock, a.account); err != nil {
				return nil, err
			}
			go func() {
				_, err := a.SettleActions(t.Context(), a.account, settlements)
				done <- err
			}()
			await()
			if a.db.Engine != core.SQLite {
				lock += ` NOWAIT`
			}
			return db.Select[string](ctx, u, `SELECT platform_id FROM ad_accounts WHERE account_id = ? AND platform_id = 'act_2'`+lock, a.account)
		})
		assert.NoError(t, err, "who holds the first ad account has to wait for the second")
		assert.NoError(t, <-done)
		due, err := a.DueAccounts(t.Context(), 0, a.Now(), 10)
		require.NoError(t, err)
		assert.Len(t, due, 2, "both are marked")
	})
}
