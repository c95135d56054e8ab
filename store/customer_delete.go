package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/subscription"
)

// DeleteCustomer removes a customer. One with orders or invoices is kept for them without a single personal detail, and is
// missing everywhere else. While one of their subscriptions goes on it is CodeInvalid on base. With cancelSubscriptions these
// are cancelled at once instead: their unpaid invoices become void, and invoice.voided follows. A subscription that is being
// charged at this moment is CodeInvalid on status. Ad networks are told nothing more of them, and what waits for that is deleted. At the checkouts
// that they, or somebody with their address, have not paid for yet, it is as if they had not agreed. They leave the audiences that they were uploaded
// to: see advert.ErasePerson. What they had is revoked, their licence keys too, and the names of their devices are forgotten. Their leads are deleted
// with them, and so are letters to them, sent or not. What lines of activity say became different of them is forgotten. That they wanted no news is
// kept for their address: see customer.EndNews.
func (s *Store) DeleteCustomer(ctx context.Context, account, ref string, cancelSubscriptions bool) (*customer.Customer, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*customer.Customer, error) {
		if err := s.forgetVisits(ctx, u, account, ref); err != nil {
			return nil, err
		}
		if cancelSubscriptions {
			if err := s.endSubscriptions(ctx, u, account, ref); err != nil {
				return nil, err
			}
		}
		c, err := s.Customer.LockNamed(ctx, u, account, ref, "")
		if err != nil {
			return nil, err
		}
		if err := s.Grant.Forget(ctx, u, account, c.ID); err != nil {
			return nil, err
		}
		if err := s.Subscription.CheckNone(ctx, u, c); err != nil {
			return nil, err
		}
		if err := s.forgetActivity(ctx, u, c); err != nil {
			return nil, err
		}
		if err := s.Lead.Forget(ctx, u, c); err != nil {
			return nil, err
		}
		if err := s.Advert.ForgetConversions(ctx, u, account, c.ID); err != nil {
			return nil, err
		}
		if err := s.forgetLetters(ctx, u, c); err != nil {
			return nil, err
		}
		if err := s.Payment.ForgetMethods(ctx, u, c); err != nil {
			return nil, err
		}
		if err := s.Grant.ForgetLicenses(ctx, u, account, c.ID); err != nil {
			return nil, err
		}
		if err := s.Advert.ErasePerson(ctx, account, c.Email, c.Phone); err != nil {
			return nil, err
		}
		isBilled, err := s.isBilled(ctx, u, c)
		if err != nil {
			return nil, err
		}
		if err := s.endRows(ctx, u, c); err != nil {
			return nil, err
		}
		if !isBilled {
			if _, err := u.Exec(ctx, `DELETE FROM payment_methods WHERE account_id = ? AND customer_id = ?`, account, c.ID); err != nil {
				return nil, err
			}
			if _, err := u.Exec(ctx, `DELETE FROM balance_transactions WHERE account_id = ? AND customer_id = ?`, account, c.ID); err != nil {
				return nil, err
			}
			_, err := u.Exec(ctx, `DELETE FROM customers WHERE account_id = ? AND id = ?`, account, c.ID)
			return c, err
		}
		now, err := db.BusinessNow(ctx, u, account)
		if err != nil {
			return nil, err
		}
		if err := s.Customer.ForgetDescriptions(ctx, u, c); err != nil {
			return nil, err
		}
		if err := s.Customer.DropBalance(ctx, u, c, now); err != nil {
			return nil, err
		}
		if err := s.loseBalance(ctx, u, c, now); err != nil {
			return nil, err
		}
		return c, u.Update(ctx, customer.Columns, &customer.Customer{
			AccountID: account, ID: c.ID, Type: c.Type, OrdersCount: c.OrdersCount, TotalSpent: c.TotalSpent,
			FirstPaidAt: c.FirstPaidAt, LastOrderAt: c.LastOrderAt, DeletedAt: &now, CreatedAt: c.CreatedAt, UpdatedAt: now,
		})
	})
}

// endSubscriptions locks all subscriptions of a customer that go on and cancels them at once. It comes before the customer is
// locked, because everybody locks in that order.
func (s *Store) endSubscriptions(ctx context.Context, u *db.Unit, account, ref string) error {
	c, err := s.Customer.Named(ctx, u, account, ref, "")
	if err != nil {
		return err
	}
	subs, err := db.Select[subscription.Subscription](ctx, u.Locked(), subscription.Columns.SelectSQL+`
		WHERE account_id = ? AND customer_id = ? AND status NOT IN ('canceled', 'completed') ORDER BY id`, account, c.ID)
	if err != nil {
		return err
	}
	now, err := db.BusinessNow(ctx, u, account)
	if err != nil {
		return err
	}
	// The customer and all bills are locked before what a subscription gives back as it is stored: discounts and stock.
	if _, err := s.Customer.LockAny(ctx, u, account, c.ID); err != nil {
		return err
	}
	for i := range subs {
		if subs[i].Cancellation.V == nil {
			subs[i].Cancel(&subscription.Cancellation{By: subscription.CancelledByMerchant}, now)
		}
		if err := s.cancelNow(ctx, u, &subs[i], now); err != nil {
			return err
		}
	}
	for i := range subs {
		if err := s.saveSubscription(ctx, u, &subs[i], now); err != nil {
			return err
		}
	}
	return nil
}

// forgetVisits takes back what a customer agreed to at checkouts that may still be paid, with the visits that are kept there. It comes
// first, because everybody locks in that order.
func (s *Store) forgetVisits(ctx context.Context, u *db.Unit, account, ref string) error {
	c, err := s.Customer.Named(ctx, u, account, ref, "")
	if err != nil {
		return err
	}
	// An index leads to them by whose they are, not by what is written so that it is in none.
	const takeBack = `
		UPDATE checkouts SET ads_consent = FALSE, ads_visit = NULL, news_for = NULL
		WHERE account_id = ? AND (ads_consent OR news_for IS NOT NULL) AND status || '' IN ('open', 'processing')`
	if _, err := u.Exec(ctx, takeBack+` AND customer_id = ?`, account, c.ID); err != nil || c.Email == nil {
		return err
	}
	_, err = u.Exec(ctx, takeBack+` AND `+checkout.KeyOfEmail+` = ? AND customer_id || '' IS NULL`, account, core.EmailKey(*c.Email))
	return err
}

// forgetActivity takes what lines of activity say of a locked customer out of them. These are the lines about the customer, their checkouts, leads
// and licence keys. Lines about leads of their address, and about checkouts with it that are nobody's yet, are among them.
func (s *Store) forgetActivity(ctx context.Context, u *db.Unit, c *customer.Customer) error {
	if err := s.Activity.Forget(ctx, u, c.AccountID, c.ID); err != nil {
		return err
	}
	forget := func(query string, of ...any) error {
		return s.Activity.ForgetAll(ctx, u, c.AccountID, query, append([]any{c.AccountID}, of...)...)
	}
	for _, table := range []string{"checkouts", "leads", "license_keys"} {
		if err := forget(`SELECT id FROM `+table+` WHERE account_id = ? AND customer_id = ?`, c.ID); err != nil {
			return err
		}
	}
	if c.Email == nil {
		return nil
	}
	email := core.EmailKey(*c.Email)
	if err := forget(`SELECT id FROM checkouts WHERE account_id = ? AND `+checkout.KeyOfEmail+` = ? AND customer_id || '' IS NULL`, email); err != nil {
		return err
	}
	if c.EmailKey == nil {
		return nil
	}
	return forget(`SELECT id FROM leads WHERE account_id = ? AND email_key = ?`, *c.EmailKey)
}

// forgetLetters deletes the letters to a locked customer. News that waited to be sent to them counts as skipped. Somebody may send it meanwhile, or write
// it: what is deleted says itself what became of it.
func (s *Store) forgetLetters(ctx context.Context, u *db.Unit, c *customer.Customer) error {
	deleted, err := db.Select[Letter](ctx, u, `DELETE FROM letters WHERE account_id = ? AND customer_id = ? `+letterColumns.ReturningSQL, c.AccountID, c.ID)
	if err != nil {
		return fmt.Errorf("delete letters to a customer: %w", err)
	}
	waited := slices.DeleteFunc(deleted, func(l Letter) bool { return l.Status != LetterStatusQueued })
	for i := range waited {
		waited[i].Status = LetterStatusSkipped
	}
	return s.countNewsAmong(ctx, u, waited)
}

// loseBalance notes on the orders of a locked customer that what their balance paid cannot go back to it any more.
func (s *Store) loseBalance(ctx context.Context, u *db.Unit, c *customer.Customer, now core.Time) error {
	_, err := u.Exec(ctx, `UPDATE orders SET balance_gone = TRUE, updated_at = ? WHERE account_id = ? AND customer_id = ? AND balance_applied > 0`,
		now, c.AccountID, c.ID)
	if err != nil {
		return fmt.Errorf("note that a balance is gone: %w", err)
	}
	return nil
}

// isBilled reports whether a locked customer has orders or invoices, drafts included.
func (s *Store) isBilled(ctx context.Context, u *db.Unit, c *customer.Customer) (bool, error) {
	if c.OrdersCount > 0 {
		return true, nil
	}
	draft, err := db.Get[string](ctx, u, `SELECT id FROM invoices WHERE account_id = ? AND customer_id = ? LIMIT 1`, c.AccountID, c.ID)
	return draft != nil, err
}
