package catalog

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// priceVariants returns all price variants of a product, archived ones too, by position.
func (s *Store) priceVariants(ctx context.Context, u *db.Unit, p *Product) ([]PriceVariant, error) {
	return db.Select[PriceVariant](ctx, u, priceVariantColumns.SelectSQL+` WHERE account_id = ? AND product_id = ? ORDER BY position, id`, p.AccountID, p.ID)
}

// addPriceVariant checks and stores a new price variant of a locked product, which has so many already.
func (s *Store) addPriceVariant(ctx context.Context, u *db.Unit, p *Product, already int, in PriceVariant) (*PriceVariant, error) {
	if already >= maxPriceVariants {
		return nil, core.Invalid("product", fmt.Sprintf("A product has at most %d price variants. Delete one first.", maxPriceVariants))
	}
	made, err := s.draftVariants(ctx, u, p, "", []PriceVariant{in})
	if err != nil {
		return nil, err
	}
	return &made[0], u.Insert(ctx, priceVariantColumns, &made[0])
}

// changePriceVariant checks and stores a locked price variant that has changed. Before is what it was.
func (s *Store) changePriceVariant(ctx context.Context, u *db.Unit, before, v *PriceVariant) error {
	var problems core.Problems
	if v.SoldCount+v.ReservedCount > 0 {
		v.checkSold(before.money(), &problems)
	}
	if len(problems) == 0 { // of a price that cannot change, only that matters
		v.check("", &problems)
	}
	if err := s.checkExternalID(ctx, u, v, "", &problems); err != nil {
		return err
	}
	if err := problems.Err(); err != nil {
		return err
	}
	var err error
	if v.UpdatedAt, err = db.BusinessNow(ctx, u, v.AccountID); err != nil {
		return err
	}
	return u.Update(ctx, priceVariantColumns, v)
}

// checkExternalID adds a problem if another price variant of the account has the same external id. Its name in the problem begins with at.
func (s *Store) checkExternalID(ctx context.Context, u *db.Unit, v *PriceVariant, at string, p *core.Problems) error {
	if v.ExternalID == nil {
		return nil
	}
	other, err := db.Get[string](ctx, u, `SELECT id FROM price_variants WHERE account_id = ? AND external_id = ? AND id <> ?`, v.AccountID, *v.ExternalID, v.ID)
	p.Check(other == nil, at+"external_id", "Another price variant has this external_id.")
	return err
}

// draftVariants returns new price variants of a product with their defaults filled in, by position. They are checked and not
// stored. List is what their fields are called in error messages up to the index, such as "price_variants."; "" if it is a
// single one.
func (s *Store) draftVariants(ctx context.Context, u *db.Unit, p *Product, list string, in []PriceVariant) ([]PriceVariant, error) {
	if len(in) > maxPriceVariants {
		return nil, core.Invalid("price_variants", fmt.Sprintf("A product has at most %d price variants.", maxPriceVariants))
	}
	now, err := db.BusinessNow(ctx, u, p.AccountID)
	if err != nil {
		return nil, err
	}
	var problems core.Problems
	named := map[string]bool{}
	made := slices.Clone(in)
	for i := range made {
		v := &made[i]
		if err := s.defaultCurrency(ctx, u, p.AccountID, v); err != nil {
			return nil, err
		}
		v.fill(p, now)
		field := ""
		if list != "" {
			field = list + strconv.Itoa(i) + "."
		}
		v.check(field, &problems)
		if err := s.checkExternalID(ctx, u, v, field, &problems); err != nil {
			return nil, err
		}
		if v.ExternalID != nil {
			problems.Check(!named[*v.ExternalID], field+"external_id", "Another price variant of this product has this external_id.")
			named[*v.ExternalID] = true
		}
	}
	slices.SortStableFunc(made, func(a, b PriceVariant) int { return cmp.Compare(a.Position, b.Position) })
	return made, problems.Err()
}

// defaultCurrency gives a price variant without a currency the account's default.
func (s *Store) defaultCurrency(ctx context.Context, u *db.Unit, account string, v *PriceVariant) error {
	if v.Currency != "" {
		return nil
	}
	currency, err := db.Get[string](ctx, u, `SELECT default_currency FROM accounts WHERE id = ?`, account)
	if err == nil && currency != nil {
		v.Currency = *currency
	}
	return err
}

// fill sets the ids, counts and times of a new price variant, and the defaults of what was not sent.
func (v *PriceVariant) fill(p *Product, now core.Time) {
	v.AccountID, v.ID, v.ProductID = p.AccountID, core.NewID(core.KindPriceVariant), p.ID
	v.Type = cmp.Or(v.Type, PriceVariantTypeOneTime)
	v.AmountType = cmp.Or(v.AmountType, PriceVariantAmountTypeFixed)
	v.Status = cmp.Or(v.Status, PriceVariantStatusActive)
	v.QuantityMin = max(v.QuantityMin, 1)
	v.SoldCount, v.ReservedCount = 0, 0
	v.CreatedAt, v.UpdatedAt = now, now
}
