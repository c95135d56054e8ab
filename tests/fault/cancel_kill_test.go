package fault

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
	"github.com/tillwright/tillwright/tests/harness/stripefake"
)

// TestKill_InACancellationGivesBackOnce kills the server while it cancels subscriptions and gives back what is left of two
// payments of each. The provider has the first of both refunds and never said so. After the next start every payment is
// given back once, whether whoever cancelled asks again or not.
func TestKill_InACancellationGivesBackOnce(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		bank := stripefake.New(t)
		s := newSite(t, harness.Build(t), url, 0)
		s.binary.Env = append(s.binary.Env, "TILLWRIGHT_STRIPE_URL="+bank.URL)
		server := s.binary.Serve(t, "")
		upgrade := func(p *payer) {
			_, err := p.sdk().Subscriptions.Change(t.Context(), p.sub, &sdk.SubscriptionChangeCreate{PriceVariant: &p.dearer})
			require.NoError(t, err)
		}
		cancel := func(p *payer) error {
			_, err := p.sdk().Subscriptions.Cancel(t.Context(), p.sub, &sdk.SubscriptionCancel{
				AtPeriodEnd: new(false), Refund: new(sdk.SubscriptionCancelRefundProrated),
			}, sdk.WithIdempotencyKey("cancel"))
			return err
		}
		var payers []*payer
		for i, client := range harness.Accounts(t, url, 2) {
			payers = append(payers, newPayer(t, s, server, bank, client, unheard{name: "cancellation", prepare: upgrade, charge: cancel, again: i == 0}))
		}
		hang(t, bank, "/refunds", payers)
		server.Kill()
		s.endLeases(t)
		s.binary.Serve(t, server.Addr)
		for _, p := range payers {
			p.repeat()
		}
		db := harness.OpenDatabase(t, url)
		await(t, "every refund has an outcome", func() bool { return db.Count(t, "refunds WHERE status = 'pending'") == 0 })
		for _, p := range payers {
			assert.Equal(t, sdk.SubscriptionStatusCanceled, p.now().Status)
			of := ` WHERE account_id = '` + p.client.Account + `'`
			assert.Equal(t, []string{"900 succeeded", "2000 succeeded"}, db.Strings(t, `SELECT amount || ' ' || status FROM refunds`+of+` ORDER BY amount`))
			assert.Equal(t, []string{"refunded", "refunded"}, db.Strings(t, `SELECT status FROM orders`+of))
			assert.Equal(t, 4, db.Count(t, "events"+of+" AND type IN ('refund.created', 'refund.updated')"))
		}
		assert.Equal(t, 4, bank.Count("refund"))
		assert.Empty(t, s.brokenInvariants(t))
	})
}
