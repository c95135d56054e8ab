package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// NamedVariant is a price variant that is to be made or changed. Its product is as the request names it: an id or a slug, "" for none.
type NamedVariant struct {
	PriceVariant
	Product string
}

// UpsertPriceVariant changes the price variant with the account's own id as UpdatePriceVariant does. If there is none it adds one to its product,
// which isNew says. Of several at once that make it, all but the first change it. It returns CodeInvalid on product for another product than the
// one that it has.
func (s *Store) UpsertPriceVariant(ctx context.Context, account string, in core.Upsert[NamedVariant]) (v *PriceVariant, isNew bool, err error) {
	v, err = db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*PriceVariant, error) {
		items := []core.Upsert[NamedVariant]{in}
		b, err := s.lockVariantBatch(ctx, u, account, items)
		if err != nil {
			return nil, err
		}
		v, status, err := b.upsert(ctx, &items[0])
		if err != nil {
			return nil, err
		}
		isNew = status == core.UpsertCreated
		return v, b.saveProducts(ctx)
	})
	return v, isNew, err
}

// UpsertPriceVariants does what UpsertPriceVariant does for each of many price variants, and says what became of each, in their order. One that is
// refused leaves the others as they are. Of each product that has changed it emits product.updated once, behind all of them.
func (s *Store) UpsertPriceVariants(ctx context.Context, account string, in []core.Upsert[NamedVariant]) ([]core.Upserted, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) ([]core.Upserted, error) {
		b, err := s.lockVariantBatch(ctx, u, account, in)
		if err != nil {
			return nil, err
		}
		lookAgain := func(externalID string) error { return b.lockExternal(ctx, []string{externalID}) }
		done, err := db.UpsertAll(ctx, u, in, lookAgain, func(item *core.Upsert[NamedVariant]) (string, core.UpsertStatus, error) {
			v, status, err := b.upsert(ctx, item)
			if err != nil {
				return "", status, err
			}
			return v.ID, status, nil
		})
		if err != nil {
			return nil, err
		}
		return done, b.saveProducts(ctx)
	})
}

// variantBatch is what one request changes of price variants and their products. What it holds is locked.
type variantBatch struct {
	s        *Store
	u        *db.Unit
	account  string
	there    map[string]*PriceVariant // by external id
	products map[string]*batchProduct // by id
	ids      map[string]string        // of products, by what the request calls them
	changed  []*batchProduct
}

// batchProduct is a product of a batch. Its price variants are nil until the first of them changes.
type batchProduct struct {
	*Product
	variants  []PriceVariant
	isChanged bool
}

// lockVariantBatch locks the price variants with the account's own ids that there are, and the products of these and of new ones. It locks all
// products first, then the price variants, each by their ids.
func (s *Store) lockVariantBatch(ctx context.Context, u *db.Unit, account string, in []core.Upsert[NamedVariant]) (*variantBatch, error) {
	b := &variantBatch{s: s, u: u, account: account, there: map[string]*PriceVariant{}, products: map[string]*batchProduct{}, ids: map[string]string{}}
	for i := range in {
		var v NamedVariant
		if in[i].Refused == nil {
			in[i].Change(&v)
		}
		if _, isKnown := b.ids[v.Product]; isKnown || v.Product == "" {
			continue
		}
		where, args := db.RefWhere(core.KindProduct, account, v.Product)
		id, err := db.Get[string](ctx, u, `SELECT id FROM products`+where, args...)
		if err != nil {
			return nil, fmt.Errorf("find product: %w", err)
		}
		b.ids[v.Product] = core.Deref(id)
	}
	return b, b.lockExternal(ctx, db.ExternalIDs(in))
}

// lockExternal locks the price variants with these external ids behind all products of the batch. Each is looked for by itself: of a list
// PostgreSQL may read every row that has an id.
func (b *variantBatch) lockExternal(ctx context.Context, externalIDs []string) error {
	type found struct {
		ID        string `db:"id"`
		ProductID string `db:"product_id"`
	}
	var variants, products []string
	for _, externalID := range externalIDs {
		delete(b.there, externalID)
		v, err := db.Get[found](ctx, b.u, `SELECT id, product_id FROM price_variants WHERE account_id = ? AND external_id = ?`, b.account, externalID)
		if err != nil {
			return fmt.Errorf("find price variant by external id: %w", err)
		}
		if v != nil {
			variants, products = append(variants, v.ID), append(products, v.ProductID)
		}
	}
	for _, id := range b.ids {
		products = append(products, id)
	}
	if err := b.lockProducts(ctx, products); err != nil || len(variants) == 0 {
		return err
	}
	condition, arg := b.s.db.In("id", variants)
	locked, err := db.Select[PriceVariant](ctx, b.u.Locked(), priceVariantColumns.SelectSQL+` WHERE account_id = ? AND `+condition+` ORDER BY id`, b.account, arg)
	if err != nil {
		return fmt.Errorf("lock price variants: %w", err)
	}
	for i := range locked {
		if v := &locked[i]; v.ExternalID != nil { // it was not taken away meanwhile
			b.there[*v.ExternalID] = v
		}
	}
	return nil
}

// lockProducts locks those products with these ids that there are, but for those that the batch holds already.
func (b *variantBatch) lockProducts(ctx context.Context, ids []string) error {
	ids = slices.DeleteFunc(ids, func(id string) bool { return id == "" || b.products[id] != nil })
	if len(ids) == 0 {
		return nil
	}
	condition, arg := b.s.db.In("id", ids)
	locked, err := db.Select[Product](ctx, b.u.Locked(), productColumns.SelectSQL+` WHERE account_id = ? AND `+condition+` ORDER BY id`, b.account, arg)
	if err != nil {
		return fmt.Errorf("lock products: %w", err)
	}
	all := make([]*Product, len(locked))
	for i := range locked {
		all[i] = &locked[i]
		b.products[locked[i].ID] = &batchProduct{Product: all[i]}
	}
	return b.s.readDeliverables(ctx, b.u, b.account, all...)
}

// upsert changes the price variant with the external id of an item, or adds one to its product, and returns it. The products are saved later.
func (b *variantBatch) upsert(ctx context.Context, in *core.Upsert[NamedVariant]) (*PriceVariant, core.UpsertStatus, error) {
	there := b.there[in.ExternalID]
	var v NamedVariant
	if there != nil {
		v.PriceVariant = *there
	}
	in.Change(&v)
	p, err := b.productOf(&v)
	if err != nil {
		return nil, "", err
	}
	if there != nil && core.SameJSON(there, &v.PriceVariant) {
		return there, core.UpsertUnchanged, nil
	}
	if err := b.open(ctx, p); err != nil {
		return nil, "", err
	}
	changed, status := &v.PriceVariant, core.UpsertUpdated
	if there == nil {
		changed, err = b.s.addPriceVariant(ctx, b.u, p.Product, len(p.variants), v.PriceVariant)
		err, status = db.OvertakenOn("external_id", b.u.Sent(ctx, err)), core.UpsertCreated
	} else {
		err = b.s.changePriceVariant(ctx, b.u, there, changed)
	}
	if err != nil {
		return nil, "", err
	}
	return changed, status, b.put(p, changed)
}

// productOf returns the product of a price variant, of which only a new one has no id of it.
func (b *variantBatch) productOf(v *NamedVariant) (*batchProduct, error) {
	named := b.products[b.ids[v.Product]]
	switch {
	case v.Product == "" && v.ProductID == "":
		return nil, core.Invalid("product", "No price variant has this external_id, and a new one needs a product: send its id or slug.")
	case v.Product != "" && named == nil:
		return nil, core.Missing("product", "product", v.Product)
	case v.ProductID == "":
		return named, nil
	case named != nil && named.ID != v.ProductID:
		return nil, core.Invalid("product", "This external_id is that of a price variant of another product, where it stays. Send another external_id.")
	}
	own := b.products[v.ProductID]
	if own == nil {
		return nil, errors.New("store: a price variant is locked without its product")
	}
	return own, nil
}

// open reads the price variants of a product before the first of them changes. It returns CodeTooLarge if the products before it are all that one
// request may hold. A product of which nothing changes in the end counts too: it was read, and is kept for the next items of it.
func (b *variantBatch) open(ctx context.Context, p *batchProduct) error {
	if p.variants != nil {
		return nil
	}
	if err := b.s.outbox.CheckBulk(b.u); err != nil {
		return err
	}
	variants, err := b.s.priceVariants(ctx, b.u, p.Product)
	if err != nil {
		return err
	}
	p.variants = variants
	b.s.outbox.Expect(b.u, len(core.JSONText(p.Product))+len(core.JSONText(variants)))
	return nil
}

// put puts a price variant that is stored among those of its product. It returns CodeInvalid on status if it was the last active one of an active
// product.
func (b *variantBatch) put(p *batchProduct, v *PriceVariant) error {
	variants := slices.Clone(p.variants)
	if at := slices.IndexFunc(variants, func(other PriceVariant) bool { return other.ID == v.ID }); at >= 0 {
		variants[at] = *v
	} else {
		variants = append(variants, *v)
	}
	slices.SortFunc(variants, func(a, b PriceVariant) int {
		return cmp.Or(cmp.Compare(a.Position, b.Position), cmp.Compare(a.ID, b.ID))
	})
	offered := *p.Product
	if err := offered.offer(variants); err != nil {
		return err
	}
	if !p.isChanged {
		b.changed = append(b.changed, p)
	}
	*p = batchProduct{&offered, variants, true}
	b.there[*v.ExternalID] = v
	return nil
}

// saveProducts stores the products of which price variants have changed, and emits product.updated for each. It reads the price variants again: others
// may have been sold meanwhile.
func (b *variantBatch) saveProducts(ctx context.Context) error {
	for _, p := range b.changed {
		variants, err := b.s.priceVariants(ctx, b.u, p.Product)
		if err != nil {
			return err
		}
		if err := b.s.saveProduct(ctx, b.u, p.Product, variants); err != nil {
			return err
		}
	}
	return nil
}
