// Package billing holds the use cases that have to ask a payment provider. Each works in three steps. It stores what is intended, asks the provider
// with the id of that intent as the token, and stores the outcome. Each can be run again from wherever it stopped, which is all that recovery needs.
// A request that is sent again and the reconciler (Run) call the same code.
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
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/tenant"
)

// Billing takes money for checkouts, invoices and subscriptions, and gives it back. It is safe for concurrent use.
type Billing struct {
	store     *store.Store
	providers *payments.Registry
	walkers   sync.Map // by account: *sync.RWMutex

	// Letters sends the letters of an account that wait, and returns when none is under way any more. Whoever moves the account's clock has them sent on
	// the way, each at its own moment. Nil leaves them to whoever sends letters otherwise.
	Letters func(ctx context.Context, account string) error

	workTime, turnTime time.Duration
	looks              looks
}

// New makes a Billing. Each account is charged through that one of the providers which it has chosen.
func New(s *store.Store, providers *payments.Registry) *Billing {
	return &Billing{store: s, providers: providers, workTime: workTime, turnTime: turnTime}
}

// chosen returns the provider that new payments of an account go through, which is set in the account. It is CodeInvalid on
// payment_method if the account lacks the key that the provider needs, or if this server does not have that provider.
func (b *Billing) chosen(ctx context.Context, account string) (payments.Provider, error) {
	choice, err := b.store.Tenant.GetPaymentsChoice(ctx, account)
	if err != nil {
		return nil, err
	}
	if choice.Provider == tenant.PaymentsProviderStripe && !choice.HasKey {
		return nil, core.Invalid("payment_method", "The account takes no payments yet: its payments_provider is stripe, and it has no stripe_secret_key.")
	}
	provider, ok := b.providers.Provider(string(choice.Provider))
	if !ok {
		return nil, core.Invalid("payment_method", "This server takes no payments through the account's payments_provider, "+string(choice.Provider)+". The account has to choose another one.")
	}
	return provider, nil
}

// providerOf returns the provider that a payment was begun with. The account may have chosen another one since.
func (b *Billing) providerOf(payment *payment.Payment) (payments.Provider, error) {
	return b.named(payment.Provider)
}

// named returns the provider of a name. That this server has none of that name is our own fault, and no refusal of the request.
func (b *Billing) named(provider string) (payments.Provider, error) {
	if provider, ok := b.providers.Provider(provider); ok {
		return provider, nil
	}
	return nil, fmt.Errorf("this server has no payment provider %q", provider)
}

// CheckoutConfirm says how a buyer pays a checkout. Method is nil when none was sent.
type CheckoutConfirm struct {
	Method           *payments.MethodInput
	Save             bool // save the method, to charge it later
	TermsAccepted    bool
	TermsShown       *string       // the legal pages that the buyer has seen, as checkout.TextsOf names them; nil = not known
	WithdrawalWaived bool          // the buyer asks for delivery at once, and gives up their right to withdraw
	AdsConsent       *bool         // whether ad networks may be told; nil = as the checkout says
	AdsVisit         *advert.Visit // nil = none was sent
	OnPage           bool          // the buyer pays on our page, to which their bank sends them back
	IsPublic         bool          // asked with the client secret, which is no proof of who asks: saved methods are refused
	From             payment.Buyer
	Shown            *string // the amounts that the buyer has seen, as Checkout.Shown returns them; nil = not asked
}

// ConfirmCheckout charges the method and makes the order, at most once however often it is called. A completed checkout is
// returned as it is.
//
// A declined charge is a CodeInvalid on payment_method whose outcome is Recorded; the checkout is open again then. A charge
// that the buyer still has to approve leaves the checkout processing, with a next action. After too many declines it is
// CodeRateLimit, and no provider is asked. An error that is not a *core.Error leaves the outcome unknown: the same request sent
// again, or the reconciler, finds out.
func (b *Billing) ConfirmCheckout(ctx context.Context, account, ref string, in CheckoutConfirm) (*checkout.Checkout, error) {
	confirmed, err := b.confirm(ctx, account, ref, in)
	if confirmed == nil {
		return nil, err
	}
	return confirmed.Checkout, err
}

// confirm is ConfirmCheckout with the payment besides the checkout. The payment is nil if there was nothing to charge.
func (b *Billing) confirm(ctx context.Context, account, ref string, in CheckoutConfirm) (*store.PaymentProgress, error) {
	confirm, refused := b.accept(ctx, account, in)
	if refused != nil {
		if _, err := b.store.Checkout.Get(ctx, account, ref); err != nil {
			return nil, err // that there is no such checkout is said before what is wrong with the method
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
	if begun.Again && confirm.IsPublic {
		return b.lookAgain(ctx, begun)
	}
	return b.resume(ctx, begun)
}

// accept checks how a buyer wants to pay, and puts it into what the store needs to begin the payment. It asks no provider over
// the network. A method that a customer has saved is refused when the request is public. Without a method the account need not
// even have a provider: a checkout that costs nothing has none to ask.
func (b *Billing) accept(ctx context.Context, account string, in CheckoutConfirm) (checkout.Confirm, error) {
	confirm := checkout.Confirm{
		TermsAccepted: in.TermsAccepted, TermsShown: in.TermsShown, WithdrawalWaived: in.WithdrawalWaived, AdsConsent: in.AdsConsent, AdsVisit: in.AdsVisit, Save: in.Save, OnPage: in.OnPage, IsPublic: in.IsPublic || in.OnPage, From: in.From, Shown: in.Shown,
	}
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

// ResumePayment goes on with a payment from wherever it stands, for example after the buyer has been with their bank. One that
// has an outcome stays as it is. A decline is an error as in CheckoutConfirm, and comes together with the confirmation.
func (b *Billing) ResumePayment(ctx context.Context, account, id string) (*store.PaymentProgress, error) {
	begun, err := b.store.GetPaymentProgress(ctx, account, id)
	if err != nil {
		return nil, err
	}
	return b.resume(ctx, begun)
}

// ExpireCheckout ends a checkout, so that what it holds for its buyer is free again. If the buyer is with their bank, their
// payment is cancelled first. If they have paid at the last moment, or the bank has not decided yet, it is CodeInvalid on
// status.
func (b *Billing) ExpireCheckout(ctx context.Context, account, ref string) (*checkout.Checkout, error) {
	c, err := b.store.Checkout.Get(ctx, account, ref)
	if err != nil {
		return nil, err
	}
	if c.Status == checkout.StatusProcessing {
		if err := b.CancelCheckoutPayment(ctx, account, c.ID); err != nil {
			return nil, err
		}
	}
	return b.store.Checkout.Expire(ctx, account, c.ID)
}

// CancelCheckoutPayment cancels the payment of a checkout whose buyer still has to approve it. The checkout is open again then,
// or completed if the buyer approved it first. Without such a payment nothing changes, and there is no error.
func (b *Billing) CancelCheckoutPayment(ctx context.Context, account, id string) error {
	p, err := b.store.Payment.OfCheckout(ctx, account, id)
	if missing, ok := errors.AsType[*core.Error](err); ok && missing.Code == core.CodeMissing {
		return nil
	}
	if err != nil {
		return err
	}
	return b.cancelPayment(ctx, account, p.ID)
}

// cancelPayment cancels a payment whose buyer still has to approve it. Another one stays as it is, and there is no error.
func (b *Billing) cancelPayment(ctx context.Context, account, id string) error {
	begun, err := b.store.GetPaymentProgress(ctx, account, id)
	if err != nil || begun.Payment.Status != payment.StatusRequiresAction {
		return err
	}
	if err = b.abandon(ctx, begun); core.OutcomeOf(err) == core.Recorded {
		return nil // it was given up, as wanted
	}
	return err
}

const (
	// unknownPause is how long the reconciler waits before it asks about a charge whose outcome is not known.
	unknownPause = 10 * time.Second

	// pendingPause is how long the reconciler waits before it asks again about a charge that the bank has not decided.
	pendingPause = time.Minute
)

// resume makes the charge of a payment that has no outcome yet, or looks it up, and stores what the provider says of it. If the
// provider cannot tell, the error leaves the outcome unknown and the reconciler asks again after unknownPause. A payment that
// has an outcome is returned as it is.
func (b *Billing) resume(ctx context.Context, begun *store.PaymentProgress) (*store.PaymentProgress, error) {
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
	return b.settleCharge(ctx, begun, charge)
}

// unknown ends the lease on a payment whose outcome could not be found out, so that the reconciler asks again after
// unknownPause. The error that it returns has the outcome Unknown whatever err was. No failure of a provider may be taken for the answer to a
// request, or free its Idempotency-Key.
func (b *Billing) unknown(ctx context.Context, payment *payment.Payment, err error) error {
	if yield := b.store.Payment.Yield(context.WithoutCancel(ctx), payment.AccountID, payment.ID, unknownPause); yield != nil {
		err = errors.Join(err, yield)
	}
	return core.NewUnknownError("payment "+payment.ID+" has no known outcome yet", err)
}

// charge gets the charge of a payment from the provider. If the charge was prepared before, it is looked up, and confirmed only
// if it was not yet. Otherwise it is made, after the method was saved if the buyer wants that.
func (b *Billing) charge(ctx context.Context, begun *store.PaymentProgress) (payments.Charge, error) {
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

// declined turns a *payments.Decline, with which a provider refuses for good, into a declined charge. Any other error stays an
// error, and leaves the outcome unknown.
func declined(err error) (payments.Charge, error) {
	if decline, ok := errors.AsType[*payments.Decline](err); ok {
		return payments.Charge{Status: payments.ChargeDeclined, Decline: decline}, nil
	}
	return payments.Charge{}, err
}

// leftToOthers is what a buyer is told whose bank asks for something while others who wait for theirs hold all that may be held.
const leftToOthers = "Only few are left, and others who wait for their bank hold some. Nothing was charged: try again in a few minutes, or pay with a card whose bank asks for nothing."

// settleCharge stores what the provider says of a charge, and returns the answer for whoever wanted to pay. A charge about which the
// bank has not decided is left alone for pendingPause, and the payment is returned as it was. One that waits for its buyer, and holds
// too much meanwhile, is given up.
func (b *Billing) settleCharge(ctx context.Context, begun *store.PaymentProgress, charge payments.Charge) (*store.PaymentProgress, error) {
	if charge.Status == payments.ChargePending {
		return begun, b.store.Payment.Yield(ctx, begun.Payment.AccountID, begun.Payment.ID, pendingPause)
	}
	result, err := resultOf(begun.Payment, charge, pageOf(begun))
	if err != nil {
		return nil, err
	}
	if result.Status == payment.StatusCanceled && begun.GivenUp != "" {
		result.Failure.Code, result.Failure.Message = "left_to_others", begun.GivenUp
	}
	settled, err := b.settlePayment(ctx, begun.Payment, result)
	if err != nil {
		return nil, err
	}
	if settled.HoldsTooMuch {
		settled.GivenUp = leftToOthers
		return b.giveUpCharge(ctx, settled)
	}
	return answer(settled)
}

// settlePayment stores the outcome of a payment. It logs a warning if this decline was one too many, and the account's payments
// are paused for a while.
func (b *Billing) settlePayment(ctx context.Context, payment *payment.Payment, result payment.ChargeResult) (*store.PaymentProgress, error) {
	settled, err := b.store.SettlePayment(ctx, payment, result)
	if err == nil && settled.PausedUntil != nil {
		slog.WarnContext(ctx, "payments of buyers are paused: too many were declined", "account", payment.AccountID, "until", settled.PausedUntil.Time())
	}
	return settled, err
}

// openPage makes sure that the checkout of a payment has a page, because its buyer may have to act there. The address contains the client secret,
// which cannot be read any more once the server's secret key was replaced. Then the checkout gets a new one.
func (b *Billing) openPage(ctx context.Context, begun *store.PaymentProgress) error {
	if begun.Checkout == nil || begun.Checkout.ClientSecret != "" {
		return nil
	}
	c, err := b.store.Checkout.RenewClosedSecret(ctx, begun.Payment.AccountID, begun.Checkout.ID)
	if err == nil {
		begun.Checkout = c
	}
	return err
}

// pageOf returns the address of our page on which the buyer pays: that of the checkout or of the invoice, empty if there is
// neither.
func pageOf(c *store.PaymentProgress) string {
	switch {
	case c.Checkout != nil:
		return c.Checkout.URL
	case c.Invoice != nil:
		return c.Invoice.HostedURL
	}
	return ""
}

// longestWayBack is the longest return address that a provider is given, in characters.
const longestWayBack = 500

// wayBack returns the address to which the bank sends a buyer back: our page if they pay there, and otherwise the seller's return_url. If there is
// none, or it is too long, it is our page again. It is the same for whoever goes on with the charge, the request or the reconciler.
func wayBack(c *store.PaymentProgress) string {
	if c.Checkout != nil && c.Checkout.ReturnURL != nil && !c.Payment.OnPage {
		back := strings.ReplaceAll(*c.Checkout.ReturnURL, "{CHECKOUT_ID}", c.Checkout.ID)
		if utf8.RuneCountInString(back) <= longestWayBack {
			return back
		}
	}
	return pageOf(c)
}

// answer returns the payment as it stands. If it failed or was canceled, the error that the client is told comes with it.
func answer(c *store.PaymentProgress) (*store.PaymentProgress, error) {
	if failure := c.Payment.Failure.V; failure != nil {
		return c, failure.Err()
	}
	return c, nil
}

// resultOf translates what a charge has become from the provider's terms into ours. Page is where a buyer acts whom the
// provider sends nowhere. It is an error if the charge is still prepared or pending, or if it took another amount than the payment's. A charge of
// another amount pays for nothing, and somebody has to look at it.
func resultOf(p *payment.Payment, charge payments.Charge, page string) (payment.ChargeResult, error) {
	switch charge.Status {
	case payments.ChargeSucceeded:
		if took := charge.Amount; took != nil && (took.Value != p.Amount || took.Currency != p.Currency) {
			return payment.ChargeResult{}, fmt.Errorf("charge %s took %d %s for payment %s, which is of %d %s",
				charge.Ref, took.Value, took.Currency, p.ID, p.Amount, p.Currency)
		}
		return payment.ChargeResult{Status: payment.StatusSucceeded}, nil
	case payments.ChargeRequiresAction:
		return payment.ChargeResult{Status: payment.StatusRequiresAction, NextActionURL: cmp.Or(charge.NextActionURL, page)}, nil
	case payments.ChargeCanceled:
		return payment.ChargeResult{Status: payment.StatusCanceled, Failure: &payment.Failure{
			Code: "payment_canceled", Message: "The payment was not authenticated in time. Nothing was charged.",
		}}, nil
	case payments.ChargeDeclined:
		return payment.ChargeResult{Status: payment.StatusFailed, Failure: &payment.Failure{
			Code: charge.Decline.Code, DeclineCode: said(charge.Decline.DeclineCode), Message: charge.Decline.Message, OfSeller: charge.Decline.OfSeller,
		}}, nil
	case payments.ChargePrepared, payments.ChargePending:
	}
	return payment.ChargeResult{}, fmt.Errorf("charge %s is %s, which is no outcome", charge.Ref, charge.Status)
}

// said returns what a provider said, or nil if it said nothing. There is no decline code if a charge was refused before a bank
// was asked.
func said(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
