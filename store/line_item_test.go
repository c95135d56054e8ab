package store

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
)

// waiting is dbtest.Waiting.
func (s *shop) waiting(t *testing.T, n int) {
	t.Helper()
	dbtest.Waiting(t, s.db, n)
}

// during runs fn in a transaction that stays open until what fn starts has been started.
func (s *shop) during(t *testing.T, fn func(ctx context.Context, u *db.Unit)) {
	t.Helper()
	_, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		fn(ctx, u)
		return nil, nil
	})
	require.NoError(t, err)
}

// started runs call on another replica and returns what gives its error.
func (s *shop) started(t *testing.T, call func(replica *Store) error) (result func() error) {
	t.Helper()
	replica, done := openStore(t, s.db.Options.URL), make(chan error, 1)
	go func() { done <- call(replica) }()
	return func() error { return <-done }
}

// The condition of the UPDATE decides, not what was read before it.
func TestReserve_NeverMoreThanTheStock(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		v := s.onSale(t, catalog.PriceVariant{Amount: 1900, Stock: ref(int64(1))})
		items, err := s.Lines.OfCheckout(t.Context(), s.account, s.checkout(t, v).ID)
		require.NoError(t, err)
		reserve := func() error {
			_, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (any, error) {
				return nil, s.Lines.Reserve(ctx, u, s.account, items)
			})
			return err
		}
		require.NoError(t, reserve())
		dbtest.RequireInvalid(t, reserve(), "line_items")
	})
}

// Twenty buyers have all read that a piece is left, and wait for its row. PostgreSQL lets them go that far.
func TestBeginConfirm_TwentyBuyersReadTheLastPiece(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]catalog.PriceVariant{
		"paid": {Amount: 1900, Stock: ref(int64(1))},
		"free": {AmountType: catalog.PriceVariantAmountTypeFree, Stock: ref(int64(1))},
	} {
		t.Run(name, func(t *testing.T) {
			eachShop(t, func(t *testing.T, s *shop) { twentyBuyers(t, s, s.onSale(t, v)) })
		})
	}
}

// lock locks a row as a use case does that changes it. The clause is u.Lock(), or more.
func (s *shop) lock(ctx context.Context, u *db.Unit, table, id, clause string) error {
	_, err := db.Get[int](ctx, u, `SELECT 1 FROM `+table+` WHERE account_id = ? AND id = ?`+clause, s.account, id)
	return err
}

func twentyBuyers(t *testing.T, s *shop, v *catalog.PriceVariant) {
	replicas := []*Store{openPatient(t, s.db.Options.URL), openPatient(t, s.db.Options.URL)} // one has too few connections
	checkouts, errs := make([]*checkout.Checkout, 20), make([]error, 20)
	for i := range checkouts {
		checkouts[i] = s.checkout(t, v)
	}
	var buyers sync.WaitGroup
	first := &shop{Store: openPatient(t, s.db.Options.URL), account: s.account}
	first.during(t, func(ctx context.Context, u *db.Unit) {
		require.NoError(t, first.lock(ctx, u, "price_variants", v.ID, u.Lock()))
		for i := range checkouts {
			buyers.Go(func() {
				_, errs[i] = replicas[i%2].BeginConfirm(t.Context(), s.account, checkouts[i].ID, byCard)
			})
		}
		s.waiting(t, len(checkouts))
	})
	buyers.Wait()
	sold := 0
	for _, err := range errs {
		if err == nil {
			sold++
		} else {
			dbtest.RequireInvalid(t, err, "line_items")
		}
	}
	require.Equal(t, 1, sold)
	require.Equal(t, 1, s.count(t, `SELECT sold_count + reserved_count FROM price_variants`))
}

// A reservation that is not committed yet is waited for.
func TestDeleteProduct_SeesAReservationUnderWay(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		v := s.onSale(t, fixedPrice(1900))
		items, err := s.Lines.OfCheckout(t.Context(), s.account, s.checkout(t, v).ID)
		require.NoError(t, err)
		var deleted func() error
		s.during(t, func(ctx context.Context, u *db.Unit) {
			require.NoError(t, u.Sent(ctx, s.Lines.Reserve(ctx, u, s.account, items)))
			deleted = s.started(t, func(replica *Store) error {
				_, err := replica.Catalog.DeleteProduct(context.WithoutCancel(t.Context()), s.account, v.ProductID)
				return err
			})
			s.waiting(t, 1)
		})
		dbtest.RequireInvalid(t, deleted(), "base")
		_, err = s.Catalog.GetPriceVariant(t.Context(), s.account, v.ID)
		require.NoError(t, err)
	})
}

// A purchase may have waited for too long for the customer whom another one makes. That is our trouble, and not the buyer's. It says so, and not what
// became of the transaction afterwards.
func TestBeginConfirm_SaysWhyItsCustomerWasNotMade(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		if s.Engine() == core.SQLite { // whoever begins there has waited already
			return
		}
		v := s.onSale(t, catalog.PriceVariant{AmountType: catalog.PriceVariantAmountTypeFree})
		one, other := s.checkout(t, v), s.checkout(t, v)
		require.Equal(t, one.CustomerEmail, other.CustomerEmail)
		var confirmed func() error
		s.during(t, func(ctx context.Context, _ *db.Unit) {
			_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
				customer, isNew, err := s.Checkout.NewBuyer(ctx, u, one, true, s.Now())
				require.True(t, isNew)
				return customer, err
			})
			require.NoError(t, err)
			confirmed = s.started(t, func(replica *Store) error {
				_, err := replica.BeginConfirm(context.WithoutCancel(t.Context()), s.account, other.ID, checkout.Confirm{})
				return err
			})
			s.waiting(t, 1)
			waits := s.count(t, `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
			s.count(t, `SELECT CASE WHEN pg_cancel_backend(?) THEN 1 ELSE 0 END`, waits)
			var away *core.UnavailableError
			require.ErrorAs(t, confirmed(), &away)
			require.ErrorContains(t, away, "57014")
		})
	})
}

// Whoever changes a price locks the product and then the variant. A buyer who pays nothing must not hold the variant while waiting for the product.
func TestBeginConfirm_ForNothingLocksTheProductFirst(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		v := s.onSale(t, catalog.PriceVariant{AmountType: catalog.PriceVariantAmountTypeFree})
		c := s.checkout(t, v)
		var confirmed func() error
		s.during(t, func(ctx context.Context, u *db.Unit) {
			require.NoError(t, s.lock(ctx, u, "products", v.ProductID, u.Lock()))
			confirmed = s.started(t, func(replica *Store) error {
				_, err := replica.BeginConfirm(context.WithoutCancel(t.Context()), s.account, c.ID, checkout.Confirm{})
				return err
			})
			s.waiting(t, 1)
			atOnce := u.Lock()
			if atOnce != "" {
				atOnce += " NOWAIT"
			}
			require.NoError(t, s.lock(ctx, u, "price_variants", v.ID, atOnce), "the buyer holds it")
		})
		require.NoError(t, confirmed())
	})
}

// A product that goes between the check and the order of a buyer who pays nothing is refused, as before the check.
func TestBeginConfirm_ForNothingOfAProductThatGoesMeanwhile(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		v := s.onSale(t, catalog.PriceVariant{AmountType: catalog.PriceVariantAmountTypeFree})
		c := s.checkout(t, v)
		var confirmed func() error
		s.during(t, func(ctx context.Context, _ *db.Unit) {
			_, err := s.Catalog.DeleteProduct(ctx, s.account, v.ProductID)
			require.NoError(t, err)
			confirmed = s.started(t, func(replica *Store) error {
				_, err := replica.BeginConfirm(context.WithoutCancel(t.Context()), s.account, c.ID, checkout.Confirm{})
				return err
			})
			s.waiting(t, 1)
		})
		dbtest.RequireInvalid(t, confirmed(), "line_items")
		require.Zero(t, s.count(t, `SELECT COUNT(*) FROM orders`))
	})
}

func TestStock_IsNotMovedOfRowsThatAreGone(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		items, err := s.Lines.OfCheckout(t.Context(), s.account, s.checkout(t, s.onSale(t, fixedPrice(1900))).ID)
		require.NoError(t, err)
		move := func(call func(ctx context.Context, u *db.Unit) error) error {
			_, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (any, error) {
				_, err := u.Exec(ctx, `DELETE FROM price_variants`)
				return nil, errors.Join(err, u.Sent(ctx, call(ctx, u)), errors.New("take it back"))
			})
			return err
		}
		err = move(func(ctx context.Context, u *db.Unit) error { return s.Lines.Release(ctx, u, s.account, items) })
		require.ErrorContains(t, err, "change price_variants: 0 rows instead of 1")
		err = move(func(ctx context.Context, u *db.Unit) error { return s.Lines.Sell(ctx, u, s.account, items) })
		require.ErrorContains(t, err, "change price_variants: 0 rows instead of 1")
	})
}

func TestUpdatePriceVariant_MoneyIsFixedWhileItIsPaidFor(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		v := s.onSale(t, fixedPrice(1900))
		c := s.checkout(t, v)
		_, err := s.BeginConfirm(t.Context(), s.account, c.ID, checkout.Confirm{Provider: "test", MethodRef: "pm_card_visa"})
		require.NoError(t, err)
		_, err = s.Catalog.UpdatePriceVariant(t.Context(), s.account, v.ID, func(v *catalog.PriceVariant) { v.Amount = 2100 })
		dbtest.RequireInvalid(t, err, "amount")
	})
}
