package subscription

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// PlanUnits is what a subscription has taken from the stock of a price variant. Nothing that was sold comes back to a stock. So a subscription
// may have again what it had before, and takes only what is more than it ever had.
type PlanUnits struct {
	PriceVariantID string `json:"price_variant"`
	Most           int64  `json:"most"`            // the most units that it had at a time, and that were sold
	Sold           int64  `json:"sold"`            // of these, what changes of plan sold; an order sold the others
	Held           int64  `json:"held"`            // beyond these, what a trial and changes hold that wait
	Tried          int64  `json:"tried,omitempty"` // of what is held, what a trial has: it is sold when the first period is paid
}

// unitsMove is how many units of a price variant become held and sold. A negative number is given back.
type unitsMove struct {
	variant    string
	held, sold int64
}

// UnitsOf returns what the subscription has taken of a price variant.
func (s *Subscription) UnitsOf(variant string) PlanUnits {
	for _, of := range s.Units.V {
		if of.PriceVariantID == variant {
			return of
		}
	}
	if len(s.Units.V) == 0 && variant == s.PriceVariantID {
		return PlanUnits{PriceVariantID: variant, Most: s.Quantity}
	}
	return PlanUnits{PriceVariantID: variant}
}

// HasPieces reports whether the subscription is for several pieces, or was with the price variant that it has. Then even one piece is counted.
func (s *Subscription) HasPieces() bool {
	of := s.UnitsOf(s.PriceVariantID)
	return max(s.Quantity, of.Most+of.Held) > 1
}

// keepUnits notes what an order sold, before the plan changes for the first time.
func (s *Subscription) keepUnits() {
	if len(s.Units.V) == 0 && s.PriceVariantID != "" {
		s.Units = core.JSONOf([]PlanUnits{s.UnitsOf(s.PriceVariantID)})
	}
}

// MoveUnits has Units say what the plan and the changes that wait need, and returns what that moves in stocks, by price variant. What a trial
// needs beyond what was sold is held until the first period is paid, and given back if the subscription ends before. IsPaid says that a period is paid now.
func (s *Subscription) MoveUnits(isPaid bool) []unitsMove {
	if len(s.Units.V) == 0 && s.PendingChange.V == nil {
		return nil
	}
	s.keepUnits()
	before := s.Units.V
	after := slices.Clone(before)
	of := func(variant string) *PlanUnits {
		i := slices.IndexFunc(after, func(u PlanUnits) bool { return u.PriceVariantID == variant })
		if i < 0 {
			i, after = len(after), append(after, PlanUnits{PriceVariantID: variant})
		}
		return &after[i]
	}
	now := of(s.PriceVariantID)
	more, isTried := max(s.Quantity-now.Most, 0), s.CyclesBilled == 0 || now.Tried > 0 && !isPaid
	for i := range after {
		after[i].Held, after[i].Tried = 0, 0
	}
	switch {
	case !isTried:
		now.Most, now.Sold = now.Most+more, now.Sold+more
	case !s.HasEnded():
		now.Held, now.Tried = more, more
	}
	for change := s.PendingChange.V; change != nil; change = change.Replaces {
		next := of(change.Plan.PriceVariantID)
		next.Held = max(next.Held, change.Plan.Quantity-next.Most)
	}
	var moves []unitsMove
	for i, u := range after {
		was := PlanUnits{}
		if i < len(before) {
			was = before[i]
		}
		if u != was && (u.Held != was.Held || u.Sold != was.Sold) {
			moves = append(moves, unitsMove{u.PriceVariantID, u.Held - was.Held, u.Sold - was.Sold})
		}
	}
	s.Units = core.JSONOf(slices.DeleteFunc(after, func(u PlanUnits) bool { return u.Most == 0 && u.Held == 0 }))
	slices.SortFunc(moves, func(a, b unitsMove) int { return cmp.Compare(a.variant, b.variant) })
	return moves
}

// TooFew says in a sentence that less is left of a price variant than is needed, and returns nothing if it is enough.
func TooFew(variant string, left, needed int64) string {
	if needed <= 0 || needed <= left {
		return ""
	}
	return fmt.Sprintf("Price variant %s has too few units left: %d. This needs %d more. Send a smaller quantity, or another price variant.", variant, left, needed)
}

// TakeUnits takes from stocks what a locked subscription needs by now, and gives back what it held and does not need any more. It
// locks the product first, and price variants in their order. If there is not enough for a plan that somebody asks for, it returns CodeInvalid on
// quantity. What was agreed on before takes place whatever is left, because nobody would hear of an error: the stock is raised to what it takes. The
// caller stores the subscription.
func (s *Store) TakeUnits(ctx context.Context, u *db.Unit, sub *Subscription, isPaid bool) error {
	moves := sub.MoveUnits(isPaid)
	for _, m := range moves {
		if m.sold == 0 {
			continue
		}
		err := u.Later(ctx, db.Change{ // only the plan that it has sells
			Table: "products", Query: `UPDATE products SET sales_count = sales_count + ? WHERE account_id = ? AND id = ?`,
			Args: []any{m.sold, sub.AccountID, sub.ProductID}, Rows: 1,
			Wrong: core.Invalid("price_variant", fmt.Sprintf("Product %s does not exist any more.", sub.ProductID)),
		})
		if err != nil {
			return fmt.Errorf("count sales of %s: %w", sub.ProductID, err)
		}
	}
	for _, m := range moves {
		agreed := m.held + m.sold
		if sub.IsAsked {
			if err := s.checkStock(ctx, u, sub.AccountID, m); err != nil {
				return err
			}
			agreed = 0
		}
		err := u.Later(ctx, db.Change{
			Table: "price_variants", Query: `
				UPDATE price_variants SET reserved_count = reserved_count + ?, sold_count = sold_count + ?,
					stock = CASE WHEN stock < sold_count + reserved_count + ? THEN sold_count + reserved_count + ? ELSE stock END
				WHERE account_id = ? AND id = ?`,
			Args: []any{m.held, m.sold, agreed, agreed, sub.AccountID, m.variant}, Rows: 1,
		})
		if err != nil {
			return fmt.Errorf("move stock of %s: %w", m.variant, err)
		}
	}
	return nil
}

// checkStock locks the price variant of a move that takes something, and returns CodeInvalid on quantity if too little is left of it.
func (s *Store) checkStock(ctx context.Context, u *db.Unit, account string, m unitsMove) error {
	if needed := m.held + m.sold; needed > 0 {
		left, err := db.Get[struct {
			ID   string `db:"id"`
			Left int64  `db:"remaining"`
		}](ctx, u.Locked(), `
			SELECT id, COALESCE(stock - sold_count - reserved_count, ?) AS remaining FROM price_variants WHERE account_id = ? AND id = ?`,
			needed, account, m.variant)
		if err != nil {
			return fmt.Errorf("lock stock: %w", err)
		}
		if left == nil {
			return core.Invalid("price_variant", fmt.Sprintf("Price variant %s does not exist any more.", m.variant))
		}
		if problem := TooFew(m.variant, left.Left, needed); problem != "" {
			return core.Invalid("quantity", problem)
		}
	}
	return nil
}
