package billing

import (
	"context"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
)

// PayInvoice is how an invoice is paid by hand. Whoever asks is not the buyer, unless OnSession.
type PayInvoice struct {
	Method    *payments.MethodInput
	OutOfBand bool // it was paid without this service; there is no method
	OnSession bool
}

// PayInvoice charges the method for what is due of an invoice, at most once however often it is called. A declined
// charge is a CodeInvalid on payment_method whose outcome is Recorded; the invoice stays as it is then. An error that is
// not a *store.Error leaves the outcome unknown, as in ConfirmCheckout.
func (b *Billing) PayInvoice(ctx context.Context, account, ref string, in PayInvoice) (*store.Invoice, error) {
	if in.OutOfBand {
		if in.Method != nil {
			return nil, store.Invalid("payment_method", "An invoice that was paid out of band has no payment method.")
		}
		return b.store.PayInvoiceOutOfBand(ctx, account, ref)
	}
	invoice, err := b.store.GetInvoice(ctx, account, ref)
	if err != nil {
		return nil, err // which invoice comes before how it is paid
	}
	how, err := b.acceptFor(ctx, invoice, in)
	if err != nil {
		return nil, err
	}
	begun, err := b.store.BeginInvoicePayment(ctx, account, ref, how)
	if err != nil {
		return nil, err
	}
	settled, err := b.resume(ctx, begun)
	if settled == nil {
		return nil, err
	}
	return settled.Invoice, err
}

// acceptFor reads how an invoice is paid.
func (b *Billing) acceptFor(ctx context.Context, invoice *store.Invoice, in PayInvoice) (store.InvoicePayment, error) {
	if in.Method == nil {
		return store.InvoicePayment{}, store.Invalid("payment_method", "Say how the invoice is paid: with a payment method, or out of band.")
	}
	if isSaved(in.Method) {
		m, err := b.store.CustomerPaymentMethod(ctx, invoice.AccountID, invoice.CustomerID, in.Method.Ref)
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

// ChargePayment goes on with a payment that was begun by a worker. A decline is an outcome, not an error; an error
// leaves the payment to the reconciler.
func (b *Billing) ChargePayment(ctx context.Context, account, id string) error {
	_, err := b.ResumePayment(ctx, account, id)
	if store.OutcomeOf(err) == store.Recorded {
		return nil
	}
	return err
}
