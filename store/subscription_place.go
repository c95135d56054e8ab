package store

import (
	"context"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/subscription"
)

// placeBill makes the order and the invoice of a subscription's bill, and takes what the bill uses of the customer's credit off
// their balance. If nothing is left to charge, both are paid at once. order.created and invoice.created follow, and then
// order.paid and invoice.paid. Subscription and customer are locked.
func (s *Store) placeBill(ctx context.Context, u *db.Unit, sub *subscription.Subscription, customer *customer.Customer, in *subscription.Bill, reason order.BillingReason) (*invoice.Bill, error) {
	order := &order.Order{
		AccountID: sub.AccountID, BillingReason: reason, SubscriptionID: &sub.ID, CustomerEmail: customer.Email, CustomerVerified: sub.CustomerVerified, Currency: sub.Currency,
		BillingName: sub.BillingName, BillingAddress: core.JSONOf(sub.AddressOf(customer)), TaxID: sub.TaxID, CustomFieldData: sub.CustomFieldData,
		GrantIDs: core.JSONOf(sub.Granted.V.IDs()), BalanceApplied: in.Balance, PeriodStart: &sub.CurrentPeriodStart, PeriodEnd: &sub.CurrentPeriodEnd,
	}
	if sub.CustomerVerified {
		order.BalanceTaken = in.Balance
	}
	if sub.CustomerVerified && customer.Name != nil {
		order.BillingName = customer.Name
	}
	if in.Amounts.Discount > 0 {
		order.DiscountID = sub.DiscountID
	}
	b, err := s.Invoice.PlaceOrder(ctx, u, invoice.Placement{Order: order, Items: in.Items, Customer: customer})
	if err != nil {
		return nil, err
	}
	if order.DiscountID != nil {
		if err := s.Discount.NoteUse(ctx, u, sub.Discounted(), &order.ID, order.DiscountAmount, order.CreatedAt); err != nil {
			return nil, err
		}
	}
	if b.Order.DueAmount() == 0 {
		err = s.payOrder(ctx, u, b, nil)
	}
	return b, err
}

// chargeBill stores the intent to charge what is left of a locked bill while the customer is away. Id is the payment's id,
// which the provider gets as its idempotency token.
func (s *Store) chargeBill(ctx context.Context, u *db.Unit, b *invoice.Bill, method *payment.BillingMethod, id string) (*payment.Payment, error) {
	return s.beginInvoicePayment(ctx, u, b, id, InvoicePayment{
		Provider: method.Provider, MethodRef: method.Ref, PaymentMethod: method.Card, OffSession: true,
		CustomerRef: method.CustomerRef, MethodID: method.ID,
	})
}

// switchPaid makes the switch of a change of plan whose invoice is being paid, so that the order shows what it pays for.
func (s *Store) switchPaid(ctx context.Context, u *db.Unit, sub *subscription.Subscription, b *invoice.Bill) error {
	if sub == nil || sub.PendingChange.V == nil || core.Deref(sub.PendingChange.V.InvoiceID) != b.Invoice.ID {
		return nil
	}
	sub.IsPaid = true
	err := s.Subscription.SwitchProduct(ctx, u, sub, sub.PendingChange.V.Plan)
	b.Order.GrantIDs = core.JSONOf(sub.Granted.V.IDs())
	return err
}
