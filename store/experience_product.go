package store

import (
	"context"
	"slices"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// deliverablesMost is how many things a product delivers at most.
const deliverablesMost = 100

// AttachExperience puts an experience at the end of what a product delivers, and returns it; product.updated follows. One that is on the list
// stays where it is. A product that does not exist is CodeMissing on product, one with a full list CodeInvalid on it. An active product and an
// experience that is not published are CodeInvalid on deliverables.
func (s *Store) AttachExperience(ctx context.Context, account, ref, product string) (*content.Experience, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*content.Experience, error) {
		isFull := false
		e, err := s.changeDelivery(ctx, u, account, ref, product, func(p *catalog.Product, isIt func(catalog.Deliverable) bool, id string) {
			if slices.ContainsFunc(p.Deliverables, isIt) {
				return
			}
			if isFull = len(p.Deliverables) >= deliverablesMost; !isFull {
				p.Deliverables = append(slices.Clone(p.Deliverables), catalog.Deliverable{Type: catalog.DeliverableTypeExperience, Ref: &id})
			}
		})
		if err == nil && isFull {
			err = core.Invalid("product", "A product delivers at most 100 things: take one off its deliverables.")
		}
		return e, err
	})
}

// DetachExperience takes an experience off what a product delivers, and returns it; product.updated follows if it was on the list. A product
// that does not exist is CodeMissing on product.
func (s *Store) DetachExperience(ctx context.Context, account, ref, product string) (*content.Experience, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*content.Experience, error) {
		return s.changeDelivery(ctx, u, account, ref, product, func(p *catalog.Product, isIt func(catalog.Deliverable) bool, _ string) {
			p.Deliverables = slices.DeleteFunc(slices.Clone(p.Deliverables), isIt)
		})
	})
}

// changeDelivery applies change to a locked product, with what tells an experience among its deliverables and the experience's id.
func (s *Store) changeDelivery(
	ctx context.Context, r db.Reader, account, ref, product string, change func(p *catalog.Product, isIt func(catalog.Deliverable) bool, id string),
) (*content.Experience, error) {
	e, err := s.Content.ExperienceNamedIn(ctx, r, account, ref)
	if err != nil {
		return nil, err
	}
	p, err := s.Catalog.ProductNamed(ctx, r, account, product, "product")
	if err != nil {
		return nil, err
	}
	isIt := func(d catalog.Deliverable) bool {
		return d.Type == catalog.DeliverableTypeExperience && core.Deref(d.Ref) == e.ID
	}
	if _, err := s.Catalog.UpdateProduct(ctx, account, p.ID, func(p *catalog.Product) { change(p, isIt, e.ID) }); err != nil {
		return nil, err
	}
	return s.Content.GetExperienceIn(ctx, r, account, e.ID)
}
