package store

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/subscription"
)

// SavePaymentMethod saves a method for its customer, and returns it as it is kept: if the customer has the same method already,
// that one. It becomes the customer's default if isDefault, or if they have none. Then their subscriptions that are past due
// are charged with it at once.
func (s *Store) SavePaymentMethod(ctx context.Context, m payment.SavedMethod, isDefault bool) (*payment.SavedMethod, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*payment.SavedMethod, error) {
		pastDue, err := s.Subscription.LockPastDue(ctx, u, m.AccountID, m.CustomerID)
		if err != nil {
			return nil, err
		}
		c, err := s.Customer.LockNamed(ctx, u, m.AccountID, m.CustomerID, "")
		if err != nil {
			return nil, err
		}
		now, err := db.BusinessNow(ctx, u, m.AccountID)
		if err != nil {
			return nil, err
		}
		kept, err := s.Payment.KeepMethod(ctx, u, m, now)
		if err == nil {
			err = s.noteMethod(ctx, u, kept)
		}
		if err != nil || c.DefaultPaymentMethodID != nil && !isDefault {
			return kept, err
		}
		return kept, s.makeDefault(ctx, u, c, kept, pastDue, now)
	})
}

// SaveGivenMethod saves a method that its customer gave themselves, as SavePaymentMethod does. If subscription names one of
// theirs that has not ended, it is charged with the method from then on.
//
// The provider may tell of the same method several times: only the first call changes anything, and returns isNew. Later ones
// return the method, or nil if it was removed in between, so that it stays removed.
func (s *Store) SaveGivenMethod(ctx context.Context, m payment.SavedMethod, isDefault bool, billed string) (kept *payment.SavedMethod, isNew bool, err error) {
	m.ID = core.NewID(core.KindPaymentMethod)
	kept, err = db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*payment.SavedMethod, error) {
		before, err := db.Get[payment.SavedMethod](ctx, u, payment.MethodColumns.SelectSQL+`
			WHERE account_id = ? AND provider_ref = ? AND provider = ? AND customer_id = ? ORDER BY id DESC LIMIT 1`, m.AccountID, m.ProviderRef, m.Provider, m.CustomerID)
		if err != nil {
			return nil, fmt.Errorf("look for a given payment method: %w", err)
		}
		if before != nil && before.DeletedAt != nil {
			return nil, nil
		}
		if before != nil {
			return before, nil
		}
		goesOn := false
		if billed != "" {
			sub, err := s.Subscription.Lock(ctx, u, m.AccountID, billed) // before the customer
			if err != nil {
				return nil, err
			}
			goesOn = sub.CustomerID == m.CustomerID && !sub.HasEnded()
		}
		kept, err := s.SavePaymentMethod(ctx, m, isDefault)
		if err != nil || !goesOn {
			return kept, err
		}
		_, err = s.UpdateSubscription(ctx, m.AccountID, billed, SubscriptionPatch{Change: func(*subscription.Subscription) {}, PaymentMethod: &kept.ID})
		return kept, err
	})
	return kept, kept != nil && kept.ID == m.ID, err
}

// saveMethod saves the method of a payment that has succeeded, if that was asked for. The customer is locked, and so are
// pastDue, their subscriptions that are past due. If they have no default method it becomes that, and pastDue are charged with
// it at once. A method that the customer has already is not kept twice. The caller stores the payment, which names the method.
func (s *Store) saveMethod(ctx context.Context, u *db.Unit, c *customer.Customer, p *payment.Payment, pastDue []subscription.Subscription) error {
	if p == nil || !p.SaveMethod || p.CustomerRef == nil {
		return nil
	}
	kept, err := s.Payment.KeepMethod(ctx, u, payment.SavedMethod{
		AccountID: c.AccountID, CustomerID: c.ID, Provider: p.Provider, ProviderRef: p.MethodRef, CustomerRef: *p.CustomerRef, Card: p.PaymentMethod,
	}, p.UpdatedAt)
	if err != nil {
		return err
	}
	p.MethodID = &kept.ID
	if c.DefaultPaymentMethodID != nil {
		return nil
	}
	return s.makeDefault(ctx, u, c, kept, pastDue, p.UpdatedAt)
}

// makeDefault makes a method the default of its locked customer. Their subscriptions that are past due, which are locked too,
// are charged with it at once.
func (s *Store) makeDefault(ctx context.Context, u *db.Unit, c *customer.Customer, m *payment.SavedMethod, pastDue []subscription.Subscription, now core.Time) error {
	c.DefaultPaymentMethodID, c.UpdatedAt = &m.ID, now
	if err := u.Update(ctx, customer.Columns, c); err != nil {
		return err
	}
	if err := s.writeCards(ctx, u, c, now); err != nil {
		return err
	}
	return s.chargePastDue(ctx, u, pastDue, m, now)
}

// DeletePaymentMethod deletes a payment method of a customer and returns it. What was charged to it is charged to their default from now on. If it
// was that, they have none then.
func (s *Store) DeletePaymentMethod(ctx context.Context, account, ref, method string) (*payment.SavedMethod, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*payment.SavedMethod, error) {
		c, err := s.Customer.LockNamed(ctx, u, account, ref, "")
		if err != nil {
			return nil, err
		}
		m, err := s.Payment.FindMethod(ctx, u, c, method, "")
		if err != nil {
			return nil, err
		}
		return m, s.forgetMethod(ctx, u, c, m)
	})
}

// forgetMethod deletes a method of a locked customer.
func (s *Store) forgetMethod(ctx context.Context, u *db.Unit, c *customer.Customer, m *payment.SavedMethod) error {
	if err := s.Payment.ForgetMethod(ctx, u, c, m); err != nil {
		return err
	}
	return s.writeCards(ctx, u, c, m.UpdatedAt)
}

// lockPastDueOf locks and returns the subscriptions that saveMethod is going to charge with the method of a payment. These are those of the buyer of
// a locked checkout that are past due. It returns nil if no method is going to be saved.
func (s *Store) lockPastDueOf(ctx context.Context, u *db.Unit, c *checkout.Checkout, p *payment.Payment) ([]subscription.Subscription, error) {
	if p == nil || !p.SaveMethod || !c.KeepsMethods(p.Keyless) {
		return nil, nil
	}
	buyer, isKnown, err := s.Checkout.GetBuyer(ctx, u, c)
	if err != nil || buyer == nil || !isKnown {
		return nil, err
	}
	return s.Subscription.LockPastDue(ctx, u, c.AccountID, buyer.ID)
}

// chargePastDue makes a customer's new default the method of their locked subscriptions that are past due, and stores them: see
// Subscription.ChargeWith. A subscription that has this method already is left alone.
func (s *Store) chargePastDue(ctx context.Context, u *db.Unit, subs []subscription.Subscription, m *payment.SavedMethod, now core.Time) error {
	for i := range subs {
		sub := &subs[i]
		if own := sub.Method.V; own != nil && core.Deref(own.ID) == m.ID {
			continue
		}
		if err := s.Subscription.ChargeWith(ctx, u, sub, m, now); err != nil {
			return err
		}
		if err := s.saveSubscription(ctx, u, sub, now); err != nil {
			return err
		}
	}
	return nil
}
