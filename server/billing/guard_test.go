package billing_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/tenant"
)

const (
	declined = "pm_card_chargeDeclined"
	consents = "pm_card_authenticationRequired"
)

// from pays without an API key.
func (w *world) from(address, checkout, method string) (*checkout.Checkout, error) {
	in := with(method)
	in.From.Address = address
	return w.ConfirmCheckout(w.t.Context(), w.account, checkout, in)
}

// of is a checkout whose buyer is somebody else than that of any other.
func (w *world) of(v *catalog.PriceVariant) *checkout.Checkout {
	w.t.Helper()
	c, err := w.Checkout.Create(w.t.Context(), w.account, checkout.Draft{
		Checkout: &checkout.Checkout{CustomerEmail: new(core.NewID(core.KindCustomer) + "@example.com")}, Lines: []offer.NewLine{one(v)},
	})
	require.NoError(w.t, err)
	return c
}

// slowed asserts a refusal that says how long to wait.
func slowed(t *testing.T, err error, atLeast, atMost time.Duration) {
	t.Helper()
	var e *core.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, core.CodeRateLimit, e.Code, e.Message)
	assert.GreaterOrEqual(t, e.After, atLeast)
	assert.LessOrEqual(t, e.After, atMost)
	assert.Contains(t, e.Message, "Try again in ")
}

// isSlowed tells a refusal to ask the provider from a decline.
func isSlowed(t *testing.T, err error) bool {
	t.Helper()
	var e *core.Error
	require.ErrorAs(t, err, &e)
	return e.Code == core.CodeRateLimit
}

// TestConfirmCheckout_WaitsAfterFiveDeclines lets a buyer with two wrong cards go on, and one with many wait longer each time,
// whoever asks for them.
func TestConfirmCheckout_WaitsAfterFiveDeclines(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v := w.handbook()
		unlucky := w.of(v)
		for range 2 {
			_, err := w.from("203.0.113.9", unlucky.ID, declined)
			refused(t, err, "payment_method")
		}
		_, err := w.from("203.0.113.9", unlucky.ID, "pm_card_visa")
		require.NoError(t, err)

		for name, pay := range map[string]func(checkout, method string) (*checkout.Checkout, error){
			"with a key": w.pay, "without": func(checkout, method string) (*checkout.Checkout, error) {
				return w.from("203.0.113.7", checkout, method)
			},
		} {
			c := w.of(v)
			for range 5 {
				_, err := pay(c.ID, declined)
				refused(t, err, "payment_method")
			}
			asked := w.provider.confirms.Load()
			for wait := time.Minute; wait <= 4*time.Minute; wait *= 2 {
				_, err := pay(c.ID, "pm_card_visa")
				slowed(t, err, wait-10*time.Second, wait)
				require.Equal(t, asked, w.provider.confirms.Load(), "the provider was asked %s", name)
				w.advance.Add(int64(wait))
				_, err = pay(c.ID, declined)
				refused(t, err, "payment_method")
				asked++
				require.Equal(t, asked, w.provider.confirms.Load(), "the provider was not asked %s", name)
			}
			w.advance.Add(int64(8 * time.Minute))
			_, err = pay(c.ID, "pm_card_visa")
			require.NoError(t, err, name)
		}
	})
}

// TestConfirmCheckout_TheSameRequestIsNoTry sends a declined request again.
func TestConfirmCheckout_TheSameRequestIsNoTry(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		c := w.of(w.handbook())
		for i := range 5 {
			key := &core.Key{Account: w.account, Key: fmt.Sprint("try ", i), External: true}
			for range 3 {
				answer, _, err := w.request(w, key, c.ID, declined)
				require.NoError(t, err)
				require.Equal(t, 422, answer.Status)
			}
		}
		assert.EqualValues(t, 5, w.provider.confirms.Load())
		more := &core.Key{Account: w.account, Key: "one more", External: true}
		_, _, err := w.request(w, more, c.ID, declined)
		assert.True(t, isSlowed(t, err))
		assert.EqualValues(t, 5, w.provider.confirms.Load())
		w.advance.Add(int64(time.Minute))
		_, _, err = w.request(w, more, c.ID, declined)
		require.NoError(t, err, "a refusal leaves the key free")
		assert.EqualValues(t, 6, w.provider.confirms.Load())
	})
}

// TestConfirmCheckout_OneAddressAtThreeReplicas tries stolen cards on many checkouts, one after the other and at once.
func TestConfirmCheckout_OneAddressAtThreeReplicas(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		replicas, v := w.replicas(), w.handbook()
		for range 3 {
			_, err := w.from("203.0.113.7", w.of(v).ID, "pm_card_visa")
			require.NoError(t, err)
		}
		before := confirmed(replicas)
		var next atomic.Int64
		checkouts := make([]*checkout.Checkout, 64)
		for i := range checkouts {
			checkouts[i] = w.of(v)
		}
		for _, err := range parallel(16, func(i int) error {
			for {
				at := int(next.Add(1)) - 1
				if at >= len(checkouts) {
					return nil
				}
				if _, err := replicas[i%3].from("203.0.113.7", checkouts[at].ID, declined); err == nil {
					return fmt.Errorf("a declined card paid")
				}
			}
		}) {
			require.NoError(t, err)
		}
		tried := confirmed(replicas) - before
		assert.LessOrEqual(t, tried, 20)
		assert.GreaterOrEqual(t, tried, 3, "those that may be under way at once")
		for i := range 30 {
			_, _ = replicas[i%3].from("203.0.113.7", w.of(v).ID, declined)
		}
		assert.Equal(t, 20, confirmed(replicas)-before, "all at once and one after the other")
		_, err := w.from("203.0.113.7", w.of(v).ID, "pm_card_visa")
		slowed(t, err, time.Second, time.Minute) // however long the tries before it took
		_, err = w.from("203.0.113.8", w.of(v).ID, "pm_card_visa")
		require.NoError(t, err, "a neighbour")
		_, err = w.pay(w.of(v).ID, "pm_card_visa")
		require.NoError(t, err, "the seller's own program")
	})
}

// TestConfirmCheckout_CountsWhatIsNear changes address, subscriber and network.
func TestConfirmCheckout_CountsWhatIsNear(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v := w.handbook()
		w.neverPaused()
		// tries counts how often the provider is asked about cards from addresses.
		tries := func(n int, address func(i int) string) (asked int) {
			t.Helper()
			before := w.provider.confirms.Load()
			for i := range n {
				_, err := w.from(address(i), w.of(v).ID, declined)
				require.Error(t, err)
			}
			return int(w.provider.confirms.Load() - before)
		}
		assert.Equal(t, 60, tries(80, func(i int) string { return fmt.Sprintf("198.51.100.%d", i) }), "a /24")
		assert.Equal(t, 20, tries(30, func(i int) string { return fmt.Sprintf("2001:db8:1:1::%d", i) }), "a /64")
		assert.Equal(t, 60, tries(80, func(i int) string { return fmt.Sprintf("2001:db8:2:%d::1", i) }), "a /48")
		assert.Equal(t, 60, tries(80, func(int) string { return "10.1.2.3" }), "a proxy that is not named")
	})
}

// TestConfirmCheckout_StopsNobodyByTheirAddress has cards declined, and payments left at the bank, under somebody's address.
func TestConfirmCheckout_StopsNobodyByTheirAddress(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v := w.handbook()
		for i := range 12 {
			_, err := w.from(fmt.Sprintf("203.0.%d.1", i), w.checkout(one(v)).ID, declined)
			refused(t, err, "payment_method")
			waiting, err := w.from(fmt.Sprintf("203.0.%d.1", i), w.checkout(one(v)).ID, consents)
			require.NoError(t, err)
			require.Equal(t, checkout.StatusProcessing, waiting.Status)
		}
		_, err := w.from("198.51.100.7", w.checkout(one(v)).ID, "pm_card_visa")
		require.NoError(t, err, "whose address it is")
	})
}

// TestConfirmCheckout_CountsNoneThatItsBuyerLeft cancels at the bank, again and again.
func TestConfirmCheckout_CountsNoneThatItsBuyerLeft(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v := w.handbook()
		_, err := w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) { a.DeclineLimit = new(int64(10)) })
		require.NoError(t, err)
		c := w.of(v)
		for n := range 25 {
			waiting, err := w.from("203.0.113.7", c.ID, consents)
			require.NoError(t, err, "time %d", n)
			require.Equal(t, checkout.StatusProcessing, waiting.Status)
			require.NoError(t, w.CancelCheckoutPayment(t.Context(), w.account, c.ID))
		}
		for range 5 {
			_, err := w.from("203.0.113.7", c.ID, declined)
			refused(t, err, "payment_method")
		}
		_, err = w.from("203.0.113.7", c.ID, "pm_card_visa")
		slowed(t, err, 30*time.Second, time.Minute)
		assert.Nil(t, w.seller().PaymentsPausedUntil)
	})
}

// TestConfirmCheckout_ForgetsDeclinesAfterAnHour has an unlucky buyer come back.
func TestConfirmCheckout_ForgetsDeclinesAfterAnHour(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		c := w.of(w.handbook())
		for range 3 {
			for range 5 {
				_, err := w.pay(c.ID, declined)
				refused(t, err, "payment_method")
			}
			_, err := w.pay(c.ID, declined)
			slowed(t, err, 30*time.Second, time.Minute)
			w.advance.Add(int64(time.Hour + 2*time.Minute))
		}
	})
}

// TestConfirmCheckout_CountsNoSuccess buys from one address as often as it likes.
func TestConfirmCheckout_CountsNoSuccess(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v := w.handbook()
		for i := range 90 {
			_, err := w.from("203.0.113.7", w.of(v).ID, "pm_card_visa")
			require.NoError(t, err, "purchase %d", i)
		}
	})
}

// TestConfirmCheckout_ATestClockShortensNoWait moves the account's clock.
func TestConfirmCheckout_ATestClockShortensNoWait(t *testing.T) {
	eachWithClock(t, func(t *testing.T, w *world) {
		c := w.of(w.handbook())
		for range 5 {
			_, err := w.pay(c.ID, declined)
			refused(t, err, "payment_method")
		}
		w.move(20 * time.Minute)
		_, err := w.pay(c.ID, declined)
		slowed(t, err, time.Second, time.Minute)
	})
}

// TestDeleteOldGuards_LeavesWhatIsUnderWay wants nobody's address kept for longer than it is counted.
func TestDeleteOldGuards_LeavesWhatIsUnderWay(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v := w.handbook()
		_, err := w.from("203.0.113.7", w.of(v).ID, "pm_card_visa")
		require.NoError(t, err)
		_, err = w.from("198.51.100.7", w.of(v).ID, consents)
		require.NoError(t, err)
		deleted, err := w.Payment.DeleteOldGuards(t.Context(), 100)
		require.NoError(t, err)
		assert.Zero(t, deleted)
		w.advance.Add(int64(3 * time.Hour))
		deleted, err = w.Payment.DeleteOldGuards(t.Context(), 1)
		require.NoError(t, err)
		assert.EqualValues(t, 1, deleted)
		deleted, err = w.Payment.DeleteOldGuards(t.Context(), 100)
		require.NoError(t, err)
		assert.EqualValues(t, 1, deleted)
	})
}
