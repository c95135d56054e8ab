// Package testpay is the payment provider that is built in: it takes test cards, moves no money and needs no
// network. To the rest of the program it behaves like a provider elsewhere: what it was asked for survives a
// crash of ours, because it commits on its own.
package testpay

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
)

// Provider keeps its charges in the store.
type Provider struct{ store *store.Store }

// New makes a provider that remembers its charges in s.
func New(s *store.Store) *Provider { return &Provider{s} }

// Name implements payments.Provider.
func (*Provider) Name() string { return "test" }

// PrepareCharge implements payments.Provider.
func (p *Provider) PrepareCharge(ctx context.Context, in payments.ChargeInput) (string, error) {
	charge, err := p.store.PutTestCharge(ctx, store.TestCharge{
		AccountID: in.Account, Token: in.Token, Amount: in.Amount, Currency: in.Currency,
		MethodRef: in.MethodRef, ReturnURL: in.ReturnURL, Status: string(payments.ChargePrepared),
	})
	if err != nil {
		return "", err
	}
	if charge.Amount != in.Amount || charge.Currency != in.Currency || charge.MethodRef != in.MethodRef {
		return "", fmt.Errorf("testpay: token %s was used for another charge", in.Token)
	}
	return charge.ID, nil
}

// ConfirmCharge implements payments.Provider.
func (p *Provider) ConfirmCharge(ctx context.Context, account, ref string) (payments.Charge, error) {
	return p.update(ctx, account, ref, func(c *store.TestCharge) {
		if c.Status == string(payments.ChargePrepared) {
			c.Status, c.DeclineCode = outcome(c.MethodRef)
		}
	})
}

// GetCharge implements payments.Provider.
func (p *Provider) GetCharge(ctx context.Context, account, ref string) (payments.Charge, error) {
	charge, err := p.store.GetTestCharge(ctx, account, ref)
	if err != nil {
		return payments.Charge{}, err
	}
	return view(charge), nil
}

// CancelCharge implements payments.Provider.
func (p *Provider) CancelCharge(ctx context.Context, account, ref string) (payments.Charge, error) {
	return p.update(ctx, account, ref, func(c *store.TestCharge) {
		if !settled(c) {
			c.Status = string(payments.ChargeCanceled)
		}
	})
}

// Authenticate is the buyer's word that a charge which requires an action is theirs. It goes through then.
func (p *Provider) Authenticate(ctx context.Context, account, ref string) (payments.Charge, error) {
	return p.update(ctx, account, ref, func(c *store.TestCharge) {
		if c.Status == string(payments.ChargeRequiresAction) {
			c.Status = string(payments.ChargeSucceeded)
		}
	})
}

func (p *Provider) update(ctx context.Context, account, ref string, change func(*store.TestCharge)) (payments.Charge, error) {
	charge, err := p.store.UpdateTestCharge(ctx, account, ref, change)
	if err != nil {
		return payments.Charge{}, err
	}
	return view(charge), nil
}

func settled(c *store.TestCharge) bool {
	return c.Status != string(payments.ChargePrepared) && c.Status != string(payments.ChargeRequiresAction)
}

// outcome is what confirming a charge of the method leads to.
func outcome(methodRef string) (status, declineCode string) {
	for _, c := range testCards {
		switch {
		case c.token != methodRef:
		case c.action:
			return string(payments.ChargeRequiresAction), ""
		case c.decline != "":
			return string(payments.ChargeDeclined), c.decline
		default:
			return string(payments.ChargeSucceeded), ""
		}
	}
	return string(payments.ChargeDeclined), "generic_decline"
}

func view(c *store.TestCharge) payments.Charge {
	charge := payments.Charge{Ref: c.ID, Status: payments.Status(c.Status)}
	switch charge.Status {
	case payments.ChargeRequiresAction:
		charge.NextActionURL = c.ReturnURL
	case payments.ChargeDeclined:
		charge.Decline = decline(c.DeclineCode)
	}
	return charge
}

func decline(code string) *payments.Decline {
	switch code {
	case "insufficient_funds":
		return &payments.Decline{Code: "card_declined", DeclineCode: code, Message: "The card has insufficient funds."}
	case "expired_card":
		return &payments.Decline{Code: code, DeclineCode: code, Message: "The card has expired."}
	case "incorrect_cvc":
		return &payments.Decline{Code: code, DeclineCode: code, Message: "The card's security code is incorrect."}
	case "processing_error":
		return &payments.Decline{Code: code, DeclineCode: code, Message: "The card could not be processed. Try again in a moment."}
	}
	return &payments.Decline{Code: "card_declined", DeclineCode: code, Message: "The card was declined."}
}
