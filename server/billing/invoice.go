package billing

import (
	"context"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

// PayInvoice is how an invoice is paid by hand. Whoever asks is not the buyer, unless OnSession.
type PayInvoice struct {
	Method    *payments.MethodInput
	OutOfBand bool // it was paid without this service; there is no method
	OnSession bool
	From      store.Buyer
}

// PayInvoice charges the method for what is due of an invoice, at most once however often it is called. A declined
// charge is a CodeInvalid on payment_method whose outcome is Recorded; the invoice stays as it is then. An error that is
// not a *core.Error leaves the outcome unknown, as in ConfirmCheckout.
func (b *Billing) PayInvoice(ctx context.Context, account, ref string, in PayInvoice) (*store.Invoice, error) {
	if in.OutOfBand {
		if in.Method != nil {
			return nil, core.Invalid("payment_method", "An invoice that was paid out of band has no payment method.")
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
	how.From = in.From
	begun, err := b.store.BeginInvoicePayment(ctx, account, ref, how)
	if err != nil {
		return nil, err
	}
	settled, err := b.resume(ctx, begun)
	if settled == nil {
		return nil, err
	}
	if err == nil && !in.OnSession && settled.Payment.Status == store.PaymentStatusRequiresAction {
		err = b.abandon(ctx, settled) // nobody is there to do it
	}
	return settled.Invoice, err
}

// acceptFor reads how an invoice is paid: without a method, from the customer's default one, or what their subscription was bought with if nobody knows
// that it is theirs.
func (b *Billing) acceptFor(ctx context.Context, invoice *store.Invoice, in PayInvoice) (store.InvoicePayment, error) {
	if in.Method == nil {
		how, err := b.wayOf(ctx, invoice.AccountID, invoice.ID)
		if err == nil && how == nil {
			err = core.Invalid("payment_method", "The customer has no default payment method. Send a payment method, or out_of_band.")
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

// collectInvoice charges an invoice that is due for it from what its customer has saved, and reports whether it did.
func (b *Billing) collectInvoice(ctx context.Context, account, id string) (bool, error) {
	how, err := b.wayOf(ctx, account, id)
	if err != nil {
		return false, err
	}
	payment, did, err := b.store.CollectInvoice(ctx, account, id, how)
	if err != nil || payment == nil {
		return did, err
	}
	if err = b.collect(ctx, payment); core.OutcomeOf(err) == core.Recorded {
		err = nil // declined: that is an outcome
	}
	return true, err
}

// wayOf is how an invoice is paid while its customer is away, nil if there is no way.
func (b *Billing) wayOf(ctx context.Context, account, id string) (*store.InvoicePayment, error) {
	invoice, err := b.store.GetInvoice(ctx, account, id)
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
