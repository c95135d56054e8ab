// Package payments is the seam to whoever moves the money. A provider is asked in three steps, so that a crash
// between any two of them neither loses a charge nor makes a second one: prepare (moves nothing, and gives the
// reference that is committed next), confirm, and after an unknown outcome get.
package payments

import (
	"context"
	"time"

	"github.com/tillwright/tillwright/store"
)

// Provider is a payment provider. Charges are asked for by a token that is minted once per payment: whatever is
// called twice with one token, or with the reference it gave, happens once.
//
// An error of a method that takes a context means that the outcome is unknown, never that the charge was declined.
type Provider interface {
	Name() string

	// Accept reads a payment method and refuses, as a store.Error on payment_method, one that can never pay.
	// It asks nobody and may be called anywhere.
	Accept(in MethodInput, now time.Time) (Method, error)

	// PrepareCharge announces a charge and moves no money. The reference is the same for every call with the token.
	PrepareCharge(ctx context.Context, in ChargeInput) (ref string, err error)

	// ConfirmCharge moves the money of a prepared charge. A charge that has an outcome keeps it.
	ConfirmCharge(ctx context.Context, account, ref string) (Charge, error)

	// GetCharge looks a charge up.
	GetCharge(ctx context.Context, account, ref string) (Charge, error)

	// CancelCharge gives up a charge that has not moved money yet. One that has an outcome keeps it, so the
	// caller settles what is returned.
	CancelCharge(ctx context.Context, account, ref string) (Charge, error)
}

// Authenticator is a provider whose buyers do on our own page what a charge requires of them.
type Authenticator interface {
	// Authenticate is the buyer's word that a charge which requires an action is theirs. Any other charge stays as
	// it is.
	Authenticate(ctx context.Context, account, ref string) (Charge, error)
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

// ChargeInput asks for Amount minor units of Currency.
type ChargeInput struct {
	Token     string
	Account   string
	Amount    int64
	Currency  string
	MethodRef string
}

// Status is how far a charge is.
type Status string

// The states of a charge. All but ChargePrepared and ChargeRequiresAction are outcomes: they never change.
const (
	ChargePrepared       Status = "prepared"
	ChargeRequiresAction Status = "requires_action"
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
}

// Decline says why a charge did not go through.
type Decline struct {
	Code        string // card_declined, expired_card ...
	DeclineCode string // generic_decline, insufficient_funds ...
	Message     string // for the buyer
}
