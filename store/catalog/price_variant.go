package catalog

import (
	"context"
	"errors"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// PriceVariantType says whether a price is paid once or again and again.
type PriceVariantType string

// The types of a price variant.
const (
	PriceVariantTypeOneTime   PriceVariantType = "one_time"
	PriceVariantTypeRecurring PriceVariantType = "recurring"
)

// PriceVariantAmountType says who sets the amount of a price variant.
type PriceVariantAmountType string

// The amount types of a price variant. With custom the buyer names the amount.
const (
	PriceVariantAmountTypeFixed  PriceVariantAmountType = "fixed"
	PriceVariantAmountTypeFree   PriceVariantAmountType = "free"
	PriceVariantAmountTypeCustom PriceVariantAmountType = "custom"
)

// PriceVariantStatus says whether a price variant can be bought.
type PriceVariantStatus string

// The states of a price variant. It can change from each to the other at any time.
const (
	PriceVariantStatusActive   PriceVariantStatus = "active"
	PriceVariantStatusArchived PriceVariantStatus = "archived"
)

// maxPriceVariants is how many price variants a product may have.
const maxPriceVariants = 100

// PriceVariant is one way to pay for a product. Amounts are in the minor unit of its currency. Its money fields
// cannot change any more once it is sold or being paid for.
type PriceVariant struct {
	AccountID       string                      `db:"account_id"`
	ID              string                      `db:"id"`
	ProductID       string                      `db:"product_id"`
	Name            *string                     `db:"name"`
	Type            PriceVariantType            `db:"type"`
	AmountType      PriceVariantAmountType      `db:"amount_type"`
	Amount          int64                       `db:"amount"` // 0 unless fixed
	Currency        string                      `db:"currency"`
	CurrencyAmounts core.JSON[map[string]int64] `db:"currency_amounts"` // amounts in further currencies
	MinAmount       *int64                      `db:"min_amount"`       // custom only, as the next two
	SuggestedAmount *int64                      `db:"suggested_amount"`
	MaxAmount       *int64                      `db:"max_amount"`
	Interval        *string                     `db:"interval"` // day, week, month or year; recurring only, as the next four
	IntervalCount   *int64                      `db:"interval_count"`
	TrialDays       int64                       `db:"trial_days"`
	SetupFeeAmount  int64                       `db:"setup_fee_amount"`
	BillingCycles   *int64                      `db:"billing_cycles"` // nil = until cancelled
	CompareAtAmount *int64                      `db:"compare_at_amount"`
	TaxBehavior     *string                     `db:"tax_behavior"` // exclusive or inclusive; nil = as the account says
	QuantityMin     int64                       `db:"quantity_min"`
	QuantityMax     *int64                      `db:"quantity_max"`
	Stock           *int64                      `db:"stock"`          // units that may ever be sold; nil = any number
	ReservedCount   int64                       `db:"reserved_count"` // units in checkouts that are being paid
	SoldCount       int64                       `db:"sold_count"`
	Position        int64                       `db:"position"` // among the product's variants; equal ones by age
	Status          PriceVariantStatus          `db:"status"`
	License         core.JSON[*License]         `db:"license"`
	ExternalID      *string                     `db:"external_id"`
	Metadata        core.Metadata               `db:"metadata"`
	CreatedAt       core.Time                   `db:"created_at"`
	UpdatedAt       core.Time                   `db:"updated_at"`
}

// License says whether a buyer receives a licence key, and what it allows. A nil limit is no limit.
type License struct {
	Enabled         bool   `json:"enabled"`
	ActivationLimit *int64 `json:"activation_limit"`
	ExpiresInDays   *int64 `json:"expires_in_days"` // from its issue
	OfflineDays     *int64 `json:"offline_days"`    // that a device goes on without asking; nil = 30
}

// ListPriceVariants are the filters of a list of price variants. An empty one does not filter.
type ListPriceVariants struct {
	core.Page
	core.ListFilter
	Product    string // id or slug
	Status     PriceVariantStatus
	Type       PriceVariantType
	ExternalID string
}

var priceVariantColumns = db.ColumnsOf[PriceVariant]("price_variants")

// AmountsIn returns the least and the greatest amount that one unit costs in a currency. Ok is false if it is not sold in that
// currency. Where the buyer names the amount and no greatest one is set, the greatest known amount stands for it.
func (v *PriceVariant) AmountsIn(currency string) (low, high int64, ok bool) {
	if v.AmountType == PriceVariantAmountTypeCustom && v.Currency == currency {
		low = core.Deref(v.MinAmount)
		return low, max(low, core.Deref(v.SuggestedAmount), core.Deref(v.MaxAmount)), true
	}
	if v.Currency == currency {
		return v.Amount, v.Amount, true
	}
	amount, ok := v.CurrencyAmounts.V[currency]
	return amount, amount, ok
}

// money returns the fields that cannot change once the variant is sold, by name, each as JSON text to be compared.
func (v *PriceVariant) money() map[string]string {
	return map[string]string{
		"type": core.JSONText(v.Type), "amount_type": core.JSONText(v.AmountType), "amount": core.JSONText(v.Amount), "currency": core.JSONText(v.Currency),
		"currency_amounts": core.JSONText(v.CurrencyAmounts), "min_amount": core.JSONText(v.MinAmount), "suggested_amount": core.JSONText(v.SuggestedAmount),
		"max_amount": core.JSONText(v.MaxAmount), "interval": core.JSONText(v.Interval), "interval_count": core.JSONText(v.IntervalCount),
		"setup_fee_amount": core.JSONText(v.SetupFeeAmount), "billing_cycles": core.JSONText(v.BillingCycles), "tax_behavior": core.JSONText(v.TaxBehavior),
	}
}

// checkSold adds a problem for each money field that differs from sold, which is what money returned before the change.
func (v *PriceVariant) checkSold(sold map[string]string, p *core.Problems) {
	for field, text := range v.money() {
		p.Check(text == sold[field], field, "This price variant has been sold or is being paid for: its price cannot change. Create a new variant and archive this one.")
	}
}

// GetPriceVariant returns a price variant, or CodeMissing.
func (s *Store) GetPriceVariant(ctx context.Context, account, ref string) (*PriceVariant, error) {
	return s.PriceVariantNamed(ctx, s.db, account, ref, "")
}

// PriceVariantsByID returns those of the price variants with these ids that exist, by id.
func (s *Store) PriceVariantsByID(ctx context.Context, account string, ids []string) (map[string]*PriceVariant, error) {
	return s.PriceVariantsByIDIn(ctx, s.db, account, ids)
}

// PriceVariantsByIDIn does what PriceVariantsByID does, where r says.
func (s *Store) PriceVariantsByIDIn(ctx context.Context, r db.Reader, account string, ids []string) (map[string]*PriceVariant, error) {
	return db.ByID(ctx, r, priceVariantColumns, account, ids)
}

// OfferedVariant is a price variant, and what its product delivers now of licence keys.
type OfferedVariant struct {
	PriceVariant
	LicenseKeys  int `db:"license_keys"`  // deliverables that are keys
	ImportedKeys int `db:"imported_keys"` // and of these, those that are of imported ones
}

// OfferedVariantsByID does what PriceVariantsByID does, for who sells them.
func (s *Store) OfferedVariantsByID(ctx context.Context, r db.Reader, account string, ids []string) (map[string]*OfferedVariant, error) {
	found := make(map[string]*OfferedVariant, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	condition, arg := s.db.In("id", ids)
	const keys = ` FROM product_deliverables AS d WHERE d.account_id = price_variants.account_id AND d.product_id = price_variants.product_id AND d.type = 'license_key' AND d.removed IS NULL)`
	rows, err := db.Select[OfferedVariant](ctx, r, priceVariantColumns.SelectWith(`(SELECT count(*)`+keys+` AS license_keys`, `(SELECT count(d.ref)`+keys+` AS imported_keys`)+`
		WHERE account_id = ? AND `+condition, account, arg)
	if err != nil {
		return nil, fmt.Errorf("read what is offered: %w", err)
	}
	for i := range rows {
		found[rows[i].ID] = &rows[i]
	}
	return found, nil
}

// ListPriceVariants returns a page of price variants, newest first, and whether there are more. It returns
// CodeMissing on `product` for a product that does not exist.
func (s *Store) ListPriceVariants(ctx context.Context, account string, in ListPriceVariants) ([]PriceVariant, bool, error) {
	var f db.Filter
	f.OrderedIfSet("product_id", db.IDNamed(ctx, s.db, &f, s.ProductNamed, account, in.Product, "product"))
	f.OrderedIfSet("status", string(in.Status))
	f.OrderedIfSet("type", string(in.Type))
	f.FewIfSet("external_id", in.ExternalID)
	f.List(s.db, "price_variants", core.KindPriceVariant, in.ListFilter, "name")
	return db.Page(ctx, s.db, priceVariantColumns, core.KindPriceVariant, account, in.Page, &f)
}

// CreatePriceVariant adds an active price variant to a product, which it locks, and emits product.updated. It
// returns CodeMissing on `product` if the account has no such product. Type, amount type, currency and least
// quantity default to one_time, fixed, the account's currency and 1.
func (s *Store) CreatePriceVariant(ctx context.Context, account, product string, in PriceVariant) (*PriceVariant, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*PriceVariant, error) {
		p, err := s.LockProduct(ctx, u, account, product, "product")
		if err != nil {
			return nil, err
		}
		v, err := s.addPriceVariant(ctx, u, p, len(p.PriceVariantIDs.V), in)
		if err != nil {
			return nil, err
		}
		return v, s.refreshProduct(ctx, u, p)
	})
}

// UpdatePriceVariant locks the product and the price variant, applies change, checks and stores it, and emits
// product.updated. It returns CodeInvalid for a money field of a variant that was sold or is being paid for. Archiving the last active variant of
// an active product is CodeInvalid on `status`. A change that changes nothing emits nothing.
func (s *Store) UpdatePriceVariant(ctx context.Context, account, ref string, change func(*PriceVariant)) (*PriceVariant, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*PriceVariant, error) {
		p, v, err := s.lockPriceVariant(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		before := *v
		change(v)
		if core.SameJSON(&before, v) {
			return v, nil
		}
		if err := s.changePriceVariant(ctx, u, &before, v); err != nil {
			return nil, err
		}
		return v, s.refreshProduct(ctx, u, p)
	})
}

// DeletePriceVariant deletes a price variant and emits product.updated. It returns CodeInvalid on `base` for one
// that was sold and for the last active one of an active product.
func (s *Store) DeletePriceVariant(ctx context.Context, account, ref string) (*PriceVariant, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*PriceVariant, error) {
		p, v, err := s.lockPriceVariant(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		ordered, err := s.isOrdered(ctx, u, account, "price_variant_id", v.ID)
		if err != nil {
			return nil, err
		}
		if ordered {
			return nil, core.Invalid("base", "This price variant has been sold and cannot be deleted. Archive it instead.")
		}
		if _, err := u.Exec(ctx, `DELETE FROM price_variants WHERE account_id = ? AND id = ?`, account, v.ID); err != nil {
			return nil, fmt.Errorf("delete price variant: %w", err)
		}
		err = s.refreshProduct(ctx, u, p)
		var e *core.Error
		if errors.As(err, &e) && e.Param == "status" {
			err = core.Invalid("base", e.Message)
		}
		return v, err
	})
}

// findPriceVariant reads a price variant, or returns CodeMissing. Param is the parameter that named it, "" if the path did.
func findPriceVariant(ctx context.Context, r db.Reader, account, ref, param string) (*PriceVariant, error) {
	id, ok := core.ParseID(core.KindPriceVariant, ref)
	if !ok {
		return nil, core.Missing("price_variant", param, ref)
	}
	v, err := db.Get[PriceVariant](ctx, r, priceVariantColumns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, id)
	if err != nil {
		return nil, fmt.Errorf("read price variant: %w", err)
	}
	if v == nil {
		return nil, core.Missing("price_variant", param, ref)
	}
	return v, nil
}

// PriceVariantNamed reads a price variant by its id, as a field of a request names it, or returns CodeMissing on that field.
func (s *Store) PriceVariantNamed(ctx context.Context, r db.Reader, account, ref, field string) (*PriceVariant, error) {
	return findPriceVariant(ctx, r, account, ref, field)
}

// lockPriceVariant locks a price variant and its product, and returns both. The product comes first: everybody locks them in
// this order, so that nobody waits in a circle.
func (s *Store) lockPriceVariant(ctx context.Context, u *db.Unit, account, ref string) (*Product, *PriceVariant, error) {
	v, err := s.PriceVariantNamed(ctx, u, account, ref, "")
	if err != nil {
		return nil, nil, err
	}
	p, err := s.LockProduct(ctx, u, account, v.ProductID, "")
	if err != nil {
		return nil, nil, err
	}
	v, err = findPriceVariant(ctx, u.Locked(), account, ref, "")
	return p, v, err
}

// refreshProduct stores a locked product with what it repeats of its variants, after one of these has changed, and emits
// product.updated. If an active product has no active variant left it returns CodeInvalid on status.
func (s *Store) refreshProduct(ctx context.Context, u *db.Unit, p *Product) error {
	variants, err := s.priceVariants(ctx, u, p)
	if err != nil {
		return err
	}
	if err := p.offer(variants); err != nil {
		return err
	}
	return s.saveProduct(ctx, u, p, variants)
}

// offer does what summarize does. If an active product has no active variant left it returns CodeInvalid on status.
func (p *Product) offer(variants []PriceVariant) error {
	p.summarize(variants)
	if p.Status == ProductStatusActive && p.DefaultPriceVariantID == nil {
		return core.Invalid("status", "This is the last active price variant of an active product. Unpublish the product first, or add another variant.")
	}
	return nil
}
