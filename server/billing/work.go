package billing

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/tillwright/tillwright/store/core"
)

const (
	// workTime is how long the worker does what is due before the reconciler has its turn again, and turnTime how long it
	// does what is due of one kind before the next.
	workTime = 20 * time.Second
	turnTime = 5 * time.Second
)

// duty is a kind of things that fall due.
type duty struct {
	find   func(ctx context.Context, account string, limit int) ([]core.Due, error)
	do     func(ctx context.Context, account, id string) (bool, error)
	shared func(ctx context.Context) ([]string, error) // the accounts to share the turn among; nil: there is little to share
}

func (b *Billing) duties() []duty {
	return []duty{
		{find: b.waiting, do: b.stopWaiting},
		{find: b.store.DueCheckouts, do: b.store.EndCheckout},
		{find: b.store.DueSubscriptions, do: b.advance, shared: b.store.SubscribedAccounts},
		{find: b.store.UncollectedInvoices, do: b.collectInvoice},
		{find: b.store.DueInvoices, do: b.store.PassInvoiceDue},
	}
}

// Work does what is due by now, of every account, until nothing is or its time is over. What fails does not keep the rest
// from being done, and no account waits for another one that has more to do. Any number of replicas may run it.
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

// share gives every account its part of a turn.
func (b *Billing) share(ctx context.Context, duty duty, count *tally) error {
	accounts, err := b.accounts(ctx, duty)
	if err != nil {
		return err
	}
	duty.do = b.unlessMoved(duty.do)
	t := &turn{b, duty, time.Now().Add(b.turnTime), make(chan struct{}, workAtOnce), accountAtOnce, count}
	var group sync.WaitGroup
	for _, account := range accounts {
		group.Go(func() { t.drain(ctx, account) })
	}
	group.Wait()
	return nil
}

// accounts are those that share a turn, the longest waiting first; an empty one stands for all. Those whose clocks were
// moved have more to do than the store's time tells.
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

// waiting finds the payments whose buyer did not come back, for an account whose clock was moved: the reconciler meets
// the others.
func (b *Billing) waiting(ctx context.Context, account string, limit int) ([]core.Due, error) {
	if account == "" {
		return nil, nil
	}
	return b.store.WaitingPayments(ctx, account, limit)
}

func (b *Billing) stopWaiting(ctx context.Context, account, id string) (bool, error) {
	begun, err := b.store.GetConfirmation(ctx, account, id)
	if err != nil || begun.Payment.Status.IsFinal() {
		return false, err
	}
	err = b.abandon(ctx, begun)
	if core.OutcomeOf(err) == core.Recorded {
		return true, nil // given up: that is an outcome
	}
	return err == nil, err
}
