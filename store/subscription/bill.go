package subscription

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/pricing"
	"github.com/tillwright/tillwright/store/tenant"
)

// Bill holds the priced lines of a bill of a subscription, before the order is made.
type Bill struct {
	Items   []lineitem.Item
	Amounts pricing.Amounts
	Balance int64 // the part of the total that the customer's credit pays
	Period  int64 // what the period itself costs after its discount, without prorations; see PeriodBill
}

// lines returns the lines that bill the current period: the plan first, then the prorations that wait for it. They have no
// amounts but the unit's, which has the tax in it if TaxInclusive says so.
func (s *Subscription) lines() []lineitem.Item {
	items := []lineitem.Item{s.Line(lineitem.KindPrice, s.Quantity, s.UnitAmount)}
	for _, p := range s.Prorations.V {
		item := s.Line(lineitem.KindProration, 1, p.Amount)
		item.Description, item.Position, item.TaxInclusive = &p.Description, int64(len(items)), p.TaxIncluded
		items = append(items, item)
	}
	return items
}

// Line returns a line for the subscription's product and current period.
func (s *Subscription) Line(kind lineitem.Kind, quantity, unit int64) lineitem.Item {
	start, end := s.CurrentPeriodStart, s.CurrentPeriodEnd
	return lineitem.Item{
		AccountID: s.AccountID, Kind: kind, ProductID: &s.ProductID, PriceVariantID: &s.PriceVariantID,
		ProductName: s.ProductName, PriceVariantName: s.PriceVariantName, Quantity: quantity, UnitAmount: unit, Currency: s.Currency,
		SubscriptionID: &s.ID, PeriodStart: &start, PeriodEnd: &end,
	}
}

// PeriodBill prices the lines of the current period of a subscription. The discount is taken off the first line alone, which is
// the plan: prorations are prices after discount already.
func (s *Store) PeriodBill(ctx context.Context, r db.Reader, sub *Subscription, customer *customer.Customer) (*Bill, error) {
	items := sub.lines()
	var discounts []pricing.Discount
	if terms := sub.discountAt(sub.CurrentPeriodStart); terms != nil {
		discounts = terms.Pricing(items[:1], sub.Currency)
	}
	b, err := s.PriceBillIn(ctx, r, sub, customer, items, discounts)
	if err == nil {
		b.Period = b.Items[0].SubtotalAmount - b.Items[0].DiscountAmount
	}
	return b, err
}

// LastBill prices the debits that wait for the next period of a subscription, for when there is none.
func (s *Store) LastBill(ctx context.Context, r db.Reader, sub *Subscription, customer *customer.Customer) (*Bill, error) {
	items := sub.lines()[1:]
	for i := range items {
		items[i].Position = int64(i)
	}
	return s.PriceBillIn(ctx, r, sub, customer, items, nil)
}

// PlanOf is a plan that a subscription has or can have.
type PlanOf struct {
	*Subscription
	Plan Plan
}

// PeriodPrices returns what a period of each plan costs their customer now, with its tax and without discounts.
func (s *Store) PeriodPrices(ctx context.Context, customer *customer.Customer, plans ...PlanOf) ([]int64, error) {
	account, err := s.rooms.Tenant.Seller(ctx, s.db, customer.AccountID)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(plans))
	for i, p := range plans {
		ids[i] = p.Plan.PriceVariantID
	}
	variants, err := s.rooms.Catalog.PriceVariantsByID(ctx, customer.AccountID, ids)
	if err != nil {
		return nil, err
	}
	prices := make([]int64, len(plans))
	for i, p := range plans {
		if prices[i], err = p.PeriodPrice(account, customer, variants[p.Plan.PriceVariantID]); err != nil {
			return nil, err
		}
	}
	return prices, nil
}

// PeriodPrice returns what a period of the plan costs its customer now, with its tax and without discounts. The variant is that of the plan, nil if it
// was deleted.
func (p PlanOf) PeriodPrice(account *tenant.Account, customer *customer.Customer, variant *catalog.PriceVariant) (int64, error) {
	line := pricing.Line{UnitAmount: p.Plan.UnitAmount, Quantity: p.Plan.Quantity}
	if variant != nil {
		line.Tax = taxOn(variant, p.rate(account, customer), account)
	}
	totals, err := pricing.Totals([]pricing.Line{line})
	return totals.Total, err
}

// PriceBillIn fills in the amounts of lines that a subscription bills, discounts and tax included. It says how much of the total the customer's
// credit pays. A line that is TaxInclusive comes to its unit amount, whichever way the tax is shown. Nothing is stored. The total may be more
// than core.MaxAmount: what time bills has to be billed.
func (s *Store) PriceBillIn(ctx context.Context, r db.Reader, sub *Subscription, customer *customer.Customer, items []lineitem.Item, discounts []pricing.Discount) (*Bill, error) {
	tax, err := s.tax(ctx, r, sub, customer)
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
	return &Bill{Items: items, Amounts: totals.Amounts, Balance: sub.Payer(customer).Credit(sub.Currency, totals.Total)}, nil
}

// tax returns the tax that a customer pays on a subscription now, the zero value for none.
func (s *Store) tax(ctx context.Context, r db.Reader, sub *Subscription, customer *customer.Customer) (pricing.Tax, error) {
	account, err := s.rooms.Tenant.Seller(ctx, r, sub.AccountID)
	if err != nil {
		return pricing.Tax{}, err
	}
	rate := sub.rate(account, customer)
	if rate == nil {
		return pricing.Tax{}, nil
	}
	variant, err := s.rooms.Catalog.PriceVariantNamed(ctx, r, sub.AccountID, sub.PriceVariantID, "")
	if err != nil {
		return pricing.Tax{}, err
	}
	return taxOn(variant, rate, account), nil
}

// taxOn returns the tax on a price variant at a rate, nil for none.
func taxOn(v *catalog.PriceVariant, rate *tenant.TaxRate, account *tenant.Account) pricing.Tax {
	if rate == nil {
		return pricing.Tax{}
	}
	return pricing.Tax{Name: rate.Name, Bps: rate.RateBps, Inclusive: account.Tax.V.IsInclusive(v.TaxBehavior)}
}

// rate returns the rate that a customer pays on the subscription now, nil for none. If the address does not say enough, it is that of the wider place.
func (s *Subscription) rate(account *tenant.Account, customer *customer.Customer) *tenant.TaxRate {
	if s.CustomerVerified && customer.TaxExempt {
		return nil
	}
	rate, _ := account.Tax.V.Source().RateAt(s.AddressOf(customer))
	return rate
}

// AddressOf returns the address whose tax the customer pays: where they live now, or else what they said when they subscribed.
func (s *Subscription) AddressOf(customer *customer.Customer) *core.Address {
	if s.CustomerVerified && customer.BillingAddress.V != nil {
		return customer.BillingAddress.V
	}
	return s.BillingAddress.V
}

// Payer returns the customer whose credit pays for a subscription. As long as only a typed address says that it is this
// customer's, that is an empty customer without any credit.
func (s *Subscription) Payer(buyer *customer.Customer) *customer.Customer {
	if s.CustomerVerified {
		return buyer
	}
	return &customer.Customer{}
}
