package advert

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/dbtest"
)

// Every promise is broken once, behind the back of the code, and has to be missed.
func TestInvariants_SeeEveryBrokenPromise(t *testing.T) {
	sabotage := map[string]string{
		"an identifier that waits for its upload belongs to one under way":        `UPDATE ad_actions SET state = 'refused' WHERE op = 'upload_audience_users'`,
		"a daily budget comes to itself in a day":                                 `UPDATE ad_campaigns SET daily_amount = 1 WHERE platform_id = 'c1'`,
		"a lifetime budget comes to no more in a day, and to something":           `UPDATE ad_campaigns SET daily_amount = 0 WHERE platform_id = 'c2'`,
		"an ad ends with its ad group or its campaign, whichever is first":        `UPDATE ads SET ends_at = NULL`,
		"an ad was made by one action":                                            `UPDATE ad_actions SET target_id = 'c1a'`,
		"a conversion that nobody is told of any more says nothing of who it was": `UPDATE ad_conversions SET status = 'sent', due_at = NULL, expires_at = NULL, customer_id = NULL`,
		"a conversion that waits is told or ends":                                 `UPDATE ad_conversions SET expires_at = NULL`,
	}
	eachAdvertiser(t, func(t *testing.T, a *advertiser) {
		for _, id := range []string{"c1", "c2"} {
			begun, err := a.BeginAction(t.Context(), a.account, a.begin(5))
			require.NoError(t, err)
			made := hierarchyOf(id, 5*AmountUnit)
			if id == "c2" {
				made.Campaigns[0].BudgetType, made.Campaigns[0].EndsAt = BudgetTypeLifetime, new(a.Now().Add(72*time.Hour))
			}
			a.settle(t, begun.Action.ID, Outcome{State: ActionDone, Made: made, TargetID: id + "a"})
		}
		a.destination(t, "1", nil)
		a.queue(t, a.purchase("order_1"))
		list := a.audience(t, nil)
		a.upload(t, list.ID, membersOf(0, 2))
		check := func(ctx context.Context) (all []core.Violation, err error) {
			err = a.db.CheckAll(ctx, Invariants, func(_ string, broken []core.Violation) { all = append(all, broken...) })
			return all, err
		}
		sound, err := check(t.Context())
		require.NoError(t, err)
		require.Empty(t, sound)
		for _, i := range Invariants {
			assert.Contains(t, dbtest.BrokenBy(t, a.db, sabotage[i.Promise], check), i.Promise)
		}
	})
}
