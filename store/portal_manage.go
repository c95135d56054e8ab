package store

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/subscription"
)

// On the portal customers see and change only what is theirs. Anything else is CodeMissing for them.

// CustomerSubscription returns a subscription that is known to be the customer's. Any other is CodeMissing.
func (s *Store) CustomerSubscription(ctx context.Context, account, customer, ref string) (*subscription.Subscription, error) {
	sub, err := s.Subscription.Named(ctx, s.db, account, ref, "")
	if err == nil && !sub.IsOf(customer) {
		err = core.Missing("subscription", "", ref)
	}
	return sub, err
}

// maxPlans is how many plans of a product a customer may choose from.
const maxPlans = 100

// Pieces says how many pieces of its price variant a subscription may have by its customer's choice, if enough are left.
type Pieces struct {
	Variant     *catalog.PriceVariant
	Least, Most int64
	Taken       subscription.PlanUnits // what it has of the stock already
}

// PlansFor returns the plans that a customer may change their subscription to, the newest first. They are those of the same product that are sold in
// its currency and quantity at a fixed price, and of which enough are left. If the plan that they have is sold like that, too, pieces says how many
// of it they may have. It is nil if there is nothing to choose.
//
// What is paid in instalments is neither changed nor chosen here. After the last one it is theirs for good, and shortly before more of it would cost
// next to nothing.
func (s *Store) PlansFor(ctx context.Context, sub *subscription.Subscription) (plans []subscription.Plan, pieces *Pieces, err error) {
	if sub.BillingCycles != nil {
		return nil, nil, nil
	}
	products, err := s.Catalog.OffersByID(ctx, sub.AccountID, []string{sub.ProductID})
	if err != nil || products[sub.ProductID] == nil {
		return nil, nil, err
	}
	variants, _, err := s.Catalog.ListPriceVariants(ctx, sub.AccountID, catalog.ListPriceVariants{
		Page: core.Page{Limit: maxPlans}, Product: sub.ProductID, Status: catalog.PriceVariantStatusActive, Type: catalog.PriceVariantTypeRecurring,
	})
	if err != nil {
		return nil, nil, err
	}
	for i := range variants {
		o := offer.Offer{Variant: &variants[i], Product: products[sub.ProductID]}
		amount, problem := o.UnitAmount(sub.Currency, nil)
		isFixed := o.Variant.AmountType == catalog.PriceVariantAmountTypeFixed && problem == ""
		switch {
		case !isFixed || unplannable(o, sub.Currency) != "":
		case o.Variant.ID == sub.PriceVariantID:
			pieces = piecesOf(o.Variant, sub)
		case o.Variant.BillingCycles == nil && o.Allowed(sub.Quantity) == "" && lacks(o, sub, sub.Quantity) == "":
			plans = append(plans, planOf(o, sub.Quantity, amount))
		}
	}
	return plans, pieces, nil
}

// piecesOf says how many pieces of the price variant that it has a subscription may have, nil for what is not sold by the piece. Whoever sells seats
// gives the price variant limits, or has sold several of it. A newsletter has neither: a number beside it would only sell it twice to one reader.
func piecesOf(v *catalog.PriceVariant, sub *subscription.Subscription) *Pieces {
	p := &Pieces{v, v.QuantityMin, checkout.MostChosen(v), sub.UnitsOf(v.ID)}
	if v.QuantityMax == nil { // they may keep, and have again, what the seller gave them
		p.Most = max(p.Most, p.Taken.Most+p.Taken.Held)
	}
	isByThePiece := v.QuantityMax != nil || v.QuantityMin > 1 || sub.HasPieces()
	if !isByThePiece || p.Least >= p.Most {
		return nil
	}
	return p
}

// KeepSubscription takes back that a subscription ends with its period, for the customer who has cancelled it. One that the seller cancelled, that is
// not going to end, or that has ended, is CodeInvalid on status. One that is not the customer's is CodeMissing.
func (s *Store) KeepSubscription(ctx context.Context, account, customer, ref string) (*subscription.Subscription, error) {
	return s.changeSubscription(ctx, account, ref, func(_ context.Context, _ *db.Unit, sub *subscription.Subscription, _ core.Time) error {
		if !sub.IsOf(customer) {
			return core.Missing("subscription", "", ref)
		}
		if err := sub.GoesOn(); err != nil {
			return err
		}
		if !sub.IsCustomersToKeep() {
			return core.Invalid("status", "You have not cancelled this subscription.").Because("not_canceled")
		}
		sub.Keep(subscription.CancelledByCustomer)
		return nil
	})
}

// RemovePaymentMethod deletes a payment method of a customer as DeletePaymentMethod does. But if the next period of one
// of their subscriptions, or a last bill, is to be charged to it, that is CodeInvalid on payment_method.
func (s *Store) RemovePaymentMethod(ctx context.Context, account, customer, ref string) (*payment.SavedMethod, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*payment.SavedMethod, error) {
		c, err := s.Customer.LockNamed(ctx, u, account, customer, "")
		if err != nil {
			return nil, err
		}
		m, err := s.Payment.FindMethod(ctx, u, c, ref, "")
		if err != nil {
			return nil, err
		}
		sub, err := s.chargedTo(ctx, u, m)
		if err != nil {
			return nil, err
		}
		if sub != nil && sub.CancelAtPeriodEnd {
			plan := sub.Describe()
			return nil, core.Invalid("payment_method", fmt.Sprintf("This card pays the last bill of %s. Choose another card for that first.", plan)).Because("pays_last", "plan", plan)
		}
		if sub != nil {
			plan := sub.Describe()
			return nil, core.Invalid("payment_method", fmt.Sprintf("This card pays for %s. Choose another card for that first, or cancel it.", plan)).Because("pays", "plan", plan)
		}
		if err := s.forgetMethod(ctx, u, c, m); err != nil {
			return nil, err
		}
		return m, s.noteMethod(ctx, u, m)
	})
}

// chargedTo returns a subscription whose next period, or last bill, is to be charged to a saved method, nil if there is none.
func (s *Store) chargedTo(ctx context.Context, u *db.Unit, m *payment.SavedMethod) (*subscription.Subscription, error) {
	going, err := db.Select[subscription.Subscription](ctx, u, subscription.Columns.SelectSQL+`
		WHERE account_id = ? AND customer_id = ? AND status NOT IN ('canceled', 'completed') ORDER BY id`, m.AccountID, m.CustomerID)
	if err != nil {
		return nil, fmt.Errorf("look for subscriptions: %w", err)
	}
	for i := range going {
		if going[i].CancelAtPeriodEnd && len(going[i].Prorations.V) == 0 {
			continue
		}
		method, err := s.Subscription.MethodIn(ctx, u, &going[i])
		if err != nil {
			return nil, err
		}
		if method != nil && core.Deref(method.ID) == m.ID {
			return &going[i], nil
		}
	}
	return nil, nil
}
