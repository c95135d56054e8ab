package discount

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// whereStatus adds the SQL condition that statusAt returns this status; an empty one adds nothing.
func whereStatus(f *db.Filter, status Status, now core.Time) {
	if status == "" {
		return
	}
	if status == StatusDisabled {
		db.Between(f, "disabled_at", new(core.Time), "<=", nil)
		return
	}
	f.And(`disabled_at IS NULL`)
	if status == StatusExpired {
		db.Between(f, "ends_at", nil, "<=", &now)
		return
	}
	f.And(`(ends_at IS NULL OR ends_at > ?)`, now)
	if status == StatusScheduled {
		next := now + 1
		db.Between(f, "starts_at", &next, "<=", nil)
		return
	}
	f.And(`(starts_at IS NULL OR starts_at <= ?)`, now)
	if status == StatusExhausted {
		f.And(`redemptions_count >= max_redemptions`)
		return
	}
	f.And(`(max_redemptions IS NULL OR redemptions_count < max_redemptions)`)
}

// Named reads a discount that is not deleted, or returns CodeMissing on param, the field that named it; that is empty for
// the path.
func (s *Store) Named(ctx context.Context, r db.Reader, account, ref, param string) (*Discount, error) {
	return s.find(ctx, r, account, ref, param)
}

// lock does what Named does, and locks the row until the transaction ends.
func (s *Store) lock(ctx context.Context, u *db.Unit, account, ref string) (*Discount, error) {
	return s.find(ctx, u.Locked(), account, ref, "")
}

func (s *Store) find(ctx context.Context, r db.Reader, account, ref, param string) (*Discount, error) {
	id, ok := core.ParseID(core.KindDiscount, ref)
	if !ok {
		return nil, core.Missing("discount", param, ref)
	}
	d, err := db.Get[Discount](ctx, r, columns.SelectSQL+` WHERE account_id = ? AND id = ? AND deleted_at IS NULL`, account, id)
	if err != nil {
		return nil, fmt.Errorf("read discount: %w", err)
	}
	if d == nil {
		return nil, core.Missing("discount", param, ref)
	}
	return d, s.present(ctx, db.Unlocked(r), d)
}

// OfCode reads the discount that has a code, nil if there is none.
func (s *Store) OfCode(ctx context.Context, r db.Reader, account, code string) (*Discount, error) {
	d, err := db.Get[Discount](ctx, r, columns.SelectSQL+` WHERE account_id = ? AND code_key = ?`, account, strings.ToLower(code))
	if err != nil {
		return nil, fmt.Errorf("read discount by code: %w", err)
	}
	if d == nil {
		return nil, nil
	}
	return d, s.present(ctx, r, d)
}

// present sets the status that the discount has now.
func (s *Store) present(ctx context.Context, r db.Reader, d *Discount) error {
	now, err := db.BusinessNow(ctx, r, d.AccountID)
	d.Status = d.statusAt(now)
	return err
}

// prepare fills in what was left out of a discount, checks it, and looks up the products and price variants that it
// names.
func (s *Store) prepare(ctx context.Context, u *db.Unit, d *Discount) error {
	if err := s.giveCurrency(ctx, u, d); err != nil {
		return err
	}
	if err := d.check(); err != nil {
		return err
	}
	return s.coverProducts(ctx, u, d)
}

// giveCurrency sets the currency of a discount that has an amount, but no currency, to the account's.
func (s *Store) giveCurrency(ctx context.Context, u *db.Unit, d *Discount) (err error) {
	if d.Currency == nil && (d.Amount != nil || d.MinSubtotalAmount != nil) {
		d.Currency, err = db.Get[string](ctx, u, `SELECT default_currency FROM accounts WHERE id = ?`, d.AccountID)
	}
	return err
}

// coverProducts puts the ids that the discount names into their canonical form, and sets CoveredProductIDs to all products
// behind them. One that does not exist is CodeMissing on the field that names it.
func (s *Store) coverProducts(ctx context.Context, r db.Reader, d *Discount) error {
	covered := []string{}
	for i, ref := range d.ProductIDs.V {
		p, err := s.catalog.ProductNamed(ctx, r, d.AccountID, ref, fmt.Sprintf("applies_to.products.%d", i))
		if err != nil {
			return err
		}
		d.ProductIDs.V[i] = p.ID
		covered = append(covered, p.ID)
	}
	cover := func(ref *string, param string) error {
		v, err := s.catalog.PriceVariantNamed(ctx, r, d.AccountID, *ref, param)
		if err == nil {
			*ref, covered = v.ID, append(covered, v.ProductID)
		}
		return err
	}
	for i := range d.PriceVariantIDs.V {
		if err := cover(&d.PriceVariantIDs.V[i], fmt.Sprintf("applies_to.price_variants.%d", i)); err != nil {
			return err
		}
	}
	for i := range d.Rules.V {
		if err := cover(&d.Rules.V[i].PriceVariantID, fmt.Sprintf("rules.%d.price_variant", i)); err != nil {
			return err
		}
	}
	slices.Sort(covered)
	d.CoveredProductIDs = core.JSONOf(slices.Compact(covered))
	return nil
}

// taken turns the error of a violated unique key into CodeInvalid on code. Any other error comes back as it is.
func (d *Discount) taken(err error) error {
	if db.IsUnique(err) {
		return core.Invalid("code", "Another discount has this code.")
	}
	return err
}
