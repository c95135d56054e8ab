package store

import (
	"context"
	"maps"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/pricing"
)

// subscriptionBill is what a subscription is going to bill.
type subscriptionBill struct {
	Items   []LineItem
	Amounts pricing.Amounts
	Balance int64 // of it, what the customer's credit pays
	Period  int64 // what the period costs after its discount
}

// lines are what the current period of the subscription comes to, and what was left to bill with it.
func (s *Subscription) lines() []LineItem {
	items := []LineItem{s.line(LineItemKindPrice, s.Quantity, s.UnitAmount)}
	for _, p := range s.Prorations.V {
		item := s.line(LineItemKindProration, 1, p.Amount)
		item.Description, item.Position = &p.Description, int64(len(items))
		items = append(items, item)
	}
	return items
}

// line is a line about the subscription's current period.
func (s *Subscription) line(kind LineItemKind, quantity, unit int64) LineItem {
	start, end := s.CurrentPeriodStart, s.CurrentPeriodEnd
	return LineItem{
		AccountID: s.AccountID, Kind: kind, ProductID: &s.ProductID, PriceVariantID: &s.PriceVariantID,
		ProductName: s.ProductName, PriceVariantName: s.PriceVariantName, Quantity: quantity, UnitAmount: unit, Currency: s.Currency,
		SubscriptionID: &s.ID, PeriodStart: &start, PeriodEnd: &end,
	}
}

// periodBill prices the current period of a subscription, its first line, and what was left to bill with it.
func (s *Store) periodBill(ctx context.Context, sub *Subscription, customer *Customer) (*subscriptionBill, error) {
	items := sub.lines()
	var discounts []pricing.Discount
	if terms := sub.discountAt(sub.CurrentPeriodStart); terms != nil {
		discounts = terms.pricing(items[:1], sub.Currency)
	}
	b, err := s.priceBill(ctx, sub, customer, items, discounts)
	if err == nil {
		b.Period = b.Items[0].SubtotalAmount - b.Items[0].DiscountAmount
	}
	return b, err
}

// priceBill fills in the amounts of lines that a subscription bills, with tax, and takes the customer's credit off.
func (s *Store) priceBill(ctx context.Context, sub *Subscription, customer *Customer, items []LineItem, discounts []pricing.Discount) (*subscriptionBill, error) {
	tax, err := s.subscriptionTax(ctx, sub, customer)
	if err != nil {
		return nil, err
	}
	lines := make([]pricing.Line, len(items))
	for i, item := range items {
		lines[i] = pricing.Line{UnitAmount: item.UnitAmount, Quantity: item.Quantity, Tax: tax}
	}
	totals, err := pricing.Totals(lines, discounts...)
	if err := priceError("quantity", "an order", err, totals.Total); err != nil {
		return nil, err
	}
	for i, a := range totals.Lines {
		item := &items[i]
		item.SubtotalAmount, item.DiscountAmount, item.NetAmount, item.TaxAmount, item.TotalAmount = a.Subtotal, a.Discount, a.Net, a.Tax, a.Total
		item.TaxRateBps, item.TaxInclusive = tax.Bps, tax.Inclusive
		if tax.Name != "" {
			item.TaxName = &tax.Name
		}
	}
	return &subscriptionBill{Items: items, Amounts: totals.Amounts, Balance: sub.payer(customer).credit(sub.Currency, totals.Total)}, nil
}

// subscriptionTax is the tax that a customer pays on a subscription now. An address that does not tell it pays what
// the wider place does.
func (s *Store) subscriptionTax(ctx context.Context, sub *Subscription, customer *Customer) (pricing.Tax, error) {
	account, err := s.findAccount(ctx, sub.AccountID, "")
	if err != nil || sub.CustomerVerified && customer.TaxExempt {
		return pricing.Tax{}, err
	}
	rate, _ := account.Tax.V.source().rateAt(sub.addressOf(customer))
	if rate == nil {
		return pricing.Tax{}, nil
	}
	variant, err := s.findPriceVariant(ctx, sub.AccountID, sub.PriceVariantID, "", "")
	if err != nil {
		return pricing.Tax{}, err
	}
	return pricing.Tax{Name: rate.Name, Bps: rate.RateBps, Inclusive: account.Tax.V.isInclusive(variant)}, nil
}

// addressOf is where the customer pays tax: where they live now, or what they said when they subscribed.
func (s *Subscription) addressOf(customer *Customer) *core.Address {
	if s.CustomerVerified && customer.BillingAddress.V != nil {
		return customer.BillingAddress.V
	}
	return s.BillingAddress.V
}

// payer is whose credit pays a subscription: nobody's, as long as only a typed address says that it is the customer's.
func (s *Subscription) payer(customer *Customer) *Customer {
	if s.CustomerVerified {
		return customer
	}
	return &Customer{}
}

// credit is what the customer's balance pays of a total. What it leaves to charge is never too little to be charged: of a
// total that is too little itself it pays all, and the customer owes what the balance did not have.
func (c *Customer) credit(currency string, total int64) int64 {
	applied, least := min(max(c.Balance.V[currency], 0), total), core.CurrencyOf(currency).Minimum
	switch rest := total - applied; {
	case rest == 0 || rest >= least:
		return applied
	case total < least:
		return total
	default:
		return total - least
	}
}

// addBalance changes what the customer has to their credit.
func (c *Customer) addBalance(currency string, amount int64) {
	if amount == 0 {
		return
	}
	balance := maps.Clone(c.Balance.V)
	if balance == nil {
		balance = map[string]int64{}
	}
	balance[currency] += amount
	c.Balance = core.JSONOf(balance)
}

// placeBill makes the order and the invoice of a subscription's bill, takes the customer's credit, and pays both where
// nothing is left to charge.
func (u *unit) placeBill(ctx context.Context, sub *Subscription, customer *Customer, in *subscriptionBill, reason BillingReason) (*bill, error) {
	sub.payer(customer).addBalance(sub.Currency, -in.Balance)
	order := &Order{
		AccountID: sub.AccountID, BillingReason: reason, SubscriptionID: &sub.ID, CustomerEmail: customer.Email, CustomerVerified: sub.CustomerVerified, Currency: sub.Currency,
		BillingName: sub.BillingName, BillingAddress: core.JSONOf(sub.addressOf(customer)), TaxID: sub.TaxID, CustomFieldData: sub.CustomFieldData,
		BalanceApplied: in.Balance, PeriodStart: &sub.CurrentPeriodStart, PeriodEnd: &sub.CurrentPeriodEnd,
	}
	if sub.CustomerVerified && customer.Name != nil {
		order.BillingName = customer.Name
	}
	if in.Amounts.Discount > 0 {
		order.DiscountID = sub.DiscountID
	}
	b, err := u.placeOrder(ctx, placement{Order: order, Items: in.Items, Customer: customer})
	if err != nil {
		return nil, err
	}
	if order.DiscountID != nil {
		if err := u.orderGiven(ctx, sub, order); err != nil {
			return nil, err
		}
	}
	if b.Order.DueAmount() == 0 {
		err = u.payOrder(ctx, b, nil)
	}
	return b, err
}

// chargeBill stores the intent to charge what is left of a bill while the customer is away. The id of the intent is the
// provider's token.
func (u *unit) chargeBill(ctx context.Context, b *bill, method *BillingMethod, id string) (*Payment, error) {
	return u.beginInvoicePayment(ctx, b, id, InvoicePayment{
		Provider: method.Provider, MethodRef: method.Ref, PaymentMethod: method.Card, OffSession: true,
		CustomerRef: method.CustomerRef, MethodID: method.ID,
	})
}

// billingMethod is what a subscription is charged with: its own method as long as the customer has it, or else their
// default. It is nil if there is neither. One that is not known to be the customer's has its own or none.
func (u *unit) billingMethod(ctx context.Context, sub *Subscription) (*BillingMethod, error) {
	var own *string
	if m := sub.Method.V; m != nil {
		if m.ID == nil {
			return m, nil
		}
		own = m.ID
	}
	if !sub.CustomerVerified {
		return nil, nil
	}
	saved, err := u.store.MethodToCharge(ctx, sub.AccountID, sub.CustomerID, own)
	if err != nil || saved == nil {
		return nil, err
	}
	return saved.billing(), nil
}
