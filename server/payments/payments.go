// Package payments defines what the program needs of a payment provider. A charge is asked for in steps, so that a crash
// between any two of them neither loses a charge nor makes a second one. PrepareCharge moves no money and gives the reference,
// which is stored next; ConfirmCharge moves the money; if its outcome is unknown, GetCharge finds out.
package payments

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/tillwright/tillwright/store/payment"
)

// Provider is a payment provider. Every call that may move money has a token, made once for one payment or refund. However
// often it is called with the same token, or with the reference that it gave for it, it happens once.
//
// If a method that takes a context returns an error, the outcome is unknown; it never means that the provider refused.
type Provider interface {
	Name() string

	// Accept checks a payment method without asking anybody, so that it may be called anywhere. One that can never pay is
	// CodeInvalid on payment_method.
	Accept(in MethodInput, now time.Time) (Method, error)

	// CreateCustomer creates the provider's customer, whose saved methods can be charged again. Every call with the same token
	// returns the same one. If there can never be one, the error is a *Decline.
	CreateCustomer(ctx context.Context, in CustomerInput) (ref string, err error)

	// AttachMethod saves an accepted method for a customer, before its first charge. The method that it returns is the one to
	// charge from then on. A method that cannot be saved is refused as Accept refuses one. It is ErrNoCustomer if the provider
	// does not know the customer, or not any more.
	AttachMethod(ctx context.Context, in AttachInput) (Method, error)

	// DetachMethod makes sure that nobody can be charged with a saved method any more. A method that the provider does not
	// know, or that is detached already, is no error.
	DetachMethod(ctx context.Context, account, ref string) error
	// PrepareCharge announces a charge and moves no money. Every call with the same token returns the same reference. If the
	// charge can never be made, the error is a *Decline and there is no reference.
	PrepareCharge(ctx context.Context, in ChargeInput) (ref string, err error)

	// ConfirmCharge moves the money of a prepared charge. A charge that has an outcome keeps it. If the buyer has to act on a page
	// elsewhere, that page sends them to back afterwards. Back is empty if there is no such address, and is not stored.
	ConfirmCharge(ctx context.Context, account, ref, back string) (Charge, error)

	// GetCharge looks a charge up by its reference. It is ErrNoCharge if the provider knows none.
	GetCharge(ctx context.Context, account, ref string) (Charge, error)

	// CancelCharge cancels a charge that has moved no money yet. One that has an outcome keeps it. The caller has to store what
	// is returned, whichever it is.
	CancelCharge(ctx context.Context, account, ref string) (Charge, error)

	// Refund gives back a succeeded charge, or a part of it. A refund that the provider will never make comes back as
	// RefundFailed, not as an error.
	Refund(ctx context.Context, in RefundInput) (Refund, error)

	// GetRefund looks up the refund of a charge that was asked for with a token. Found is false if the provider never heard of
	// it.
	GetRefund(ctx context.Context, account, chargeRef, token string) (refund Refund, found bool, err error)

	// CancelRefund cancels a pending refund. One that has an outcome keeps it. The caller has to store what is returned,
	// whichever it is.
	CancelRefund(ctx context.Context, account, ref string) (Refund, error)
}

// Authenticator is a provider whose buyers approve charges on our own page instead of their bank's.
type Authenticator interface {
	// Authenticate says that the buyer approves a charge which requires that. Any other charge stays as it is.
	Authenticate(ctx context.Context, account, ref string) (Charge, error)
}

// Tester is a provider that moves no money, with which a developer plays the buyer and the banks.
type Tester interface {
	Authenticator

	// SettleRefund gives a pending refund an outcome. Any other refund stays as it is.
	SettleRefund(ctx context.Context, account, ref string, to RefundStatus) (Refund, error)
}

// Notifier is a provider that notifies us by itself when something has changed.
type Notifier interface {
	// HasSignature reports whether the headers of a notification have a signature of today, whatever it signs. Without one no body is read.
	HasSignature(header http.Header) bool

	// ParseWebhook reads a notification. It is ErrForged if the provider did not send it, and ErrUnknownStatus or ErrUnusable
	// if the provider did and it cannot be understood. It asks nobody, but reads the account's secret. A notification that does
	// not concern us is an Event without a Kind.
	ParseWebhook(ctx context.Context, header http.Header, body []byte) (Event, error)
}

// ErrForged is the answer to a notification that does not carry the provider's signature, or whose date is too far from now.
var ErrForged = errors.New("the signature of the notification is not valid")

// ErrUnusable means that a notification carries the provider's signature, but something in it is missing, of the wrong type, or
// contradicts what we asked for. Nothing of it was applied.
var ErrUnusable = errors.New("the notification is signed, but cannot be used")

// ErrUnknownStatus means that the provider told a status that did not exist when this was written. Asking the provider again
// later may give one that is known.
var ErrUnknownStatus = errors.New("the status is not known")

// ErrNoCustomer means that the provider does not know a customer any more and has to create them again. The seller's keys may be those
// of another account there by now, or of live mode instead of test mode.
var ErrNoCustomer = errors.New("the provider does not know the customer")

// ErrNoCharge means that the provider finds no such charge with the keys that the account has today. With earlier keys there
// may have been one.
var ErrNoCharge = errors.New("the provider does not know the charge")

// Credentials are the keys that an account has from a provider.
type Credentials struct {
	SecretKey     string
	WebhookSecret string
}

// MethodInput says how a buyer wants to pay: either with a reference that the provider knows, or with a card.
type MethodInput struct {
	Ref  string
	Card *Card
}

// Method is an accepted payment method: the provider's reference to it, and what may be shown of its card.
type Method struct {
	Ref  string
	Card payment.Method
}

// CustomerInput asks for a provider's customer. Customer is our own id of them.
type CustomerInput struct {
	Token    string
	Account  string
	Customer string
	Email    string
	Name     string
}

// AttachInput asks to save a method for a customer. Both are named by the provider's references. Card is what Accept returned
// for the method.
type AttachInput struct {
	Token       string
	Account     string
	CustomerRef string
	MethodRef   string
	Card        payment.Method
}

// ChargeInput asks for Amount, in minor units of Currency. A charge of the amount 0 asks whether a saved method may be charged
// later. OffSession means that the buyer is not there to approve the charge. CustomerRef is empty for a method that is charged
// once.
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

// Status is the status of a charge.
type Status string

// The states of a charge. Succeeded, declined and canceled are outcomes: they never change.
const (
	ChargePrepared       Status = "prepared"
	ChargeRequiresAction Status = "requires_action"
	ChargePending        Status = "pending" // the bank has not decided yet; there is nothing to do but to ask again
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

	// Set if the provider tells them: the amount, and the metadata that the charge was made with.
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
	OfSeller    bool   // no card helps: the seller's settings have to be mended
}

// Error implements error: a charge may be declined before it exists, and then there is nothing else to return.
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

// RefundStatus is the status of a refund.
type RefundStatus string

// The states of a refund. One that succeeded may still fail, if a bank sends the money back.
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

// Event is a notification. It holds what a charge or refund of an account was when the provider sent it. Events arrive in any
// order, and more than once.
type Event struct {
	ID       string
	Account  string
	Kind     EventKind // empty if the notification does not concern us
	Charge   Charge    // set for EventCharge
	Refund   Refund    // set for EventRefund
	Metadata map[string]string
}
