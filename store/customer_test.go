package store

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/store/payment"
)

// customer makes one, with the merchant's own id if there is one.
func (s *shop) customer(t *testing.T, email string, externalID *string) *customer.Customer {
	t.Helper()
	c, err := s.Customer.Create(t.Context(), s.account, customer.Customer{Email: &email, ExternalID: externalID})
	require.NoError(t, err)
	return c
}

func TestCheckout_RefusesACustomerWithTheExternalIDOfAnother(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		guide := s.onSale(t, fixedPrice(1900))
		ada, grace := s.customer(t, "ada@example.com", nil), s.customer(t, "grace@example.com", ref("g1"))
		create := func(customer, externalID string) (*checkout.Checkout, error) {
			return s.Checkout.Create(t.Context(), s.account, checkout.Draft{Checkout: &checkout.Checkout{CustomerID: &customer, ExternalCustomerID: &externalID}, Lines: pieceOf(guide)})
		}
		_, err := create(ada.ID, "g1")
		dbtest.RequireInvalid(t, err, "external_customer_id")
		_, err = create(grace.ID, "g1")
		require.NoError(t, err)
		made, err := create(ada.ID, "a1")
		require.NoError(t, err, "nobody has it")

		_, err = s.Checkout.Update(t.Context(), s.account, made.ID, func(d *checkout.Draft) { d.ExternalCustomerID = ref("g1") })
		dbtest.RequireInvalid(t, err, "external_customer_id")

		_, err = s.UpdateCustomer(t.Context(), s.account, grace.ID, func(c *customer.Customer) { c.ExternalID = ref("a1") })
		require.NoError(t, err)
		_, err = s.Checkout.Update(t.Context(), s.account, made.ID, func(d *checkout.Draft) { d.CustomerName = ref("Ada") })
		require.NoError(t, err, "what a change leaves alone is not held against it")
		_, err = s.BeginConfirm(t.Context(), s.account, made.ID, byCard)
		dbtest.RequireInvalid(t, err, "external_customer_id")
		require.Zero(t, s.count(t, `SELECT COUNT(*) FROM payments`))
	})
}

// The other customer takes the id in the very moment of the order: the order is made all the same.
func TestSettlePayment_TheExternalIDIsTakenAtTheSameTime(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		c, err := s.Checkout.Create(t.Context(), s.account, checkout.Draft{
			Checkout: &checkout.Checkout{CustomerID: &s.customer(t, "ada@example.com", nil).ID, ExternalCustomerID: ref("e1")},
			Lines:    pieceOf(s.onSale(t, fixedPrice(1900))),
		})
		require.NoError(t, err)
		begun, err := s.BeginConfirm(t.Context(), s.account, c.ID, byCard)
		require.NoError(t, err)
		var settled func() error
		s.during(t, func(ctx context.Context, _ *db.Unit) {
			_, err := s.Customer.Create(ctx, s.account, customer.Customer{Email: ref("grace@example.com"), ExternalID: ref("e1")})
			require.NoError(t, err)
			settled = s.started(t, func(replica *Store) error {
				_, err := replica.SettlePayment(context.WithoutCancel(t.Context()), begun.Payment, payment.ChargeResult{Status: payment.StatusSucceeded})
				return err
			})
			s.waiting(t, 1)
		})
		require.NoError(t, settled())
		require.Equal(t, 1, s.count(t, `SELECT COUNT(*) FROM customers WHERE external_id = 'e1' AND orders_count = 0`))
		require.Equal(t, 1, s.count(t, `SELECT COUNT(*) FROM customers WHERE external_id IS NULL AND orders_count = 1`))
	})
}
