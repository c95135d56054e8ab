package store

import (
	"context"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/payment"
)

// CollectInvoice begins the one automatic attempt to charge an invoice, while the buyer is away. It reports whether it was due:
// of several replicas that ask, one is told so. The payment is nil if nothing is charged. Then how is nil, which means that there is no way to pay,
// or another payment is under way. The invoice then waits to be paid by hand, as after a decline.
func (s *Store) CollectInvoice(ctx context.Context, account, id string, how *InvoicePayment) (p *payment.Payment, did bool, err error) {
	p, err = db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*payment.Payment, error) {
		did = false // the transaction may run several times
		b, err := s.Invoice.LockBill(ctx, u, account, id)
		if err != nil {
			return nil, err
		}
		if disabled, err := s.Tenant.IsDisabledIn(ctx, u, account); err != nil || disabled {
			return nil, err
		}
		now, err := db.BusinessNow(ctx, u, account)
		if err != nil || b.Invoice.NextAttemptAt == nil || *b.Invoice.NextAttemptAt > now {
			return nil, err
		}
		did = true
		b.Invoice.NextAttemptAt, b.Invoice.UpdatedAt = nil, now
		b.Order.NextAttemptAt, b.Order.UpdatedAt = nil, now
		if err := s.Invoice.UpdateBill(ctx, u, b); err != nil || how == nil {
			return nil, err
		}
		underWay, err := s.isBeingPaid(ctx, u, b)
		if err != nil || underWay {
			return nil, err
		}
		return s.beginInvoicePayment(ctx, u, b, core.NewID(core.KindPayment), *how)
	})
	return p, did && err == nil, err
}
