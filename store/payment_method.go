package store

import (
	"cmp"
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
)

// SavedMethod is a payment method that a customer can be charged with later, also while they are away. The row of a deleted one
// is kept for what was paid with it, but it is treated as missing everywhere.
type SavedMethod struct {
	AccountID   string                   `db:"account_id"`
	ID          string                   `db:"id"`
	CustomerID  string                   `db:"customer_id"`
	Provider    string                   `db:"provider"`
	ProviderRef string                   `db:"provider_ref"` // the provider's id of the method
	CustomerRef string                   `db:"customer_ref"` // the provider's id of the customer that it belongs to
	Card        core.JSON[PaymentMethod] `db:"card"`
	DeletedAt   *core.Time               `db:"deleted_at"`
	CreatedAt   core.Time                `db:"created_at"`
	UpdatedAt   core.Time                `db:"updated_at"`
}

var savedMethodColumns = db.ColumnsOf[SavedMethod]("payment_methods")

// billing returns the method in the form in which a subscription or invoice is charged with it.
func (m *SavedMethod) billing() *BillingMethod {
	return &BillingMethod{ID: &m.ID, Provider: m.Provider, Ref: m.ProviderRef, CustomerRef: &m.CustomerRef, Card: m.Card.V}
}

// maxTriesADay is how often an invoice may be tried within a day with new methods. After that a new one waits for the schedule:
// whoever has many cards shall not find out here which of them are good.
const maxTriesADay = 5

// chargeWith makes a method the one that a locked subscription is charged with. If the subscription is past due, its latest
// invoice is tried with the method at once, beside the schedule, unless it was tried with it before or too often within the
// last day. The caller stores the subscription.
func (s *Store) chargeWith(ctx context.Context, u *db.Unit, sub *Subscription, m *SavedMethod, now core.Time) error {
	sub.Method, sub.ExtraAttempt = core.JSONOf(m.billing()), false
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

// PaymentMethodsByID returns those of the saved payment methods with these ids that are not deleted, by id.
func (s *Store) PaymentMethodsByID(ctx context.Context, account string, ids []string) (map[string]*SavedMethod, error) {
	found, err := db.ByID(ctx, s.db, savedMethodColumns, account, ids)
	for id, m := range found {
		if m.DeletedAt != nil {
			delete(found, id)
		}
	}
	return found, err
}

// ListCustomerPaymentMethods returns a page of a customer's payment methods, newest first, and whether there are more.
func (s *Store) ListCustomerPaymentMethods(ctx context.Context, account, customer string, in core.Page) ([]SavedMethod, bool, error) {
	c, err := s.Customer.Named(ctx, account, customer, "")
	if err != nil {
		return nil, false, err
	}
	var f db.Filter
	f.Is("customer_id", c.ID)
	f.And(`deleted_at IS NULL`)
	return db.Page(ctx, s.db, savedMethodColumns, core.KindPaymentMethod, account, in, &f)
}

// maxSavedMethods is how many methods may be saved for a customer, by themselves or by the seller. A method that they buy a
// subscription with is saved beyond this limit: that was paid for.
const maxSavedMethods = 50

// checkRoom returns CodeInvalid on payment_method for a customer who has maxSavedMethods methods already.
func (s *Store) checkRoom(ctx context.Context, c *customer.Customer) error {
	n, err := db.Get[int](ctx, s.db, `SELECT COUNT(*) FROM payment_methods WHERE account_id = ? AND customer_id = ? AND deleted_at IS NULL`, c.AccountID, c.ID)
	if err == nil && *n >= maxSavedMethods {
		err = core.Invalid("payment_method", fmt.Sprintf("The customer has %d payment methods, and cannot have more. Remove one first.", *n))
	}
	return err
}

// BeginSaveMethod commits what a request has done so far, before a provider is asked to save a method for a customer. It
// returns the customer, and the token that names the request to the provider: it is the same whenever the request is sent
// again. A customer who has too many methods is CodeInvalid on payment_method. The try counts as declined until ForgiveTry
// takes that back; after too many declines it is CodeRateLimit.
func (s *Store) BeginSaveMethod(ctx context.Context, account, customerID string, from Buyer) (*customer.Customer, string, error) {
	c, err := db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (*customer.Customer, error) {
		c, err := s.Customer.Named(ctx, account, customerID, "")
		if err == nil {
			err = s.checkRoom(ctx, c)
		}
		if err == nil {
			err = s.tryMethod(ctx, u, account, from.guards(&c.ID))
		}
		return c, err
	})
	return c, s.db.Effect(ctx), err
}

// SavePaymentMethod saves a method for its customer, and returns it as it is kept: if the customer has the same method already,
// that one. It becomes the customer's default if isDefault, or if they have none. Then their subscriptions that are past due
// are charged with it at once.
func (s *Store) SavePaymentMethod(ctx context.Context, m SavedMethod, isDefault bool) (*SavedMethod, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*SavedMethod, error) {
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
		kept, err := s.keepMethod(ctx, u, m, now)
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
func (s *Store) SaveGivenMethod(ctx context.Context, m SavedMethod, isDefault bool, subscription string) (kept *SavedMethod, isNew bool, err error) {
	m.ID = core.NewID(core.KindPaymentMethod)
	kept, err = db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*SavedMethod, error) {
		before, err := db.Get[SavedMethod](ctx, u, savedMethodColumns.SelectSQL+`
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

// DeleteCustomerPaymentMethod deletes a payment method of a customer and returns it. If it was their default, they have none
// then.
func (s *Store) DeleteCustomerPaymentMethod(ctx context.Context, account, customer, ref string) (*SavedMethod, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*SavedMethod, error) {
		c, err := s.Customer.LockNamed(ctx, u, account, customer, "")
		if err != nil {
			return nil, err
		}
		m, err := s.findMethod(ctx, c, ref, "")
		if err != nil {
			return nil, err
		}
		return m, s.forgetMethod(ctx, u, c, m)
	})
}

// forgetMethod deletes a method of a locked customer, and stores the intent to tell its provider, which the reconciler does.
func (s *Store) forgetMethod(ctx context.Context, u *db.Unit, c *customer.Customer, m *SavedMethod) error {
	now, err := s.db.BusinessNow(ctx, c.AccountID)
	if err != nil {
		return err
	}
	if err := s.detach(ctx, u, c, m.ID); err != nil {
		return err
	}
	m.DeletedAt, m.UpdatedAt = &now, now
	if err := u.Update(ctx, savedMethodColumns, m); err != nil {
		return err
	}
	if c.DefaultPaymentMethodID == nil || *c.DefaultPaymentMethodID != m.ID {
		return nil
	}
	c.DefaultPaymentMethodID, c.UpdatedAt = nil, now
	return u.Update(ctx, customer.Columns, c)
}

// CustomerPaymentMethod returns a payment method that a customer has, or CodeMissing on payment_method.
func (s *Store) CustomerPaymentMethod(ctx context.Context, account, customerID, ref string) (*SavedMethod, error) {
	return s.findMethod(ctx, &customer.Customer{AccountID: account, ID: customerID}, ref, "payment_method")
}

// CustomerRef returns the provider's id of a customer who has saved a method with it, also if that is deleted by now, else nil.
func (s *Store) CustomerRef(ctx context.Context, account, customer, provider string) (*string, error) {
	return db.Get[string](ctx, s.db, `
		SELECT customer_ref FROM payment_methods WHERE account_id = ? AND customer_id = ? AND provider = ? ORDER BY id DESC LIMIT 1`,
		account, customer, provider)
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
	m, err := s.CustomerPaymentMethod(ctx, c.AccountID, *c.CustomerID, in.Saved)
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
func (s *Store) saveMethod(ctx context.Context, u *db.Unit, c *customer.Customer, p *Payment, pastDue []Subscription) error {
	if p == nil || !p.SaveMethod || p.CustomerRef == nil {
		return nil
	}
	kept, err := s.keepMethod(ctx, u, SavedMethod{
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

// keepMethod stores a method of a locked customer and returns it. If they have the same one already, that is returned instead.
func (s *Store) keepMethod(ctx context.Context, u *db.Unit, m SavedMethod, now core.Time) (*SavedMethod, error) {
	kept, err := db.Get[SavedMethod](ctx, u, savedMethodColumns.SelectSQL+`
		WHERE account_id = ? AND customer_id = ? AND provider = ? AND provider_ref = ? AND deleted_at IS NULL`,
		m.AccountID, m.CustomerID, m.Provider, m.ProviderRef)
	if err != nil {
		return nil, fmt.Errorf("look for a payment method: %w", err)
	}
	if kept != nil {
		return kept, nil
	}
	m.ID, m.CreatedAt, m.UpdatedAt = cmp.Or(m.ID, core.NewID(core.KindPaymentMethod)), now, now
	return &m, u.Insert(ctx, savedMethodColumns, &m)
}

// makeDefault makes a method the default of its locked customer. Their subscriptions that are past due, which are locked too,
// are charged with it at once.
func (s *Store) makeDefault(ctx context.Context, u *db.Unit, c *customer.Customer, m *SavedMethod, pastDue []Subscription, now core.Time) error {
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
func (s *Store) lockPastDueOf(ctx context.Context, u *db.Unit, c *Checkout, p *Payment) ([]Subscription, error) {
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
func (s *Store) chargePastDue(ctx context.Context, u *db.Unit, subs []Subscription, m *SavedMethod, now core.Time) error {
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

// findMethod reads a payment method of a customer that is not deleted, or returns CodeMissing. Param is the parameter that
// named it, "" if the path did.
func (s *Store) findMethod(ctx context.Context, c *customer.Customer, ref, param string) (*SavedMethod, error) {
	id, ok := core.ParseID(core.KindPaymentMethod, ref)
	if !ok {
		return nil, core.Missing("payment method", param, ref)
	}
	m, err := db.Get[SavedMethod](ctx, s.db, savedMethodColumns.SelectSQL+`
		WHERE account_id = ? AND id = ? AND customer_id = ? AND deleted_at IS NULL`, c.AccountID, id, c.ID)
	if err == nil && m == nil {
		err = core.Missing("payment method", param, ref)
	}
	return m, err
}

// newDefault returns the customer's default payment method if it is another one than before, else nil. Before is the id of the
// former default. A method that the customer does not have is CodeMissing on default_payment_method.
func (s *Store) newDefault(ctx context.Context, c *customer.Customer, before *string) (*SavedMethod, error) {
	if c.DefaultPaymentMethodID == nil || before != nil && *before == *c.DefaultPaymentMethodID {
		return nil, nil
	}
	return s.findMethod(ctx, c, *c.DefaultPaymentMethodID, "default_payment_method")
}

// forgetMethods deletes every payment method of a locked customer who is being deleted, and stores the intents to tell the
// providers.
func (s *Store) forgetMethods(ctx context.Context, u *db.Unit, c *customer.Customer) error {
	now, err := s.db.BusinessNow(ctx, c.AccountID)
	if err != nil {
		return err
	}
	if err := s.detach(ctx, u, c, ""); err != nil {
		return err
	}
	_, err = u.Exec(ctx, `UPDATE payment_methods SET deleted_at = ?, updated_at = ? WHERE account_id = ? AND customer_id = ? AND deleted_at IS NULL`,
		now, now, c.AccountID, c.ID)
	if err != nil {
		return fmt.Errorf("delete payment methods: %w", err)
	}
	return nil
}
