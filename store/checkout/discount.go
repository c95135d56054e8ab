package checkout

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/pricing"
)

// assignDiscount finds the discount that a checkout newly asks for, by its id or by the code that a buyer typed, and sets both
// fields. A code that no discount has is CodeInvalid on discount_code, an id that none has is CodeMissing on discount. Clearing
// either clears both.
func (s *Store) assignDiscount(ctx context.Context, r db.Reader, c, before *Checkout) error {
	byCode, byID := !core.SameJSON(c.DiscountCode, before.DiscountCode), !core.SameJSON(c.DiscountID, before.DiscountID)
	switch {
	case byCode && byID && c.DiscountCode != nil && c.DiscountID != nil:
		return core.Invalid("discount_code", "Send discount or discount_code, not both.")
	case byCode && c.DiscountCode != nil:
		d, err := s.rooms.Discount.OfCode(ctx, r, c.AccountID, *c.DiscountCode)
		if err == nil && d == nil {
			err = core.Invalid("discount_code", "There is no discount with this code.").Because("unknown")
		}
		if err != nil {
			return err
		}
		c.DiscountID, c.DiscountCode = &d.ID, d.Code
	case byID && c.DiscountID != nil:
		d, err := s.rooms.Discount.Named(ctx, r, c.AccountID, *c.DiscountID, "discount")
		if err != nil {
			return err
		}
		c.DiscountID, c.DiscountCode = &d.ID, nil
	case byCode || byID:
		c.DiscountID, c.DiscountCode = nil, nil
	}
	return nil
}

// EnterDiscountCode sets the code that a buyer typed, which takes the place of any other discount. Nil takes off a discount that
// came by a code; one that the seller gave by its id stays. A code is refused if the checkout takes none. The code that it has already changes nothing.
func (d *Draft) EnterDiscountCode(code *string) {
	if code != nil && !d.AllowDiscountCodes {
		d.refused = core.Invalid("discount_code", "This checkout takes no discount codes.")
		return
	}
	if code != nil && !core.SameJSON(code, d.DiscountCode) {
		d.DiscountID = nil
	}
	d.DiscountCode = code
}

// discountField returns the field by which the discount of a checkout came: errors about the discount name it.
func (c *Checkout) discountField() string {
	if c.DiscountCode == nil && c.DiscountID != nil {
		return "discount"
	}
	return "discount_code"
}

// discountsOf returns what the discount of a checkout takes off its lines, nothing if it has none. One that cannot be used is
// CodeInvalid on the field by which it came.
func (s *Store) discountsOf(ctx context.Context, r db.Reader, c *Checkout, items []lineitem.Item, now core.Time) ([]pricing.Discount, error) {
	if c.DiscountID == nil {
		return nil, nil
	}
	d, err := s.usableDiscount(ctx, r, c, items, now)
	if err != nil {
		return nil, err
	}
	return d.Terms().Pricing(items, c.Currency), s.checkPeriods(ctx, r, c, d.Terms(), items)
}

// checkPeriods returns CodeInvalid on the discount if it would leave too little of a later period of a subscription to be charged. The first
// period after a trial is such a one. Nobody would ever pay it. What is due at once is not looked at, because other lines may be charged with it.
func (s *Store) checkPeriods(ctx context.Context, r db.Reader, c *Checkout, terms *discount.Terms, items []lineitem.Item) error {
	lines := slices.Clone(items)
	if _, err := lineitem.Price(lines, terms.Pricing(lines, c.Currency)...); err != nil {
		return err
	}
	for _, item := range lineitem.Sales(lines) {
		if !item.HasTrial() && terms.Duration == discount.DurationOnce {
			continue
		}
		if terms.Rate(item) == nil {
			continue
		}
		share := terms.ShareOf(item, lines)
		if share == nil {
			continue
		}
		problem := share.LeavesTooLittle(item)
		if problem == "" {
			continue
		}
		variants, err := s.rooms.Catalog.PriceVariantsByIDIn(ctx, r, c.AccountID, []string{core.Deref(item.PriceVariantID)})
		if err != nil {
			return err
		}
		if v := variants[core.Deref(item.PriceVariantID)]; v != nil && v.Type == catalog.PriceVariantTypeRecurring {
			return core.Invalid(c.discountField(), problem)
		}
	}
	return nil
}

// usableDiscount returns the discount of a checkout. It is CodeInvalid if the discount is gone or cannot be used now, for these
// lines or by this buyer.
func (s *Store) usableDiscount(ctx context.Context, r db.Reader, c *Checkout, items []lineitem.Item, now core.Time) (*discount.Discount, error) {
	discounts, err := s.rooms.Discount.ByIDIn(ctx, r, c.AccountID, []string{*c.DiscountID})
	if err != nil {
		return nil, err
	}
	d := discounts[*c.DiscountID]
	problem := "This discount does not exist any more."
	if d != nil {
		if problem = d.Refuses(lineitem.Sales(items), c.Currency, now); problem == "" {
			problem, err = s.refusesBuyerOf(ctx, r, d, c)
		}
	}
	if err == nil && problem != "" {
		err = core.Invalid(c.discountField(), problem)
	}
	return d, err
}

// refusesBuyerOf says why the buyer of a checkout cannot use the discount, and returns nothing if they can: see discount.Store.RefusesBuyer.
func (s *Store) refusesBuyerOf(ctx context.Context, r db.Reader, d *discount.Discount, c *Checkout) (string, error) {
	if !d.IsPersonal() {
		return "", nil
	}
	by, err := s.redeemerOf(ctx, r, c)
	if err != nil {
		return "", err
	}
	return s.rooms.Discount.RefusesBuyer(ctx, r, d, by)
}

// IsPersonalDiscount reports whether it depends on the buyer if the discount of a checkout can be used. Then it has to be known who they are.
func (s *Store) IsPersonalDiscount(ctx context.Context, c *Checkout) (bool, error) {
	if c.DiscountID == nil {
		return false, nil
	}
	discounts, err := s.rooms.Discount.ByIDIn(ctx, s.db, c.AccountID, []string{*c.DiscountID})
	if err != nil || discounts[*c.DiscountID] == nil {
		return false, err
	}
	return discounts[*c.DiscountID].IsPersonal(), nil
}

// RedeemDiscount counts a use of the discount of a checkout that is about to be paid, if it has one. A discount that is gone or
// cannot be used any more is CodeInvalid.
func (s *Store) RedeemDiscount(ctx context.Context, u *db.Unit, c *Checkout) error {
	if c.DiscountID == nil {
		return nil
	}
	discounts, err := s.rooms.Discount.ByIDIn(ctx, u, c.AccountID, []string{*c.DiscountID})
	if err != nil {
		return err
	}
	d := discounts[*c.DiscountID]
	if d == nil {
		return core.Invalid(c.discountField(), "This discount does not exist any more.")
	}
	by, err := s.redeemerOf(ctx, u, c)
	if err != nil {
		return err
	}
	return s.rooms.Discount.Redeem(ctx, u, c.Redemption(d, by), d, by, c.discountField())
}

// redeemerOf returns the buyer of a checkout as somebody who uses its discount. The address counts if it is verified, or if the
// customer whom the checkout names owns it.
func (s *Store) redeemerOf(ctx context.Context, r db.Reader, c *Checkout) (discount.Redeemer, error) {
	by := discount.Redeemer{CustomerID: c.CustomerID, ExternalID: c.ExternalCustomerID, IsTyped: c.isTyped()}
	if c.EmailVerified {
		by.Email = c.CustomerEmail
	}
	if c.EmailVerified || c.CustomerID == nil {
		return by, nil
	}
	typed, err := db.Get[string](ctx, r, `
		SELECT id FROM customers WHERE account_id = ? AND id = ? AND email_key IS NULL AND deleted_at IS NULL`, c.AccountID, *c.CustomerID)
	if err != nil {
		return by, fmt.Errorf("look whose the address of a customer is: %w", err)
	}
	if typed == nil {
		by.Email = c.CustomerEmail
	}
	return by, nil
}

// Redemption returns the use of a discount by a checkout that is about to be paid, for redeem to count and store.
func (c *Checkout) Redemption(d *discount.Discount, by discount.Redeemer) *discount.Redemption {
	return &discount.Redemption{
		AccountID: c.AccountID, DiscountID: d.ID, CheckoutID: &c.ID, CustomerID: c.CustomerID,
		BuyerKey: cmp.Or(by.Key(c.AccountID), discount.BuyerKey(c.AccountID, *c.CustomerEmail)),
		Currency: c.Currency, DiscountAmount: c.DiscountAmount,
	}
}
