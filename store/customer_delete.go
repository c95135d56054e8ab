package store

import (
	"context"

	"github.com/tillwright/tillwright/store/internal/db"
)

// DeleteCustomer removes a customer. One with orders or invoices is kept for them without a single personal detail, and is
// missing everywhere else. While one of their subscriptions goes on it is CodeInvalid on base. With cancelSubscriptions these
// are cancelled at once instead: their unpaid invoices become void, and invoice.voided follows. A subscription that is being
// charged at this moment is CodeInvalid on status.
func (s *Store) DeleteCustomer(ctx context.Context, account, ref string, cancelSubscriptions bool) (*Customer, error) {
	return tx(ctx, s, func(ctx context.Context, u *unit) (*Customer, error) {
		if cancelSubscriptions {
			if err := u.endSubscriptions(ctx, account, ref); err != nil {
				return nil, err
			}
		}
		c, err := s.findCustomer(ctx, account, ref, "", u.Lock())
		if err != nil {
			return nil, err
		}
		if err := u.checkUnsubscribed(ctx, c); err != nil {
			return nil, err
		}
		if err := u.forgetMethods(ctx, c); err != nil {
			return nil, err
		}
		isBilled, err := u.isBilled(ctx, c)
		if err != nil {
			return nil, err
		}
		if err := u.endRows(ctx, c); err != nil {
			return nil, err
		}
		if !isBilled {
			if _, err := u.Exec(ctx, `DELETE FROM payment_methods WHERE account_id = ? AND customer_id = ?`, account, c.ID); err != nil {
				return nil, err
			}
			_, err := u.Exec(ctx, `DELETE FROM customers WHERE account_id = ? AND id = ?`, account, c.ID)
			return c, err
		}
		now, err := s.db.BusinessNow(ctx, account)
		if err != nil {
			return nil, err
		}
		return c, u.Update(ctx, customerColumns, &Customer{
			AccountID: account, ID: c.ID, Type: c.Type, OrdersCount: c.OrdersCount, TotalSpent: c.TotalSpent,
			FirstPaidAt: c.FirstPaidAt, LastOrderAt: c.LastOrderAt, DeletedAt: &now, CreatedAt: c.CreatedAt, UpdatedAt: now,
		})
	})
}

// endSubscriptions locks all subscriptions of a customer that go on and cancels them at once. It comes before the customer is
// locked, because everybody locks in that order.
func (u *unit) endSubscriptions(ctx context.Context, account, ref string) error {
	c, err := u.store.findCustomer(ctx, account, ref, "", "")
	if err != nil {
		return err
	}
	subs, err := db.Select[Subscription](ctx, u, subscriptionColumns.SelectSQL+`
		WHERE account_id = ? AND customer_id = ? AND status NOT IN ('canceled', 'completed') ORDER BY id`+u.Lock(), account, c.ID)
	if err != nil {
		return err
	}
	now, err := u.store.db.BusinessNow(ctx, account)
	if err != nil {
		return err
	}
	for i := range subs {
		sub := &subs[i]
		if sub.Cancellation.V == nil {
			sub.cancel(&Cancellation{By: cancelledByMerchant}, now)
		}
		if err := u.cancelNow(ctx, sub, now); err != nil {
			return err
		}
		if err := u.saveSubscription(ctx, sub, now); err != nil {
			return err
		}
	}
	return nil
}

// isBilled reports whether a locked customer has orders or invoices, drafts included.
func (u *unit) isBilled(ctx context.Context, c *Customer) (bool, error) {
	if c.OrdersCount > 0 {
		return true, nil
	}
	draft, err := db.Get[string](ctx, u, `SELECT id FROM invoices WHERE account_id = ? AND customer_id = ? LIMIT 1`, c.AccountID, c.ID)
	return draft != nil, err
}
