package store

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
)

// discount makes one of 20 %, changed as the test wants it.
func (s *shop) discount(t *testing.T, change func(*discount.Discount)) *discount.Discount {
	t.Helper()
	d := discount.Discount{Name: "Spring", Type: discount.TypePercent, PercentBps: ref(int64(2000))}
	if change != nil {
		change(&d)
	}
	made, err := s.Discount.Create(t.Context(), s.account, d)
	require.NoError(t, err)
	return made
}

// redeemed redeems a discount for a new checkout of the address.
func (s *shop) redeemed(t *testing.T, d *discount.Discount, email string) (*checkout.Checkout, error) {
	t.Helper()
	c := &checkout.Checkout{AccountID: s.account, ID: core.NewID(core.KindCheckout), CustomerEmail: &email, EmailVerified: true, Currency: "usd", DiscountAmount: 100}
	_, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		by := discount.Redeemer{Email: &email}
		return nil, s.Discount.Redeem(ctx, u, c.Redemption(d, by), d, by, "discount_code")
	})
	return c, err
}

func TestRedeem_FirstPurchaseIsOne(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		d := s.discount(t, func(d *discount.Discount) { d.FirstPurchaseOnly = true })
		begun, err := s.BeginConfirm(t.Context(), s.account, s.checkout(t, s.onSale(t, catalog.PriceVariant{AmountType: catalog.PriceVariantAmountTypeFree})).ID, checkout.Confirm{})
		require.NoError(t, err)
		require.Equal(t, checkout.StatusCompleted, begun.Checkout.Status)
		_, err = s.redeemed(t, d, "Grace@example.com") // who has bought by now
		dbtest.RequireInvalid(t, err, "discount_code")
		_, err = s.redeemed(t, d, "ada@example.com")
		require.NoError(t, err)
		_, err = s.redeemed(t, d, "ada@example.com") // whose first purchase is under way
		dbtest.RequireInvalid(t, err, "discount_code")
		counted, err := s.Discount.Get(t.Context(), s.account, d.ID)
		require.NoError(t, err)
		require.EqualValues(t, 1, counted.RedemptionsCount)
	})
}
