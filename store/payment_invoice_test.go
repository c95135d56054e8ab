package store

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/payment"
)

// openInvoice places an order of 19 dollars that nobody has paid.
func (s *shop) openInvoice(t *testing.T) *invoice.Invoice {
	t.Helper()
	c := s.checkout(t, s.onSale(t, fixedPrice(1900)))
	b, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (*invoice.Bill, error) {
		customer, _, err := s.Checkout.Buyer(ctx, u, c)
		if err != nil {
			return nil, err
		}
		items, err := s.Lines.OfCheckout(ctx, s.account, c.ID)
		if err != nil {
			return nil, err
		}
		o := orderOf(c)
		o.CheckoutID, o.BillingReason = nil, order.BillingReasonManual
		return s.Invoice.PlaceOrder(ctx, u, invoice.Placement{Order: o, Items: items, Customer: customer})
	})
	require.NoError(t, err)
	return b.Invoice
}

var byVisa = InvoicePayment{Provider: "test", MethodRef: "pm_card_visa"}

func TestBeginInvoicePayment_PaysTheInvoiceAndItsOrder(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		i := s.openInvoice(t)
		begun, err := s.BeginInvoicePayment(t.Context(), s.account, i.ID, byVisa)
		require.NoError(t, err)
		require.EqualValues(t, 1900, begun.Payment.Amount)
		_, err = s.BeginInvoicePayment(t.Context(), s.account, i.ID, byVisa)
		dbtest.RequireInvalid(t, err, "status")
		_, err = s.PayInvoiceOutOfBand(t.Context(), s.account, i.ID)
		dbtest.RequireInvalid(t, err, "status")

		settled, err := s.SettlePayment(t.Context(), begun.Payment, payment.ChargeResult{Status: payment.StatusSucceeded})
		require.NoError(t, err)
		require.Equal(t, invoice.StatusPaid, settled.Invoice.Status)
		o, err := s.Order.Get(t.Context(), s.account, *i.OrderID)
		require.NoError(t, err)
		require.Equal(t, order.StatusPaid, o.Status)
		require.Equal(t, []string{begun.Payment.ID}, o.PaymentIDs.V)
		require.Equal(t, []string{"order.created", "invoice.created", "order.paid", "invoice.paid"}, s.eventTypes(t, o.ID))
		_, err = s.BeginInvoicePayment(t.Context(), s.account, i.ID, byVisa)
		dbtest.RequireInvalid(t, err, "status")
	})
}

// The events of a draft, its order and what is paid for it have one ordering key. So webhooks tell of them one after another.
func TestFinalizeInvoice_GoesOnInTheSequenceOfItsDraft(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		bob := s.customer(t, "bob@example.com", nil)
		draft, err := s.Invoice.Create(t.Context(), s.account, invoice.Draft{
			Invoice: &invoice.Invoice{CollectionMethod: invoice.CollectionMethodChargeAutomatically}, Customer: bob.ID,
			Lines: []invoice.NewLine{{Description: ref("Workshop"), UnitAmount: ref(int64(1900)), Quantity: 1}},
		})
		require.NoError(t, err)
		require.Equal(t, []string{"invoice.created"}, s.eventTypes(t, draft.OrderKey))
		open, err := s.FinalizeInvoice(t.Context(), s.account, draft.ID)
		require.NoError(t, err)
		begun, err := s.BeginInvoicePayment(t.Context(), s.account, open.ID, byVisa)
		require.NoError(t, err)
		_, err = s.SettlePayment(t.Context(), begun.Payment, payment.ChargeResult{Status: payment.StatusSucceeded})
		require.NoError(t, err)

		require.Equal(t, []string{"invoice.created", "order.created", "order.paid", "invoice.paid"}, s.eventTypes(t, draft.OrderKey))
		require.Equal(t, 4, s.count(t, `SELECT MAX(key_seq) FROM events WHERE account_id = ? AND ordering_key = ?`, s.account, draft.OrderKey))
		require.NotEqual(t, draft.OrderKey, *open.OrderID)
		require.Empty(t, s.eventTypes(t, *open.OrderID))
	})
}

func TestBeginInvoicePayment_CanBeTriedAgainAfterADecline(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		i := s.openInvoice(t)
		for range 2 {
			begun, err := s.BeginInvoicePayment(t.Context(), s.account, i.ID, byVisa)
			require.NoError(t, err)
			settled, err := s.SettlePayment(t.Context(), begun.Payment, payment.ChargeResult{Status: payment.StatusFailed, Failure: &payment.Failure{Message: "no"}})
			require.NoError(t, err)
			require.Equal(t, payment.StatusFailed, settled.Payment.Status)
			require.Equal(t, invoice.StatusOpen, settled.Invoice.Status)
		}
		paid, err := s.PayInvoiceOutOfBand(t.Context(), s.account, i.ID)
		require.NoError(t, err)
		require.True(t, paid.PaidOutOfBand)
		require.Equal(t, invoice.StatusPaid, paid.Status)
		require.EqualValues(t, 1900, paid.AmountPaid)
		require.Equal(t, []string{"order.created", "invoice.created", "order.paid", "invoice.paid"}, s.eventTypes(t, *i.OrderID))
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
