package store

import (
	"context"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
)

// UpdateCustomer locks the customer, applies change and stores it. A default payment method that the customer does not have is
// CodeMissing. A new one is what the customer's past due subscriptions are charged with from now on, and they are charged at
// once.
func (s *Store) UpdateCustomer(ctx context.Context, account, ref string, change func(*customer.Customer)) (*customer.Customer, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*customer.Customer, error) {
		id, _ := core.ParseID(core.KindCustomer, ref)
		// Subscriptions are locked before their customer, as everywhere.
		pastDue, err := s.Subscription.LockPastDue(ctx, u, account, id)
		if err != nil {
			return nil, err
		}
		c, err := s.Customer.LockNamed(ctx, u, account, ref, "")
		if err != nil {
			return nil, err
		}
		before := *c
		change(c)
		if err := c.Check(&before); err != nil || core.SameJSON(before, *c) {
			return c, err
		}
		method, err := s.Payment.NewDefault(ctx, u, c, before.DefaultPaymentMethodID)
		if err != nil {
			return c, err
		}
		if c.UpdatedAt, err = db.BusinessNow(ctx, u, account); err != nil {
			return nil, err
		}
		if err := c.Taken(u.Sent(ctx, u.Update(ctx, customer.Columns, c))); err != nil {
			return c, err
		}
		if err := s.endNews(ctx, u, &before, c); err != nil {
			return nil, err
		}
		if err := s.noteCustomer(ctx, u, &before, c); err != nil || method == nil {
			return c, err
		}
		if err := s.writeCards(ctx, u, c, c.UpdatedAt); err != nil {
			return nil, err
		}
		return c, s.chargePastDue(ctx, u, pastDue, method, c.UpdatedAt)
	})
}

// endNews ends the news to the addresses of a locked customer who was unsubscribed before a change or is after it, for good. If it changed neither that
// nor the address, nothing happens.
func (s *Store) endNews(ctx context.Context, u *db.Unit, before, c *customer.Customer) error {
	ended := endings(before, c)
	if len(ended) == 0 {
		return nil
	}
	return s.Lead.End(ctx, u, c.AccountID, c.UpdatedAt, ended...)
}

// endings returns the addresses to which a change of a customer ends the news.
func endings(before, c *customer.Customer) (emails []string) {
	if core.SameJSON(before.MarketingConsent, c.MarketingConsent) && core.SameJSON(before.Email, c.Email) {
		return nil
	}
	for _, one := range []*customer.Customer{before, c} {
		if one.IsUnsubscribed() && one.Email != nil {
			emails = append(emails, *one.Email)
		}
	}
	return emails
}
