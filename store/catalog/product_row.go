package catalog

import (
	"context"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/outbox"
)

// findProduct reads a product by id or slug, or returns CodeMissing. Param is the parameter that named it, "" if the path did.
func (s *Store) findProduct(ctx context.Context, r db.Reader, account, ref, param string) (*Product, error) {
	where, args := db.RefWhere(core.KindProduct, account, ref)
	p, err := db.Get[Product](ctx, r, productColumns.SelectSQL+where, args...)
	if err != nil {
		return nil, fmt.Errorf("read product: %w", err)
	}
	if p == nil {
		return nil, core.Missing("product", param, ref)
	}
	return p, s.readDeliverables(ctx, db.Unlocked(r), account, p)
}

// ProductNamed reads a product by id or slug, as a field of a request names it, or returns CodeMissing on that field.
func (s *Store) ProductNamed(ctx context.Context, r db.Reader, account, ref, field string) (*Product, error) {
	return s.findProduct(ctx, r, account, ref, field)
}

// LockProduct does what ProductNamed does, and locks the product until the transaction ends.
func (s *Store) LockProduct(ctx context.Context, u *db.Unit, account, ref, field string) (*Product, error) {
	return s.findProduct(ctx, u.Locked(), account, ref, field)
}

// CheckProducts returns CodeMissing for the first of some ids that is of no product, on the field with its place.
func (s *Store) CheckProducts(ctx context.Context, account string, ids []string, field string) error {
	found, err := s.OffersByID(ctx, account, ids)
	if err != nil {
		return err
	}
	for i, id := range ids {
		if found[id] == nil {
			return core.Missing("product", fmt.Sprintf("%s.%d", field, i), id)
		}
	}
	return nil
}

// createProduct checks a new product and its price variants, gives it an id and a slug, stores everything, and emits
// product.created.
func (s *Store) createProduct(ctx context.Context, u *db.Unit, account string, p *Product, variants []PriceVariant) (*Product, error) {
	p.AccountID = account
	if err := p.check(); err != nil {
		return nil, err
	}
	if err := s.checkDeliverables(ctx, u, p); err != nil {
		return nil, err
	}
	now, err := db.BusinessNow(ctx, u, account)
	if err != nil {
		return nil, err
	}
	p.ID, p.EventSeq, p.CreatedAt, p.UpdatedAt = core.NewID(core.KindProduct), 1, now, now
	made, err := s.draftVariants(ctx, u, p, "price_variants.", variants)
	if err != nil {
		return nil, err
	}
	p.summarize(made)
	p.countDeliverables()
	if err := p.enter(ProductStatusDraft, now); err != nil {
		return nil, err
	}
	if err := s.checkDelivery(ctx, u, p); err != nil {
		return nil, err
	}
	if p.Slug, err = u.TakeSlug(ctx, core.KindProduct, account, p.ID, p.Slug, p.Name); err != nil {
		return nil, err
	}
	err = s.insertProduct(ctx, u, p, made)
	if isExternal := func(v PriceVariant) bool { return v.ExternalID != nil }; p.ExternalID != nil || slices.ContainsFunc(made, isExternal) {
		err = u.Sent(ctx, err) // another one with this id may have come meanwhile
	}
	if err != nil {
		return nil, err
	}
	return p, s.emitProduct(ctx, u, outbox.EventProductCreated, p, made)
}

// insertProduct stores the rows of a new product and its price variants.
func (s *Store) insertProduct(ctx context.Context, u *db.Unit, p *Product, variants []PriceVariant) error {
	if err := s.uniqueExternalID(ctx, u, p); err != nil {
		return err
	}
	if err := u.Insert(ctx, productColumns, p); err != nil {
		return err
	}
	if err := s.insertDeliverables(ctx, u, p); err != nil {
		return err
	}
	for i := range variants {
		if err := u.Insert(ctx, priceVariantColumns, &variants[i]); err != nil {
			return err
		}
	}
	return nil
}

// changeProduct checks and stores a locked product that has changed, and emits product.updated. Before is what it was: it tells
// whether the new state may follow and whether the slug is another one.
func (s *Store) changeProduct(ctx context.Context, u *db.Unit, before, p *Product) error {
	if err := p.check(); err != nil {
		return err
	}
	now, err := db.BusinessNow(ctx, u, p.AccountID)
	if err != nil {
		return err
	}
	if !core.SameJSON(before.Deliverables, p.Deliverables) {
		if err := s.changeDeliverables(ctx, u, p); err != nil {
			return err
		}
	}
	if err := p.enter(before.Status, now); err != nil {
		return err
	}
	if before.Status != ProductStatusActive || !core.SameJSON(before.Deliverables, p.Deliverables) {
		if err := s.checkDelivery(ctx, u, p); err != nil {
			return err
		}
	}
	if p.Slug != before.Slug {
		slug, err := u.ChangeSlug(ctx, core.KindProduct, p.AccountID, p.ID, p.Slug, p.Name)
		if err != nil {
			return err
		}
		p.Slug = slug
	}
	if err := s.uniqueExternalID(ctx, u, p); err != nil {
		return err
	}
	variants, err := s.priceVariants(ctx, u, p)
	if err != nil {
		return err
	}
	return s.saveProduct(ctx, u, p, variants)
}

// saveProduct stores a locked product and emits product.updated.
func (s *Store) saveProduct(ctx context.Context, u *db.Unit, p *Product, variants []PriceVariant) error {
	var err error
	if p.UpdatedAt, err = db.BusinessNow(ctx, u, p.AccountID); err != nil {
		return err
	}
	p.EventSeq++
	if err := u.Update(ctx, productColumns, p); err != nil {
		return err
	}
	return s.emitProduct(ctx, u, outbox.EventProductUpdated, p, variants)
}

// emitProduct emits an event of a product with all its price variants.
func (s *Store) emitProduct(ctx context.Context, u *db.Unit, kind string, p *Product, variants []PriceVariant) error {
	return s.outbox.Emit(ctx, u, outbox.NewEvent{Kind: kind, Account: p.AccountID, Key: p.ID, Seq: p.EventSeq,
		Data: &ProductDetail{Product: p, PriceVariants: variants}})
}

// uniqueExternalID returns CodeInvalid on external_id if another product of the account has the same one.
func (s *Store) uniqueExternalID(ctx context.Context, u *db.Unit, p *Product) error {
	if p.ExternalID == nil {
		return nil
	}
	other, err := db.Get[string](ctx, u, `SELECT id FROM products WHERE account_id = ? AND external_id = ? AND id <> ?`, p.AccountID, *p.ExternalID, p.ID)
	if err == nil && other != nil {
		err = core.Invalid("external_id", "Another product has this external_id.")
	}
	return err
}

// lockVariants locks all price variants of a locked product. It waits for purchases that are reserving one of them, so that
// what they reserve is seen afterwards.
func (s *Store) lockVariants(ctx context.Context, u *db.Unit, p *Product) error {
	_, err := db.Select[string](ctx, u.Locked(), `SELECT id FROM price_variants WHERE account_id = ? AND product_id = ? ORDER BY id`, p.AccountID, p.ID)
	if err != nil {
		err = fmt.Errorf("lock price variants: %w", err)
	}
	return err
}

// isOrdered reports whether a product or a price variant was ever ordered or subscribed to, or is being paid for. It also says so if a
// subscription is about to change to it. Column is product_id or price_variant_id. The caller has locked the product and the variants.
func (s *Store) isOrdered(ctx context.Context, u *db.Unit, account, column, id string) (bool, error) {
	// What column is called in the table of the variants themselves.
	variant := map[string]string{"product_id": "product_id", "price_variant_id": "id"}[column]
	row, err := db.Get[int](ctx, u, `
		SELECT 1 FROM line_items WHERE account_id = ? AND `+column+` = ? AND (order_id IS NOT NULL OR invoice_id IS NOT NULL)
		UNION ALL
		SELECT 1 FROM price_variants WHERE account_id = ? AND `+variant+` = ? AND sold_count + reserved_count > 0
		UNION ALL
		SELECT 1 FROM subscriptions WHERE account_id = ? AND `+column+` = ?
		UNION ALL
		SELECT 1 FROM subscriptions WHERE account_id = ? AND pending_change IS NOT NULL AND pending_change LIKE '%' || ? || '%'
		LIMIT 1`, account, id, account, id, account, id, account, id)
	return row != nil, err
}

// isGiven reports whether somebody has a product or had it, without an order too. The caller has locked the product.
func (s *Store) isGiven(ctx context.Context, u *db.Unit, account, id string) (bool, error) {
	row, err := db.Get[int](ctx, u, `SELECT 1 FROM grants WHERE account_id = ? AND product_id = ? LIMIT 1`, account, id)
	return row != nil, err
}
