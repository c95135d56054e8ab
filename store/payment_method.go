package store

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/payment"
)

// maxTriesADay is how often an invoice may be tried within a day with new methods. After that a new one waits for the schedule:
// whoever has many cards shall not find out here which of them are good.
const maxTriesADay = 5

// chargeWith makes a method the one that a locked subscription is charged with. If the subscription is past due, its latest
// invoice is tried with the method at once, beside the schedule, unless it was tried with it before or too often within the
// last day. The caller stores the subscription.
func (s *Store) chargeWith(ctx context.Context, u *db.Unit, sub *Subscription, m *payment.SavedMethod, now core.Time) error {
	sub.Method, sub.ExtraAttempt = core.JSONOf(m.Billing()), false
	if sub.Status != SubscriptionStatusPastDue {
		return nil
	}
	tried, err := db.Get[struct {
		With   int `db:"tried_with"`
		Lately int `db:"lately"`
	}](ctx, u, `
		SELECT COUNT(CASE WHEN provider = ? AND method_ref = ? THEN 1 END) AS tried_with, COUNT(CASE WHEN created_at > ? THEN 1 END) AS lately
		FROM payments WHERE account_id = ? AND invoice_id = ?`, m.Provider, m.ProviderRef, now.Add(-day), sub.AccountID, *sub.LatestInvoiceID)
	if err != nil {
		return fmt.Errorf("count attempts: %w", err)
	}
	sub.ExtraAttempt = tried.With == 0 && tried.Lately < maxTriesADay
	return nil
}

// SavePaymentMethod saves a method for its customer, and returns it as it is kept: if the customer has the same method already,
// that one. It becomes the customer's default if isDefault, or if they have none. Then their subscriptions that are past due
// are charged with it at once.
func (s *Store) SavePaymentMethod(ctx context.Context, m payment.SavedMethod, isDefault bool) (*payment.SavedMethod, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*payment.SavedMethod, error) {
		pastDue, err := s.lockPastDue(ctx, u, m.AccountID, m.CustomerID)
		if err != nil {
			return nil, err
		}
		c, err := s.Customer.LockNamed(ctx, u, m.AccountID, m.CustomerID, "")
		if err != nil {
			return nil, err
		}
		now, err := s.db.BusinessNow(ctx, m.AccountID)
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
func (s *Store) SaveGivenMethod(ctx context.Context, m payment.SavedMethod, isDefault bool, subscription string) (kept *payment.SavedMethod, isNew bool, err error) {
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
		if subscription != "" {
			sub, err := s.lockSubscription(ctx, u, m.AccountID, subscription) // before the customer
			if err != nil {
				return nil, err
			}
			goesOn = sub.CustomerID == m.CustomerID && !sub.hasEnded()
		}
		kept, err := s.SavePaymentMethod(ctx, m, isDefault)
		if err != nil || !goesOn {
			return kept, err
		}
		_, err = s.UpdateSubscription(ctx, m.AccountID, subscription, SubscriptionPatch{Change: func(*Subscription) {}, PaymentMethod: &kept.ID})
		return kept, err
	})
	return kept, kept != nil && kept.ID == m.ID, err
}

// useSaved fills in the saved method that the buyer named to pay with, if they named one. If the checkout's customer has no
// such method it is CodeMissing on payment_method.
func (s *Store) useSaved(ctx context.Context, c *Checkout, in *Confirm) error {
	if in.Saved == "" {
		return nil
	}
	if c.CustomerID == nil {
		return core.Missing("payment method", "payment_method", in.Saved)
	}
	m, err := s.Payment.Method(ctx, c.AccountID, *c.CustomerID, in.Saved)
	if err != nil {
		return err
	}
	in.Provider, in.MethodRef, in.PaymentMethod = m.Provider, m.ProviderRef, m.Card.V
	in.customerRef, in.methodID = &m.CustomerRef, &m.ID
	return nil
}

// saves reports whether the buyer sent a method that is to be saved, and not one that is saved already.
func (c *Confirm) saves() bool { return c.Save && c.MethodRef != "" && c.methodID == nil }

// saveMethod saves the method of a payment that has succeeded, if that was asked for. The customer is locked, and so are
// pastDue, their subscriptions that are past due. If they have no default method it becomes that, and pastDue are charged with
// it at once. A method that the customer has already is not kept twice. The caller stores the payment, which names the method.
func (s *Store) saveMethod(ctx context.Context, u *db.Unit, c *customer.Customer, p *payment.Payment, pastDue []Subscription) error {
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
func (s *Store) makeDefault(ctx context.Context, u *db.Unit, c *customer.Customer, m *payment.SavedMethod, pastDue []Subscription, now core.Time) error {
	c.DefaultPaymentMethodID, c.UpdatedAt = &m.ID, now
	if err := u.Update(ctx, customer.Columns, c); err != nil {
		return err
	}
	return s.chargePastDue(ctx, u, pastDue, m, now)
}

// lockPastDue locks and returns the subscriptions of a customer that are past due. It must come before the customer is locked.
// Those of which only a typed address says that they are the customer's are left out: they have methods of their own.
func (s *Store) lockPastDue(ctx context.Context, u *db.Unit, account, customerID string) ([]Subscription, error) {
	subs, err := db.Select[Subscription](ctx, u, subscriptionColumns.SelectSQL+`
		WHERE account_id = ? AND customer_id = ? AND `+customer.ActiveSubscription+` AND status = 'past_due' AND customer_verified ORDER BY id`+u.Lock(), account, customerID)
	if err != nil {
		return nil, fmt.Errorf("read subscriptions past due: %w", err)
	}
	return subs, nil
}

// keepsMethods reports whether a payment method that is given at a checkout may be saved for the customer, and is not for this
// purchase alone. A buyer without a key has the client secret, which anybody may have: that the owner of a mailbox confirmed
// the purchase does not say that the card is theirs. Then only a checkout whose customer the seller named keeps methods.
func (c *Checkout) keepsMethods(keyless bool) bool {
	return c.isNamed() || c.EmailVerified && !keyless
}

// lockPastDueOf locks and returns the subscriptions that saveMethod is going to charge with the method of a payment: those of
// the buyer of a locked checkout that are past due. It returns nil if no method is going to be saved.
func (s *Store) lockPastDueOf(ctx context.Context, u *db.Unit, c *Checkout, p *payment.Payment) ([]Subscription, error) {
	if p == nil || !p.SaveMethod || !c.keepsMethods(p.Keyless) {
		return nil, nil
	}
	buyer, isKnown, err := s.getBuyer(ctx, c)
	if err != nil || buyer == nil || !isKnown {
		return nil, err
	}
	return s.lockPastDue(ctx, u, c.AccountID, buyer.ID)
}

// chargePastDue makes a customer's new default the method of their locked subscriptions that are past due, and stores them: see
// chargeWith. A subscription that has this method already is left alone.
func (s *Store) chargePastDue(ctx context.Context, u *db.Unit, subs []Subscription, m *payment.SavedMethod, now core.Time) error {
	for i := range subs {
		sub := &subs[i]
		if own := sub.Method.V; own != nil && core.Deref(own.ID) == m.ID {
			continue
		}
		if err := s.chargeWith(ctx, u, sub, m, now); err != nil {
			return err
		}
		if err := s.saveSubscription(ctx, u, sub, now); err != nil {
			return err
		}
	}
	return nil
}
