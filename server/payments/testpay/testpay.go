// Package testpay is the payment provider that is built in: it takes test cards, moves no money and needs no
// network. To the rest of the program it behaves like a provider elsewhere: what it was asked for survives a
// crash of ours, because it commits on its own.
package testpay

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
)

// Provider keeps its charges in the store.
type Provider struct{ store *store.Store }

// New makes a provider that remembers its charges in s.
func New(s *store.Store) *Provider { return &Provider{s} }

// Name implements payments.Provider.
func (*Provider) Name() string { return "test" }

// PrepareCharge implements payments.Provider. It stores nothing: the reference says all that was asked for.
func (*Provider) PrepareCharge(_ context.Context, in payments.ChargeInput) (string, error) {
	return fmt.Sprintf("tch_%s.%s.%d.%s", in.Token, in.Currency, in.Amount, in.MethodRef), nil
}

// prepared reads what a reference says, as a charge that is about to be made.
func prepared(account, ref string) (store.TestCharge, error) {
	parts := strings.SplitN(strings.TrimPrefix(ref, "tch_"), ".", 4)
	if len(parts) != 4 {
		return store.TestCharge{}, fmt.Errorf("testpay: %q is no reference", ref)
	}
	amount, err := strconv.ParseInt(parts[2], 10, 64)
	return store.TestCharge{
		AccountID: account, ID: ref, Token: parts[0], Currency: parts[1], Amount: amount, MethodRef: parts[3],
	}, err
}

// ConfirmCharge implements payments.Provider.
func (p *Provider) ConfirmCharge(ctx context.Context, account, ref string) (payments.Charge, error) {
	c, err := prepared(account, ref)
	if err != nil {
		return payments.Charge{}, err
	}
	c.Status, c.DeclineCode = outcome(c.MethodRef)
	return p.put(ctx, c)
}

// GetCharge implements payments.Provider.
func (p *Provider) GetCharge(ctx context.Context, account, ref string) (payments.Charge, error) {
	charge, err := p.store.GetTestCharge(ctx, account, ref)
	if err != nil {
		return payments.Charge{}, err
	}
	if charge == nil {
		_, err := prepared(account, ref)
		return payments.Charge{Ref: ref, Status: payments.ChargePrepared}, err
	}
	return view(charge), nil
}

// put makes a charge, unless its token has one.
func (p *Provider) put(ctx context.Context, c store.TestCharge) (payments.Charge, error) {
	made, err := p.store.PutTestCharge(ctx, c)
	if err != nil {
		return payments.Charge{}, err
	}
	if made.ID != c.ID {
		return payments.Charge{}, fmt.Errorf("testpay: token %s was used for another charge", c.Token)
	}
	return view(made), nil
}

// CancelCharge implements payments.Provider.
func (p *Provider) CancelCharge(ctx context.Context, account, ref string) (payments.Charge, error) {
	c, err := prepared(account, ref)
	if err != nil {
		return payments.Charge{}, err
	}
	c.Status = string(payments.ChargeCanceled)
	if made, err := p.put(ctx, c); err != nil || made.Status != payments.ChargeRequiresAction {
		return made, err
	}
	return p.move(ctx, account, ref, payments.ChargeCanceled)
}

// Authenticate implements payments.Authenticator. The charge goes through then.
func (p *Provider) Authenticate(ctx context.Context, account, ref string) (payments.Charge, error) {
	return p.move(ctx, account, ref, payments.ChargeSucceeded)
}

// move ends the wait of a charge that requires an action. Any other charge stays as it is.
func (p *Provider) move(ctx context.Context, account, ref string, to payments.Status) (payments.Charge, error) {
	err := p.store.MoveTestCharge(ctx, account, ref, string(payments.ChargeRequiresAction), string(to))
	if err != nil {
		return payments.Charge{}, err
	}
	return p.GetCharge(ctx, account, ref)
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
	if charge.Status == payments.ChargeDeclined {
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
