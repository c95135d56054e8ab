package billing_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/lib/pq"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// subscriptions makes some of them, for 9 dollars a month, a few with each purchase.
func (w *world) subscriptions(many int) []subscription.Subscription {
	w.t.Helper()
	v := w.variant(recurring(900, "month"))
	for left := many; left > 0; left -= 50 {
		lines := make([]offer.NewLine, min(left, 50))
		for i := range lines {
			lines[i] = one(v)
		}
		_, err := w.pay(w.checkout(lines...).ID, "pm_card_visa")
		require.NoError(w.t, err)
	}
	var made []subscription.Subscription
	for page := (core.Page{Limit: 100}); len(made) < many; page.StartingAfter = made[len(made)-1].ID {
		some, _, err := w.Subscription.List(w.t.Context(), w.account, subscription.List{Page: page, PriceVariant: v.ID})
		require.NoError(w.t, err)
		require.NotEmpty(w.t, some)
		made = append(made, some...)
	}
	return made
}

// behind runs a statement behind the store's back.
func (w *world) behind(query string) {
	w.t.Helper()
	_, err := database.Behind(w.t, w.url).ExecContext(w.t.Context(), query)
	require.NoError(w.t, err)
}

// TestWork_RenewsSeveralAtOnce has charges wait for each other, as long as there are more of them than may be under way.
func TestWork_RenewsSeveralAtOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		const most = 8
		subs := w.subscriptions(3 * most)
		var underWay, peak atomic.Int64
		together := func(payments.ChargeInput) {
			n := underWay.Add(1)
			defer underWay.Add(-1)
			for before := peak.Load(); n > before && !peak.CompareAndSwap(before, n); before = peak.Load() {
			}
			for limit := time.Now().Add(time.Minute); peak.Load() < most && time.Now().Before(limit); {
				time.Sleep(time.Millisecond)
			}
		}
		w.provider.charging.Store(&together)
		w.wait(32 * day)
		assert.EqualValues(t, most, peak.Load())
		for _, sub := range subs {
			assert.EqualValues(t, 2, w.now(&sub).CyclesBilled)
		}
	})
}

// TestWork_LetsNoAccountWaitForAnother has one account whose many renewals are the longest due, and whose provider does
// not answer.
func TestWork_LetsNoAccountWaitForAnother(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		many, busy := w.subscriptions(120), w.account
		account, err := w.Tenant.CreateAccount(t.Context(), tenant.NewAccount{Name: "Bob's shop", Email: "bob@example.com"})
		require.NoError(t, err)
		w.account = account.ID
		sub := w.subscriptions(1)[0]
		goOn := make(chan struct{})
		hang := func(in payments.ChargeInput) {
			if in.Account == busy {
				<-goOn
			}
		}
		w.provider.charging.Store(&hang)
		w.advance.Store(int64(32 * day))
		var group sync.WaitGroup
		group.Go(func() { assert.NoError(t, w.Work(t.Context())) })
		assert.Eventually(t, func() bool {
			orders := w.ordersOf(&sub)
			return len(orders) == 2 && orders[1].Status == order.StatusPaid
		}, time.Minute, 20*time.Millisecond)
		close(goOn)
		group.Wait()
		require.NoError(t, w.Work(t.Context()))
		w.account = busy
		for _, sub := range many {
			require.EqualValues(t, 2, w.now(&sub).CyclesBilled)
		}
	})
}

// TestWork_GoesPastWhatCannotBeDone has more subscriptions that cannot be billed than are looked up at once, all of them
// due longer than the one that can be.
func TestWork_GoesPastWhatCannotBeDone(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		bad := w.subscriptions(101)
		w.behind(`UPDATE subscriptions SET unit_amount = 9000000000000000000, quantity = 2`)
		good := w.subscriptions(1)[0]
		w.advance.Store(int64(32 * day))
		err := w.Work(t.Context())
		require.ErrorContains(t, err, "which is the most that an order can come to")
		assert.Less(t, len(err.Error()), 10_000, "nobody reads more than that")
		assert.EqualValues(t, 2, w.now(&good).CyclesBilled)
		w.behind(`UPDATE subscriptions SET unit_amount = 900, quantity = 1`)
		for range 20 { // a busy machine does not get through all in the time that one has
			require.NoError(t, w.Work(t.Context()))
			if left, err := w.Subscription.Due(t.Context(), w.account, 1); len(left) == 0 {
				require.NoError(t, err)
				break
			}
		}
		for _, sub := range bad {
			require.EqualValues(t, 2, w.now(&sub).CyclesBilled)
		}
	})
}
