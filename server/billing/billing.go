// Package billing holds the use cases that ask a payment provider in between: the intent is stored, the provider is
// asked with the intent's id as its token, the outcome is stored. Each can be run again from wherever it stopped,
// which is all that recovery needs: the request that is sent again and the reconciler call the same code.
package billing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

// Billing takes money for checkouts, invoices and subscriptions, and gives it back. It is safe for concurrent use.
type Billing struct {
	store     *store.Store
	providers *payments.Registry
	walkers   sync.Map // by account: *sync.RWMutex

	workTime, turnTime time.Duration
}

// New makes a Billing that charges through the providers: the one that the account has chosen.
func New(s *store.Store, providers *payments.Registry) *Billing {
	return &Billing{store: s, providers: providers, workTime: workTime, turnTime: turnTime}
}

// chosen returns the provider by which payments of an account begin.
func (b *Billing) chosen(ctx context.Context, account string) (payments.Provider, error) {
	choice, err := b.store.GetPaymentsChoice(ctx, account)
	if err != nil {
		return nil, err
	}
	if choice.Provider == store.PaymentsProviderStripe && !choice.HasKey {
		return nil, core.Invalid("payment_method", "The account takes no payments yet: its payments_provider is stripe, and it has no stripe_secret_key.")
	}
	provider, ok := b.providers.Provider(string(choice.Provider))
	if !ok {
		return nil, core.Invalid("payment_method", "This server takes no payments through the account's payments_provider, "+string(choice.Provider)+". The account has to choose another one.")
	}
	return provider, nil
}

// providerOf returns the provider by which a payment has begun.
func (b *Billing) providerOf(payment *store.Payment) (payments.Provider, error) {
	return b.named(payment.Provider)
}

func (b *Billing) named(provider string) (payments.Provider, error) {
	if provider, ok := b.providers.Provider(provider); ok {
		return provider, nil
	}
	return nil, fmt.Errorf("this server has no payment provider %q", provider)
}

// ConfirmCheckout is how a buyer pays. Method is nil when none was sent.
type ConfirmCheckout struct {
	Method        *payments.MethodInput
	Save          bool // keep the method for later
	TermsAccepted bool
	OnPage        bool // the buyer is on our page, and comes back to it from their bank
	IsPublic      bool // whoever has the client secret asks: what a customer has saved is not theirs to use
	From          store.Buyer
}

// ConfirmCheckout charges the method and makes the order, at most once however often it is called. A declined charge
// is a CodeInvalid on payment_method whose outcome is Recorded; the checkout is open again then. A charge that needs
// the buyer leaves the checkout processing with a next action. After too many declines it is CodeRateLimit, and nobody is asked. A completed checkout is returned as it is. An error
// that is not a *core.Error leaves the outcome unknown: the same request sent again, or the reconciler, finds out.
func (b *Billing) ConfirmCheckout(ctx context.Context, account, ref string, in ConfirmCheckout) (*store.Checkout, error) {
	confirmed, err := b.confirm(ctx, account, ref, in)
	if confirmed == nil {
		return nil, err
	}
	return confirmed.Checkout, err
}

func (b *Billing) confirm(ctx context.Context, account, ref string, in ConfirmCheckout) (*store.Confirmation, error) {
	confirm, refused := b.accept(ctx, account, in)
	if refused != nil {
		if _, err := b.store.GetCheckout(ctx, account, ref); err != nil {
			return nil, err // which checkout comes before how it is paid
		}
		return nil, refused
	}
	begun, err := b.store.BeginConfirm(ctx, account, ref, confirm)
	if err != nil {
		return nil, err
	}
	if begun.Payment == nil {
		return begun, nil
	}
	return b.resume(ctx, begun)
}

// accept reads how a buyer pays. Without a method there is nothing to ask the account's provider for.
func (b *Billing) accept(ctx context.Context, account string, in ConfirmCheckout) (store.Confirm, error) {
	confirm := store.Confirm{TermsAccepted: in.TermsAccepted, Save: in.Save, OnPage: in.OnPage, IsPublic: in.IsPublic || in.OnPage, From: in.From}
	if in.Method == nil {
		return confirm, nil
	}
	if isSaved(in.Method) {
		if confirm.IsPublic {
			return confirm, errNotPublic
		}
		confirm.Saved = in.Method.Ref
		return confirm, nil
	}
	provider, err := b.chosen(ctx, account)
	if err != nil {
		return confirm, err
	}
	method, err := provider.Accept(*in.Method, b.store.Now().Time())
	confirm.Provider, confirm.MethodRef, confirm.PaymentMethod = provider.Name(), method.Ref, method.Card
	return confirm, err
}

// ResumePayment goes on with a payment from wherever it stands, as after an action of the buyer.
// A decline is an error as in ConfirmCheckout, and comes with the confirmation.
func (b *Billing) ResumePayment(ctx context.Context, account, id string) (*store.Confirmation, error) {
	begun, err := b.store.GetConfirmation(ctx, account, id)
	if err != nil {
		return nil, err
	}
	return b.resume(ctx, begun)
}

// ExpireCheckout ends a checkout that is open, or whose buyer is with their bank: their payment is given up first, and what it
// holds is free again. One that they have completed at the last moment, or whose bank takes its time, is CodeInvalid on status.
func (b *Billing) ExpireCheckout(ctx context.Context, account, ref string) (*store.Checkout, error) {
	c, err := b.store.GetCheckout(ctx, account, ref)
	if err != nil {
		return nil, err
	}
	if c.Status == store.CheckoutStatusProcessing {
		if err := b.CancelCheckoutPayment(ctx, account, c.ID); err != nil {
			return nil, err
		}
	}
	return b.store.ExpireCheckout(ctx, account, c.ID)
}

// CancelCheckoutPayment gives up the payment of a checkout for which its buyer is with their bank. The checkout is open again
// then, or completed if they were first. Without such a payment nothing changes.
func (b *Billing) CancelCheckoutPayment(ctx context.Context, account, id string) error {
	payment, err := b.store.CheckoutPayment(ctx, account, id)
	if missing, ok := errors.AsType[*core.Error](err); ok && missing.Code == core.CodeMissing {
		return nil
	}
	if err != nil || payment.Status != store.PaymentStatusRequiresAction {
		return err
	}
	begun, err := b.store.GetConfirmation(ctx, account, payment.ID)
	if err != nil || begun.Payment.Status != store.PaymentStatusRequiresAction {
		return err
	}
	if err = b.abandon(ctx, begun); core.OutcomeOf(err) == core.Recorded {
		return nil // given up
	}
	return err
}

const (
	// unknownPause is how long the reconciler waits before it asks about a charge of which nothing was heard.
	unknownPause = 10 * time.Second

	// pendingPause is how long it waits for a bank that takes its time.
	pendingPause = time.Minute
)

func (b *Billing) resume(ctx context.Context, begun *store.Confirmation) (*store.Confirmation, error) {
	payment := begun.Payment
	if payment.Status.IsFinal() {
		return answer(begun)
	}
	if err := b.openPage(ctx, begun); err != nil {
		return nil, b.unknown(ctx, payment, err)
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
	return core.NewUnknownError("payment "+payment.ID+" has no known outcome yet", err)
}

// charge asks the provider, beginning with what is not known to have been asked yet.
func (b *Billing) charge(ctx context.Context, begun *store.Confirmation) (payments.Charge, error) {
	payment := begun.Payment
	provider, err := b.providerOf(payment)
	if err != nil {
		return payments.Charge{}, err
	}
	if payment.ProviderRef != nil {
		charge, err := provider.GetCharge(ctx, payment.AccountID, *payment.ProviderRef)
		if err != nil || charge.Status != payments.ChargePrepared {
			return charge, err
		}
		return provider.ConfirmCharge(ctx, payment.AccountID, *payment.ProviderRef, wayBack(begun))
	}
	if payment.SaveMethod && payment.CustomerRef == nil {
		if err := b.saveMethod(ctx, provider, begun); err != nil {
			return declined(err)
		}
	}
	return b.ask(ctx, provider, payments.ChargeInput{
		Token: payment.ID, Account: payment.AccountID, Amount: payment.Amount, Currency: payment.Currency,
		MethodRef: payment.MethodRef, CustomerRef: deref(payment.CustomerRef), OffSession: payment.OffSession,
		Metadata: map[string]string{"account": payment.AccountID, "payment": payment.ID},
	}, wayBack(begun))
}

// declined makes an error that says no for good the decline of a charge.
func declined(err error) (payments.Charge, error) {
	if decline, ok := errors.AsType[*payments.Decline](err); ok {
		return payments.Charge{Status: payments.ChargeDeclined, Decline: decline}, nil
	}
	return payments.Charge{}, err
}

func (b *Billing) settle(ctx context.Context, begun *store.Confirmation, charge payments.Charge) (*store.Confirmation, error) {
	if charge.Status == payments.ChargePending {
		return begun, b.store.YieldPayment(ctx, begun.Payment.AccountID, begun.Payment.ID, pendingPause)
	}
	result, err := resultOf(begun.Payment, charge, pageOf(begun))
	if err != nil {
		return nil, err
	}
	settled, err := b.settlePayment(ctx, begun.Payment, result)
	if err != nil {
		return nil, err
	}
	return answer(settled)
}

// settlePayment stores an outcome, and says so when it paused the account's payments.
func (b *Billing) settlePayment(ctx context.Context, payment *store.Payment, result store.ChargeResult) (*store.Confirmation, error) {
	settled, err := b.store.SettlePayment(ctx, payment, result)
	if err == nil && settled.PausedUntil != nil {
		slog.WarnContext(ctx, "payments of buyers are paused: too many were declined", "account", payment.AccountID, "until", settled.PausedUntil.Time())
	}
	return settled, err
}

// openPage sees to it that there is a page where the buyer of a checkout may have to act: its address is lost with the secret key.
func (b *Billing) openPage(ctx context.Context, begun *store.Confirmation) error {
	if begun.Checkout == nil || begun.Checkout.ClientSecret != "" {
		return nil
	}
	c, err := b.store.RenewClosedSecret(ctx, begun.Payment.AccountID, begun.Checkout.ID)
	if err == nil {
		begun.Checkout = c
	}
	return err
}

// pageOf is where the buyer is while they pay, empty if that is nowhere of ours.
func pageOf(c *store.Confirmation) string {
	switch {
	case c.Checkout != nil:
		return c.Checkout.URL
	case c.Invoice != nil:
		return c.Invoice.HostedURL
	}
	return ""
}

// longestWayBack is how many characters an address may have that a provider is handed.
const longestWayBack = 500

// wayBack is where a buyer comes back to from their bank: our page if they are on it, and otherwise where the seller says, unless
// that is too long. It is the same whoever goes on with the charge.
func wayBack(c *store.Confirmation) string {
	if c.Checkout != nil && c.Checkout.ReturnURL != nil && !c.Payment.OnPage {
		back := strings.ReplaceAll(*c.Checkout.ReturnURL, "{CHECKOUT_ID}", c.Checkout.ID)
		if utf8.RuneCountInString(back) <= longestWayBack {
			return back
		}
	}
	return pageOf(c)
}

// answer is what the request that wanted to pay is told.
func answer(c *store.Confirmation) (*store.Confirmation, error) {
	if failure := c.Payment.Failure.V; failure != nil {
		return c, failure.Err()
	}
	return c, nil
}

// resultOf puts a provider's words about the charge of a payment into ours. A buyer who has to act and is not sent elsewhere does
// it on our page. A charge of another amount pays for nothing: somebody has to look at it.
func resultOf(payment *store.Payment, charge payments.Charge, page string) (store.ChargeResult, error) {
	switch charge.Status {
	case payments.ChargeSucceeded:
		if took := charge.Amount; took != nil && (took.Value != payment.Amount || took.Currency != payment.Currency) {
			return store.ChargeResult{}, fmt.Errorf("charge %s took %d %s for payment %s, which is of %d %s",
				charge.Ref, took.Value, took.Currency, payment.ID, payment.Amount, payment.Currency)
		}
		return store.ChargeResult{Status: store.PaymentStatusSucceeded}, nil
	case payments.ChargeRequiresAction:
		return store.ChargeResult{Status: store.PaymentStatusRequiresAction, NextActionURL: cmp.Or(charge.NextActionURL, page)}, nil
	case payments.ChargeCanceled:
		return store.ChargeResult{Status: store.PaymentStatusCanceled, Failure: &store.PaymentFailure{
			Code: "payment_canceled", Message: "The payment was not authenticated in time. Nothing was charged.",
		}}, nil
	case payments.ChargeDeclined:
		return store.ChargeResult{Status: store.PaymentStatusFailed, Failure: &store.PaymentFailure{
			Code: charge.Decline.Code, DeclineCode: said(charge.Decline.DeclineCode), Message: charge.Decline.Message,
		}}, nil
	case payments.ChargePrepared, payments.ChargePending:
	}
	return store.ChargeResult{}, fmt.Errorf("charge %s is %s, which is no outcome", charge.Ref, charge.Status)
}

// said is what a provider said, nil if nothing: no bank was asked about a charge that was refused before.
func said(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
