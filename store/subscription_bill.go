package store

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/pricing"
)

// subscriptionBill holds the priced lines of a bill of a subscription, before the order is made.
type subscriptionBill struct {
	Items   []lineitem.Item
	Amounts pricing.Amounts
	Balance int64 // the part of the total that the customer's credit pays
	Period  int64 // what the period itself costs after its discount, without prorations; see periodBill
}

// lines returns the lines that bill the current period: the plan first, then the prorations that wait for it. They have no
// amounts but the unit's, which has the tax in it if TaxInclusive says so.
func (s *Subscription) lines() []lineitem.Item {
	items := []lineitem.Item{s.line(lineitem.KindPrice, s.Quantity, s.UnitAmount)}
	for _, p := range s.Prorations.V {
		item := s.line(lineitem.KindProration, 1, p.Amount)
		item.Description, item.Position, item.TaxInclusive = &p.Description, int64(len(items)), p.TaxIncluded
		items = append(items, item)
	}
	return items
}

// line returns a line for the subscription's product and current period.
func (s *Subscription) line(kind lineitem.Kind, quantity, unit int64) lineitem.Item {
	start, end := s.CurrentPeriodStart, s.CurrentPeriodEnd
	return lineitem.Item{
		AccountID: s.AccountID, Kind: kind, ProductID: &s.ProductID, PriceVariantID: &s.PriceVariantID,
		ProductName: s.ProductName, PriceVariantName: s.PriceVariantName, Quantity: quantity, UnitAmount: unit, Currency: s.Currency,
		SubscriptionID: &s.ID, PeriodStart: &start, PeriodEnd: &end,
	}
}

// periodBill prices the lines of the current period of a subscription. The discount is taken off the first line alone, which is
// the plan: prorations are prices after discount already.
func (s *Store) periodBill(ctx context.Context, sub *Subscription, customer *customer.Customer) (*subscriptionBill, error) {
	items := sub.lines()
	var discounts []pricing.Discount
	if terms := sub.discountAt(sub.CurrentPeriodStart); terms != nil {
		discounts = terms.Pricing(items[:1], sub.Currency)
	}
	b, err := s.priceBill(ctx, sub, customer, items, discounts)
	if err == nil {
		b.Period = b.Items[0].SubtotalAmount - b.Items[0].DiscountAmount
	}
	return b, err
}

// lastBill prices the debits that wait for the next period of a subscription, for when there is none.
func (s *Store) lastBill(ctx context.Context, sub *Subscription, customer *customer.Customer) (*subscriptionBill, error) {
	items := sub.lines()[1:]
	for i := range items {
		items[i].Position = int64(i)
	}
	return s.priceBill(ctx, sub, customer, items, nil)
}

// priceBill fills in the amounts of lines that a subscription bills, discounts and tax included, and says how much of the total
// the customer's credit pays. A line that is TaxInclusive comes to its unit amount, whichever way the tax is shown. Nothing is
// stored. The total may be more than core.MaxAmount: what time bills has to be billed.
func (s *Store) priceBill(ctx context.Context, sub *Subscription, customer *customer.Customer, items []lineitem.Item, discounts []pricing.Discount) (*subscriptionBill, error) {
	tax, err := s.subscriptionTax(ctx, sub, customer)
	if err != nil {
		return nil, err
	}
	lines := make([]pricing.Line, len(items))
	for i := range items {
		item := &items[i]
		lines[i] = pricing.Line{UnitAmount: item.UnitAmount, Quantity: item.Quantity, Tax: tax}
		if item.TaxInclusive {
			if lines[i].Tax, item.UnitAmount, err = tax.Including(item.UnitAmount); err != nil {
				return nil, fmt.Errorf("take the tax out of a line: %w", err)
			}
			lines[i].UnitAmount = item.UnitAmount
		}
	}
	totals, err := pricing.Totals(lines, discounts...)
	if err := lineitem.PriceError("quantity", "an order", err, pricing.Amounts{}); err != nil {
		return nil, err
	}
	for i, a := range totals.Lines {
		item := &items[i]
		item.SubtotalAmount, item.DiscountAmount, item.NetAmount, item.TaxAmount, item.TotalAmount = a.Subtotal, a.Discount, a.Net, a.Tax, a.Total
		item.TaxRateBps, item.TaxInclusive = tax.Bps, lines[i].Tax.Inclusive
		if tax.Name != "" {
			item.TaxName = &tax.Name
		}
	}
	return &subscriptionBill{Items: items, Amounts: totals.Amounts, Balance: sub.payer(customer).Credit(sub.Currency, totals.Total)}, nil
}

// subscriptionTax returns the tax that a customer pays on a subscription now, the zero value for none. If the address does not
// say enough, the rate of the wider place is used.
func (s *Store) subscriptionTax(ctx context.Context, sub *Subscription, customer *customer.Customer) (pricing.Tax, error) {
	account, err := s.Tenant.Seller(ctx, sub.AccountID)
	if err != nil || sub.CustomerVerified && customer.TaxExempt {
		return pricing.Tax{}, err
	}
	rate, _ := account.Tax.V.Source().RateAt(sub.addressOf(customer))
	if rate == nil {
		return pricing.Tax{}, nil
	}
	variant, err := s.Catalog.PriceVariantNamed(ctx, sub.AccountID, sub.PriceVariantID, "")
	if err != nil {
		return pricing.Tax{}, err
	}
	return pricing.Tax{Name: rate.Name, Bps: rate.RateBps, Inclusive: account.Tax.V.IsInclusive(variant.TaxBehavior)}, nil
}

// addressOf returns the address whose tax the customer pays: where they live now, or else what they said when they subscribed.
func (s *Subscription) addressOf(customer *customer.Customer) *core.Address {
	if s.CustomerVerified && customer.BillingAddress.V != nil {
		return customer.BillingAddress.V
	}
	return s.BillingAddress.V
}

// payer returns the customer whose credit pays for a subscription. As long as only a typed address says that it is this
// customer's, that is an empty customer without any credit.
func (s *Subscription) payer(buyer *customer.Customer) *customer.Customer {
	if s.CustomerVerified {
		return buyer
	}
	return &customer.Customer{}
}

// placeBill makes the order and the invoice of a subscription's bill, and takes what the bill uses of the customer's credit off
// their balance. If nothing is left to charge, both are paid at once. order.created and invoice.created follow, and then
// order.paid and invoice.paid. Subscription and customer are locked.
func (s *Store) placeBill(ctx context.Context, u *db.Unit, sub *Subscription, customer *customer.Customer, in *subscriptionBill, reason BillingReason) (*bill, error) {
	order := &Order{
		AccountID: sub.AccountID, BillingReason: reason, SubscriptionID: &sub.ID, CustomerEmail: customer.Email, CustomerVerified: sub.CustomerVerified, Currency: sub.Currency,
		BillingName: sub.BillingName, BillingAddress: core.JSONOf(sub.addressOf(customer)), TaxID: sub.TaxID, CustomFieldData: sub.CustomFieldData,
		GrantIDs: core.JSONOf(sub.Granted.V.ids()), BalanceApplied: in.Balance, PeriodStart: &sub.CurrentPeriodStart, PeriodEnd: &sub.CurrentPeriodEnd,
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
	b, err := s.placeOrder(ctx, u, placement{Order: order, Items: in.Items, Customer: customer})
	if err != nil {
		return nil, err
	}
	if order.DiscountID != nil {
		if err := s.Discount.NoteUse(ctx, u, sub.discounted(), &order.ID, order.DiscountAmount, order.CreatedAt); err != nil {
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
func (s *Store) chargeBill(ctx context.Context, u *db.Unit, b *bill, method *payment.BillingMethod, id string) (*payment.Payment, error) {
	return s.beginInvoicePayment(ctx, u, b, id, InvoicePayment{
		Provider: method.Provider, MethodRef: method.Ref, PaymentMethod: method.Card, OffSession: true,
		CustomerRef: method.CustomerRef, MethodID: method.ID,
	})
}
