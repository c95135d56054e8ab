package store

import (
	"context"

	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/report"
)

// complete makes the order of a locked checkout, together with its invoice, both paid. With a payment, that has succeeded, and
// the stock is held already. Without one there is nothing to pay and nothing is held yet, so stock that is not there any more
// is CodeInvalid on line_items. Nothing else may be refused here, because the buyer may have paid.
//
// Each recurring line makes a subscription, which is charged from now on with the method of the payment, or with method if
// there is none. The events show the order and its invoice as they become: first pending and open, then paid. The rows that every purchase of the
// account or of the product needs are locked last. So purchases wait for each other as briefly as possible.
func (s *Store) complete(ctx context.Context, u *db.Unit, c *checkout.Checkout, items []lineitem.Item, p *payment.Payment, method *payment.BillingMethod) error {
	pastDue, err := s.lockPastDueOf(ctx, u, c, p)
	if err != nil {
		return err
	}
	customer, isKnown, err := s.Checkout.Buyer(ctx, u, c)
	if err != nil {
		return err
	}
	now, err := db.BusinessNow(ctx, u, c.AccountID)
	if err != nil {
		return err
	}
	if isKnown && p != nil && c.KeepsMethods(p.Keyless) {
		if err := s.saveMethod(ctx, u, customer, p, pastDue); err != nil {
			return err
		}
	}
	if p != nil {
		method = payment.MethodOf(p)
	}
	variants, err := s.Offer.Read(ctx, u, c.AccountID, items)
	if err != nil {
		return err
	}
	if p == nil { // nothing was reserved, and the keys are given before the rest is
		if err := s.Lines.CheckLicenses(ctx, u, c.AccountID, items); err != nil {
			return err
		}
	}
	subs, lines, err := s.newSubscriptions(ctx, u, c, items, variants, owner{customer, isKnown}, method, now)
	if err != nil {
		return err
	}
	placed, err := s.Checkout.Placed(ctx, u, c.AccountID, items, now)
	if err != nil {
		return err
	}
	order := orderOf(c)
	order.CustomerVerified = isKnown
	b, err := invoice.NewBill(invoice.Placement{Order: order, Items: order.Subscribe(subs, lines, placed), Customer: customer}, now)
	if err != nil {
		return err
	}
	if err := s.tellAds(ctx, u, c, b, isKnown, subs, lines); err != nil {
		return err
	}
	if err := s.Subscription.GiveNew(ctx, u, subs, lines, items); err != nil {
		return err
	}
	for i := range subs {
		b.Order.Gave(subs[i].Granted.V.GrantID)
	}
	if err := s.insertSubscriptions(ctx, u, subs, b.Invoice.ID); err != nil {
		return err
	}
	if err := s.Checkout.BeginTrials(ctx, u, c, items, customer, isKnown, now); err != nil {
		return err
	}
	c.SubscriptionID = order.SubscriptionID
	if err := s.linkOrder(ctx, u, b, c, p); err != nil {
		return err
	}
	if c.DiscountID != nil {
		if err := s.Discount.NoteOrder(ctx, u, discount.Order{
			AccountID: b.Order.AccountID, ID: b.Order.ID, CheckoutID: b.Order.CheckoutID, CustomerID: b.Order.CustomerID,
			Amount: b.Order.DiscountAmount, At: b.Order.CreatedAt,
		}); err != nil {
			return err
		}
	}
	if err := s.placePaid(ctx, u, b, p); err != nil {
		return err
	}
	if p == nil { // after those before, as in every purchase: the order in which rows are locked
		if err := s.Lines.ReserveProducts(ctx, u, c.AccountID, items); err != nil {
			return err
		}
	}
	return s.Lines.Sell(ctx, u, c.AccountID, items)
}

// orderOf returns an order with what its checkout says about it. Ids, lines and amounts are still missing.
func orderOf(c *checkout.Checkout) *order.Order {
	return &order.Order{
		AccountID: c.AccountID, BillingReason: order.BillingReasonPurchase, CustomerEmail: c.CustomerEmail, CheckoutID: &c.ID, Currency: c.Currency,
		DiscountID:  c.DiscountID,
		BillingName: c.CustomerName, BillingAddress: c.BillingAddress, TaxID: c.TaxID, CustomFieldData: c.CustomFieldData, LegalAcceptances: c.LegalAcceptances, WithdrawalWaivedAt: c.WithdrawalWaivedAt, Metadata: c.Metadata,
	}
}

// linkOrder makes the checkout completed, and stores in it and in its payment, if there is one, which order and invoice they
// made.
func (s *Store) linkOrder(ctx context.Context, u *db.Unit, b *invoice.Bill, c *checkout.Checkout, p *payment.Payment) error {
	o := b.Order
	c.PaymentStatus = checkout.PaymentStatusNoPaymentRequired
	if p != nil {
		if p.Amount > 0 {
			c.PaymentStatus = checkout.PaymentStatusPaid
		}
		p.OrderID, p.InvoiceID, p.CustomerID = &o.ID, &b.Invoice.ID, &o.CustomerID
		if err := u.Update(ctx, payment.Columns, p); err != nil {
			return err
		}
	}
	before := c.Status
	c.Status, c.OrderID, c.InvoiceID, c.CustomerID = checkout.StatusCompleted, &o.ID, &b.Invoice.ID, &o.CustomerID
	c.NextAction, c.LastPaymentError = core.JSON[*checkout.NextAction]{}, core.JSON[*payment.Failure]{}
	c.CompletedAt, c.UpdatedAt = &o.CreatedAt, o.CreatedAt
	s.Report.Count(u, c.AccountID, c.Currency, c.CreatedAt, report.Figures{Completed: 1})
	if err := u.Update(ctx, checkout.Columns, c); err != nil {
		return err
	}
	return s.notePurchase(ctx, u, c, before)
}
