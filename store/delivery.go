package store

import (
	"context"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
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
		customer, err := s.Customer.LockNamed(ctx, u, account, in.Customer, "customer")
		if err != nil {
			return nil, err
		}
		product, err := s.Catalog.LockProduct(ctx, u, account, in.Product, "product")
		if err != nil {
			return nil, err
		}
		now, err := db.BusinessNow(ctx, u, account)
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
			Item: product.ID, Quantity: 1, ExpiresAt: in.ExpiresAt,
		}})
		if err != nil {
			return nil, err
		}
		if err := s.writeAccess(ctx, u, &made[0]); err != nil {
			return nil, err
		}
		return s.Grant.GetGrantIn(ctx, u, account, made[0].ID)
	})
}

// ListGrants returns a page of grants, newest first, and whether there are more. A customer, product or source that does
// not exist is CodeMissing.
func (s *Store) ListGrants(ctx context.Context, account string, in ListGrants) ([]grant.Grant, bool, error) {
	if in.Customer != "" {
		customer, err := s.Customer.Named(ctx, s.db, account, in.Customer, "customer")
		if err != nil {
			return nil, false, err
		}
		in.Customer = customer.ID
	}
	if in.Product != "" {
		product, err := s.Catalog.ProductNamed(ctx, s.db, account, in.Product, "product")
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
		sub, err := s.Subscription.Named(ctx, s.db, account, id, "source")
		if err == nil {
			in.Source = sub.ID
		}
		return err
	}
	id, _ := core.ParseID(core.KindOrder, ref)
	found, err := s.Order.ByID(ctx, account, []string{id})
	if err == nil && found[id] == nil {
		err = core.Missing("source", "source", ref)
	}
	in.Source = id
	return err
}

// CheckoutDeliveries returns what the buyer of a completed checkout has by it now. Any other checkout delivers nothing. A file or an experience for which
// the product has no name goes by its own.
func (s *Store) CheckoutDeliveries(ctx context.Context, c *checkout.Checkout) ([]grant.Delivery, error) {
	if c.OrderID == nil {
		return nil, nil
	}
	orders, err := s.Order.ByID(ctx, c.AccountID, []string{*c.OrderID})
	if err != nil || orders[*c.OrderID] == nil {
		return nil, err
	}
	found, err := s.deliveries(ctx, c.AccountID, orders[*c.OrderID].GrantIDs.V)
	if err != nil {
		return nil, err
	}
	return found, s.nameDeliveries(ctx, c.AccountID, found)
}

// nameDeliveries gives files and experiences without a name their own.
func (s *Store) nameDeliveries(ctx context.Context, account string, found []grant.Delivery) error {
	var fileIDs, experienceIDs []string
	for _, d := range found {
		switch {
		case d.Name != nil:
		case d.FileID != nil:
			fileIDs = append(fileIDs, *d.FileID)
		case d.ExperienceID != nil:
			experienceIDs = append(experienceIDs, *d.ExperienceID)
		}
	}
	files, err := s.Grant.FilesByID(ctx, account, fileIDs)
	if err != nil {
		return err
	}
	experiences, err := s.Content.ExperiencesByID(ctx, account, experienceIDs)
	if err != nil {
		return err
	}
	for i := range found {
		d := &found[i]
		if d.Name != nil {
			continue
		}
		if f := files[core.Deref(d.FileID)]; f != nil {
			d.Name = &f.Name
		}
		if e := experiences[core.Deref(d.ExperienceID)]; e != nil {
			d.Name = &e.Name
		}
	}
	return nil
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
