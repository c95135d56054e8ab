package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
)

// UpsertCustomer changes the customer with the account's own id, but for their default payment method. If there is none it makes one, which
// isNew says. Of several at once that make it, all but the first change it.
func (s *Store) UpsertCustomer(ctx context.Context, account string, in core.Upsert[customer.Customer]) (c *customer.Customer, isNew bool, err error) {
	c, err = db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*customer.Customer, error) {
		there, err := s.lockExternalCustomers(ctx, u, account, []string{in.ExternalID})
		if err != nil {
			return nil, err
		}
		before := there[in.ExternalID]
		c, status, err := s.upsertCustomer(ctx, u, account, before, &in)
		isNew = status == core.UpsertCreated
		if err != nil || status != core.UpsertUpdated {
			return c, err
		}
		return c, s.endNews(ctx, u, before, c)
	})
	return c, isNew, err
}

// UpsertCustomers does what UpsertCustomer does for each of many customers, and says what became of each, in their order. One that is refused
// leaves the others as they are.
func (s *Store) UpsertCustomers(ctx context.Context, account string, in []core.Upsert[customer.Customer]) ([]core.Upserted, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) ([]core.Upserted, error) {
		there, err := s.lockExternalCustomers(ctx, u, account, db.ExternalIDs(in))
		if err != nil {
			return nil, err
		}
		lookAgain := func(externalID string) error {
			now, err := s.lockExternalCustomers(ctx, u, account, []string{externalID})
			there[externalID] = now[externalID]
			return err
		}
		var ended []string // whose news end is told for all at once: everybody locks the leads of several addresses in one order
		all, err := db.UpsertAll(ctx, u, in, lookAgain, func(item *core.Upsert[customer.Customer]) (string, core.UpsertStatus, error) {
			before := there[item.ExternalID]
			c, status, err := s.upsertCustomer(ctx, u, account, before, item)
			if err != nil {
				return "", status, err
			}
			if status == core.UpsertUpdated {
				ended = append(ended, endings(before, c)...)
			}
			there[item.ExternalID] = c
			return c.ID, status, nil
		})
		if err != nil || len(ended) == 0 {
			return all, err
		}
		now, err := db.BusinessNow(ctx, u, account)
		if err != nil {
			return nil, err
		}
		return all, s.Lead.End(ctx, u, account, now, ended...)
	})
}

// upsertCustomer changes a copy of the locked customer that is there, or makes one if that is nil, and returns it. To end their news is left to the caller.
func (s *Store) upsertCustomer(ctx context.Context, u *db.Unit, account string, there *customer.Customer, in *core.Upsert[customer.Customer]) (*customer.Customer, core.UpsertStatus, error) {
	var c customer.Customer
	if there == nil {
		in.Change(&c)
		if c.Email == nil {
			return nil, "", core.Invalid("email", "No customer has this external_id, and a new one needs an e-mail address.")
		}
		if err := c.Check(&customer.Customer{}); err != nil {
			return nil, "", err
		}
		if err := s.emailFree(ctx, u, account, &c); err != nil {
			return nil, "", err
		}
		made, err := s.Customer.Insert(ctx, u, account, &c)
		if errors.As(err, new(*core.Error)) { // somebody made one with the id or the address meanwhile
			err = db.ErrOvertaken
		}
		return made, core.UpsertCreated, err
	}
	c = *there
	in.Change(&c)
	if err := c.Check(there); err != nil || core.SameJSON(there, &c) {
		return there, core.UpsertUnchanged, err
	}
	var err error
	if c.UpdatedAt, err = db.BusinessNow(ctx, u, account); err != nil {
		return nil, "", err
	}
	if err := c.Taken(u.Sent(ctx, u.Update(ctx, customer.Columns, &c))); err != nil {
		return nil, "", err
	}
	return &c, core.UpsertUpdated, nil
}

// emailFree returns CodeInvalid on email if another customer has the address of a new one. If that one has the same external id, it came
// meanwhile: then it returns db.ErrOvertaken.
func (s *Store) emailFree(ctx context.Context, u *db.Unit, account string, c *customer.Customer) error {
	owner, err := db.Get[customer.Customer](ctx, u, customer.Columns.SelectSQL+` WHERE account_id = ? AND email_key = ?`, account, c.EmailKey)
	switch {
	case err != nil:
		return fmt.Errorf("look who has an address: %w", err)
	case owner == nil:
		return nil
	case owner.ExternalID != nil && *owner.ExternalID == *c.ExternalID:
		return db.ErrOvertaken
	}
	return core.Invalid("email", "Another customer has this e-mail address. Give that one the external_id with PATCH /customers/{id}.")
}

// lockExternalCustomers locks the customers with the account's own ids that there are, in the order of those ids, and returns them by them. A deleted
// customer has none. Each is read by itself: of a list PostgreSQL may read every row that has an id.
func (s *Store) lockExternalCustomers(ctx context.Context, u *db.Unit, account string, externalIDs []string) (map[string]*customer.Customer, error) {
	there := map[string]*customer.Customer{}
	for _, externalID := range externalIDs {
		c, err := db.Get[customer.Customer](ctx, u.Locked(), customer.Columns.SelectSQL+` WHERE account_id = ? AND external_id = ?`, account, externalID)
		if err != nil {
			return nil, fmt.Errorf("lock customers by external id: %w", err)
		}
		if c != nil {
			there[externalID] = c
		}
	}
	return there, nil
}
