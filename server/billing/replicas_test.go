package billing_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/subscription"
)

// replicas are three shops on one database, each with its own worker and its own line to the provider.
func (w *world) replicas() []*world {
	w.t.Helper()
	all := []*world{w, open(w.t, w.url), open(w.t, w.url)}
	for _, r := range all {
		r.account = w.account
	}
	return all
}

// confirmed is how often the replicas have asked the provider to charge.
func confirmed(replicas []*world) (n int) {
	for _, r := range replicas {
		n += int(r.provider.confirms.Load())
	}
	return n
}

// TestWork_OfThreeReplicasChargesOnce renews, tries again and gives up with three workers that all begin at once.
func TestWork_OfThreeReplicasChargesOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		replicas := w.replicas()
		price := w.variant(recurring(900, "month"))
		const members, failing = 18, 6
		subs := make([]*subscription.Subscription, members)
		for i := range subs {
			subs[i] = w.subscribe(price, map[bool]string{true: "tok_fail_on_renewal", false: "pm_card_visa"}[i < failing])
		}
		charges := members
		require.Equal(t, charges, confirmed(replicas))
		for i, days := range []int{32, 3, 5, 7, 7} {
			for _, r := range replicas {
				r.advance.Add(int64(time.Duration(days) * day))
			}
			for _, err := range parallel(len(replicas), func(i int) error { return replicas[i].Work(t.Context()) }) {
				require.NoError(t, err)
			}
			charges += failing
			if i == 0 {
				charges += members - failing
			}
			require.Equal(t, charges, confirmed(replicas), "after %d days more", days)
		}
		for i, sub := range subs {
			orders, now := w.ordersOf(sub), w.now(sub)
			require.Len(t, orders, 2)
			assert.EqualValues(t, 2, now.CyclesBilled)
			assert.Equal(t, i < failing, orders[1].Status == order.StatusVoid)
			assert.Equal(t, i < failing, now.Status == subscription.StatusCanceled)
		}
	})
}

// TestConfirmCheckout_TwentyAtOnceOfThreeReplicas wants one checkout paid from everywhere.
func TestConfirmCheckout_TwentyAtOnceOfThreeReplicas(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		replicas := w.replicas()
		checkout := w.checkout(one(w.handbook()))
		errs := parallel(20, func(i int) error {
			_, err := replicas[i%len(replicas)].pay(checkout.ID, "pm_card_visa")
			return err
		})
		for _, err := range errs {
			if err != nil {
				refused(t, err, "status")
			}
		}
		assert.Contains(t, errs, nil, "somebody has paid")
		assert.Len(t, w.orders(), 1)
		assert.Equal(t, 1, confirmed(replicas))
	})
}

// TestConfirmCheckout_TwentyBuyersOfTheLastUnitAtThreeReplicas sells one of something from everywhere.
func TestConfirmCheckout_TwentyBuyersOfTheLastUnitAtThreeReplicas(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		replicas := w.replicas()
		v := w.variant(catalog.PriceVariant{Amount: 1900, Stock: new(int64(1))})
		checkouts := make([]*checkout.Checkout, 20)
		for i := range checkouts {
			checkouts[i] = w.checkout(one(v))
		}
		sold := 0
		for _, err := range parallel(len(checkouts), func(i int) error {
			_, err := replicas[i%len(replicas)].pay(checkouts[i].ID, "pm_card_visa")
			return err
		}) {
			if err == nil {
				sold++
				continue
			}
			refused(t, err, "line_items")
		}
		assert.Equal(t, 1, sold)
		assert.Len(t, w.orders(), 1)
		assert.Equal(t, 1, confirmed(replicas))
	})
}
