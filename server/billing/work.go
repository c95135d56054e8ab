package billing

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/tillwright/tillwright/store/core"
)

const (
	// workTime is how long Work goes on before the reconciler has its turn again. TurnTime is how long one kind of work may
	// take before the next kind has its turn.
	workTime = 20 * time.Second
	turnTime = 5 * time.Second
)

// duty is one kind of work that falls due: how to find what is due, and how to do one of it. Do reports whether the thing is
// done and so no longer due.
type duty struct {
	find   func(ctx context.Context, account string, limit int) ([]core.Due, error)
	do     func(ctx context.Context, account, id string) (bool, error)
	shared func(ctx context.Context) ([]string, error) // the accounts that share a turn; nil if there is too little work to share
}

// duties returns every kind of work, in the order in which they have their turns.
func (b *Billing) duties() []duty {
	return []duty{
		{find: b.waiting, do: b.stopWaiting},
		{find: b.store.Checkout.Due, do: b.store.Checkout.End},
		{find: b.store.Subscription.Due, do: b.advance, shared: b.store.Subscription.DueAccounts},
		{find: b.store.Invoice.Uncollected, do: b.collectInvoice, shared: b.store.Invoice.UncollectedAccounts},
		{find: b.store.Invoice.Due, do: b.store.Invoice.PassDue},
		{find: b.store.DueLetters, do: b.store.ReleaseLetter},
		{find: b.store.DueNews, do: b.store.StartNews},
		{find: b.store.Content.DueBlogPosts, do: b.store.Content.PublishDueBlogPost},
		{find: b.store.Grant.DueLicenseWaits, do: b.store.Grant.ServeLicenseWaits, shared: b.store.Grant.WaitingAccounts},
	}
}

// Work does what is due by now, of every account, until nothing is left or workTime is over. It returns all that went wrong;
// what fails does not keep the rest from being done. No account waits for another one that has more to do. Any number of
// replicas may run it.
func (b *Billing) Work(ctx context.Context) error {
	var count tally
	for until := time.Now().Add(b.workTime); ctx.Err() == nil && time.Now().Before(until); {
		before := count.done
		for _, duty := range b.duties() {
			count.add(false, b.share(ctx, duty, &count))
		}
		if count.done == before {
			break
		}
	}
	return count.err()
}

// share runs one turn of a duty for all the accounts at the same time, so that each gets its part of it.
func (b *Billing) share(ctx context.Context, duty duty, count *tally) error {
	accounts, err := b.accounts(ctx, duty)
	if err != nil {
		return err
	}
	duty.do = b.unlessMoved(duty.do)
	t := &dutyTurn{b, duty, time.Now().Add(b.turnTime), make(chan struct{}, workAtOnce), accountAtOnce, count}
	var group sync.WaitGroup
	for _, account := range accounts {
		group.Go(func() { t.drain(ctx, account) })
	}
	group.Wait()
	return nil
}

// accounts returns the accounts that share a turn, the one that has waited longest first. An empty name stands for all accounts
// together. Those whose test clock was moved ahead are named besides: more is due for them than a look by the store's time
// finds.
func (b *Billing) accounts(ctx context.Context, duty duty) ([]string, error) {
	moved, err := b.store.MovedAccounts(ctx)
	if err != nil {
		return nil, err
	}
	accounts := []string{""}
	if duty.shared != nil {
		if accounts, err = duty.shared(ctx); err != nil {
			return nil, err
		}
	}
	for _, account := range moved {
		if !slices.Contains(accounts, account) {
			accounts = append(accounts, account)
		}
	}
	return accounts, nil
}

// waiting finds the payments whose buyer did not approve them in time, for an account whose test clock was moved. For all
// accounts, which an empty name stands for, it finds nothing: the reconciler looks after those.
func (b *Billing) waiting(ctx context.Context, account string, limit int) ([]core.Due, error) {
	if account == "" {
		return nil, nil
	}
	return b.store.Payment.Waiting(ctx, account, limit)
}

// stopWaiting gives up a payment that its buyer did not approve in time, and reports whether it did.
func (b *Billing) stopWaiting(ctx context.Context, account, id string) (bool, error) {
	begun, err := b.store.GetPaymentProgress(ctx, account, id)
	if err != nil || begun.Payment.Status.IsFinal() {
		return false, err
	}
	err = b.abandon(ctx, begun)
	if core.OutcomeOf(err) == core.Recorded {
		return true, nil // it was given up, and that is stored
	}
	return err == nil, err
}
