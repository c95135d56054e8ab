package invoice

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/store/pricing"
	"github.com/tillwright/tillwright/store/tenant"
)

// NewLine asks for a line of an invoice: a price variant at its price, or anything else by Description and UnitAmount. A
// line without a tax rate of its own is taxed by the account's settings.
type NewLine struct {
	PriceVariant string
	CustomAmount *int64
	Description  *string
	UnitAmount   *int64
	Quantity     int64
	TaxRateBps   *int64
	TaxName      *string
	TaxInclusive bool
}

// Draft is an invoice with what the seller wants it to be. Customer, if not empty, names whom it is for. Lines, if not nil, replace all lines. An
// empty Currency is that of the first price variant, or else the account's.
type Draft struct {
	*Invoice
	Customer string
	Lines    []NewLine
}

// Create makes a draft of an invoice. A customer, price variant or discount that does not exist is CodeMissing.
// invoice.created follows.
func (s *Store) Create(ctx context.Context, account string, draft Draft) (*Invoice, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Invoice, error) {
		now, err := db.BusinessNow(ctx, u, account)
		if err != nil {
			return nil, err
		}
		i := *draft.Invoice
		i.AccountID, i.ID, i.OrderKey = account, core.NewID(core.KindInvoice), core.NewID(core.KindOrder)
		i.Status, i.BillingReason, i.CreatedAt, i.UpdatedAt = StatusDraft, order.BillingReasonManual, now, now
		draft.Invoice = &i
		b, err := s.Prepare(ctx, u, draft, &Invoice{}, now)
		if err != nil {
			return nil, err
		}
		if err := s.rooms.Lines.Insert(ctx, u, b.Items); err != nil {
			return nil, err
		}
		if err := s.EmitInvoice(ctx, u, outbox.EventInvoiceCreated, b); err != nil {
			return nil, err
		}
		return &i, u.Insert(ctx, Columns, &i)
	})
}

// Delete deletes a draft with its lines. One that was issued is CodeInvalid on status.
func (s *Store) Delete(ctx context.Context, account, ref string) (*Invoice, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Invoice, error) {
		i, err := s.Lock(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		if i.Status != StatusDraft {
			return nil, core.Invalid("status", fmt.Sprintf("The invoice is %s: its number is taken. Only a draft can be deleted; void it instead.", i.Status))
		}
		if err := s.deleteLines(ctx, u, i); err != nil {
			return nil, err
		}
		_, err = u.Exec(ctx, `DELETE FROM invoices WHERE account_id = ? AND id = ?`, account, i.ID)
		return i, err
	})
}

// CheckFinalize returns CodeInvalid if a draft cannot be issued any more as it was written: its customer was deleted or its due
// date has passed. An invoice without a due date gets this moment.
func (b *Bill) CheckFinalize(now core.Time) error {
	var p core.Problems
	p.Check(b.Customer.DeletedAt == nil, "customer", "The customer was deleted.")
	b.Invoice.checkDue(now, &p)
	if err := p.Err(); err != nil {
		return err
	}
	if b.Invoice.DueAt == nil {
		b.Invoice.DueAt = &now
	}
	return nil
}

// checkDue adds to p what is wrong with the due date: it has passed, or an invoice that is sent has none.
func (i *Invoice) checkDue(now core.Time, p *core.Problems) {
	if i.DueAt == nil {
		p.Check(i.CollectionMethod != CollectionMethodSendInvoice, "due_at", "An invoice that is sent says until when it is to be paid: send due_at.")
		return
	}
	p.Check(*i.DueAt >= now, "due_at", "An invoice is not due in the past.")
}

// Order returns the order that a draft becomes, as far as the draft says what is in it.
func (i *Invoice) Order() *order.Order {
	return &order.Order{
		AccountID: i.AccountID, BillingReason: i.BillingReason, CustomerEmail: i.CustomerEmail, CustomerVerified: true, Currency: i.Currency,
		BillingName: i.CustomerName, BillingAddress: i.CustomerAddress, TaxID: i.CustomerTaxID, DiscountID: i.DiscountID, Metadata: i.Metadata,
	}
}

// CheckIssued returns CodeInvalid for changes that an issued invoice does not allow: see UpdateInvoice.
func (d *Draft) CheckIssued(before *Invoice, now core.Time) error {
	fixed := *d.Invoice
	fixed.Metadata, fixed.Memo, fixed.DueAt = before.Metadata, before.Memo, before.DueAt
	if d.Customer != "" || d.Lines != nil || !core.SameJSON(fixed, *before) {
		return core.Invalid("status", fmt.Sprintf("The invoice is %s: only metadata, memo and due_at can be changed.", before.Status))
	}
	var p core.Problems
	d.Metadata.Check(&p)
	if !core.SameJSON(d.DueAt, before.DueAt) {
		unpaid := before.Status == StatusOpen || before.Status == StatusPastDue
		p.Check(unpaid, "status", fmt.Sprintf("The invoice is %s: it is due no more.", before.Status))
		p.Check(d.DueAt != nil && *d.DueAt >= now, "due_at", "An invoice is due at some time, and not in the past.")
	}
	return p.Err()
}

// Prepare checks a draft against the one before, which is empty for a new one, and prices it. It locks the customer, and
// returns the draft with its lines. Nothing is stored yet.
func (s *Store) Prepare(ctx context.Context, u *db.Unit, d Draft, before *Invoice, now core.Time) (*Bill, error) {
	i := d.Invoice
	customer, err := s.billed(ctx, u, d)
	if err != nil {
		return nil, err
	}
	moved := i.CustomerID != before.CustomerID || i.Currency != before.Currency
	if moved && d.Lines == nil {
		return nil, core.Invalid("lines", "Prices and tax go by the customer and the currency: send lines too.")
	}
	var p core.Problems
	i.Metadata.Check(&p)
	if before.ID == "" || !core.SameJSON(i.DueAt, before.DueAt) || i.CollectionMethod != before.CollectionMethod {
		i.checkDue(now, &p)
	}
	if err := p.Err(); err != nil {
		return nil, err
	}
	stored, err := s.linesIn(ctx, u, i.AccountID, i.ID)
	if err != nil {
		return nil, err
	}
	items := stored
	if d.Lines != nil {
		if items, err = s.lines(ctx, u, d, customer); err != nil {
			return nil, err
		}
	}
	if err := s.price(ctx, u, i, items, now); err != nil {
		return nil, err
	}
	i.replaceLines(items, stored, now)
	return &Bill{Invoice: i, Items: items, Customer: customer}, nil
}

// billed locks the customer whom a draft is for, so that they are not deleted meanwhile. It copies their present name, addresses and tax id into
// the draft. One that does not exist is CodeMissing.
func (s *Store) billed(ctx context.Context, u *db.Unit, d Draft) (*customer.Customer, error) {
	i, ref := d.Invoice, d.Customer
	if ref == "" {
		ref = i.CustomerID
	}
	customer, err := s.rooms.Customer.LockNamed(ctx, u, i.AccountID, ref, "customer")
	if err != nil {
		return nil, err
	}
	i.CustomerID, i.CustomerEmail, i.CustomerName = customer.ID, customer.Email, customer.Name
	i.CustomerAddress, i.CustomerTaxID = customer.BillingAddress, customer.TaxID
	return customer, nil
}

// lines makes the lines that a draft asks for, with their unit amounts and tax rates but without totals. It sets the
// draft's currency if it has none.
func (s *Store) lines(ctx context.Context, r db.Reader, d Draft, customer *customer.Customer) ([]lineitem.Item, error) {
	account, err := s.rooms.Tenant.GetAccountIn(ctx, r, d.AccountID)
	if err != nil {
		return nil, err
	}
	offers, err := s.offers(ctx, r, d)
	if err != nil {
		return nil, err
	}
	d.chooseCurrency(offers, account)
	if _, known := core.LookupCurrency(d.Currency); !known {
		return nil, core.Invalid("currency", fmt.Sprintf("Currency '%s' is not supported. Send a lower-case ISO 4217 code such as usd.", d.Currency))
	}
	var p core.Problems
	items := make([]lineitem.Item, len(d.Lines))
	for n, wanted := range d.Lines {
		at := fmt.Sprintf("lines.%d.", n)
		item := wanted.adHoc(at, &p)
		if wanted.PriceVariant != "" {
			item = wanted.ofVariant(at, offers[n], d.Currency, &p)
		}
		item.Position, item.Quantity, item.Currency = int64(n), wanted.Quantity, d.Currency
		wanted.tax(&item, offers[n], account, customer, &p)
		items[n] = item
	}
	return items, p.Err()
}

// offers reads the price variants and products of the lines. The offer of a line stands at the same place; that of a line
// without a price variant is empty. A price variant that does not exist is CodeMissing on its line.
func (s *Store) offers(ctx context.Context, r db.Reader, d Draft) ([]offer.Offer, error) {
	offers := make([]offer.Offer, len(d.Lines))
	for n, wanted := range d.Lines {
		if wanted.PriceVariant == "" {
			continue
		}
		param := fmt.Sprintf("lines.%d.price_variant", n)
		variant, err := s.rooms.Catalog.PriceVariantNamed(ctx, r, d.AccountID, wanted.PriceVariant, param)
		if err != nil {
			return nil, err
		}
		product, err := s.rooms.Catalog.ProductNamed(ctx, r, d.AccountID, variant.ProductID, param)
		if err != nil {
			return nil, err
		}
		offers[n] = offer.Offer{Variant: variant, Product: product}
	}
	return offers, nil
}

func (d *Draft) chooseCurrency(offers []offer.Offer, account *tenant.Account) {
	for _, o := range offers {
		if d.Currency == "" && o.Variant != nil {
			d.Currency = o.Variant.Currency
		}
	}
	if d.Currency == "" {
		d.Currency = account.DefaultCurrency
	}
}

// adHoc returns a line without a product, and adds to p what is missing for one. At is the path of the line, such as "lines.0.".
func (l *NewLine) adHoc(at string, p *core.Problems) lineitem.Item {
	if l.PriceVariant == "" {
		p.Check(l.Description != nil, at+"description", "Send price_variant, or description and unit_amount.")
		p.Check(l.UnitAmount != nil, at+"unit_amount", "Send price_variant, or description and unit_amount.")
		p.Check(l.CustomAmount == nil, at+"custom_amount", "Send unit_amount: custom_amount is of a price variant.")
	}
	return lineitem.Item{Kind: lineitem.KindCustom, ProductName: core.Deref(l.Description), Description: l.Description, UnitAmount: core.Deref(l.UnitAmount)}
}

// ofVariant returns a line of a price variant at its price in the currency, and adds to p what does not go with it.
func (l *NewLine) ofVariant(at string, o offer.Offer, currency string, p *core.Problems) lineitem.Item {
	p.Check(l.UnitAmount == nil, at+"unit_amount", "The price variant has a price: leave unit_amount out, or send a description instead of the price variant.")
	p.Check(l.TaxRateBps == nil, at+"tax_rate_bps", "A price variant is taxed by the account's settings: leave tax_rate_bps out.")
	item := lineitem.Item{
		Kind: lineitem.KindPrice, ProductID: &o.Product.ID, PriceVariantID: &o.Variant.ID, ProductName: o.Product.Name,
		PriceVariantName: o.Variant.Name, Description: l.Description, CustomAmount: l.CustomAmount,
		Gives: o.Product.Type != catalog.ProductTypeTip, Licensed: o.MayLicense(),
	}
	problem := o.Foreign(currency)
	if problem == "" {
		item.UnitAmount, problem = o.UnitAmount(currency, l.CustomAmount)
	}
	p.Check(problem == "", at+"price_variant", problem)
	return item
}

// tax sets the tax rate of a line: its own, or the one of the account's settings at the customer's address. If the settings need
// an address that is not there, that is added to p.
func (l *NewLine) tax(item *lineitem.Item, o offer.Offer, account *tenant.Account, customer *customer.Customer, p *core.Problems) {
	if l.TaxRateBps != nil {
		item.TaxRateBps, item.TaxName, item.TaxInclusive = *l.TaxRateBps, l.TaxName, l.TaxInclusive
		return
	}
	settings := &account.Tax.V
	rate, known := settings.Source().RateAt(customer.BillingAddress.V)
	if customer.TaxExempt {
		return
	}
	p.Check(known, "customer", "The tax depends on where the customer is: give the customer a billing_address with country and state first.")
	if rate == nil {
		return
	}
	item.TaxRateBps, item.TaxName, item.TaxInclusive = rate.RateBps, &rate.Name, settings.Behavior == tenant.TaxBehaviorInclusive
	if o.Variant != nil {
		item.TaxInclusive = settings.IsInclusive(o.Variant.TaxBehavior)
	}
}

// price works out the amounts of the lines, and sets those of the draft to their sums. A total that is too large, or too
// small to be charged automatically, is CodeInvalid on lines.
func (s *Store) price(ctx context.Context, r db.Reader, i *Invoice, items []lineitem.Item, now core.Time) error {
	discounts, err := s.discounts(ctx, r, i, items, now)
	if err != nil {
		return err
	}
	totals, err := lineitem.Totals(items, discounts...)
	if err := lineitem.PriceError("lines", "an invoice", err, totals); err != nil {
		return err
	}
	least := core.CurrencyOf(i.Currency).Minimum
	if i.CollectionMethod == CollectionMethodChargeAutomatically && totals.Total > 0 && totals.Total < least {
		return core.Invalid("lines", fmt.Sprintf("Less than %d %s cannot be charged.", least, i.Currency))
	}
	i.SubtotalAmount, i.DiscountAmount, i.NetAmount = totals.Subtotal, totals.Discount, totals.Net
	breakdown, err := lineitem.Breakdown(items)
	i.TaxAmount, i.TotalAmount, i.TaxBreakdown = totals.Tax, totals.Total, core.JSONOf(breakdown)
	return err
}

// discounts returns what the draft's discount takes off its lines, or CodeInvalid if it cannot be used for them. The
// seller gives it, so that it does not count as redeemed.
func (s *Store) discounts(ctx context.Context, r db.Reader, i *Invoice, items []lineitem.Item, now core.Time) ([]pricing.Discount, error) {
	if i.DiscountID == nil {
		return nil, nil
	}
	d, err := s.rooms.Discount.Named(ctx, r, i.AccountID, *i.DiscountID, "discount")
	if err != nil {
		return nil, err
	}
	if problem := d.Refuses(items, i.Currency, now); problem != "" {
		return nil, core.Invalid("discount", problem)
	}
	return d.Terms().Pricing(items, i.Currency), nil
}

// replaceLines gives the lines to the draft. New lines get ids, except that one which says the same as the stored line in its place is
// that line.
func (i *Invoice) replaceLines(items, stored []lineitem.Item, now core.Time) {
	ids := make([]string, len(items))
	for n := range items {
		item := &items[n]
		item.AccountID, item.InvoiceID = i.AccountID, &i.ID
		switch {
		case item.ID != "": // stored, at other amounts perhaps
		case n < len(stored) && item.Repeats(stored[n]):
			*item = stored[n]
		default:
			item.ID, item.CreatedAt, item.UpdatedAt = core.NewID(core.KindLineItem), now, now
		}
		ids[n] = item.ID
	}
	i.LineItemIDs = core.JSONOf(ids)
}

// StoreDraft stores a changed draft, and its lines in place of those that were stored.
func (s *Store) StoreDraft(ctx context.Context, u *db.Unit, b *Bill, now core.Time) error {
	b.Invoice.UpdatedAt = now
	if err := u.Update(ctx, Columns, b.Invoice); err != nil {
		return err
	}
	if err := s.deleteLines(ctx, u, b.Invoice); err != nil {
		return err
	}
	return s.rooms.Lines.Insert(ctx, u, b.Items)
}

func (s *Store) deleteLines(ctx context.Context, u *db.Unit, i *Invoice) error {
	_, err := u.Exec(ctx, `DELETE FROM line_items WHERE account_id = ? AND invoice_id = ? AND order_id IS NULL`, i.AccountID, i.ID)
	return err
}
