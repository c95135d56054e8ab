// Package payments is the seam to whoever moves the money. A provider is asked in three steps, so that a crash
// between any two of them neither loses a charge nor makes a second one: prepare (moves nothing, and gives the
// reference that is committed next), confirm, and after an unknown outcome get.
package payments

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/tillwright/tillwright/store"
)

// Provider is a payment provider. Whatever moves money is asked for by a token that is minted once, for a payment or
// for a refund: what is called twice with one token, or with the reference it gave, happens once.
//
// An error of a method that takes a context means that the outcome is unknown, never that it was refused.
type Provider interface {
	Name() string

	// Accept reads a payment method and refuses, as a core.Error on payment_method, one that can never pay.
	// It asks nobody and may be called anywhere.
	Accept(in MethodInput, now time.Time) (Method, error)

	// CreateCustomer makes the customer whose methods can be charged again. It is the same for every call with the
	// token. Its error is a *Decline if there can never be one.
	CreateCustomer(ctx context.Context, in CustomerInput) (ref string, err error)

	// AttachMethod saves an accepted method for a customer, before its first charge. What it returns is charged from
	// then on; a method that can not be saved is refused as Accept refuses one. It is ErrNoCustomer if the provider does not
	// know the customer, or not any more.
	AttachMethod(ctx context.Context, in AttachInput) (Method, error)

	// DetachMethod makes a saved method one that nobody can be charged with any more. One that the provider does not know,
	// or knows as such, is no error.
	DetachMethod(ctx context.Context, account, ref string) error
	// PrepareCharge announces a charge and moves no money. The reference is the same for every call with the token.
	// Its error is a *Decline if the charge can never be made; there is no reference then.
	PrepareCharge(ctx context.Context, in ChargeInput) (ref string, err error)

	// ConfirmCharge moves the money of a prepared charge. A charge that has an outcome keeps it. Back is where the buyer comes
	// back to from what the charge requires of them elsewhere; it is empty if there is no such page, and not kept.
	ConfirmCharge(ctx context.Context, account, ref, back string) (Charge, error)

	// GetCharge looks a charge up. It is ErrNoCharge if the provider knows none of that reference.
	GetCharge(ctx context.Context, account, ref string) (Charge, error)

	// CancelCharge gives up a charge that has not moved money yet. One that has an outcome keeps it, so the
	// caller settles what is returned.
	CancelCharge(ctx context.Context, account, ref string) (Charge, error)

	// Refund gives back a part of a charge that succeeded, or all of it. One that the provider will never make is
	// RefundFailed, not an error.
	Refund(ctx context.Context, in RefundInput) (Refund, error)

	// GetRefund looks up what became of the refund of a charge that was asked for with a token; found is false if the
	// provider never heard of it.
	GetRefund(ctx context.Context, account, chargeRef, token string) (refund Refund, found bool, err error)

	// CancelRefund gives up a refund that is pending. One that has an outcome keeps it, so the caller settles what is
	// returned.
	CancelRefund(ctx context.Context, account, ref string) (Refund, error)
}

// Authenticator is a provider whose buyers do on our own page what a charge requires of them.
type Authenticator interface {
	// Authenticate is the buyer's word that a charge which requires an action is theirs. Any other charge stays as
	// it is.
	Authenticate(ctx context.Context, account, ref string) (Charge, error)
}

// Tester is a provider that moves no money: a developer plays the buyer and the banks.
type Tester interface {
	Authenticator

	// SettleRefund lets a pending refund become what it is told to. Any other refund stays as it is.
	SettleRefund(ctx context.Context, account, ref string, to RefundStatus) (Refund, error)
}

// Notifier is a provider that tells us by itself what became of something.
type Notifier interface {
	// ParseWebhook reads a notification that came to us, and returns ErrForged for one that is not the provider's,
	// ErrUnknownStatus and ErrUnusable for one that is. It
	// asks nobody, but reads the account's secret. A notification of no concern is an Event without a Kind.
	ParseWebhook(ctx context.Context, header http.Header, body []byte) (Event, error)
}

// ErrForged is the answer to a notification that does not carry the provider's signature, or is dated too far from now.
var ErrForged = errors.New("the signature of the notification is not valid")

// ErrUnusable is a notification that carries the provider's signature and cannot be taken as it is: something is missing, of the wrong
// kind, or contradicts what we have asked for. Nothing of it was applied.
var ErrUnusable = errors.New("the notification is signed, but cannot be used")

// ErrUnknownStatus is a status that did not exist when this was written. What it means, whoever asks the provider again finds out.
var ErrUnknownStatus = errors.New("the status is not known")

// ErrNoCustomer means that the provider has to be told of a customer anew: the account may be another one there by now, or have
// gone from test mode to live mode.
var ErrNoCustomer = errors.New("the provider does not know the customer")

// ErrNoCharge means that the provider knows no such charge with the account's keys of today. It does not say that there was none.
var ErrNoCharge = errors.New("the provider does not know the charge")

// Credentials are what an account has of a provider.
type Credentials struct {
	SecretKey     string
	WebhookSecret string
}

// MethodInput is how a buyer wants to pay: with a reference that the provider knows, or with a card.
type MethodInput struct {
	Ref  string
	Card *Card
}

// Card is a card as a buyer types it. It is never stored and never logged.
type Card struct {
	Number   string
	ExpMonth int
	ExpYear  int
	CVC      string
}

// Method is an accepted payment method: the provider's reference and what may be shown of it.
type Method struct {
	Ref  string
	Card store.PaymentMethod
}

// CustomerInput asks for a customer. Customer is our id.
type CustomerInput struct {
	Token    string
	Account  string
	Customer string
	Email    string
	Name     string
}

// AttachInput asks to save a method for a customer, both by the provider's references. Card is what Accept said of
// the method.
type AttachInput struct {
	Token       string
	Account     string
	CustomerRef string
	MethodRef   string
	Card        store.PaymentMethod
}

// ChargeInput asks for Amount minor units of Currency. A charge of nothing asks whether a saved method may be charged
// later. A charge is OffSession while its buyer is not there to do
// anything; CustomerRef is empty for a method that is charged once.
type ChargeInput struct {
	Token       string
	Account     string
	Amount      int64
	Currency    string
	MethodRef   string
	CustomerRef string
	OffSession  bool
	Metadata    map[string]string
}

// Status is how far a charge is.
type Status string

// The states of a charge. Succeeded, declined and canceled are outcomes: they never change.
const (
	ChargePrepared       Status = "prepared"
	ChargeRequiresAction Status = "requires_action"
	ChargePending        Status = "pending" // the bank takes its time; there is nothing to do but to ask again
	ChargeSucceeded      Status = "succeeded"
	ChargeDeclined       Status = "declined"
	ChargeCanceled       Status = "canceled"
)

// Charge is the provider's view of a charge.
type Charge struct {
	Ref           string
	Status        Status
	Decline       *Decline // set when declined
	NextActionURL string   // when it requires an action; empty if our own page asks for it

	// Of a provider that tells: how much it is, which is what was asked for, and what it was told with it.
	Amount   *Amount
	Metadata map[string]string
}

// Amount is money in our minor unit.
type Amount struct {
	Value    int64
	Currency string
}

// Decline says why a charge did not go through.
type Decline struct {
	Code        string // card_declined, expired_card ...
	DeclineCode string // generic_decline, insufficient_funds ...
	Message     string // for the buyer
}

// Error implements error, for a charge that is declined before there is one.
func (d *Decline) Error() string { return d.Message }

// RefundInput asks to give back Amount minor units of a charge. Reason is one of store.RefundReason, of which the provider
// need not know every one.
type RefundInput struct {
	Token     string
	Account   string
	ChargeRef string
	Amount    int64
	Currency  string
	Reason    string
	Metadata  map[string]string
}

// RefundStatus is how far a refund is.
type RefundStatus string

// The states of a refund. A bank may send back what has succeeded, so that it fails after all.
const (
	RefundPending   RefundStatus = "pending"
	RefundSucceeded RefundStatus = "succeeded"
	RefundFailed    RefundStatus = "failed"
	RefundCanceled  RefundStatus = "canceled"
)

// Refund is the provider's view of a refund.
type Refund struct {
	Ref           string
	Status        RefundStatus
	FailureReason string // expired_or_canceled_card, lost_or_stolen_card, unknown ..., when failed
}

// EventKind is what a notification is about.
type EventKind string

// The kinds of notifications that concern us.
const (
	EventCharge EventKind = "charge"
	EventRefund EventKind = "refund"
)

// Event is a notification: what a charge or a refund of an account had become when the provider sent it. They arrive
// in any order, and more than once.
type Event struct {
	ID       string
	Account  string
	Kind     EventKind // empty if it is of no concern
	Charge   Charge    // of EventCharge
	Refund   Refund    // of EventRefund
	Metadata map[string]string
}
