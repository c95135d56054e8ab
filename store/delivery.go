package store

import (
	"context"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/internal/db"
)

// NewGrant is a product that a customer is to have without paying.
type NewGrant struct {
	Customer  string
	Product   string // id or slug
	ExpiresAt *core.Time
}

// ListGrants holds the filters of a list of grants. SourceOrType is an order, a subscription, or a type of source.
type ListGrants struct {
	grant.ListGrants
	SourceOrType string
}

// CreateGrant gives a customer a product, and has them told. One that does not exist is CodeMissing, a tip is CodeInvalid on product.
func (s *Store) CreateGrant(ctx context.Context, account string, in NewGrant) (*grant.Grant, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*grant.Grant, error) {
		customer, err := s.lockCustomer(ctx, u, account, in.Customer, "customer")
		if err != nil {
			return nil, err
		}
		product, err := s.Catalog.LockProduct(ctx, u, account, in.Product, "product")
		if err != nil {
			return nil, err
		}
		now, err := s.db.BusinessNow(ctx, account)
		if err != nil {
			return nil, err
		}
		var p core.Problems
		p.Check(product.Type != catalog.ProductTypeTip, "product", "A tip delivers nothing: name another product.")
		p.Check(in.ExpiresAt == nil || *in.ExpiresAt > now, "expires_at", "This moment is over: send a later one.")
		if err := p.Err(); err != nil {
			return nil, err
		}
		made, err := s.Grant.GiveNew(ctx, u, []grant.Giving{{
			Account: account, Customer: customer.ID, Product: product.ID, Source: grant.Source{Type: grant.SourceTypeManual},
			Item: product.ID, Quantity: 1, ExpiresAt: in.ExpiresAt, Licensed: true,
		}})
		if err != nil {
			return nil, err
		}
		if err := s.writeAccess(ctx, u, &made[0]); err != nil {
			return nil, err
		}
		return s.Grant.GetGrant(ctx, account, made[0].ID)
	})
}

// ListGrants returns a page of grants, newest first, and whether there are more. A customer, product or source that does
// not exist is CodeMissing.
func (s *Store) ListGrants(ctx context.Context, account string, in ListGrants) ([]grant.Grant, bool, error) {
	if in.Customer != "" {
		customer, err := s.getCustomer(ctx, account, in.Customer, "customer")
		if err != nil {
			return nil, false, err
		}
		in.Customer = customer.ID
	}
	if in.Product != "" {
		product, err := s.Catalog.ProductNamed(ctx, account, in.Product, "product")
		if err != nil {
			return nil, false, err
		}
		in.Product = product.ID
	}
	if err := s.sourceNamed(ctx, account, &in); err != nil {
		return nil, false, err
	}
	return s.Grant.ListGrants(ctx, account, in.ListGrants)
}

// sourceNamed sets the filter by source. One that does not exist is CodeMissing on source.
func (s *Store) sourceNamed(ctx context.Context, account string, in *ListGrants) error {
	ref := in.SourceOrType
	switch t := grant.SourceType(ref); t {
	case "":
		return nil
	case grant.SourceTypeOrder, grant.SourceTypeSubscription, grant.SourceTypeManual:
		in.SourceType = t
		return nil
	}
	if id, ok := core.ParseID(core.KindSubscription, ref); ok {
		sub, err := s.getSubscription(ctx, account, id, "source")
		if err == nil {
			in.Source = sub.ID
		}
		return err
	}
	id, _ := core.ParseID(core.KindOrder, ref)
	found, err := s.OrdersByID(ctx, account, []string{id})
	if err == nil && found[id] == nil {
		err = core.Missing("source", "source", ref)
	}
	in.Source = id
	return err
}

// CheckoutDeliveries returns what the buyer of a completed checkout has by it now. Any other checkout delivers nothing.
func (s *Store) CheckoutDeliveries(ctx context.Context, c *Checkout) ([]grant.Delivery, error) {
	if c.OrderID == nil {
		return nil, nil
	}
	orders, err := s.OrdersByID(ctx, c.AccountID, []string{*c.OrderID})
	if err != nil || orders[*c.OrderID] == nil {
		return nil, err
	}
	return s.deliveries(ctx, c.AccountID, orders[*c.OrderID].GrantIDs.V)
}

// deliveries returns what the grants with these ids that exist open now, in the order of the ids.
func (s *Store) deliveries(ctx context.Context, account string, ids []string) ([]grant.Delivery, error) {
	found, err := s.Grant.GrantsByID(ctx, account, ids)
	if err != nil {
		return nil, err
	}
	grants := make([]grant.Grant, 0, len(ids))
	for _, id := range ids {
		if found[id] != nil {
			grants = append(grants, *found[id])
		}
	}
	return s.Grant.Deliveries(ctx, account, grants)
}
