package discount

import (
	"context"
	"strings"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Type says what a discount takes off: a part or an amount.
type Type string

// The types of a discount.
const (
	TypePercent Type = "percent"
	TypeFixed   Type = "fixed"
)

// Duration says how long a discount stays with a subscription.
type Duration string

// The durations of a discount. Once is the first period that has something to take it off.
const (
	DurationOnce      Duration = "once"
	DurationRepeating Duration = "repeating"
	DurationForever   Duration = "forever"
)

// Status says whether a discount can be used.
type Status string

// The states of a discount. Only disabled is set by anybody; the clock and the redemptions make the others.
const (
	StatusActive    Status = "active"
	StatusScheduled Status = "scheduled"
	StatusExpired   Status = "expired"
	StatusExhausted Status = "exhausted"
	StatusDisabled  Status = "disabled"
)

// Discount takes something off the products or price variants that it is for. Once it was redeemed, what it takes off cannot
// change any more.
type Discount struct {
	AccountID                 string                      `db:"account_id"`
	ID                        string                      `db:"id"`
	Name                      string                      `db:"name"`
	Code                      *string                     `db:"code"`     // what a buyer types, in any case; nil = only the merchant gives it
	CodeKey                   *string                     `db:"code_key"` // the code in lower case, by which it is found
	Type                      Type                        `db:"type"`
	PercentBps                *int64                      `db:"percent_bps"` // percent only
	Amount                    *int64                      `db:"amount"`      // fixed only, in Currency
	Currency                  *string                     `db:"currency"`    // of Amount and MinSubtotalAmount
	Amounts                   core.JSON[map[string]int64] `db:"amounts"`     // fixed only: in further currencies
	Duration                  Duration                    `db:"duration"`
	DurationInMonths          *int64                      `db:"duration_in_months"`  // repeating only
	ProductIDs                core.JSON[[]string]         `db:"product_ids"`         // what it is for, with PriceVariantIDs; if both are empty, everything
	PriceVariantIDs           core.JSON[[]string]         `db:"price_variant_ids"`   //
	Rules                     core.JSON[[]Rule]           `db:"rules"`               // other rates for some price variants
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
	Status                    Status                      `db:"-"` // at the moment that it was read
	Metadata                  core.Metadata               `db:"metadata"`
	CreatedAt                 core.Time                   `db:"created_at"`
	UpdatedAt                 core.Time                   `db:"updated_at"`
}

// Rule gives one price variant another rate than the rest. The discount is for that variant then, even if it does not
// name it. A rate of 0 takes nothing off.
type Rule struct {
	PriceVariantID string           `json:"price_variant"`
	PercentBps     *int64           `json:"percent_bps"`
	Amount         *int64           `json:"amount"`
	Amounts        map[string]int64 `json:"amounts"`
}

// List holds the filters of a list of discounts. An empty one does not filter.
type List struct {
	core.Page
	core.ListFilter
	Status  Status
	Type    Type
	Code    string // in any case
	Product string // id or slug
}

var columns = db.ColumnsOf[Discount]("discounts")

// statusAt returns the status that the discount has at a moment.
func (d *Discount) statusAt(now core.Time) Status {
	switch {
	case d.DisabledAt != nil:
		return StatusDisabled
	case d.EndsAt != nil && *d.EndsAt <= now:
		return StatusExpired
	case d.StartsAt != nil && *d.StartsAt > now:
		return StatusScheduled
	case d.MaxRedemptions != nil && d.RedemptionsCount >= *d.MaxRedemptions:
		return StatusExhausted
	}
	return StatusActive
}

// Get returns a discount, or CodeMissing; a deleted one is missing.
func (s *Store) Get(ctx context.Context, account, ref string) (*Discount, error) {
	return s.Named(ctx, s.db, account, ref, "")
}

// Lookup returns the discount that has a code, in any case, or CodeMissing on code. It is returned even if it cannot be
// used now, which its status says.
func (s *Store) Lookup(ctx context.Context, account, code string) (*Discount, error) {
	d, err := s.OfCode(ctx, s.db, account, code)
	if err == nil && d == nil {
		err = core.Missing("discount", "code", code)
	}
	return d, err
}

// ByID returns the discounts among ids that are not deleted, by their ids.
func (s *Store) ByID(ctx context.Context, account string, ids []string) (map[string]*Discount, error) {
	return s.ByIDIn(ctx, s.db, account, ids)
}

// ByIDIn does what ByID does, where r says.
func (s *Store) ByIDIn(ctx context.Context, r db.Reader, account string, ids []string) (map[string]*Discount, error) {
	found, err := db.ByID(ctx, r, columns, account, ids)
	if err != nil {
		return nil, err
	}
	now, err := db.BusinessNow(ctx, r, account)
	for id, d := range found {
		if d.Status = d.statusAt(now); d.DeletedAt != nil {
			delete(found, id)
		}
	}
	return found, err
}

// List returns a page of discounts, newest first, and whether there are more. A product that does not exist
// is CodeMissing.
func (s *Store) List(ctx context.Context, account string, in List) ([]Discount, bool, error) {
	now, err := db.BusinessNow(ctx, s.db, account)
	if err != nil {
		return nil, false, err
	}
	var f db.Filter
	f.And(`deleted_at IS NULL`)
	whereStatus(&f, in.Status, now)
	f.OrderedIfSet("type", string(in.Type))
	f.FewIfSet("code_key", strings.ToLower(in.Code))
	if product := db.IDNamed(ctx, s.db, &f, s.catalog.ProductNamed, account, in.Product, "product"); product != "" {
		f.And(`(product_ids = '[]' AND price_variant_ids = '[]' OR `+s.db.ArrayHas("covered_product_ids")+`)`, product)
	}
	f.List(s.db, "discounts", core.KindDiscount, in.ListFilter, "name", "code")
	list, more, err := db.Page(ctx, s.db, columns, core.KindDiscount, account, in.Page, &f)
	for i := range list {
		list[i].Status = list[i].statusAt(now)
	}
	return list, more, err
}

// Create makes a discount. A product or price variant that it names and that does not exist is CodeMissing; a code that
// another discount has is CodeInvalid on code. Left out, its duration is once, its name is the code, and the currency of its
// amounts is the account's.
func (s *Store) Create(ctx context.Context, account string, d Discount) (*Discount, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Discount, error) {
		now, err := db.BusinessNow(ctx, u, account)
		if err != nil {
			return nil, err
		}
		d.AccountID, d.ID, d.RedemptionsCount, d.DisabledAt, d.DeletedAt = account, core.NewID(core.KindDiscount), 0, nil, nil
		d.CreatedAt, d.UpdatedAt = now, now
		if d.Duration == "" {
			d.Duration = DurationOnce
		}
		if d.Name == "" {
			d.Name = core.Deref(d.Code)
		}
		if err := s.prepare(ctx, u, &d); err != nil {
			return nil, err
		}
		if err := d.taken(u.Sent(ctx, u.Insert(ctx, columns, &d))); err != nil {
			return nil, err
		}
		return &d, s.present(ctx, u, &d)
	})
}

// Update locks the discount, applies change and stores it. Once the discount was redeemed, a change of what it takes off
// is CodeInvalid.
func (s *Store) Update(ctx context.Context, account, ref string, change func(*Discount)) (*Discount, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Discount, error) {
		d, err := s.lock(ctx, u, account, ref)
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
		if err := s.prepare(ctx, u, d); err != nil {
			return nil, err
		}
		if d.UpdatedAt, err = db.BusinessNow(ctx, u, account); err != nil {
			return nil, err
		}
		if err := d.taken(u.Sent(ctx, u.Update(ctx, columns, d))); err != nil {
			return nil, err
		}
		return d, s.present(ctx, u, d)
	})
}

// Delete deletes a discount: nobody can use it any more, and its code is free. One that was redeemed is kept
// for its redemptions, and missing everywhere else. Subscriptions that have it keep what it takes off.
func (s *Store) Delete(ctx context.Context, account, ref string) (*Discount, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Discount, error) {
		d, err := s.lock(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		if d.RedemptionsCount == 0 {
			_, err := u.Exec(ctx, `DELETE FROM discounts WHERE account_id = ? AND id = ?`, account, d.ID)
			return d, err
		}
		now, err := db.BusinessNow(ctx, u, account)
		if err != nil {
			return nil, err
		}
		d.CodeKey, d.DeletedAt, d.UpdatedAt = nil, &now, now
		return d, u.Update(ctx, columns, d)
	})
}

// Disable ends the use of a discount until it is enabled. Disabling a disabled one changes nothing.
func (s *Store) Disable(ctx context.Context, account, ref string) (*Discount, error) {
	return s.setDisabled(ctx, account, ref, true)
}

// Enable lets a disabled discount be used again, within its time and its number of redemptions.
func (s *Store) Enable(ctx context.Context, account, ref string) (*Discount, error) {
	return s.setDisabled(ctx, account, ref, false)
}

func (s *Store) setDisabled(ctx context.Context, account, ref string, isDisabled bool) (*Discount, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Discount, error) {
		d, err := s.lock(ctx, u, account, ref)
		if err != nil || isDisabled == (d.DisabledAt != nil) {
			return d, err
		}
		now, err := db.BusinessNow(ctx, u, account)
		if err != nil {
			return nil, err
		}
		d.DisabledAt, d.UpdatedAt = nil, now
		if isDisabled {
			d.DisabledAt = &now
		}
		if err := u.Update(ctx, columns, d); err != nil {
			return nil, err
		}
		return d, s.present(ctx, u, d)
	})
}
