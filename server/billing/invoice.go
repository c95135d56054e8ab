package billing

import (
	"context"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/payment"
)

// PayInvoice says how an invoice is paid by hand. OnSession means that the buyer asks, who can act on what their bank requires;
// otherwise the seller asks for them.
type PayInvoice struct {
	Method    *payments.MethodInput
	OutOfBand bool // the invoice was paid elsewhere, in cash for one; there is no method
	OnSession bool
	From      payment.Buyer
}

// PayInvoice charges the method for what is due of an invoice, at most once however often it is called. A declined charge is a
// CodeInvalid on payment_method whose outcome is Recorded; the invoice stays as it is then. If the bank requires something of a
// buyer who is not there, the charge is given up, and that counts as declined. An error that is not a *core.Error leaves the
// outcome unknown, as in CheckoutConfirm.
func (b *Billing) PayInvoice(ctx context.Context, account, ref string, in PayInvoice) (*invoice.Invoice, error) {
	if in.OutOfBand {
		if in.Method != nil {
			return nil, core.Invalid("payment_method", "An invoice that was paid out of band has no payment method.")
		}
		return b.store.PayInvoiceOutOfBand(ctx, account, ref)
	}
	invoice, err := b.store.Invoice.Get(ctx, account, ref)
	if err != nil {
		return nil, err // that there is no such invoice is said before what is wrong with the method
	}
	how, err := b.acceptFor(ctx, invoice, in)
	if err != nil {
		return nil, err
	}
	how.From = in.From
	begun, err := b.store.BeginInvoicePayment(ctx, account, ref, how)
	if err != nil {
		return nil, err
	}
	settled, err := b.resume(ctx, begun)
	if settled == nil {
		return nil, err
	}
	if err == nil && !in.OnSession && settled.Payment.Status == payment.StatusRequiresAction {
		err = b.abandon(ctx, settled) // nobody is there to approve it
	}
	return settled.Invoice, err
}

// acceptFor checks how an invoice is to be paid, and puts it into what the store needs to begin the payment. Without a method
// it is what the invoice is charged to while the customer is away (wayOf), and CodeInvalid on payment_method if there is
// nothing. A saved method is refused if the buyer asks: nobody knows whether the one with the address of the page is its owner.
func (b *Billing) acceptFor(ctx context.Context, invoice *invoice.Invoice, in PayInvoice) (store.InvoicePayment, error) {
	if in.Method == nil {
		how, err := b.wayOf(ctx, invoice.AccountID, invoice.ID)
		if err == nil && how == nil {
			err = core.Invalid("payment_method", "There is no payment method that the invoice is charged to. Send one, or out_of_band.")
		}
		if err != nil {
			return store.InvoicePayment{}, err
		}
		return *how, nil
	}
	if isSaved(in.Method) {
		if in.OnSession {
			return store.InvoicePayment{}, errNotPublic
		}
		m, err := b.store.SavedMethodForInvoice(ctx, invoice, in.Method.Ref)
		if err != nil {
			return store.InvoicePayment{}, err
		}
		how := PaymentWith(m)
		how.OffSession = !in.OnSession
		return how, nil
	}
	provider, err := b.chosen(ctx, invoice.AccountID)
	if err != nil {
		return store.InvoicePayment{}, err
	}
	method, err := provider.Accept(*in.Method, b.store.Now().Time())
	return store.InvoicePayment{
		Provider: provider.Name(), MethodRef: method.Ref, PaymentMethod: method.Card, OffSession: !in.OnSession,
	}, err
}

// collectInvoice makes the one automatic attempt to charge an invoice, with what its customer has saved. It reports whether the
// attempt was made: another replica may have been first. A decline is no error.
func (b *Billing) collectInvoice(ctx context.Context, account, id string) (bool, error) {
	how, err := b.wayOf(ctx, account, id)
	if err != nil {
		return false, err
	}
	payment, did, err := b.store.CollectInvoice(ctx, account, id, how)
	if err != nil || payment == nil {
		return did, err
	}
	if err = b.chargeInvoice(ctx, payment); core.OutcomeOf(err) == core.Recorded {
		err = nil // it was declined, and that is stored
	}
	return true, err
}

// wayOf returns what an invoice is charged to while its customer is away: the method of its subscription, or their default one.
// It is nil if there is nothing to charge.
func (b *Billing) wayOf(ctx context.Context, account, id string) (*store.InvoicePayment, error) {
	invoice, err := b.store.Invoice.Get(ctx, account, id)
	if err != nil {
		return nil, err
	}
	method, err := b.store.MethodForInvoice(ctx, invoice)
	if err != nil || method == nil {
		return nil, err
	}
	return &store.InvoicePayment{
		Provider: method.Provider, MethodRef: method.Ref, PaymentMethod: method.Card, CustomerRef: method.CustomerRef, MethodID: method.ID, OffSession: true,
	}, nil
}
