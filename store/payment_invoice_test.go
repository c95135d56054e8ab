package store

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/store/payment"
)

// openInvoice places an order of 19 dollars that nobody has paid.
func (s *shop) openInvoice(t *testing.T) *Invoice {
	t.Helper()
	c := s.checkout(t, s.onSale(t, fixedPrice(1900)))
	b, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (*bill, error) {
		customer, _, err := s.Checkout.Buyer(ctx, u, c)
		if err != nil {
			return nil, err
		}
		items, err := s.Lines.OfCheckout(ctx, s.account, c.ID)
		if err != nil {
			return nil, err
		}
		order := orderOf(c)
		order.CheckoutID, order.BillingReason = nil, BillingReasonManual
		return s.placeOrder(ctx, u, placement{Order: order, Items: items, Customer: customer})
	})
	require.NoError(t, err)
	return b.Invoice
}

var byVisa = InvoicePayment{Provider: "test", MethodRef: "pm_card_visa"}

func TestBeginInvoicePayment_PaysTheInvoiceAndItsOrder(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		invoice := s.openInvoice(t)
		begun, err := s.BeginInvoicePayment(t.Context(), s.account, invoice.ID, byVisa)
		require.NoError(t, err)
		require.EqualValues(t, 1900, begun.Payment.Amount)
		_, err = s.BeginInvoicePayment(t.Context(), s.account, invoice.ID, byVisa)
		dbtest.RequireInvalid(t, err, "status")
		_, err = s.PayInvoiceOutOfBand(t.Context(), s.account, invoice.ID)
		dbtest.RequireInvalid(t, err, "status")

		settled, err := s.SettlePayment(t.Context(), begun.Payment, payment.ChargeResult{Status: payment.StatusSucceeded})
		require.NoError(t, err)
		require.Equal(t, InvoiceStatusPaid, settled.Invoice.Status)
		order, err := s.GetOrder(t.Context(), s.account, *invoice.OrderID)
		require.NoError(t, err)
		require.Equal(t, OrderStatusPaid, order.Status)
		require.Equal(t, []string{begun.Payment.ID}, order.PaymentIDs.V)
		require.Equal(t, []string{"order.created", "invoice.created", "order.paid", "invoice.paid"}, s.eventTypes(t, order.ID))
		_, err = s.BeginInvoicePayment(t.Context(), s.account, invoice.ID, byVisa)
		dbtest.RequireInvalid(t, err, "status")
	})
}

func TestBeginInvoicePayment_CanBeTriedAgainAfterADecline(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		invoice := s.openInvoice(t)
		for range 2 {
			begun, err := s.BeginInvoicePayment(t.Context(), s.account, invoice.ID, byVisa)
			require.NoError(t, err)
			settled, err := s.SettlePayment(t.Context(), begun.Payment, payment.ChargeResult{Status: payment.StatusFailed, Failure: &payment.Failure{Message: "no"}})
			require.NoError(t, err)
			require.Equal(t, payment.StatusFailed, settled.Payment.Status)
			require.Equal(t, InvoiceStatusOpen, settled.Invoice.Status)
		}
		paid, err := s.PayInvoiceOutOfBand(t.Context(), s.account, invoice.ID)
		require.NoError(t, err)
		require.True(t, paid.PaidOutOfBand)
		require.Equal(t, InvoiceStatusPaid, paid.Status)
		require.EqualValues(t, 1900, paid.AmountPaid)
		require.Equal(t, []string{"order.created", "invoice.created", "order.paid", "invoice.paid"}, s.eventTypes(t, *invoice.OrderID))
	})
}

// Of many that pay one invoice at once, one does.
func TestBeginInvoicePayment_OneAtATime(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		invoice := s.openInvoice(t)
		errs := make(chan error, 8)
		for range cap(errs) {
			go func() {
				_, err := s.BeginInvoicePayment(context.Background(), s.account, invoice.ID, byVisa)
				errs <- err
			}()
		}
		begun := 0
		for range cap(errs) {
			if err := <-errs; err == nil {
				begun++
			} else {
				dbtest.RequireInvalid(t, err, "status")
			}
		}
		require.Equal(t, 1, begun)
	})
}
