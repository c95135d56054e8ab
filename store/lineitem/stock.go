package lineitem

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Quantity is how many pieces of one product or price variant there are in several lines.
type Quantity struct {
	ID     string
	Pieces int64
}

// Pieces adds up the lines that sell something by their product or price variant, as key says. They come in the order of their
// ids, in which rows are locked.
func Pieces(items []Item, key func(Item) *string) []Quantity {
	sums := map[string]int64{}
	for _, item := range items {
		if id := key(item); item.Kind == KindPrice && id != nil {
			sums[*id] += item.Quantity
		}
	}
	list := make([]Quantity, 0, len(sums))
	for id, n := range sums {
		list = append(list, Quantity{id, n})
	}
	slices.SortFunc(list, func(a, b Quantity) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// ByVariant is a key of Pieces: those of each price variant.
func ByVariant(item Item) *string { return item.PriceVariantID }

func byProduct(item Item) *string { return item.ProductID }

// Reserve holds stock for the lines, so that two buyers never hold the same piece. If there is not enough it returns CodeInvalid
// on line_items.
func (s *Store) Reserve(ctx context.Context, u *db.Unit, account string, items []Item) error {
	if err := s.CheckLicenses(ctx, u, account, items); err != nil {
		return err
	}
	return s.reserveStock(ctx, u, account, items)
}

// reserveStock does what Reserve does, but for licence keys.
func (s *Store) reserveStock(ctx context.Context, u *db.Unit, account string, items []Item) error {
	for _, q := range Pieces(items, ByVariant) {
		err := u.Later(ctx, db.Change{
			Table: "price_variants",
			Query: `
				UPDATE price_variants SET reserved_count = reserved_count + ?
				WHERE account_id = ? AND id = ? AND (stock IS NULL OR sold_count + reserved_count + ? <= stock)`,
			Args: []any{q.Pieces, account, q.ID, q.Pieces}, Rows: 1,
			Wrong: core.Invalid("line_items", fmt.Sprintf("Price variant %s is out of stock.", q.ID)).Because("stock"),
		})
		if err != nil {
			return fmt.Errorf("reserve stock: %w", err)
		}
	}
	return nil
}

// CheckLicenses returns CodeInvalid on line_items if a product is sold with imported licence keys of which there are too few left: each line takes
// one. The lines know what they ask for. None is held: who loses a race is given theirs by the next import.
func (s *Store) CheckLicenses(ctx context.Context, r db.Reader, account string, items []Item) error {
	wanted := map[string]int{}
	for i := range items {
		if l := &items[i]; l.Gives && l.Licensing != nil && l.Licensing.Stock > 0 {
			wanted[*l.ProductID]++
		}
	}
	for _, product := range slices.Sorted(maps.Keys(wanted)) {
		enough, err := s.grant.HasLicenses(ctx, r, account, product, wanted[product])
		if err != nil {
			return err
		}
		if !enough {
			return core.Invalid("line_items", fmt.Sprintf("Product %s is out of stock: no licence key is left.", product))
		}
	}
	return nil
}

// ReserveProducts does what reserveStock does, for lines that the same transaction goes on to sell. It locks the products first,
// because they come before their price variants everywhere. A product that is gone is CodeInvalid on line_items.
func (s *Store) ReserveProducts(ctx context.Context, u *db.Unit, account string, items []Item) error {
	for _, q := range Pieces(items, byProduct) {
		found, err := db.Get[string](ctx, u.Locked(), `SELECT id FROM products WHERE account_id = ? AND id = ?`, account, q.ID)
		if err != nil {
			return fmt.Errorf("lock product: %w", err)
		}
		if found == nil {
			return core.Invalid("line_items", fmt.Sprintf("Product %s does not exist any more.", q.ID))
		}
	}
	return s.reserveStock(ctx, u, account, items)
}

// Release gives back the stock that Reserve holds.
func (s *Store) Release(ctx context.Context, u *db.Unit, account string, items []Item) error {
	for _, q := range Pieces(items, ByVariant) {
		err := u.Later(ctx, db.Change{
			Table: "price_variants", Query: `UPDATE price_variants SET reserved_count = reserved_count - ? WHERE account_id = ? AND id = ?`,
			Args: []any{q.Pieces, account, q.ID}, Rows: 1,
		})
		if err != nil {
			return fmt.Errorf("release stock of %s: %w", q.ID, err)
		}
	}
	return nil
}

// Sell turns the stock that Reserve holds into sales, of the products and of the price variants. Products are locked before
// their price variants, as everywhere.
func (s *Store) Sell(ctx context.Context, u *db.Unit, account string, items []Item) error {
	for _, q := range Pieces(items, byProduct) {
		err := u.Later(ctx, db.Change{
			Table: "products", Query: `UPDATE products SET sales_count = sales_count + ? WHERE account_id = ? AND id = ?`,
			Args: []any{q.Pieces, account, q.ID}, Rows: 1,
		})
		if err != nil {
			return fmt.Errorf("count sales of %s: %w", q.ID, err)
		}
	}
	for _, q := range Pieces(items, ByVariant) {
		err := u.Later(ctx, db.Change{
			Table: "price_variants",
			Query: `UPDATE price_variants SET reserved_count = reserved_count - ?, sold_count = sold_count + ? WHERE account_id = ? AND id = ?`,
			Args:  []any{q.Pieces, q.Pieces, account, q.ID}, Rows: 1,
		})
		if err != nil {
			return fmt.Errorf("sell stock of %s: %w", q.ID, err)
		}
	}
	return nil
}
