package billing_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

// TestGrant_SaysUntilWhenItsSubscriptionHasPaid takes the grant of a plan of one instalment, after a trial, to its end: licences that go on without us
// end with what is paid for.
func TestGrant_SaysUntilWhenItsSubscriptionHasPaid(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v := recurring(900, "month")
		v.TrialDays, v.BillingCycles = 14, new(int64(1))
		sub := w.subscribe(w.variant(v), "pm_card_visa")
		is := func(want *core.Time, when string) {
			t.Helper()
			g, err := w.Grant.GetGrant(t.Context(), w.account, w.ordersOf(sub)[0].GrantIDs.V[0])
			require.NoError(t, err)
			assert.Equal(t, want, g.PaidUntil, when)
		}
		passes := func(want store.SubscriptionStatus) {
			t.Helper()
			w.wait(sub.CurrentPeriodEnd.Time().Sub(w.Now().Time()) + time.Second)
			var err error
			sub, err = w.GetSubscription(t.Context(), w.account, sub.ID)
			require.NoError(t, err)
			require.Equal(t, want, sub.Status)
		}
		is(&sub.CurrentPeriodEnd, "in a trial")
		passes(store.SubscriptionStatusActive)
		is(&sub.CurrentPeriodEnd, "once the first period is paid")
		passes(store.SubscriptionStatusCompleted)
		is(nil, "once everything is paid")
	})
}
