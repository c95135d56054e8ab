package sandbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/store/testbank"
	"github.com/tillwright/tillwright/tests/harness/effort"
)

func TestSync_WalksEveryCampaignOnceWhileOthersAreMade(t *testing.T) {
	each(t, advert.PlatformGoogle, Options{}, func(t *testing.T, n *network) {
		mine := n.mine().PlatformID
		made := map[string]int{}
		for _, c := range n.walk(mine).Campaigns {
			made[c.PlatformID] = 0
		}
		for i := range 2*syncPage + 3 {
			made[n.create(n.planCampaign(fmt.Sprint("adact_", i))).Campaign.PlatformID] = 0
		}
		cursor, pages := "", 0
		for {
			page, next, err := n.Sync(t.Context(), n.conn, mine, cursor)
			require.NoError(t, err)
			for _, c := range page.Campaigns {
				made[c.PlatformID]++
			}
			assert.LessOrEqual(t, len(page.Campaigns), syncPage)
			if pages++; pages == 1 {
				n.create(n.planCampaign("adact_later"))
			}
			if cursor = next; next == "" {
				break
			}
		}
		assert.Equal(t, 3, pages)
		for id, times := range made {
			assert.Equal(t, 1, times, id)
		}
		_, _, err := n.Sync(t.Context(), n.conn, mine, "elsewhere")
		assert.Error(t, err)
	})
}

// planCampaign returns a campaign with a budget of its own.

func (n *network) planCampaign(token string) ads.Plan {
	plan := n.plan(token)
	plan.BudgetLevel = advert.BudgetLevelCampaign
	return plan
}

// everything returns all that the network tells.

func TestWords_MeanWhatTheyAreReadAs(t *testing.T) {
	t.Parallel()
	for _, p := range advert.Platforms {
		campaign := &thing{SandboxEntity: advert.SandboxEntity{Kind: advert.LevelCampaign}}
		group := &thing{SandboxEntity: advert.SandboxEntity{Kind: advert.LevelGroup}, parent: campaign}
		ad := &thing{SandboxEntity: advert.SandboxEntity{Kind: advert.LevelAd}, parent: group}
		for _, off := range []*thing{{}, ad, group, campaign} {
			off.Off = true
			for _, status := range advert.Statuses {
				isMeta := p == advert.PlatformFacebook || p == advert.PlatformInstagram
				if raw := word(p, ad, status); isMeta && status == advert.StatusCompleted {
					assert.Equal(t, advert.StatusActive, ads.StatusOf(p, raw))
				} else {
					assert.Equal(t, status, ads.StatusOf(p, raw), "%s: %s", p, raw)
				}
			}
			off.Off = false
		}
	}
}

func TestCalls_CommitWhateverBecomesOfTheRequest(t *testing.T) {
	each(t, advert.PlatformFacebook, Options{}, func(t *testing.T, n *network) {
		account, err := n.store.Tenant.CreateAccount(t.Context(), tenant.NewAccount{Name: "Ada", Email: "ada@example.com"})
		require.NoError(t, err)
		n.conn.Account = account.ID
		key := &core.Key{Account: account.ID, Key: "k", External: true}
		_, _, err = n.store.Request(t.Context(), key, func(ctx context.Context) (*core.Answer, error) {
			_, err := n.Create(ctx, n.conn, n.plan("adact_1"))
			return nil, err
		})
		require.ErrorContains(t, err, "a transaction is open")
		_, found, err := n.Find(t.Context(), n.conn, n.mine().PlatformID, "adact_1")
		require.NoError(t, err)
		assert.False(t, found)

		killed := errors.New("killed")
		_, _, err = n.store.Request(t.Context(), key, func(ctx context.Context) (*core.Answer, error) {
			if _, err := n.store.TestBank.PutCharge(ctx, testbank.Charge{AccountID: account.ID, ID: "a step", Status: "succeeded"}); err != nil {
				return nil, err
			}
			if _, err := n.Create(ctx, n.conn, n.plan("adact_1")); err != nil {
				return nil, err
			}
			return nil, killed
		})
		require.ErrorIs(t, err, killed)
		_, found, err = n.Find(t.Context(), n.conn, n.mine().PlatformID, "adact_1")
		require.NoError(t, err)
		assert.True(t, found)
	})
}

func TestReport_OfAPageIsQuick(t *testing.T) {
	each(t, advert.PlatformFacebook, Options{}, func(t *testing.T, n *network) {
		var ids []string
		for i := range 100 {
			ids = append(ids, n.create(n.plan(fmt.Sprint("adact_", i))).Ad.PlatformID)
		}
		n.now = n.now.Add(90 * 24 * time.Hour)
		assert.Len(t, n.reports(advert.LevelAd, ids...), 100)
		if !strings.HasPrefix(n.url, "postgres") { // which works in a process of its own, whose time is not counted
			assert.Less(t, effort.Of(func() { n.reports(advert.LevelAd, ids...) }), 10*time.Second)
		}
	})
}
