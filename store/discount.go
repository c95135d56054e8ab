package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// DiscountType says what a discount takes off: a part or an amount.
type DiscountType string

// The types of a discount.
const (
	DiscountTypePercent DiscountType = "percent"
	DiscountTypeFixed   DiscountType = "fixed"
)

// DiscountDuration says how long a discount stays with a subscription.
type DiscountDuration string

// The durations of a discount. Once is the first period that has something to take it off.
const (
	DiscountDurationOnce      DiscountDuration = "once"
	DiscountDurationRepeating DiscountDuration = "repeating"
	DiscountDurationForever   DiscountDuration = "forever"
)

// DiscountStatus says whether a discount can be used.
type DiscountStatus string

// The states of a discount. Only disabled is set by anybody; the clock and the redemptions make the others.
const (
	DiscountStatusActive    DiscountStatus = "active"
	DiscountStatusScheduled DiscountStatus = "scheduled"
	DiscountStatusExpired   DiscountStatus = "expired"
	DiscountStatusExhausted DiscountStatus = "exhausted"
	DiscountStatusDisabled  DiscountStatus = "disabled"
)

// Discount takes something off the products or price variants that it is for. Once it was redeemed, what it takes off cannot
// change any more.
type Discount struct {
	AccountID                 string                      `db:"account_id"`
	ID                        string                      `db:"id"`
	Name                      string                      `db:"name"`
	Code                      *string                     `db:"code"`     // what a buyer types, in any case; nil = only the merchant gives it
	CodeKey                   *string                     `db:"code_key"` // the code in lower case, by which it is found
	Type                      DiscountType                `db:"type"`
	PercentBps                *int64                      `db:"percent_bps"` // percent only
	Amount                    *int64                      `db:"amount"`      // fixed only, in Currency
	Currency                  *string                     `db:"currency"`    // of Amount and MinSubtotalAmount
	Amounts                   core.JSON[map[string]int64] `db:"amounts"`     // fixed only: in further currencies
	Duration                  DiscountDuration            `db:"duration"`
	DurationInMonths          *int64                      `db:"duration_in_months"`  // repeating only
	ProductIDs                core.JSON[[]string]         `db:"product_ids"`         // what it is for, with PriceVariantIDs; if both are empty, everything
	PriceVariantIDs           core.JSON[[]string]         `db:"price_variant_ids"`   //
	Rules                     core.JSON[[]DiscountRule]   `db:"rules"`               // other rates for some price variants
	CoveredProductIDs         core.JSON[[]string]         `db:"covered_product_ids"` // every product that is named above, or that has a price variant which is
	MinSubtotalAmount         *int64                      `db:"min_subtotal_amount"` // in Currency
	MinSubtotalAmounts        core.JSON[map[string]int64] `db:"min_subtotal_amounts"`
	FirstPurchaseOnly         bool                        `db:"first_purchase_only"`
	StartsAt                  *core.Time                  `db:"starts_at"` // inclusive
	EndsAt                    *core.Time                  `db:"ends_at"`   // exclusive
	MaxRedemptions            *int64                      `db:"max_redemptions"`
	MaxRedemptionsPerCustomer *int64                      `db:"max_redemptions_per_customer"`
	RedemptionsCount          int64                       `db:"redemptions_count"`
	DisabledAt                *core.Time                  `db:"disabled_at"`
	DeletedAt                 *core.Time                  `db:"deleted_at"`
	Status                    DiscountStatus              `db:"-"` // at the moment that it was read
	Metadata                  core.Metadata               `db:"metadata"`
	CreatedAt                 core.Time                   `db:"created_at"`
	UpdatedAt                 core.Time                   `db:"updated_at"`
}

// DiscountRule gives one price variant another rate than the rest. The discount is for that variant then, even if it does not
// name it. A rate of 0 takes nothing off.
type DiscountRule struct {
	PriceVariantID string           `json:"price_variant"`
	PercentBps     *int64           `json:"percent_bps"`
	Amount         *int64           `json:"amount"`
	Amounts        map[string]int64 `json:"amounts"`
}

// ListDiscounts holds the filters of a list of discounts. An empty one does not filter.
type ListDiscounts struct {
	core.Page
	core.ListFilter
	Status  DiscountStatus
	Type    DiscountType
	Code    string // in any case
	Product string // id or slug
}

var discountColumns = db.ColumnsOf[Discount]("discounts")

// statusAt returns the status that the discount has at a moment.
func (d *Discount) statusAt(now core.Time) DiscountStatus {
	switch {
	case d.DisabledAt != nil:
		return DiscountStatusDisabled
	case d.EndsAt != nil && *d.EndsAt <= now:
		return DiscountStatusExpired
	case d.StartsAt != nil && *d.StartsAt > now:
		return DiscountStatusScheduled
	case d.MaxRedemptions != nil && d.RedemptionsCount >= *d.MaxRedemptions:
		return DiscountStatusExhausted
	}
	return DiscountStatusActive
}

// whereDiscountStatus adds the SQL condition that statusAt returns this status; an empty one adds nothing.
func whereDiscountStatus(f *db.Filter, status DiscountStatus, now core.Time) {
	if status == "" {
		return
	}
	if status == DiscountStatusDisabled {
		db.Between(f, "disabled_at", new(core.Time), "<=", nil)
		return
	}
	f.And(`disabled_at IS NULL`)
	if status == DiscountStatusExpired {
		db.Between(f, "ends_at", nil, "<=", &now)
		return
	}
	f.And(`(ends_at IS NULL OR ends_at > ?)`, now)
	if status == DiscountStatusScheduled {
		next := now + 1
		db.Between(f, "starts_at", &next, "<=", nil)
		return
	}
	f.And(`(starts_at IS NULL OR starts_at <= ?)`, now)
	if status == DiscountStatusExhausted {
		f.And(`redemptions_count >= max_redemptions`)
		return
	}
	f.And(`(max_redemptions IS NULL OR redemptions_count < max_redemptions)`)
}

// GetDiscount returns a discount, or CodeMissing; a deleted one is missing.
func (s *Store) GetDiscount(ctx context.Context, account, ref string) (*Discount, error) {
	return s.getDiscount(ctx, account, ref, "")
}

// LookupDiscount returns the discount that has a code, in any case, or CodeMissing on code. It is returned even if it cannot be
// used now, which its status says.
func (s *Store) LookupDiscount(ctx context.Context, account, code string) (*Discount, error) {
	d, err := s.discountOfCode(ctx, account, code)
	if err == nil && d == nil {
		err = core.Missing("discount", "code", code)
	}
	return d, err
}

// DiscountsByID returns the discounts among ids that are not deleted, by their ids.
func (s *Store) DiscountsByID(ctx context.Context, account string, ids []string) (map[string]*Discount, error) {
	found, err := db.ByID(ctx, s.db, discountColumns, account, ids)
	if err != nil {
		return nil, err
	}
	now, err := s.db.BusinessNow(ctx, account)
	for id, d := range found {
		if d.Status = d.statusAt(now); d.DeletedAt != nil {
			delete(found, id)
		}
	}
	return found, err
}

// ListDiscounts returns a page of discounts, newest first, and whether there are more. A product that does not exist
// is CodeMissing.
func (s *Store) ListDiscounts(ctx context.Context, account string, in ListDiscounts) ([]Discount, bool, error) {
	now, err := s.db.BusinessNow(ctx, account)
	if err != nil {
		return nil, false, err
	}
	var f db.Filter
	f.And(`deleted_at IS NULL`)
	whereDiscountStatus(&f, in.Status, now)
	f.Is("type", string(in.Type))
	f.One("code_key", strings.ToLower(in.Code))
	if in.Product != "" {
		p, err := s.Catalog.ProductNamed(ctx, account, in.Product, "product")
		if err != nil {
			return nil, false, err
		}
		f.And(`(product_ids = '[]' AND price_variant_ids = '[]' OR `+s.db.ArrayHas("covered_product_ids")+`)`, p.ID)
	}
	f.List(s.db, "discounts", core.KindDiscount, in.ListFilter, "name", "code")
	list, more, err := db.Page(ctx, s.db, discountColumns, core.KindDiscount, account, in.Page, &f)
	for i := range list {
		list[i].Status = list[i].statusAt(now)
	}
	return list, more, err
}

// CreateDiscount makes a discount. A product or price variant that it names and that does not exist is CodeMissing; a code that
// another discount has is CodeInvalid on code. Left out, its duration is once, its name is the code, and the currency of its
// amounts is the account's.
func (s *Store) CreateDiscount(ctx context.Context, account string, d Discount) (*Discount, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Discount, error) {
		now, err := s.db.BusinessNow(ctx, account)
		if err != nil {
			return nil, err
		}
		d.AccountID, d.ID, d.RedemptionsCount, d.DisabledAt, d.DeletedAt = account, core.NewID(core.KindDiscount), 0, nil, nil
		d.CreatedAt, d.UpdatedAt = now, now
		if d.Duration == "" {
			d.Duration = DiscountDurationOnce
		}
		if d.Name == "" {
			d.Name = core.Deref(d.Code)
		}
		if err := s.prepareDiscount(ctx, u, &d); err != nil {
			return nil, err
		}
		if err := d.taken(u.Sent(ctx, u.Insert(ctx, discountColumns, &d))); err != nil {
			return nil, err
		}
		return &d, s.presentDiscount(ctx, &d)
	})
}

// UpdateDiscount locks the discount, applies change and stores it. Once the discount was redeemed, a change of what it takes off
// is CodeInvalid.
func (s *Store) UpdateDiscount(ctx context.Context, account, ref string, change func(*Discount)) (*Discount, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Discount, error) {
		d, err := s.lockDiscount(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		before, rate := core.JSONText(d), d.rate()
		change(d)
		if core.JSONText(d) == before {
			return d, nil
		}
		if d.RedemptionsCount > 0 {
			if err := d.checkRedeemed(rate); err != nil {
				return nil, err
			}
		}
		if err := s.prepareDiscount(ctx, u, d); err != nil {
			return nil, err
		}
		if d.UpdatedAt, err = s.db.BusinessNow(ctx, account); err != nil {
			return nil, err
		}
		if err := d.taken(u.Sent(ctx, u.Update(ctx, discountColumns, d))); err != nil {
			return nil, err
		}
		return d, s.presentDiscount(ctx, d)
	})
}

// DeleteDiscount deletes a discount: nobody can use it any more, and its code is free. One that was redeemed is kept
// for its redemptions, and missing everywhere else. Subscriptions that have it keep what it takes off.
func (s *Store) DeleteDiscount(ctx context.Context, account, ref string) (*Discount, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Discount, error) {
		d, err := s.lockDiscount(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		if d.RedemptionsCount == 0 {
			_, err := u.Exec(ctx, `DELETE FROM discounts WHERE account_id = ? AND id = ?`, account, d.ID)
			return d, err
		}
		now, err := s.db.BusinessNow(ctx, account)
		if err != nil {
			return nil, err
		}
		d.CodeKey, d.DeletedAt, d.UpdatedAt = nil, &now, now
		return d, u.Update(ctx, discountColumns, d)
	})
}

// DisableDiscount ends the use of a discount until it is enabled. Disabling a disabled one changes nothing.
func (s *Store) DisableDiscount(ctx context.Context, account, ref string) (*Discount, error) {
	return s.switchDiscount(ctx, account, ref, true)
}

// EnableDiscount lets a disabled discount be used again, within its time and its number of redemptions.
func (s *Store) EnableDiscount(ctx context.Context, account, ref string) (*Discount, error) {
	return s.switchDiscount(ctx, account, ref, false)
}

func (s *Store) switchDiscount(ctx context.Context, account, ref string, off bool) (*Discount, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Discount, error) {
		d, err := s.lockDiscount(ctx, u, account, ref)
		if err != nil || off == (d.DisabledAt != nil) {
			return d, err
		}
		now, err := s.db.BusinessNow(ctx, account)
		if err != nil {
			return nil, err
		}
		d.DisabledAt, d.UpdatedAt = nil, now
		if off {
			d.DisabledAt = &now
		}
		if err := u.Update(ctx, discountColumns, d); err != nil {
			return nil, err
		}
		return d, s.presentDiscount(ctx, d)
	})
}

// getDiscount reads a discount that is not deleted, or returns CodeMissing on param, the field that named it; that is empty for
// the path.
func (s *Store) getDiscount(ctx context.Context, account, ref, param string) (*Discount, error) {
	return s.findDiscount(ctx, s.db, account, ref, param)
}

// lockDiscount does what getDiscount does, and locks the row until the transaction ends.
func (s *Store) lockDiscount(ctx context.Context, u *db.Unit, account, ref string) (*Discount, error) {
	return s.findDiscount(ctx, u.Locked(), account, ref, "")
}

func (s *Store) findDiscount(ctx context.Context, r db.Reader, account, ref, param string) (*Discount, error) {
	id, ok := core.ParseID(core.KindDiscount, ref)
	if !ok {
		return nil, core.Missing("discount", param, ref)
	}
	d, err := db.Get[Discount](ctx, r, discountColumns.SelectSQL+` WHERE account_id = ? AND id = ? AND deleted_at IS NULL`, account, id)
	if err != nil {
		return nil, fmt.Errorf("read discount: %w", err)
	}
	if d == nil {
		return nil, core.Missing("discount", param, ref)
	}
	return d, s.presentDiscount(ctx, d)
}

// discountOfCode reads the discount that has a code, nil if there is none.
func (s *Store) discountOfCode(ctx context.Context, account, code string) (*Discount, error) {
	d, err := db.Get[Discount](ctx, s.db, discountColumns.SelectSQL+` WHERE account_id = ? AND code_key = ?`, account, strings.ToLower(code))
	if err != nil {
		return nil, fmt.Errorf("read discount by code: %w", err)
	}
	if d == nil {
		return nil, nil
	}
	return d, s.presentDiscount(ctx, d)
}

// presentDiscount sets the status that the discount has now.
func (s *Store) presentDiscount(ctx context.Context, d *Discount) error {
	now, err := s.db.BusinessNow(ctx, d.AccountID)
	d.Status = d.statusAt(now)
	return err
}

// prepareDiscount fills in what was left out of a discount, checks it, and looks up the products and price variants that it
// names.
func (s *Store) prepareDiscount(ctx context.Context, u *db.Unit, d *Discount) error {
	if err := s.discountCurrency(ctx, u, d); err != nil {
		return err
	}
	if err := d.check(); err != nil {
		return err
	}
	return s.coverProducts(ctx, d)
}

// discountCurrency sets the currency of a discount that has an amount, but no currency, to the account's.
func (s *Store) discountCurrency(ctx context.Context, u *db.Unit, d *Discount) (err error) {
	if d.Currency == nil && (d.Amount != nil || d.MinSubtotalAmount != nil) {
		d.Currency, err = db.Get[string](ctx, u, `SELECT default_currency FROM accounts WHERE id = ?`, d.AccountID)
	}
	return err
}

// coverProducts puts the ids that the discount names into their canonical form, and sets CoveredProductIDs to all products
// behind them. One that does not exist is CodeMissing on the field that names it.
func (s *Store) coverProducts(ctx context.Context, d *Discount) error {
	covered := []string{}
	for i, ref := range d.ProductIDs.V {
		p, err := s.Catalog.ProductNamed(ctx, d.AccountID, ref, fmt.Sprintf("applies_to.products.%d", i))
		if err != nil {
			return err
		}
		d.ProductIDs.V[i] = p.ID
		covered = append(covered, p.ID)
	}
	cover := func(ref *string, param string) error {
		v, err := s.Catalog.PriceVariantNamed(ctx, d.AccountID, *ref, param)
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
