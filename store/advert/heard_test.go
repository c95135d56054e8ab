package advert

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFinishSync_PutsInDoubtWhatWasAskedBefore(t *testing.T) {
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		a.campaign(t, "c1", 10)
		row := a.campaigns(t, ListCampaigns{}).Items[0]
		begun, err := a.BeginAction(t.Context(), a.account, BeginAction{Op: OpUpdateCampaign, AdAccount: a.in, TargetID: "c1", Seen: row.SyncedAt})
		require.NoError(t, err)
		require.NoError(t, a.FinishSync(t.Context(), a.in, a.Now()))
		_, err = a.SettleAction(t.Context(), a.account, begun.Action.ID, Outcome{State: ActionDone, Changed: Batch{Campaigns: hierarchyOf("c1", 10).Campaigns}})
		require.NoError(t, err)
		due, err := a.DueAccounts(t.Context(), 0, a.Now(), 1)
		require.NoError(t, err)
		assert.Len(t, due, 1, "the campaign may be gone")
	})
}
