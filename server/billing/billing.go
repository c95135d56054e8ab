// Package billing holds the use cases that ask a payment provider in between: the intent is stored, the provider is
// asked with the intent's id as its token, the outcome is stored. Each can be run again from wherever it stopped,
// which is all that recovery needs: the request that is sent again and the reconciler call the same code.
package billing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
)

// Billing takes money for checkouts. It is safe for concurrent use.
type Billing struct {
	store    *store.Store
	provider payments.Provider
}

// New makes a Billing that charges through the provider.
func New(s *store.Store, provider payments.Provider) *Billing {
	return &Billing{store: s, provider: payments.Outside(provider)}
}

// ConfirmCheckout is how a buyer pays. Method is nil when none was sent.
type ConfirmCheckout struct {
	Method        *payments.MethodInput
	TermsAccepted bool
}

// ConfirmCheckout charges the method and makes the order, at most once however often it is called. A declined charge
// is a CodeInvalid on payment_method whose outcome is Recorded; the checkout is open again then. A charge that needs
// the buyer leaves the checkout processing with a next action. A completed checkout is returned as it is. An error
// that is not a *store.Error leaves the outcome unknown: the same request sent again, or the reconciler, finds out.
func (b *Billing) ConfirmCheckout(ctx context.Context, account, ref string, in ConfirmCheckout) (*store.Checkout, error) {
	confirm := store.Confirm{Provider: b.provider.Name(), TermsAccepted: in.TermsAccepted}
	if in.Method != nil {
		method, refused := b.provider.Accept(*in.Method, b.store.Now().Time())
		if refused != nil {
			if _, err := b.store.GetCheckout(ctx, account, ref); err != nil {
				return nil, err // which checkout comes before how it is paid
			}
			return nil, refused
		}
		confirm.MethodRef, confirm.PaymentMethod = method.Ref, method.Card
	}
	begun, err := b.store.BeginConfirm(ctx, account, ref, confirm)
	if err != nil {
		return nil, err
	}
	if begun.Payment == nil {
		return begun.Checkout, nil
	}
	return b.resume(ctx, begun)
}

// ResumePayment goes on with a payment from wherever it stands, as after an action of the buyer.
func (b *Billing) ResumePayment(ctx context.Context, account, id string) (*store.Checkout, error) {
	begun, err := b.store.GetConfirmation(ctx, account, id)
	if err != nil {
		return nil, err
	}
	return b.resume(ctx, begun)
}

// unknownPause is how long the reconciler waits before it asks about a charge of which nothing was heard.
const unknownPause = 10 * time.Second

func (b *Billing) resume(ctx context.Context, begun *store.Confirmation) (*store.Checkout, error) {
	payment := begun.Payment
	if payment.Status.IsFinal() {
		return answer(begun)
	}
	charge, err := b.charge(ctx, begun)
	if err != nil {
		return nil, b.unknown(ctx, payment, err)
	}
	return b.settle(ctx, begun, charge)
}

// unknown leaves a payment to whoever asks next. It hides what the error is: no failure of a provider is an answer
// to the request, or frees its Idempotency-Key.
func (b *Billing) unknown(ctx context.Context, payment *store.Payment, err error) error {
	if yield := b.store.YieldPayment(context.WithoutCancel(ctx), payment.AccountID, payment.ID, unknownPause); yield != nil {
		err = errors.Join(err, yield)
	}
	return fmt.Errorf("payment %s has no known outcome yet: %s", payment.ID, err)
}

// charge asks the provider, beginning with what is not known to have been asked yet.
func (b *Billing) charge(ctx context.Context, begun *store.Confirmation) (payments.Charge, error) {
	payment := begun.Payment
	if payment.ProviderRef != nil {
		charge, err := b.provider.GetCharge(ctx, payment.AccountID, *payment.ProviderRef)
		if err != nil || charge.Status != payments.ChargePrepared {
			return charge, err
		}
		return b.provider.ConfirmCharge(ctx, payment.AccountID, *payment.ProviderRef)
	}
	ref, err := b.provider.PrepareCharge(ctx, payments.ChargeInput{
		Token: payment.ID, Account: payment.AccountID, Amount: payment.Amount, Currency: payment.Currency,
		MethodRef: payment.MethodRef,
	})
	if err != nil {
		return payments.Charge{}, err
	}
	if err := b.store.SetPaymentRef(ctx, payment.AccountID, payment.ID, ref); err != nil {
		return payments.Charge{}, err
	}
	return b.provider.ConfirmCharge(ctx, payment.AccountID, ref)
}

func (b *Billing) settle(ctx context.Context, begun *store.Confirmation, charge payments.Charge) (*store.Checkout, error) {
	result, err := resultOf(charge, begun.Checkout.URL)
	if err != nil {
		return nil, err
	}
	settled, err := b.store.SettlePayment(ctx, begun.Payment, result)
	if err != nil {
		return nil, err
	}
	return answer(settled)
}

// answer is what the request that wanted to pay is told.
func answer(c *store.Confirmation) (*store.Checkout, error) {
	if failure := c.Payment.Failure.V; failure != nil {
		return c.Checkout, failure.Err()
	}
	return c.Checkout, nil
}

// resultOf puts a provider's words into ours. A buyer who has to act and is not sent elsewhere does it on our page.
func resultOf(charge payments.Charge, page string) (store.ChargeResult, error) {
	switch charge.Status {
	case payments.ChargeSucceeded:
		return store.ChargeResult{Status: store.PaymentStatusSucceeded}, nil
	case payments.ChargeRequiresAction:
		return store.ChargeResult{Status: store.PaymentStatusRequiresAction, NextActionURL: cmp.Or(charge.NextActionURL, page)}, nil
	case payments.ChargeCanceled:
		return store.ChargeResult{Status: store.PaymentStatusCanceled, Failure: &store.PaymentFailure{
			Code: "payment_canceled", Message: "The payment was not authenticated in time. Nothing was charged.",
		}}, nil
	case payments.ChargeDeclined:
		return store.ChargeResult{Status: store.PaymentStatusFailed, Failure: &store.PaymentFailure{
			Code: charge.Decline.Code, DeclineCode: &charge.Decline.DeclineCode, Message: charge.Decline.Message,
		}}, nil
	}
	return store.ChargeResult{}, fmt.Errorf("charge %s is %s, which is no outcome", charge.Ref, charge.Status)
}
