package billing_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/payment"
)

// TestConfirmCheckout_HoldsLittleForOne leaves payments at the bank.
func TestConfirmCheckout_HoldsLittleForOne(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v := w.variant(catalog.PriceVariant{Amount: 1900, Stock: new(int64(100))})
		held := func() int64 {
			t.Helper()
			now, err := w.Catalog.GetPriceVariant(t.Context(), w.account, v.ID)
			require.NoError(t, err)
			return now.ReservedCount
		}
		var first *checkout.Checkout
		for i := range 12 {
			c := w.of(v)
			waiting, err := w.from("203.0.113.7", c.ID, consents)
			if i >= 3 {
				slowed(t, err, time.Second, time.Minute)
				continue
			}
			require.NoError(t, err)
			require.Equal(t, checkout.StatusProcessing, waiting.Status)
			if first == nil {
				first = c
			}
		}
		require.EqualValues(t, 3, held())
		left, err := w.Billing.ExpireCheckout(t.Context(), w.account, first.ID)
		require.NoError(t, err)
		assert.Equal(t, checkout.StatusExpired, left.Status)
		require.EqualValues(t, 2, held(), "at once")
		_, err = w.from("203.0.113.7", w.of(v).ID, consents)
		require.NoError(t, err, "there is room again")
	})
}

// TestConfirmCheckout_LeavesToOthersWhatIsFew has strangers of one network hold what they can, of whatever there are only so many.
func TestConfirmCheckout_LeavesToOthersWhatIsFew(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		replicas := w.replicas()
		discounted := w.handbook()
		discount, err := w.Discount.Create(t.Context(), w.account, discount.Discount{
			Name: "Three of them", Type: discount.TypePercent, PercentBps: new(int64(1000)), Duration: discount.DurationOnce, MaxRedemptions: new(int64(3)),
		})
		require.NoError(t, err)
		link, stocked := w.linked(w.handbook(), 3), w.variant(catalog.PriceVariant{Amount: 1900, Stock: new(int64(3))})
		for name, offered := range map[string]func() *checkout.Checkout{
			"a link":  func() *checkout.Checkout { return w.follow(link) },
			"a stock": func() *checkout.Checkout { return w.of(stocked) },
			"a discount": func() *checkout.Checkout {
				c, err := w.Checkout.Update(t.Context(), w.account, w.of(discounted).ID, func(d *checkout.Draft) { d.DiscountID = &discount.ID })
				require.NoError(t, err)
				return c
			},
		} {
			checkouts := make([]*checkout.Checkout, 12)
			for i := range checkouts {
				checkouts[i] = offered()
			}
			held := ""
			for i, err := range parallel(9, func(i int) error {
				_, err := replicas[i%3].from(fmt.Sprintf("203.0.113.%d", i%2), checkouts[i].ID, consents)
				return err
			}) {
				if err == nil {
					assert.Empty(t, held, "%s: held twice", name)
					held = checkouts[i].ID
					continue
				}
				slowed(t, err, time.Second, time.Minute)
			}
			require.NotEmpty(t, held, name)
			for i, network := range []string{"198.51.100.7", "192.0.2.7"} {
				_, err := w.from(network, checkouts[9+i].ID, "pm_card_visa")
				require.NoError(t, err, "%s: somebody else", name)
			}
			require.NoError(t, w.CancelCheckoutPayment(t.Context(), w.account, held))
			_, err = w.from("203.0.113.1", checkouts[11].ID, "pm_card_visa")
			slowed(t, err, 30*time.Second, time.Minute)
			_, err = w.from("198.51.100.7", checkouts[11].ID, "pm_card_visa")
			require.NoError(t, err, "%s: the last one, which nobody holds any more", name)
		}
	})
}

// TestConfirmCheckout_ManyOfOneNetworkBuyWhatIsLimited lets neighbours pay at once as long as enough is left, and each of those
// who pay one after the other.
func TestConfirmCheckout_ManyOfOneNetworkBuyWhatIsLimited(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l := w.linked(w.handbook(), 20)
		for i := range 10 {
			_, err := w.from(fmt.Sprintf("203.0.113.%d", i), w.follow(l).ID, consents)
			require.NoError(t, err, "neighbour %d", i)
		}
		l = w.linked(w.handbook(), 10)
		for i := range 10 {
			_, err := w.from(fmt.Sprintf("198.51.100.%d", i), w.follow(l).ID, "pm_card_visa")
			require.NoError(t, err, "buyer %d", i)
		}
		l = w.linked(w.handbook(), 3)
		for range 3 {
			_, err := w.pay(w.follow(l).ID, consents)
			require.NoError(t, err, "the seller's own program")
		}
	})
}

// many is of, so many pieces of it.
func (w *world) many(v *catalog.PriceVariant, quantity int64) *checkout.Checkout {
	w.t.Helper()
	c, err := w.Checkout.Create(w.t.Context(), w.account, checkout.Draft{
		Checkout: &checkout.Checkout{CustomerEmail: new(core.NewID(core.KindCustomer) + "@example.com")},
		Lines:    []offer.NewLine{{PriceVariant: v.ID, Quantity: quantity}},
	})
	require.NoError(w.t, err)
	return c
}

// TestConfirmCheckout_CountsThePiecesThatAreHeld buys several at once.
func TestConfirmCheckout_CountsThePiecesThatAreHeld(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		replicas := w.replicas()
		v := w.variant(catalog.PriceVariant{Amount: 100, Stock: new(int64(20))})
		checkouts := make([]*checkout.Checkout, 9)
		for i := range checkouts {
			checkouts[i] = w.many(v, 5)
		}
		var held []string
		for i, err := range parallel(9, func(i int) error {
			_, err := replicas[i%3].from(fmt.Sprintf("203.0.113.%d", i), checkouts[i].ID, consents)
			return err
		}) {
			if err == nil {
				held = append(held, checkouts[i].ID)
				continue
			}
			slowed(t, err, time.Second, time.Minute)
		}
		require.Len(t, held, 2, "10 of 20")
		for i := range 2 {
			_, err := w.from(fmt.Sprintf("198.51.100.%d", i), w.many(v, 5).ID, "pm_card_visa")
			require.NoError(t, err, "somebody else")
		}
		for _, c := range held {
			require.NoError(t, w.CancelCheckoutPayment(t.Context(), w.account, c))
		}
		_, err := w.from("192.0.2.7", w.many(v, 10).ID, "pm_card_visa")
		require.NoError(t, err, "who buys all that there is")

		v = w.variant(catalog.PriceVariant{Amount: 100, Stock: new(int64(20))})
		_, err = w.from("203.0.113.1", w.many(v, 15).ID, consents)
		require.NoError(t, err, "one payment may hold what it buys")
		_, err = w.from("203.0.113.2", w.of(v).ID, consents)
		slowed(t, err, time.Second, time.Minute)
		v = w.variant(catalog.PriceVariant{Amount: 100, Stock: new(int64(20))})
		_, err = w.from("203.0.113.1", w.of(v).ID, consents)
		require.NoError(t, err)
		_, err = w.from("203.0.113.2", w.many(v, 15).ID, consents)
		slowed(t, err, time.Second, time.Minute)
	})
}

// TestConfirmCheckout_LetsOthersHoldTheLast takes the last piece again as soon as it can.
func TestConfirmCheckout_LetsOthersHoldTheLast(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		discounted := w.handbook()
		discount, err := w.Discount.Create(t.Context(), w.account, discount.Discount{
			Name: "The last", Type: discount.TypePercent, PercentBps: new(int64(1000)), Duration: discount.DurationOnce, MaxRedemptions: new(int64(1)),
		})
		require.NoError(t, err)
		link, last := w.linked(w.handbook(), 1), w.variant(catalog.PriceVariant{Amount: 100, Stock: new(int64(1))})
		many := w.variant(catalog.PriceVariant{Amount: 100, Stock: new(int64(20))})
		gaveUp := func(c *checkout.Checkout) {
			require.NoError(t, w.CancelCheckoutPayment(t.Context(), w.account, c.ID))
		}
		hold := func(address string, c *checkout.Checkout) error {
			_, err := w.from(address, c.ID, consents)
			return err
		}
		for name, offered := range map[string]func() *checkout.Checkout{
			"a link":                 func() *checkout.Checkout { return w.follow(link) },
			"the last of a stock":    func() *checkout.Checkout { return w.of(last) },
			"all of a stock at once": func() *checkout.Checkout { return w.many(many, 20) },
			"a discount": func() *checkout.Checkout {
				c, err := w.Checkout.Update(t.Context(), w.account, w.of(discounted).ID, func(d *checkout.Draft) { d.DiscountID = &discount.ID })
				require.NoError(t, err)
				return c
			},
		} {
			c := offered()
			require.NoError(t, hold("203.0.113.7", c), name)
			gaveUp(c)
			slowed(t, hold("203.0.113.8", c), 50*time.Second, time.Minute)
			w.advance.Add(int64(time.Minute))
			require.NoError(t, hold("203.0.113.7", c), "%s: a minute later", name)

			w.advance.Add(int64(10 * time.Minute))
			gaveUp(c)
			slowed(t, hold("203.0.113.8", c), 9*time.Minute, 11*time.Minute)
			other := offered()
			require.NoError(t, hold("198.51.100.7", other), "%s: somebody else", name)
			w.advance.Add(int64(31 * time.Minute))
			w.due(other.ID)
			require.NoError(t, w.Reconcile(t.Context()), "it is given up")
			slowed(t, hold("198.51.100.8", other), 29*time.Minute, 30*time.Minute)
			require.NoError(t, hold("203.0.113.8", c), "%s: whose turn it is", name)
			expired, err := w.Billing.ExpireCheckout(t.Context(), w.account, c.ID)
			require.NoError(t, err)
			require.Equal(t, checkout.StatusExpired, expired.Status)
			slowed(t, hold("203.0.113.9", offered()), 50*time.Second, time.Minute)
			_, err = w.from("192.0.2.7", offered().ID, "pm_card_visa")
			require.NoError(t, err, name)
		}
	})
}

// TestConfirmCheckout_WaitsForNobodyWhereThereIsEnough gives payments up of which others could have as much.
func TestConfirmCheckout_WaitsForNobodyWhereThereIsEnough(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v := w.variant(catalog.PriceVariant{Amount: 100, Stock: new(int64(2))})
		c := w.of(v)
		for i := range 4 {
			_, err := w.from("203.0.113.7", c.ID, consents)
			require.NoError(t, err, "card %d", i)
			w.advance.Add(int64(8*time.Minute) >> i)
			require.NoError(t, w.CancelCheckoutPayment(t.Context(), w.account, c.ID))
		}
		_, err := w.from("198.51.100.7", w.of(v).ID, "pm_card_visa")
		require.NoError(t, err)
		_, err = w.from("203.0.113.7", c.ID, consents)
		slowed(t, err, 30*time.Second, 8*time.Minute)

		last := w.variant(catalog.PriceVariant{Amount: 100, Stock: new(int64(1))})
		c = w.of(last)
		_, err = w.from("203.0.113.9", c.ID, declined)
		refused(t, err, "payment_method")
		_, err = w.from("203.0.113.9", c.ID, "pm_card_visa")
		require.NoError(t, err, "another card, after one that held nothing at a bank")
	})
}

// TestConfirmCheckout_LetsOthersHoldWhatABankDeclined ends at the bank as one does who is not its card's owner.
func TestConfirmCheckout_LetsOthersHoldWhatABankDeclined(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v := w.variant(catalog.PriceVariant{Amount: 100, Stock: new(int64(1))})
		c := w.of(v)
		_, err := w.from("203.0.113.7", c.ID, consents)
		require.NoError(t, err)
		p, err := w.Payment.OfCheckout(t.Context(), w.account, c.ID)
		require.NoError(t, err)
		_, err = w.SettlePayment(t.Context(), p, payment.ChargeResult{
			Status: payment.StatusFailed, Failure: &payment.Failure{Code: "authentication_required", Message: "No."},
		})
		require.NoError(t, err)
		_, err = w.from("203.0.113.8", w.of(v).ID, consents)
		slowed(t, err, 50*time.Second, time.Minute)
		_, err = w.from("198.51.100.7", w.of(v).ID, "pm_card_visa")
		require.NoError(t, err)
	})
}

// TestConfirmCheckout_ManyNetworksHoldNotAll leaves payments at the bank from fourteen networks, each of which holds what it may.
func TestConfirmCheckout_ManyNetworksHoldNotAll(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.stand()
		v := w.variant(catalog.PriceVariant{Amount: 1900, Stock: new(int64(100))})
		waiting := map[string]int64{}
		for i := range 14 {
			for _, pieces := range []int64{25, 20, 10, 5, 1} {
				c := w.many(v, pieces)
				if got, err := w.from(fmt.Sprintf("198.51.%d.7", i), c.ID, consents); err == nil {
					require.Equal(t, checkout.StatusProcessing, got.Status)
					waiting[c.ID] = pieces
				}
			}
		}
		held := func() (held int64) {
			now, err := w.Catalog.GetPriceVariant(t.Context(), w.account, v.ID)
			require.NoError(t, err)
			return now.ReservedCount
		}
		require.EqualValues(t, 50, held(), "all together no more than they leave")
		c := w.of(v)
		_, err := w.from("192.0.2.7", c.ID, consents)
		refused(t, err, "payment_method")
		require.ErrorContains(t, err, "Only few are left")
		open, err := w.Checkout.Get(t.Context(), w.account, c.ID)
		require.NoError(t, err)
		require.Equal(t, checkout.StatusOpen, open.Status, "nothing of it is left at the bank")
		for i := range 20 {
			_, err := w.from(fmt.Sprintf("192.0.%d.1", i), w.of(v).ID, "pm_card_visa")
			require.NoError(t, err, "who pays at once")
		}
		w.advance.Add(int64(4 * time.Minute))
		for id := range waiting {
			w.due(id)
		}
		require.NoError(t, w.Reconcile(t.Context()))
		require.EqualValues(t, 50, held(), "for five minutes")
		w.advance.Add(int64(time.Minute + time.Second))
		for id := range waiting {
			w.due(id)
		}
		require.NoError(t, w.Reconcile(t.Context()))
		rest := held()
		require.LessOrEqual(t, rest, int64(40), "of those that held more than was left as many are given up as it takes")
		_, err = w.from("192.0.2.7", c.ID, consents)
		require.NoError(t, err, "somebody else")
		w.advance.Add(int64(6 * time.Minute))
		w.due(c.ID)
		require.NoError(t, w.Reconcile(t.Context()))
		require.Equal(t, rest+1, held(), "there is enough: it has half an hour")
	})
}

// TestConfirmCheckout_ARushHurtsNobodyWhoseBankAsks has many pay at once, of whom one waits for their bank.
func TestConfirmCheckout_ARushHurtsNobodyWhoseBankAsks(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v := w.variant(catalog.PriceVariant{Amount: 1900, Stock: new(int64(10))})
		w.provider.lost.Store(true)
		var rush []*checkout.Checkout
		for i := range 7 {
			c := w.of(v)
			_, err := w.from(fmt.Sprintf("198.51.%d.7", i), c.ID, "pm_card_visa")
			require.Equal(t, core.Unknown, core.OutcomeOf(err), "on its way")
			rush = append(rush, c)
		}
		w.provider.lost.Store(false)
		asked := w.of(v)
		waiting, err := w.from("192.0.2.7", asked.ID, consents)
		require.NoError(t, err, "nobody else waits for a bank")
		require.Equal(t, checkout.StatusProcessing, waiting.Status)
		_, err = w.from("203.0.113.7", w.of(v).ID, consents)
		refused(t, err, "payment_method") // with the first one it would hold more than is left
		for _, c := range rush {
			w.due(c.ID)
		}
		require.NoError(t, w.Reconcile(t.Context()))
		payment, err := w.Payment.OfCheckout(t.Context(), w.account, asked.ID)
		require.NoError(t, err)
		_, err = w.provider.authenticate(t.Context(), payment)
		require.NoError(t, err)
		_, err = w.ResumePayment(t.Context(), w.account, payment.ID)
		require.NoError(t, err)
		assert.Len(t, w.orders(), 8)
	})
}

// TestConfirmCheckout_HoldsAloneForTheWholeTime leaves the payment of a last piece at the bank while nobody else holds one.
func TestConfirmCheckout_HoldsAloneForTheWholeTime(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		c := w.of(w.variant(catalog.PriceVariant{Amount: 100, Stock: new(int64(1))}))
		_, err := w.from("203.0.113.7", c.ID, consents)
		require.NoError(t, err)
		for _, at := range []struct {
			later  time.Duration
			status checkout.Status
		}{{6 * time.Minute, checkout.StatusProcessing}, {23 * time.Minute, checkout.StatusProcessing}, {2 * time.Minute, checkout.StatusOpen}} {
			w.advance.Add(int64(at.later))
			w.due(c.ID)
			require.NoError(t, w.Reconcile(t.Context()))
			now, err := w.Checkout.Get(t.Context(), w.account, c.ID)
			require.NoError(t, err)
			require.Equal(t, at.status, now.Status, "after %s more", at.later)
		}
	})
}
