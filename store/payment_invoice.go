package store

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
)

// InvoicePayment says how an invoice is to be paid.
type InvoicePayment struct {
	Provider      string
	MethodRef     string
	PaymentMethod payment.Method
	OffSession    bool    // the buyer is not there to do anything
	CustomerRef   *string // the provider's id of the customer, if MethodID names a saved method
	MethodID      *string
	From          payment.Buyer
}

// BeginInvoicePayment begins to charge what is due of an open or past due invoice: it commits the intent before the provider is
// asked. A request that is sent again gets the payment of the first time. An invoice in another state, whose payment is under way, or whose account
// is disabled, is CodeInvalid on status. So is one that a buyer pays without a key while checkPutOff refuses that. An amount that the provider does not take, or too small a one, is CodeInvalid on payment_method. After too
// many declines it is CodeRateLimit.
func (s *Store) BeginInvoicePayment(ctx context.Context, account, ref string, in InvoicePayment) (*PaymentProgress, error) {
	return db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (*PaymentProgress, error) {
		b, err := s.Invoice.LockBill(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		id := core.KindPayment.Prefix() + s.db.Effect(ctx)
		begun, err := s.Payment.ByIDIn(ctx, u, account, []string{id})
		if err != nil || begun[id] != nil {
			return &PaymentProgress{Invoice: b.Invoice, Payment: begun[id]}, err
		}
		if err := s.checkPayable(ctx, u, b); err != nil {
			return nil, err
		}
		if in.From.Keyless() {
			if err := s.checkPutOff(ctx, u, b.Invoice); err != nil {
				return nil, err
			}
		}
		err = tenant.PaymentsProvider(in.Provider).Check(b.Invoice.AmountDue(), b.Invoice.Currency, "payment_method", "Void the invoice and write another one, or have it paid out of band.")
		if err != nil {
			return nil, err
		}
		if least := core.CurrencyOf(b.Invoice.Currency).Minimum; b.Invoice.AmountDue() < least { // sent to be paid otherwise
			refused := core.Invalid("payment_method", fmt.Sprintf("Less than %s cannot be charged. Have it paid out of band.", core.FormatAmount(least, b.Invoice.Currency)))
			refused.ForSeller = true
			return nil, refused
		}
		guards := in.From.SubjectsOf(b.Invoice.ID)
		payment, err := s.beginInvoicePayment(ctx, u, b, id, in, guards...)
		if err != nil {
			return nil, err
		}
		return &PaymentProgress{Invoice: b.Invoice, Payment: payment}, s.Payment.Guard(ctx, u, account, guards, nil, nil, nil)
	})
}

// beginInvoicePayment stores the intent to charge what is due of a locked bill, and returns the payment. Guards are the
// subjects that count it, if a person tries to pay; the caller counts it there.
func (s *Store) beginInvoicePayment(ctx context.Context, u *db.Unit, b *invoice.Bill, id string, in InvoicePayment, guards ...string) (*payment.Payment, error) {
	lease, err := u.LeaseUntil(ctx, db.ProviderLease)
	if err != nil {
		return nil, err
	}
	p, err := s.newInvoicePayment(ctx, u, b, id)
	if err != nil {
		return nil, err
	}
	p.Provider, p.MethodRef, p.PaymentMethod = in.Provider, in.MethodRef, core.JSONOf(in.PaymentMethod)
	p.OffSession, p.LeaseUntil = in.OffSession, lease
	p.CustomerRef, p.MethodID = in.CustomerRef, in.MethodID
	p.Keyless, p.Guards = in.From.Keyless(), core.JSONOf(guards)
	return p, u.Insert(ctx, payment.Columns, p)
}

// newInvoicePayment returns a pending payment of all that is due of a bill. It is not stored, and has no provider yet.
func (s *Store) newInvoicePayment(ctx context.Context, r db.Reader, b *invoice.Bill, id string) (*payment.Payment, error) {
	now, err := db.BusinessNow(ctx, r, b.Invoice.AccountID)
	return &payment.Payment{
		AccountID: b.Invoice.AccountID, ID: id, Purpose: payment.PurposeInvoice, Status: payment.StatusPending,
		OrderID: b.Invoice.OrderID, InvoiceID: &b.Invoice.ID, CustomerID: &b.Invoice.CustomerID,
		Amount: b.Invoice.AmountDue(), Currency: b.Invoice.Currency, CreatedAt: now, UpdatedAt: now,
	}, err
}

// checkPayable returns CodeInvalid on status if a locked invoice is not open or past due. It also does so if a payment of it is under way, or if the
// seller's account is disabled.
func (s *Store) checkPayable(ctx context.Context, r db.Reader, b *invoice.Bill) error {
	inv := b.Invoice
	if inv.Status != invoice.StatusOpen && inv.Status != invoice.StatusPastDue {
		return core.Invalid("status", fmt.Sprintf("The invoice is %s. Only an open or past due invoice can be paid.", inv.Status))
	}
	disabled, err := s.Tenant.IsDisabledIn(ctx, r, inv.AccountID)
	if err != nil {
		return err
	}
	if disabled {
		return core.Invalid("status", "The account is disabled. Nothing can be paid until it is enabled.")
	}
	return s.checkNotPaying(ctx, r, b)
}

// mostPutOff is how long buyers may put an automatic attempt off by paying themselves. Each payment that waits for a bank does so: see chargeAgain.
const mostPutOff = core.Day

// checkPutOff returns CodeInvalid on status if the next attempt to collect a locked invoice of a subscription was put off for mostPutOff. It is
// made within unpaidPause then, unless another payment is under way. Otherwise who begins one after the other would never have to pay.
func (s *Store) checkPutOff(ctx context.Context, r db.Reader, i *invoice.Invoice) error {
	if i.SubscriptionID == nil || i.NextAttemptAt == nil {
		return nil
	}
	now, err := db.BusinessNow(ctx, r, i.AccountID)
	if err != nil || now < i.NextAttemptAt.Add(mostPutOff) {
		return err
	}
	sub, err := s.Subscription.Named(ctx, r, i.AccountID, *i.SubscriptionID, "")
	if err != nil || sub.Status != subscription.StatusPastDue || sub.NextAttemptAt == nil || core.Deref(sub.LatestInvoiceID) != i.ID {
		return err
	}
	return core.Invalid("status", "The next attempt to collect the invoice is overdue. It is made within an hour. Pay after it.").Because("put_off")
}

// checkNotPaying returns CodeInvalid on status while a payment of a locked invoice is under way. Whoever begins to pay locks
// the invoice too, so that the answer holds until the transaction ends.
func (s *Store) checkNotPaying(ctx context.Context, r db.Reader, b *invoice.Bill) error {
	underWay, err := s.isBeingPaid(ctx, r, b)
	if err != nil {
		return err
	}
	if underWay {
		return core.Invalid("status", "A payment of the invoice is under way. Wait for its outcome.")
	}
	return nil
}

// PayInvoiceOutOfBand records that an open or past due invoice was paid without this service: order.paid and invoice.paid
// follow. An invoice in another state, or whose payment is under way, is CodeInvalid on status.
func (s *Store) PayInvoiceOutOfBand(ctx context.Context, account, ref string) (*invoice.Invoice, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*invoice.Invoice, error) {
		sub, err := s.lockBilled(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		b, err := s.Invoice.LockBill(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		if err := s.checkPayable(ctx, u, b); err != nil {
			return nil, err
		}
		p, err := s.newInvoicePayment(ctx, u, b, core.NewID(core.KindPayment))
		if err != nil {
			return nil, err
		}
		p.Status, p.Provider = payment.StatusSucceeded, payment.ProviderOutOfBand
		if err := u.Insert(ctx, payment.Columns, p); err != nil {
			return nil, err
		}
		b.Invoice.PaidOutOfBand = true
		if err := s.switchPaid(ctx, u, sub, b); err != nil {
			return nil, err
		}
		if err := s.payOrder(ctx, u, b, p); err != nil || sub == nil {
			return b.Invoice, err
		}
		return b.Invoice, s.afterInvoicePayment(ctx, u, sub, b, p.Status, p.CreatedAt)
	})
}
