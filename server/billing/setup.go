package billing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/payment"
)

// A customer adds a payment method with a charge of nothing, an amount of 0. These are the keys of its metadata. They hold all that is
// needed to save the method. So whoever hears first that the bank has agreed can do it: the customer's page, or the provider's
// notification.
const (
	setupCustomer     = "saves_for"
	setupCustomerRef  = "customer_ref"
	setupMethodRef    = "method_ref"
	setupCard         = "card"
	setupDefault      = "default"
	setupSubscription = "subscription"
)

// GiveMethod is a payment method that a customer, who is there, adds to be charged with later. If Subscription is given, that
// is charged to it from then on. Page is the address to which their bank sends them back. It may open the portal, so it is not
// stored with the provider.
type GiveMethod struct {
	Method       payments.MethodInput
	IsDefault    bool
	Subscription string
	Page         string
	From         payment.Buyer
}

// GivenMethod says how far the adding of a method is. Saved is nil until the bank has agreed. Until then NextURL is where the
// bank asks the customer, empty if it does not ask.
type GivenMethod struct {
	Ref     string // the provider's reference of the charge of nothing
	Saved   *payment.SavedMethod
	NextURL string

	isNew bool // this call saved it
}

// GiveMethod asks a customer's bank whether a method may be charged while they are away, and saves it once the bank agrees. It
// does that with a charge of nothing. The method's reference serves as the token, so that a form sent twice saves it once. A
// method that cannot be saved is CodeInvalid on payment_method; what the provider has of it does no harm. One that is removed
// meanwhile is CodeMissing. After too many tries it is CodeRateLimit.
func (b *Billing) GiveMethod(ctx context.Context, account, customer string, in GiveMethod) (*GivenMethod, error) {
	provider, accepted, err := b.acceptSaved(ctx, account, customer, in.Method)
	if err != nil {
		return nil, err
	}
	in.From.OnBehalf = true
	c, _, err := b.store.Payment.BeginSaveMethod(ctx, account, customer, in.From)
	if err != nil {
		return nil, err
	}
	attached := attachmentOf(c, accepted.Ref, accepted)
	ref, method, err := b.attach(ctx, provider, attached)
	if err != nil {
		return nil, refusal(err)
	}
	card, err := json.Marshal(method.Card)
	if err != nil {
		return nil, err
	}
	told := map[string]string{setupCustomer: c.ID, setupCustomerRef: ref, setupMethodRef: method.Ref, setupCard: string(card)}
	if in.IsDefault {
		told[setupDefault] = "true"
	}
	if in.Subscription != "" {
		told[setupSubscription] = in.Subscription
	}
	prepared, err := provider.PrepareCharge(ctx, payments.ChargeInput{
		Token: attached.Token, Account: account, MethodRef: method.Ref, CustomerRef: ref, Metadata: told,
	})
	if err != nil {
		return nil, refusal(err)
	}
	charge, err := provider.ConfirmCharge(ctx, account, prepared, in.Page)
	if err != nil {
		return nil, fmt.Errorf("give a method of customer %s: %w", c.ID, err)
	}
	given, err := b.settleGiven(ctx, provider.Name(), account, charge)
	if err == nil && given.Saved != nil {
		in.From.OnBehalf = given.isNew // whoever saved it first has forgiven the customer, but did not know the address
		err = b.store.Payment.ForgiveTry(ctx, account, c.ID, in.From)
	}
	return given, err
}

// FindGivenMethod looks up how far the adding of a method is, and saves the method if the bank has agreed. Ref is that of the
// charge of nothing. One that is not this customer's, or that the provider does not know, is CodeMissing; one that the bank has
// refused is CodeInvalid on payment_method. From is who asks.
func (b *Billing) FindGivenMethod(ctx context.Context, account, customer, ref string, from payment.Buyer) (*GivenMethod, error) {
	provider, err := b.chosen(ctx, account)
	if err != nil {
		return nil, err
	}
	charge, err := provider.GetCharge(ctx, account, ref)
	if errors.Is(err, payments.ErrNoCharge) {
		return nil, core.Missing("payment method", "", ref)
	}
	if err != nil {
		return nil, fmt.Errorf("find the method that customer %s gives: %w", customer, err)
	}
	if charge.Metadata[setupCustomer] != customer {
		return nil, core.Missing("payment method", "", ref)
	}
	return b.settleAfterBank(ctx, provider.Name(), account, charge, from)
}

// settleAfterBank is settleGiven for a customer who was with their bank meanwhile. Their try was counted as declined when they
// began. If the bank has agreed and this call is the first to hear of it, that is taken back. It is taken back for the customer, and
// for the address they ask from. A notification of the provider has no such address.
func (b *Billing) settleAfterBank(ctx context.Context, provider, account string, charge payments.Charge, from payment.Buyer) (*GivenMethod, error) {
	given, err := b.settleGiven(ctx, provider, account, charge)
	if err != nil || !given.isNew {
		return given, err
	}
	from.OnBehalf = true
	return given, b.store.Payment.ForgiveTry(ctx, account, given.Saved.CustomerID, from)
}

// settleGiven does what the state of a charge of nothing calls for. If the bank agreed, the method is saved, with all that was
// stored in the charge's metadata; one that was removed meanwhile is CodeMissing. If the bank refused or the time is over, the
// provider is told to forget the method, and it is CodeInvalid on payment_method. Otherwise nothing happens yet, and Saved is
// nil.
func (b *Billing) settleGiven(ctx context.Context, provider, account string, charge payments.Charge) (*GivenMethod, error) {
	given := &GivenMethod{Ref: charge.Ref, NextURL: charge.NextActionURL}
	switch charge.Status {
	case payments.ChargeSucceeded:
		told := charge.Metadata
		var card payment.Method
		if err := json.Unmarshal([]byte(told[setupCard]), &card); err != nil {
			return nil, fmt.Errorf("%w: read the card of %s: %w", payments.ErrUnusable, charge.Ref, err)
		}
		var err error
		given.Saved, given.isNew, err = b.store.SaveGivenMethod(ctx, payment.SavedMethod{
			AccountID: account, CustomerID: told[setupCustomer], Provider: provider, ProviderRef: told[setupMethodRef],
			CustomerRef: told[setupCustomerRef], Card: core.JSONOf(card),
		}, told[setupDefault] != "", told[setupSubscription])
		if err == nil && given.Saved == nil {
			err = core.Missing("payment method", "", charge.Ref)
		}
		return given, err
	case payments.ChargeDeclined, payments.ChargeCanceled:
		if err := b.dropGiven(ctx, provider, account, charge); err != nil {
			return nil, err
		}
		if charge.Status == payments.ChargeDeclined {
			return nil, refusal(charge.Decline)
		}
		return nil, core.Invalid("payment_method", "The card was not confirmed in time. Enter it again.").Because("late")
	case payments.ChargePrepared, payments.ChargeRequiresAction, payments.ChargePending: // the bank has not said anything yet
	}
	return given, nil
}

// dropGiven stores that the provider is to forget a method to which the bank did not agree. The reconciler tells it.
func (b *Billing) dropGiven(ctx context.Context, provider, account string, charge payments.Charge) error {
	return b.store.Payment.DetachGiven(ctx, account, provider, charge.Ref, charge.Metadata[setupMethodRef])
}

// applyGiven handles a notification about a charge of nothing. It saves the method if the bank agreed, also for a customer who did not
// come back from their bank. If the bank did not agree, it drops the method. A customer or method that was deleted meanwhile is no
// error.
func (b *Billing) applyGiven(ctx context.Context, provider string, event payments.Event) error {
	switch event.Charge.Status {
	case payments.ChargeSucceeded:
		_, err := b.settleAfterBank(ctx, provider, event.Account, event.Charge, payment.Buyer{})
		if missing, ok := errors.AsType[*core.Error](err); ok && missing.Code == core.CodeMissing {
			return nil
		}
		return err
	case payments.ChargeDeclined, payments.ChargeCanceled:
		return b.dropGiven(ctx, provider, event.Account, event.Charge)
	case payments.ChargePrepared, payments.ChargeRequiresAction, payments.ChargePending: // the bank has not said anything yet
	}
	return nil
}
