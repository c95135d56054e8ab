package billing_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/tests/harness"
)

// TestSettleRefund_ThatFailsLooksAtThePeriodAlone has the bank send back the refund of a period. One of a period before took nothing any more: the
// payment of this period had let the customer in again.
func TestSettleRefund_ThatFailsLooksAtThePeriodAlone(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sub := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
		is := func(status grant.Status, when string) {
			t.Helper()
			g, err := w.Grant.GetGrant(t.Context(), w.account, w.ordersOf(sub)[0].GrantIDs.V[0])
			require.NoError(t, err)
			assert.Equal(t, status, g.Status, when)
		}
		refund := func(order string) *store.Refund {
			r, err := w.CreateRefund(t.Context(), w.account, store.NewRefund{
				Order: order, Amount: new(int64(100)), Reason: store.RefundReasonCustomerRequest, RevokeAccess: new(true),
			})
			require.NoError(t, err)
			is(grant.StatusRevoked, "after a refund")
			return r
		}
		bank := harness.OpenDatabase(t, w.url)
		fail := func(r *store.Refund) {
			bank.Must(t, fmt.Sprintf(`UPDATE test_refunds SET status = 'failed' WHERE id = '%s'`, *r.ProviderRef))
			_, err := w.SettleRefund(t.Context(), r, store.RefundResult{Status: store.RefundStatusFailed, FailureReason: "account_closed"}, time.Second)
			require.NoError(t, err)
		}
		refund(w.ordersOf(sub)[0].ID)
		w.wait(sub.CurrentPeriodEnd.Time().Sub(w.Now().Time()) + time.Second)
		is(grant.StatusActive, "once the next period is paid")
		next := w.ordersOf(sub)[1].ID
		first, second := refund(next), refund(next)
		fail(first)
		is(grant.StatusRevoked, "while another refund of the period stands")
		fail(second)
		is(grant.StatusActive, "when none of the period does")
	})
}

// TestSettleRefund_ThatFailsLetsNobodyInPastAPause has the refund of a subscription sent back that was paused meanwhile.
func TestSettleRefund_ThatFailsLetsNobodyInPastAPause(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sub := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
		is := func(status grant.Status, when string) {
			t.Helper()
			g, err := w.Grant.GetGrant(t.Context(), w.account, w.ordersOf(sub)[0].GrantIDs.V[0])
			require.NoError(t, err)
			assert.Equal(t, status, g.Status, when)
		}
		r, err := w.CreateRefund(t.Context(), w.account, store.NewRefund{
			Order: w.ordersOf(sub)[0].ID, Amount: new(int64(100)), Reason: store.RefundReasonCustomerRequest, RevokeAccess: new(true),
		})
		require.NoError(t, err)
		_, err = w.PauseSubscription(t.Context(), w.account, sub.ID, store.PauseSubscription{Now: true})
		require.NoError(t, err)
		is(grant.StatusRevoked, "while the refund stands")
		harness.OpenDatabase(t, w.url).Must(t, fmt.Sprintf(`UPDATE test_refunds SET status = 'failed' WHERE id = '%s'`, *r.ProviderRef))
		_, err = w.SettleRefund(t.Context(), r, store.RefundResult{Status: store.RefundStatusFailed, FailureReason: "account_closed"}, time.Second)
		require.NoError(t, err)
		is(grant.StatusSuspended, "once it has failed, while the subscription is paused")
		_, err = w.ResumeSubscription(t.Context(), w.account, sub.ID)
		require.NoError(t, err)
		is(grant.StatusActive, "when it is resumed")
	})
}
