// Package testpay is the built-in payment provider. It takes test cards, moves no money and needs no network. Otherwise it
// behaves like a provider elsewhere: what it was asked for survives a crash of this program, because it commits on its own.
package testpay

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store/testbank"
)

// Provider keeps its charges in the store.
type Provider struct{ store *testbank.Store }

// New returns a provider that keeps its charges in s.
func New(s *testbank.Store) *Provider { return &Provider{s} }

// Name implements payments.Provider.
func (*Provider) Name() string { return "test" }

// CreateCustomer implements payments.Provider. Like PrepareCharge, it stores nothing.
func (*Provider) CreateCustomer(_ context.Context, in payments.CustomerInput) (string, error) {
	return "tcus_" + in.Customer, nil
}

// AttachMethod implements payments.Provider. A saved method gets a reference of its own, under which its charges are counted
// from then on.
func (*Provider) AttachMethod(_ context.Context, in payments.AttachInput) (payments.Method, error) {
	if _, ok := cardOf(in.MethodRef); !ok {
		return refuse("", "No such payment method: '"+in.MethodRef+"'.")
	}
	ref := in.MethodRef
	if !strings.Contains(ref, "@") {
		ref += "@" + in.Token
	}
	return payments.Method{Ref: ref, Card: in.Card}, nil
}

// DetachMethod implements payments.Provider. It does nothing, because no method is stored here.
func (*Provider) DetachMethod(context.Context, string, string) error { return nil }

// reference returns what a charge is called, which contains everything that was asked for.
func reference(in payments.ChargeInput) string {
	session := "on"
	if in.OffSession {
		session = "off"
	}
	return fmt.Sprintf("tch_%s.%s.%d.%s.%s", in.Token, in.Currency, in.Amount, session, in.MethodRef)
}

// prepared reads from a reference the charge that it was made for.
func prepared(account, ref string) (testbank.Charge, error) {
	parts := strings.SplitN(strings.TrimPrefix(ref, "tch_"), ".", 5)
	if len(parts) != 5 {
		return testbank.Charge{}, fmt.Errorf("testpay: %q is no reference", ref)
	}
	amount, err := strconv.ParseInt(parts[2], 10, 64)
	return testbank.Charge{
		AccountID: account, ID: ref, Token: parts[0], Currency: parts[1], Amount: amount,
		OffSession: parts[3] == "off", MethodRef: parts[4],
	}, err
}

// ConfirmCharge implements payments.Provider. If the buyer has to approve the charge, they do so on our own page.
func (p *Provider) ConfirmCharge(ctx context.Context, account, ref, _ string) (payments.Charge, error) {
	c, err := prepared(account, ref)
	if err != nil {
		return payments.Charge{}, err
	}
	status, err := p.outcome(ctx, &c)
	if err != nil {
		return payments.Charge{}, err
	}
	c.Status = string(status)
	return p.put(ctx, c)
}

// GetCharge implements payments.Provider.
func (p *Provider) GetCharge(ctx context.Context, account, ref string) (payments.Charge, error) {
	charge, err := p.store.GetCharge(ctx, account, ref)
	if err != nil {
		return payments.Charge{}, err
	}
	if charge == nil {
		_, err := prepared(account, ref)
		return payments.Charge{Ref: ref, Status: payments.ChargePrepared}, err
	}
	return view(charge), nil
}

// put stores a charge. If there is one with its token already, it returns that; another charge with that token is an error.
func (p *Provider) put(ctx context.Context, c testbank.Charge) (payments.Charge, error) {
	made, err := p.store.PutCharge(ctx, c)
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

// Authenticate implements payments.Authenticator. The charge succeeds.
func (p *Provider) Authenticate(ctx context.Context, account, ref string) (payments.Charge, error) {
	return p.move(ctx, account, ref, payments.ChargeSucceeded)
}

// move gives a charge that requires an action its outcome. Any other charge stays as it is.
func (p *Provider) move(ctx context.Context, account, ref string, to payments.Status) (payments.Charge, error) {
	err := p.store.MoveCharge(ctx, account, ref, string(payments.ChargeRequiresAction), string(to))
	if err != nil {
		return payments.Charge{}, err
	}
	return p.GetCharge(ctx, account, ref)
}

// outcome returns what confirming a charge leads to. If it is declined, it also sets the charge's decline code.
func (p *Provider) outcome(ctx context.Context, c *testbank.Charge) (payments.Status, error) {
	card, ok := cardOf(c.MethodRef)
	if !ok {
		c.DeclineCode = "generic_decline"
		return payments.ChargeDeclined, nil
	}
	if card.action && !c.OffSession {
		return payments.ChargeRequiresAction, nil
	}
	if c.Amount == 0 {
		return payments.ChargeSucceeded, nil
	}
	spared, err := p.spared(ctx, card, *c)
	if err != nil || spared {
		return payments.ChargeSucceeded, err
	}
	c.DeclineCode = card.decline
	return payments.ChargeDeclined, nil
}

// spared reports whether a charge goes through. A method that was not saved has no earlier charges.
func (p *Provider) spared(ctx context.Context, card testCard, c testbank.Charge) (bool, error) {
	if card.decline == "" || card.spares == nil {
		return card.decline == "", nil
	}
	before := &testbank.History{}
	if strings.Contains(c.MethodRef, "@") {
		var err error
		if before, err = p.store.HistoryOf(ctx, c.AccountID, c.MethodRef); err != nil {
			return false, err
		}
	}
	return card.spares(c, *before), nil
}

func view(c *testbank.Charge) payments.Charge {
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
