package billing_test

import (
	"context"
	"fmt"
	"sync"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/server/payments/testpay"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

// bank is the test provider with a ledger of its own, which knows nothing of our tables. The line to it can be cut at
// any call.
type bank struct {
	*testpay.Provider
	mu       sync.Mutex
	charges  map[string]*banked // by token, which is the payment's id
	tokens   map[string]string  // of charges, by reference
	refunds  map[string]*banked // by token, which is the refund's id
	problems []string

	cut  cut
	left int // calls that still get through before the line is cut

	timeoutsDecline bool // a wrong driver: whatever is not heard of was declined
}

// banked is money that the bank moved, or that it was asked to.
type banked struct {
	account, currency, ref string
	amount                 int64
	status                 string
}

// cut is how a line is cut.
type cut int

const (
	cutNowhere cut = iota
	cutGoing       // nothing gets through
	cutComing      // what was asked for is done, and the answer is lost
)

func newBank(s *store.Store) *bank {
	return &bank{Provider: testpay.New(s.TestBank), charges: map[string]*banked{}, tokens: map[string]string{}, refunds: map[string]*banked{}}
}

// sever cuts the line after so many calls.
func (b *bank) sever(how cut, after int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cut, b.left = how, after
}

func (b *bank) isSevered() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.cut != cutNowhere
}

// lost tells what becomes of a call.
func (b *bank) lost() cut {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cut == cutNowhere {
		return cutNowhere
	}
	if b.left > 0 {
		b.left--
		return cutNowhere
	}
	return b.cut
}

// call asks the bank over the line.
func call[T any](b *bank, ask func() (T, error)) (answer T, err error) {
	switch b.lost() {
	case cutGoing:
		return answer, errLine
	case cutComing:
		_, _ = ask()
		return answer, errLine
	}
	return ask()
}

func (b *bank) CreateCustomer(ctx context.Context, in payments.CustomerInput) (string, error) {
	return call(b, func() (string, error) { return b.Provider.CreateCustomer(ctx, in) })
}

func (b *bank) AttachMethod(ctx context.Context, in payments.AttachInput) (payments.Method, error) {
	return call(b, func() (payments.Method, error) { return b.Provider.AttachMethod(ctx, in) })
}

func (b *bank) PrepareCharge(ctx context.Context, in payments.ChargeInput) (string, error) {
	return call(b, func() (string, error) {
		ref, err := b.Provider.PrepareCharge(ctx, in)
		b.mu.Lock()
		defer b.mu.Unlock()
		currency, _ := core.LookupCurrency(in.Currency)
		b.expect(in.Amount == 0 || in.Amount >= currency.Minimum, "token %s: asked to charge %d %s, which is too little", in.Token, in.Amount, in.Currency)
		if known := b.charges[in.Token]; known != nil {
			b.expect(known.ref == ref && known.amount == in.Amount && known.currency == in.Currency && known.account == in.Account,
				"token %s was used for two charges: %+v and %+v", in.Token, known, in)
			return ref, err
		}
		b.charges[in.Token] = &banked{account: in.Account, currency: in.Currency, ref: ref, amount: in.Amount}
		b.tokens[ref] = in.Token
		return ref, err
	})
}

func (b *bank) ConfirmCharge(ctx context.Context, account, ref, back string) (payments.Charge, error) {
	return b.charge(account, ref, func() (payments.Charge, error) { return b.Provider.ConfirmCharge(ctx, account, ref, back) })
}

func (b *bank) GetCharge(ctx context.Context, account, ref string) (payments.Charge, error) {
	return b.charge(account, ref, func() (payments.Charge, error) { return b.Provider.GetCharge(ctx, account, ref) })
}

func (b *bank) CancelCharge(ctx context.Context, account, ref string) (payments.Charge, error) {
	return b.charge(account, ref, func() (payments.Charge, error) { return b.Provider.CancelCharge(ctx, account, ref) })
}

func (b *bank) Authenticate(ctx context.Context, account, ref string) (payments.Charge, error) {
	return b.charge(account, ref, func() (payments.Charge, error) { return b.Provider.Authenticate(ctx, account, ref) })
}

func (b *bank) Refund(ctx context.Context, in payments.RefundInput) (payments.Refund, error) {
	return call(b, func() (payments.Refund, error) {
		answer, err := b.Provider.Refund(ctx, in)
		b.mu.Lock()
		defer b.mu.Unlock()
		made := banked{account: in.Account, currency: in.Currency, ref: answer.Ref, amount: in.Amount, status: string(answer.Status)}
		if known := b.refunds[in.Token]; known != nil {
			b.expect(known.ref == made.ref && known.amount == made.amount, "token %s was used for two refunds", in.Token)
		}
		b.refunds[in.Token] = &made
		return answer, err
	})
}

func (b *bank) GetRefund(ctx context.Context, account, chargeRef, token string) (payments.Refund, bool, error) {
	type found struct {
		payments.Refund
		found bool
	}
	answer, err := call(b, func() (found, error) {
		refund, known, err := b.Provider.GetRefund(ctx, account, chargeRef, token)
		b.turned(refund)
		return found{refund, known}, err
	})
	return answer.Refund, answer.found, err
}

func (b *bank) CancelRefund(ctx context.Context, account, ref string) (payments.Refund, error) {
	return b.refund(func() (payments.Refund, error) { return b.Provider.CancelRefund(ctx, account, ref) })
}

func (b *bank) SettleRefund(ctx context.Context, account, ref string, to payments.RefundStatus) (payments.Refund, error) {
	return b.refund(func() (payments.Refund, error) { return b.Provider.SettleRefund(ctx, account, ref, to) })
}

// charge books what a call made of a charge.
func (b *bank) charge(account, ref string, ask func() (payments.Charge, error)) (payments.Charge, error) {
	answer, err := call(b, func() (payments.Charge, error) {
		answer, err := ask()
		b.mu.Lock()
		defer b.mu.Unlock()
		c := b.charges[b.tokens[ref]]
		if c == nil || c.account != account {
			b.expect(false, "account %s asks about %s, which is not its charge", account, ref)
			return answer, err
		}
		b.expect(c.status != string(payments.ChargeSucceeded) || answer.Status == payments.ChargeSucceeded, "%s succeeded and is %s then", ref, answer.Status)
		c.status = string(answer.Status)
		return answer, err
	})
	if err != nil && b.timeoutsDecline {
		return payments.Charge{Ref: ref, Status: payments.ChargeDeclined, Decline: &payments.Decline{Code: "timeout", Message: "No answer."}}, nil
	}
	return answer, err
}

// refund books what a call made of a refund.
func (b *bank) refund(ask func() (payments.Refund, error)) (payments.Refund, error) {
	return call(b, func() (payments.Refund, error) {
		answer, err := ask()
		b.turned(answer)
		return answer, err
	})
}

func (b *bank) turned(to payments.Refund) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.refunds {
		if r.ref == to.Ref {
			r.status = string(to.Status)
		}
	}
}

// expect notes what the bank wonders about.
func (b *bank) expect(sound bool, format string, args ...any) {
	if !sound {
		b.problems = append(b.problems, fmt.Sprintf(format, args...))
	}
}

// holds is the money that the bank has for an account, by currency: what it took less what it gave back, or is about to.
func (b *bank) holds(account string) map[string]int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	held := map[string]int64{}
	for _, c := range b.charges {
		if c.account == account && c.status == string(payments.ChargeSucceeded) {
			held[c.currency] += c.amount
		}
	}
	for _, r := range b.refunds {
		if r.account == account && (r.status == string(payments.RefundSucceeded) || r.status == string(payments.RefundPending)) {
			held[r.currency] -= r.amount
		}
	}
	return held
}
