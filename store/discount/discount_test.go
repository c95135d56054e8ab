package discount

import (
	"context"
	"encoding/json"
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
	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/store/pricing"
)

// shop is an account with its discounts.
type shop struct {
	*Store
	account string
}

// eachShop runs a test on both engines.
func eachShop(t *testing.T, test func(t *testing.T, s *shop)) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		test(t, &shop{open(d), dbtest.Account(t, d)})
	})
}

func open(d *db.DB) *Store {
	return New(d, catalog.New(d, outbox.New(d, func(_ string, v any) ([]byte, error) { return json.Marshal(v) })))
}

// discount makes one of 20 %, changed as the test wants it.
func (s *shop) discount(t *testing.T, change func(*Discount)) *Discount {
	t.Helper()
	d := Discount{Name: "Spring", Type: TypePercent, PercentBps: new(int64(2000))}
	if change != nil {
		change(&d)
	}
	made, err := s.Create(t.Context(), s.account, d)
	require.NoError(t, err)
	return made
}

// redeemed redeems a discount for a new checkout of the address, and returns the id of that.
func (s *shop) redeemed(t *testing.T, d *Discount, email string) (checkout string, err error) {
	t.Helper()
	checkout = core.NewID(core.KindCheckout)
	_, err = db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		r := &Redemption{
			AccountID: s.account, DiscountID: d.ID, CheckoutID: &checkout, BuyerKey: BuyerKey(s.account, email), Currency: "usd", DiscountAmount: 100,
		}
		return nil, s.Redeem(ctx, u, r, d, Redeemer{Email: &email}, "discount_code")
	})
	return checkout, err
}

func (s *shop) released(t *testing.T, checkout string) {
	t.Helper()
	_, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		return nil, s.Release(ctx, u, s.account, checkout)
	})
	require.NoError(t, err)
}

// requireCounted wants the count of a discount to be that of its redemptions.
func (s *shop) requireCounted(t *testing.T, d *Discount, want int64) {
	t.Helper()
	got, err := s.Get(t.Context(), s.account, d.ID)
	require.NoError(t, err)
	require.Equal(t, want, got.RedemptionsCount)
	list, more, err := s.ListRedemptions(t.Context(), s.account, d.ID, ListRedemptions{Page: core.Page{Limit: 100}})
	require.NoError(t, err)
	require.False(t, more)
	require.Len(t, list, int(want))
}

// Whatever the clock, the switch and the count say, the filter of the list finds a discount under the status that it has.
func TestListDiscounts_FiltersByTheStatusThatItShows(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		now := s.db.Now()
		moment := func() *core.Time { // mostly past or future, in any combination
			if rand.IntN(3) == 0 {
				return nil
			}
			return new(now.Add(time.Duration(rand.IntN(200)-100) * time.Hour))
		}
		wanted := map[Status]map[string]bool{}
		for range 60 {
			d := s.discount(t, func(d *Discount) {
				if d.StartsAt, d.EndsAt = moment(), moment(); d.StartsAt != nil && d.EndsAt != nil && *d.StartsAt >= *d.EndsAt {
					d.StartsAt = new(d.EndsAt.Add(-time.Hour))
				}
				if rand.IntN(2) == 0 {
					d.MaxRedemptions = new(int64(1 + rand.IntN(2)))
				}
			})
			if d.Status == StatusActive {
				_, err := s.redeemed(t, d, "ada@example.com")
				require.NoError(t, err)
			}
			if rand.IntN(5) == 0 {
				_, err := s.Disable(t.Context(), s.account, d.ID)
				require.NoError(t, err)
			}
			d, err := s.Get(t.Context(), s.account, d.ID)
			require.NoError(t, err)
			if wanted[d.Status] == nil {
				wanted[d.Status] = map[string]bool{}
			}
			wanted[d.Status][d.ID] = true
		}
		for _, status := range []Status{StatusActive, StatusScheduled, StatusExpired, StatusExhausted, StatusDisabled} {
			list, _, err := s.List(t.Context(), s.account, List{Page: core.Page{Limit: 100}, Status: status})
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
		d := s.discount(t, func(d *Discount) { d.MaxRedemptions = new(int64(1)) })
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
		past, future := s.db.Now().Add(-time.Hour), s.db.Now().Add(time.Hour)
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
				return nil, u.Update(ctx, columns, &changed)
			})
			require.NoError(t, err)
			_, err = s.redeemed(t, d, "ada@example.com") // with what was read before
			dbtest.RequireInvalid(t, err, "discount_code")
			n := dbtest.Count(t, s.db, `SELECT redemptions_count FROM discounts WHERE account_id = ? AND id = ?`, s.account, d.ID)
			require.Zero(t, n, name)
		}
	})
}

func TestRedeem_CountsPerBuyerInAnyCase(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		d := s.discount(t, func(d *Discount) { d.MaxRedemptionsPerCustomer = new(int64(2)) })
		for _, email := range []string{"ada@example.com", "ADA@example.com", "grace@example.com"} {
			_, err := s.redeemed(t, d, email)
			require.NoError(t, err)
		}
		_, err := s.redeemed(t, d, "Ada@Example.com")
		dbtest.RequireInvalid(t, err, "discount_code")
		s.requireCounted(t, d, 3)
	})
}

// Twenty buyers have all read that one use is left, and wait for the discount's row.
func TestRedeem_TwentyBuyersOfTheLastUse(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		everybody := s.discount(t, func(d *Discount) { d.MaxRedemptions = new(int64(1)) })
		requireOneOfTwenty(t, s, everybody, func(i int) string { return fmt.Sprintf("buyer%d@example.com", i) })
		somebody := s.discount(t, func(d *Discount) { d.MaxRedemptionsPerCustomer = new(int64(1)) })
		requireOneOfTwenty(t, s, somebody, func(int) string { return "ada@example.com" })
	})
}

func requireOneOfTwenty(t *testing.T, s *shop, d *Discount, email func(i int) string) {
	t.Helper()
	replicas := []*shop{s, {open(dbtest.Open(t, s.db.Options.URL, nil)), s.account}}
	errs := make([]error, 20)
	var buyers sync.WaitGroup
	_, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		_, err := s.lock(ctx, u, s.account, d.ID)
		require.NoError(t, err)
		for i := range errs {
			buyers.Go(func() { _, errs[i] = replicas[i%2].redeemed(t, d, email(i)) })
		}
		dbtest.Waiting(t, s.db, len(errs))
		return nil, nil
	})
	require.NoError(t, err)
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
		d := s.discount(t, func(d *Discount) { d.Code = new("SPRING") })
		c, err := s.redeemed(t, d, "ada@example.com")
		require.NoError(t, err)
		_, err = s.Delete(t.Context(), s.account, d.ID)
		require.NoError(t, err)
		_, err = s.Get(t.Context(), s.account, d.ID)
		dbtest.RequireCode(t, err, core.CodeMissing)
		again := s.discount(t, func(d *Discount) { d.Code = new("spring") }) // the code is free
		found, err := s.Lookup(t.Context(), s.account, "Spring")
		require.NoError(t, err)
		require.Equal(t, again.ID, found.ID)
		s.released(t, c)
		require.Zero(t, dbtest.Count(t, s.db, `SELECT redemptions_count FROM discounts WHERE account_id = ? AND id = ?`, s.account, d.ID))
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
	percent := Discount{Type: TypePercent, PercentBps: new(int64(3333))}
	fixed := Discount{Type: TypeFixed, Amount: new(int64(150)), Currency: new("usd"), Amounts: core.JSONOf(map[string]int64{"jpy": 7})}
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
				d.Rules = core.JSONOf([]Rule{{PriceVariantID: "a1", PercentBps: new(int64(5000))}, {PriceVariantID: "b1", PercentBps: new(int64(0))}})
			}), "usd", []int64{50, 34, 0, 33},
		},
		"rules of one rate are rounded together": {
			with(percent, func(d *Discount) {
				d.PriceVariantIDs = core.JSONOf([]string{"a2"})
				d.Rules = core.JSONOf([]Rule{{PriceVariantID: "a1", PercentBps: new(int64(3333))}})
			}), "usd", []int64{34, 33, 0, 0},
		},
		"a fixed amount is shared":          {fixed, "usd", []int64{38, 38, 37, 37}},
		"in another currency":               {fixed, "jpy", []int64{2, 2, 2, 1}},
		"without an amount in the currency": {fixed, "eur", []int64{0, 0, 0, 0}},
		"a fixed amount of its own for a plan": {
			with(fixed, func(d *Discount) {
				d.Rules = core.JSONOf([]Rule{{PriceVariantID: "c1", Amount: new(int64(10)), Amounts: map[string]int64{"jpy": 1}}})
			}), "usd", []int64{50, 50, 50, 10},
		},
	}
	for name, test := range tests {
		lines := make([]pricing.Line, len(items))
		for i, item := range items {
			lines[i] = pricing.Line{UnitAmount: item.UnitAmount, Quantity: item.Quantity}
		}
		order, err := pricing.Totals(lines, test.discount.Terms().Pricing(items, test.currency)...)
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
		"usable":                         {Discount{Type: TypePercent}, ""},
		"from its first moment":          {Discount{StartsAt: &now, Type: TypePercent}, ""},
		"until its end":                  {Discount{EndsAt: &now, Type: TypePercent}, "This discount has expired."},
		"too early":                      {Discount{StartsAt: new(now + 1)}, "This discount begins on 1970-01-01T00:00:01.000Z."},
		"disabled":                       {Discount{DisabledAt: &now}, "This discount is disabled."},
		"used up":                        {Discount{MaxRedemptions: new(int64(2)), RedemptionsCount: 2}, "This discount has been used as often as it can be."},
		"enough is bought":               {Discount{Type: TypePercent, MinSubtotalAmount: new(int64(800)), Currency: new("usd")}, ""},
		"too little is bought":           {Discount{MinSubtotalAmount: new(int64(801)), Currency: new("usd")}, "This discount needs a subtotal of at least 801."},
		"a subtotal in another currency": {Discount{MinSubtotalAmount: new(int64(1)), Currency: new("eur")}, "This discount cannot be used in usd."},
		"an amount in another currency":  {Discount{Type: TypeFixed, Amount: new(int64(1)), Currency: new("eur")}, "This discount has no amount in usd."},
		"another product":                {Discount{Type: TypePercent, ProductIDs: core.JSONOf([]string{"b"})}, "This discount is for none of the lines."},
		"another product, but a rule": {
			Discount{Type: TypePercent, ProductIDs: core.JSONOf([]string{"b"}), Rules: core.JSONOf([]Rule{{PriceVariantID: "a1"}})}, "",
		},
	} {
		assert.Equal(t, test.want, test.discount.Refuses(items, "usd", now), name)
	}
}

func TestDiscountTerms_EndAfterTheirMonths(t *testing.T) {
	t.Parallel()
	start, short := core.TimeOf(time.Date(2027, 1, 31, 12, 0, 0, 0, time.UTC)), core.TimeOf(time.Date(2027, 2, 28, 12, 0, 0, 0, time.UTC))
	repeating := Terms{Duration: DurationRepeating, DurationInMonths: 1}
	assert.Equal(t, "2027-02-28T12:00:00.000Z", repeating.EndsAt(start, 31).String())
	assert.Equal(t, "2027-03-31T12:00:00.000Z", repeating.EndsAt(short, 31).String(), "a month that begins on the 31st, where there is one")
	repeating.DurationInMonths = maxMonths
	assert.Equal(t, "2110-04-30T12:00:00.000Z", repeating.EndsAt(start, 31).String())
	assert.Nil(t, (&Terms{Duration: DurationForever}).EndsAt(start, 31))
	assert.Nil(t, (&Terms{Duration: DurationOnce}).EndsAt(start, 31))
}
