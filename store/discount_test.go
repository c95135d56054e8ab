package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/pricing"
)

// discount makes one of 20 %, changed as the test wants it.
func (s *shop) discount(t *testing.T, change func(*Discount)) *Discount {
	t.Helper()
	d := Discount{Name: "Spring", Type: DiscountTypePercent, PercentBps: ref(int64(2000))}
	if change != nil {
		change(&d)
	}
	made, err := s.CreateDiscount(t.Context(), s.account, d)
	require.NoError(t, err)
	return made
}

// redeemed redeems a discount for a new checkout of the address.
func (s *shop) redeemed(t *testing.T, d *Discount, email string) (*Checkout, error) {
	t.Helper()
	c := &Checkout{AccountID: s.account, ID: core.NewID(core.KindCheckout), CustomerEmail: &email, EmailVerified: true, Currency: "usd", DiscountAmount: 100}
	_, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		by := redeemer{email: &email}
		return nil, s.redeem(ctx, u, c.redemption(d, by), d, by, "discount_code")
	})
	return c, err
}

func (s *shop) released(t *testing.T, c *Checkout) {
	t.Helper()
	_, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (any, error) { return nil, s.releaseRedemption(ctx, u, c) })
	require.NoError(t, err)
}

// requireCounted wants the count of a discount to be that of its redemptions.
func (s *shop) requireCounted(t *testing.T, d *Discount, want int64) {
	t.Helper()
	got, err := s.GetDiscount(t.Context(), s.account, d.ID)
	require.NoError(t, err)
	require.Equal(t, want, got.RedemptionsCount)
	list, more, err := s.ListDiscountRedemptions(t.Context(), s.account, d.ID, ListDiscountRedemptions{Page: core.Page{Limit: 100}})
	require.NoError(t, err)
	require.False(t, more)
	require.Len(t, list, int(want))
}

// Whatever the clock, the switch and the count say, the filter of the list finds a discount under the status that it has.
func TestListDiscounts_FiltersByTheStatusThatItShows(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		now := s.Now()
		moment := func() *core.Time { // mostly past or future, in any combination
			if rand.IntN(3) == 0 {
				return nil
			}
			return ref(now.Add(time.Duration(rand.IntN(200)-100) * time.Hour))
		}
		wanted := map[DiscountStatus]map[string]bool{}
		for range 60 {
			d := s.discount(t, func(d *Discount) {
				if d.StartsAt, d.EndsAt = moment(), moment(); d.StartsAt != nil && d.EndsAt != nil && *d.StartsAt >= *d.EndsAt {
					d.StartsAt = ref(d.EndsAt.Add(-time.Hour))
				}
				if rand.IntN(2) == 0 {
					d.MaxRedemptions = ref(int64(1 + rand.IntN(2)))
				}
			})
			if d.Status == DiscountStatusActive {
				_, err := s.redeemed(t, d, "ada@example.com")
				require.NoError(t, err)
			}
			if rand.IntN(5) == 0 {
				_, err := s.DisableDiscount(t.Context(), s.account, d.ID)
				require.NoError(t, err)
			}
			d, err := s.GetDiscount(t.Context(), s.account, d.ID)
			require.NoError(t, err)
			if wanted[d.Status] == nil {
				wanted[d.Status] = map[string]bool{}
			}
			wanted[d.Status][d.ID] = true
		}
		for _, status := range []DiscountStatus{DiscountStatusActive, DiscountStatusScheduled, DiscountStatusExpired, DiscountStatusExhausted, DiscountStatusDisabled} {
			list, _, err := s.ListDiscounts(t.Context(), s.account, ListDiscounts{Page: core.Page{Limit: 100}, Status: status})
			require.NoError(t, err)
			found := map[string]bool{}
			for _, d := range list {
				assert.Equal(t, status, d.Status)
				found[d.ID] = true
			}
			assert.Len(t, found, len(wanted[status]), "%s", status)
		}
	})
}

func TestRedeem_CountsAndReleaseGivesBack(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		d := s.discount(t, func(d *Discount) { d.MaxRedemptions = ref(int64(1)) })
		first, err := s.redeemed(t, d, "ada@example.com")
		require.NoError(t, err)
		s.requireCounted(t, d, 1)
		_, err = s.redeemed(t, d, "grace@example.com")
		dbtest.RequireInvalid(t, err, "discount_code")
		s.requireCounted(t, d, 1)
		s.released(t, first)
		s.released(t, first) // there is nothing left to give back
		s.requireCounted(t, d, 0)
		_, err = s.redeemed(t, d, "grace@example.com")
		require.NoError(t, err)
		s.requireCounted(t, d, 1)
	})
}

func TestRedeem_RefusesWhatCannotBeUsedAnyMore(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		past, future := s.Now().Add(-time.Hour), s.Now().Add(time.Hour)
		for name, change := range map[string]func(*Discount){
			"disabled":  func(d *Discount) { d.DisabledAt = &past },
			"expired":   func(d *Discount) { d.EndsAt = &past },
			"scheduled": func(d *Discount) { d.StartsAt = &future },
			"deleted":   func(d *Discount) { d.DeletedAt = &past },
		} {
			d := s.discount(t, nil)
			changed := *d
			change(&changed)
			_, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (any, error) {
				return nil, u.Update(ctx, discountColumns, &changed)
			})
			require.NoError(t, err)
			_, err = s.redeemed(t, d, "ada@example.com") // with what was read before
			dbtest.RequireInvalid(t, err, "discount_code")
			n := s.count(t, `SELECT redemptions_count FROM discounts WHERE account_id = ? AND id = ?`, s.account, d.ID)
			require.Zero(t, n, name)
		}
	})
}

func TestRedeem_CountsPerBuyerInAnyCase(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		d := s.discount(t, func(d *Discount) { d.MaxRedemptionsPerCustomer = ref(int64(2)) })
		for _, email := range []string{"ada@example.com", "ADA@example.com", "grace@example.com"} {
			_, err := s.redeemed(t, d, email)
			require.NoError(t, err)
		}
		_, err := s.redeemed(t, d, "Ada@Example.com")
		dbtest.RequireInvalid(t, err, "discount_code")
		s.requireCounted(t, d, 3)
	})
}

func TestRedeem_FirstPurchaseIsOne(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		d := s.discount(t, func(d *Discount) { d.FirstPurchaseOnly = true })
		begun, err := s.BeginConfirm(t.Context(), s.account, s.checkout(t, s.onSale(t, catalog.PriceVariant{AmountType: catalog.PriceVariantAmountTypeFree})).ID, Confirm{})
		require.NoError(t, err)
		require.Equal(t, CheckoutStatusCompleted, begun.Checkout.Status)
		_, err = s.redeemed(t, d, "Grace@example.com") // who has bought by now
		dbtest.RequireInvalid(t, err, "discount_code")
		_, err = s.redeemed(t, d, "ada@example.com")
		require.NoError(t, err)
		_, err = s.redeemed(t, d, "ada@example.com") // whose first purchase is under way
		dbtest.RequireInvalid(t, err, "discount_code")
		s.requireCounted(t, d, 1)
	})
}

// Twenty buyers have all read that one use is left, and wait for the discount's row.
func TestRedeem_TwentyBuyersOfTheLastUse(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		everybody := s.discount(t, func(d *Discount) { d.MaxRedemptions = ref(int64(1)) })
		requireOneOfTwenty(t, s, everybody, func(i int) string { return fmt.Sprintf("buyer%d@example.com", i) })
		somebody := s.discount(t, func(d *Discount) { d.MaxRedemptionsPerCustomer = ref(int64(1)) })
		requireOneOfTwenty(t, s, somebody, func(int) string { return "ada@example.com" })
	})
}

func requireOneOfTwenty(t *testing.T, s *shop, d *Discount, email func(i int) string) {
	t.Helper()
	replicas := []*shop{s, {Store: openStore(t, s.db.Options.URL), account: s.account}}
	errs := make([]error, 20)
	var buyers sync.WaitGroup
	s.during(t, func(ctx context.Context, u *db.Unit) {
		_, err := s.lockDiscount(ctx, u, s.account, d.ID)
		require.NoError(t, err)
		for i := range errs {
			buyers.Go(func() { _, errs[i] = replicas[i%2].redeemed(t, d, email(i)) })
		}
		s.waiting(t, len(errs))
	})
	buyers.Wait()
	won := 0
	for _, err := range errs {
		var refusal *core.Error
		if err == nil {
			won++
		} else if !errors.As(err, &refusal) {
			t.Error(err)
		}
	}
	require.Equal(t, 1, won)
	s.requireCounted(t, d, 1)
}

func TestDeleteDiscount_KeepsTheRowForItsRedemptions(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		d := s.discount(t, func(d *Discount) { d.Code = ref("SPRING") })
		c, err := s.redeemed(t, d, "ada@example.com")
		require.NoError(t, err)
		_, err = s.DeleteDiscount(t.Context(), s.account, d.ID)
		require.NoError(t, err)
		_, err = s.GetDiscount(t.Context(), s.account, d.ID)
		dbtest.RequireCode(t, err, core.CodeMissing)
		again := s.discount(t, func(d *Discount) { d.Code = ref("spring") }) // the code is free
		found, err := s.LookupDiscount(t.Context(), s.account, "Spring")
		require.NoError(t, err)
		require.Equal(t, again.ID, found.ID)
		s.released(t, c)
		require.Zero(t, s.count(t, `SELECT redemptions_count FROM discounts WHERE account_id = ? AND id = ?`, s.account, d.ID))
	})
}

func TestDiscountTerms_WorkedExamples(t *testing.T) {
	t.Parallel()
	line := func(product, variant string, amount int64) lineitem.Item {
		return lineitem.Item{ProductID: &product, PriceVariantID: &variant, UnitAmount: amount, Quantity: 1}
	}
	fee := line("a", "a1", 1000)
	fee.Kind = lineitem.KindSetupFee
	items := []lineitem.Item{line("a", "a1", 100), line("a", "a2", 100), line("b", "b1", 100), line("c", "c1", 100), fee}
	percent := Discount{Type: DiscountTypePercent, PercentBps: ref(int64(3333))}
	fixed := Discount{Type: DiscountTypeFixed, Amount: ref(int64(150)), Currency: ref("usd"), Amounts: core.JSONOf(map[string]int64{"jpy": 7})}
	with := func(d Discount, change func(*Discount)) Discount {
		change(&d)
		return d
	}
	tests := map[string]struct {
		discount Discount
		currency string
		want     []int64
	}{
		"everything, rounded once": {percent, "usd", []int64{34, 33, 33, 33}}, // 133 of 400
		"a product and a price variant": {
			with(percent, func(d *Discount) {
				d.ProductIDs, d.PriceVariantIDs = core.JSONOf([]string{"b"}), core.JSONOf([]string{"a2"})
			}), "eur", []int64{0, 34, 33, 0},
		},
		"a rate for each plan": {
			with(percent, func(d *Discount) {
				d.Rules = core.JSONOf([]DiscountRule{{PriceVariantID: "a1", PercentBps: ref(int64(5000))}, {PriceVariantID: "b1", PercentBps: ref(int64(0))}})
			}), "usd", []int64{50, 34, 0, 33},
		},
		"rules of one rate are rounded together": {
			with(percent, func(d *Discount) {
				d.PriceVariantIDs = core.JSONOf([]string{"a2"})
				d.Rules = core.JSONOf([]DiscountRule{{PriceVariantID: "a1", PercentBps: ref(int64(3333))}})
			}), "usd", []int64{34, 33, 0, 0},
		},
		"a fixed amount is shared":          {fixed, "usd", []int64{38, 38, 37, 37}},
		"in another currency":               {fixed, "jpy", []int64{2, 2, 2, 1}},
		"without an amount in the currency": {fixed, "eur", []int64{0, 0, 0, 0}},
		"a fixed amount of its own for a plan": {
			with(fixed, func(d *Discount) {
				d.Rules = core.JSONOf([]DiscountRule{{PriceVariantID: "c1", Amount: ref(int64(10)), Amounts: map[string]int64{"jpy": 1}}})
			}), "usd", []int64{50, 50, 50, 10},
		},
	}
	for name, test := range tests {
		lines := make([]pricing.Line, len(items))
		for i, item := range items {
			lines[i] = pricing.Line{UnitAmount: item.UnitAmount, Quantity: item.Quantity}
		}
		order, err := pricing.Totals(lines, test.discount.terms().pricing(items, test.currency)...)
		require.NoError(t, err)
		got := make([]int64, len(items))
		for i, line := range order.Lines {
			got[i] = line.Discount
		}
		assert.Equal(t, append(test.want, 0), got, name)
	}
}

func TestDiscount_RefusesLinesThatItIsNotFor(t *testing.T) {
	t.Parallel()
	now := core.Time(1_000_000)
	items := []lineitem.Item{{ProductID: new("a"), PriceVariantID: new("a1"), UnitAmount: 400, Quantity: 2}}
	for name, test := range map[string]struct {
		discount Discount
		want     string
	}{
		"usable":                         {Discount{Type: DiscountTypePercent}, ""},
		"from its first moment":          {Discount{StartsAt: &now, Type: DiscountTypePercent}, ""},
		"until its end":                  {Discount{EndsAt: &now, Type: DiscountTypePercent}, "This discount has expired."},
		"too early":                      {Discount{StartsAt: ref(now + 1)}, "This discount begins on 1970-01-01T00:00:01.000Z."},
		"disabled":                       {Discount{DisabledAt: &now}, "This discount is disabled."},
		"used up":                        {Discount{MaxRedemptions: ref(int64(2)), RedemptionsCount: 2}, "This discount has been used as often as it can be."},
		"enough is bought":               {Discount{Type: DiscountTypePercent, MinSubtotalAmount: ref(int64(800)), Currency: ref("usd")}, ""},
		"too little is bought":           {Discount{MinSubtotalAmount: ref(int64(801)), Currency: ref("usd")}, "This discount needs a subtotal of at least 801."},
		"a subtotal in another currency": {Discount{MinSubtotalAmount: ref(int64(1)), Currency: ref("eur")}, "This discount cannot be used in usd."},
		"an amount in another currency":  {Discount{Type: DiscountTypeFixed, Amount: ref(int64(1)), Currency: ref("eur")}, "This discount has no amount in usd."},
		"another product":                {Discount{Type: DiscountTypePercent, ProductIDs: core.JSONOf([]string{"b"})}, "This discount is for none of the lines."},
		"another product, but a rule": {
			Discount{Type: DiscountTypePercent, ProductIDs: core.JSONOf([]string{"b"}), Rules: core.JSONOf([]DiscountRule{{PriceVariantID: "a1"}})}, "",
		},
	} {
		assert.Equal(t, test.want, test.discount.refuses(items, "usd", now), name)
	}
}

func TestDiscountTerms_EndAfterTheirMonths(t *testing.T) {
	t.Parallel()
	start, short := core.TimeOf(time.Date(2027, 1, 31, 12, 0, 0, 0, time.UTC)), core.TimeOf(time.Date(2027, 2, 28, 12, 0, 0, 0, time.UTC))
	repeating := DiscountTerms{Duration: DiscountDurationRepeating, DurationInMonths: 1}
	assert.Equal(t, "2027-02-28T12:00:00.000Z", repeating.endsAt(start, 31).String())
	assert.Equal(t, "2027-03-31T12:00:00.000Z", repeating.endsAt(short, 31).String(), "a month that begins on the 31st, where there is one")
	repeating.DurationInMonths = maxDiscountMonths
	assert.Equal(t, "2110-04-30T12:00:00.000Z", repeating.endsAt(start, 31).String())
	assert.Nil(t, (&DiscountTerms{Duration: DiscountDurationForever}).endsAt(start, 31))
	assert.Nil(t, (&DiscountTerms{Duration: DiscountDurationOnce}).endsAt(start, 31))
}
