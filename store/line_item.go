package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/pricing"
	"github.com/tillwright/tillwright/store/tenant"
)

// LineItemKind says what a line is for.
type LineItemKind string

// The kinds of line. Only one of a price counts as a sale of its price variant.
const (
	LineItemKindPrice     LineItemKind = "price"
	LineItemKindSetupFee  LineItemKind = "setup_fee"
	LineItemKindProration LineItemKind = "proration"
	LineItemKindCustom    LineItemKind = "custom" // ad hoc, on an invoice
)

// LineItem is one line of a checkout, or of an order and its invoice, which share it. The lines of an order are copies of those
// of its checkout. Names and unit amount are those of the moment when the line was made. A custom line has no product.
type LineItem struct {
	AccountID        string       `db:"account_id"`
	ID               string       `db:"id"`
	CheckoutID       *string      `db:"checkout_id"`
	OrderID          *string      `db:"order_id"`
	InvoiceID        *string      `db:"invoice_id"`
	Kind             LineItemKind `db:"kind"`
	ProductID        *string      `db:"product_id"`
	PriceVariantID   *string      `db:"price_variant_id"`
	ProductName      string       `db:"product_name"`
	PriceVariantName *string      `db:"price_variant_name"`
	Description      *string      `db:"description"` // nil: the names of product and price variant say it
	Position         int64        `db:"position"`
	Quantity         int64        `db:"quantity"`
	CustomAmount     *int64       `db:"custom_amount"`
	UnitAmount       int64        `db:"unit_amount"`
	Currency         string       `db:"currency"`
	SubtotalAmount   int64        `db:"subtotal_amount"`
	DiscountAmount   int64        `db:"discount_amount"`
	NetAmount        int64        `db:"net_amount"`
	TaxAmount        int64        `db:"tax_amount"`
	TaxRateBps       int64        `db:"tax_rate_bps"`
	TaxName          *string      `db:"tax_name"`
	TaxInclusive     bool         `db:"tax_inclusive"`
	TotalAmount      int64        `db:"total_amount"`
	TrialDays        int64        `db:"trial_days"`      // of a recurring line in a checkout: how long it costs nothing
	TrialEnd         *core.Time   `db:"trial_end"`       // or until then, if the seller said so
	TrialUsed        bool         `db:"trial_used"`      // but not this time: see dropUsedTrials
	SubscriptionID   *string      `db:"subscription_id"` // which a line of an order bills for the period
	PeriodStart      *core.Time   `db:"period_start"`
	PeriodEnd        *core.Time   `db:"period_end"`
	Gives            bool         `db:"gives"`    // its payment gives its product, which is no tip
	Licensed         bool         `db:"licensed"` // what it gives may ask for a licence key: for a server of the release before, which looks here
	CreatedAt        core.Time    `db:"created_at"`
	UpdatedAt        core.Time    `db:"updated_at"`

	licensing *grant.Licensing // what it asks for now of licence keys, nil if that is not read: see offered and readOffered
}

// Describe returns a text that says what the line is about: its description, or else the names of product and price variant.
func (l *LineItem) Describe() string {
	switch {
	case l.Description != nil:
		return *l.Description
	case l.PriceVariantName != nil:
		return l.ProductName + " (" + *l.PriceVariantName + ")"
	}
	return l.ProductName
}

// NewLineItem asks for a line of a checkout: a quantity of a price variant. CustomAmount is what the buyer chooses to pay for
// one unit, if the price variant lets them. TrialEnd is until when a recurring one costs nothing, in place of its own trial.
type NewLineItem struct {
	PriceVariant string
	Quantity     int64
	CustomAmount *int64
	TrialEnd     *core.Time
}

// MaxAmount bounds every amount of an order or an invoice that somebody asks for, in the currency's minor unit. It is far below the numbers
// that a program which counts in doubles cannot tell apart. What a subscription bills by itself may be more, by a tax that came later or by
// debits that waited: it is billed all the same.
const MaxAmount = 1_000_000_000_000

var lineItemColumns = db.ColumnsOf[LineItem]("line_items")

// LineItemsByID returns the line items among ids, by their ids.
func (s *Store) LineItemsByID(ctx context.Context, account string, ids []string) (map[string]*LineItem, error) {
	return db.ByID(ctx, s.db, lineItemColumns, account, ids)
}

// CheckoutLines returns the lines of a checkout in their order.
func (s *Store) CheckoutLines(ctx context.Context, account, checkout string) ([]LineItem, error) {
	return db.Select[LineItem](ctx, s.db, lineItemColumns.SelectSQL+` WHERE account_id = ? AND checkout_id = ? ORDER BY position`, account, checkout)
}

// lines makes the lines that are asked for, without their totals: one for each, and one more for its set-up fee. An empty
// currency is the first line's. What cannot be sold is CodeInvalid on line_items; what is not sold in a currency that was asked
// for is CodeInvalid on currency.
func (l lineup) lines(currency string, asked bool, tax *tenant.TaxSettings) ([]LineItem, error) {
	inCurrency := "line_items"
	if asked {
		inCurrency = "currency"
	}
	if currency == "" && len(l.offers) > 0 {
		currency = l.offers[0].variant.Currency
	}
	var problems core.Problems
	problems.Check(len(l.wanted) > 0, "line_items", "A checkout has at least one line.")
	problems.Check(!l.isMixed(), "line_items", "Recurring price variants in one checkout have the same interval.")
	var items []LineItem
	pieces := l.pieces()
	for i, o := range l.offers {
		wanted, foreign := l.wanted[i], o.foreign(currency)
		amount, problem := o.unitAmount(currency, wanted.CustomAmount)
		if foreign != "" {
			problems.Add(inCurrency, foreign)
			// Without a price in the currency, what is wrong with the amount says nothing.
			problem = ""
		}
		problem = cmp.Or(o.unsellable(pieces[o.variant.ID]), o.allowed(pieces[o.variant.ID]), problem)
		problems.Check(problem == "", "line_items", problem)
		line := o.line(LineItemKindPrice, currency, amount, tax)
		line.Quantity, line.CustomAmount, line.TrialDays = wanted.Quantity, wanted.CustomAmount, o.variant.TrialDays
		line.tryUntil(wanted.TrialEnd, l.now)
		if items = append(items, line); o.variant.SetupFeeAmount > 0 {
			items = append(items, o.setupFee(currency, tax))
		}
	}
	return items, problems.Err()
}

// tryUntil gives the line a trial that ends at a moment, in place of that of its price variant. Nil leaves the line as it is.
func (l *LineItem) tryUntil(end *core.Time, now core.Time) {
	if end == nil {
		return
	}
	l.TrialEnd = end
	l.TrialDays = max(int64((end.Time().Sub(now.Time())+day-1)/day), 1)
}

// trialEnd returns when the trial of a line that is bought now ends, nil if it has none. A TrialEnd that has passed since the
// buyer was shown it becomes one second from now.
func (l *LineItem) trialEnd(now core.Time) *core.Time {
	switch {
	case !l.HasTrial():
		return nil
	case l.TrialEnd != nil:
		return new(max(*l.TrialEnd, now.Add(time.Second)))
	}
	return new(now.Add(day * time.Duration(l.TrialDays)))
}

// line returns a line of one piece of the offer.
func (o offer) line(kind LineItemKind, currency string, amount int64, tax *tenant.TaxSettings) LineItem {
	return LineItem{
		Kind: kind, ProductID: &o.product.ID, PriceVariantID: &o.variant.ID, ProductName: o.product.Name, PriceVariantName: o.variant.Name,
		Quantity: 1, UnitAmount: amount, Currency: currency, TaxInclusive: tax.IsInclusive(o.variant.TaxBehavior),
		Gives: kind == LineItemKindPrice && o.product.Type != catalog.ProductTypeTip, Licensed: kind == LineItemKindPrice && o.mayLicense(), licensing: o.licensing,
	}
}

// setupFee returns the line for the offer's set-up fee. It is paid once, however many pieces there are.
func (o offer) setupFee(currency string, tax *tenant.TaxSettings) LineItem {
	line := o.line(LineItemKindSetupFee, currency, o.variant.SetupFeeAmount, tax)
	line.Description = new(line.Describe() + ", set-up fee")
	return line
}

// isMixed reports whether there are recurring lines with different intervals.
func (l lineup) isMixed() bool {
	var interval string
	for _, o := range l.offers {
		if o.variant.Type != catalog.PriceVariantTypeRecurring {
			continue
		}
		this := core.JSONText([]any{o.variant.Interval, o.variant.IntervalCount})
		if interval != "" && this != interval {
			return true
		}
		interval = this
	}
	return false
}

// pieces returns how many of each price variant are asked for. The limits of a price variant are for that sum, so that two lines
// do not get around them.
func (l lineup) pieces() map[string]int64 {
	pieces := map[string]int64{}
	for i, o := range l.offers {
		pieces[o.variant.ID] += l.wanted[i].Quantity
	}
	return pieces
}

// tax returns the line's tax rate in the form that the arithmetic takes.
func (l *LineItem) tax() pricing.Tax {
	tax := pricing.Tax{Bps: l.TaxRateBps, Inclusive: l.TaxInclusive}
	if l.TaxName != nil {
		tax.Name = *l.TaxName
	}
	return tax
}

// priceError returns CodeInvalid on a field for a subtotal or a total that is too large. Whole says of what, as in "an order". Any other error
// of the arithmetic is a mistake of ours, and is returned as such.
func priceError(field, whole string, err error, totals pricing.Amounts) error {
	if err != nil && !errors.Is(err, pricing.ErrRange) {
		return fmt.Errorf("price %s: %w", field, err)
	}
	if err != nil || totals.Subtotal > MaxAmount || totals.Total > MaxAmount {
		return core.Invalid(field, fmt.Sprintf("The total, or the subtotal before discounts, exceeds %d, which is the most that %s can come to.", MaxAmount, whole))
	}
	return nil
}

// price works out the amounts of lines, with discounts and the tax rates that the lines have, and returns their sums. A total
// that is too large for an order is CodeInvalid on line_items.
func price(items []LineItem, discounts ...pricing.Discount) (pricing.Amounts, error) {
	totals, err := priceLines(items, discounts...)
	return totals, priceError("line_items", "an order", err, totals)
}

// priceLines does what price does, but returns the error of the arithmetic as it is, and does not look at MaxAmount.
func priceLines(items []LineItem, discounts ...pricing.Discount) (pricing.Amounts, error) {
	priced := make([]pricing.Line, len(items))
	for i, item := range items {
		priced[i] = pricing.Line{UnitAmount: item.UnitAmount, Quantity: item.Quantity, Tax: item.tax()}
	}
	totals, err := pricing.Totals(priced, discounts...)
	if err != nil {
		return pricing.Amounts{}, err
	}
	for i, amounts := range totals.Lines {
		item := &items[i]
		item.SubtotalAmount, item.DiscountAmount, item.NetAmount = amounts.Subtotal, amounts.Discount, amounts.Net
		item.TaxAmount, item.TotalAmount = amounts.Tax, amounts.Total
	}
	return totals.Amounts, nil
}

// quantity is how many pieces of one product or price variant there are in several lines.
type quantity struct {
	id     string
	pieces int64
}

// pieces adds up the lines that sell something by their product or price variant, as key says. They come in the order of their
// ids, in which rows are locked.
func pieces(items []LineItem, key func(LineItem) *string) []quantity {
	sums := map[string]int64{}
	for _, item := range items {
		if id := key(item); item.Kind == LineItemKindPrice && id != nil {
			sums[*id] += item.Quantity
		}
	}
	list := make([]quantity, 0, len(sums))
	for id, n := range sums {
		list = append(list, quantity{id, n})
	}
	slices.SortFunc(list, func(a, b quantity) int { return cmp.Compare(a.id, b.id) })
	return list
}

func byVariant(item LineItem) *string { return item.PriceVariantID }
func byProduct(item LineItem) *string { return item.ProductID }

// reserve holds stock for the lines, so that two buyers never hold the same piece. If there is not enough it returns CodeInvalid
// on line_items.
func (s *Store) reserve(ctx context.Context, u *db.Unit, account string, items []LineItem) error {
	if err := s.checkLicenses(ctx, account, items); err != nil {
		return err
	}
	return s.reserveStock(ctx, u, account, items)
}

// reserveStock does what reserve does, but for licence keys.
func (s *Store) reserveStock(ctx context.Context, u *db.Unit, account string, items []LineItem) error {
	for _, q := range pieces(items, byVariant) {
		err := u.Later(ctx, db.Change{
			Table: "price_variants",
			Query: `
				UPDATE price_variants SET reserved_count = reserved_count + ?
				WHERE account_id = ? AND id = ? AND (stock IS NULL OR sold_count + reserved_count + ? <= stock)`,
			Args: []any{q.pieces, account, q.id, q.pieces}, Rows: 1,
			Wrong: core.Invalid("line_items", fmt.Sprintf("Price variant %s is out of stock.", q.id)),
		})
		if err != nil {
			return fmt.Errorf("reserve stock: %w", err)
		}
	}
	return nil
}

// checkLicenses returns CodeInvalid on line_items if a product is sold with imported licence keys of which there are too few left: each line takes
// one. The lines know what they ask for: see offered and readOffered. None is held: who loses a race is given theirs by the next import.
func (s *Store) checkLicenses(ctx context.Context, account string, items []LineItem) error {
	wanted := map[string]int{}
	for i := range items {
		if l := &items[i]; l.Gives && l.licensing != nil && l.licensing.Stock > 0 {
			wanted[*l.ProductID]++
		}
	}
	for _, product := range slices.Sorted(maps.Keys(wanted)) {
		enough, err := s.Grant.HasLicenses(ctx, account, product, wanted[product])
		if err != nil {
			return err
		}
		if !enough {
			return core.Invalid("line_items", fmt.Sprintf("Product %s is out of stock: no licence key is left.", product))
		}
	}
	return nil
}

// reserveProducts does what reserveStock does, for lines that the same transaction goes on to sell. It locks the products first,
// because they come before their price variants everywhere. A product that is gone is CodeInvalid on line_items.
func (s *Store) reserveProducts(ctx context.Context, u *db.Unit, account string, items []LineItem) error {
	for _, q := range pieces(items, byProduct) {
		found, err := db.Get[string](ctx, u, `SELECT id FROM products WHERE account_id = ? AND id = ?`+u.Lock(), account, q.id)
		if err != nil {
			return fmt.Errorf("lock product: %w", err)
		}
		if found == nil {
			return core.Invalid("line_items", fmt.Sprintf("Product %s does not exist any more.", q.id))
		}
	}
	return s.reserveStock(ctx, u, account, items)
}

// release gives back the stock that reserve holds.
func (s *Store) release(ctx context.Context, u *db.Unit, account string, items []LineItem) error {
	for _, q := range pieces(items, byVariant) {
		err := u.Later(ctx, db.Change{
			Table: "price_variants", Query: `UPDATE price_variants SET reserved_count = reserved_count - ? WHERE account_id = ? AND id = ?`,
			Args: []any{q.pieces, account, q.id}, Rows: 1,
		})
		if err != nil {
			return fmt.Errorf("release stock of %s: %w", q.id, err)
		}
	}
	return nil
}

// sell turns the stock that reserve holds into sales, of the products and of the price variants. Products are locked before
// their price variants, as everywhere.
func (s *Store) sell(ctx context.Context, u *db.Unit, account string, items []LineItem) error {
	for _, q := range pieces(items, byProduct) {
		err := u.Later(ctx, db.Change{
			Table: "products", Query: `UPDATE products SET sales_count = sales_count + ? WHERE account_id = ? AND id = ?`,
			Args: []any{q.pieces, account, q.id}, Rows: 1,
		})
		if err != nil {
			return fmt.Errorf("count sales of %s: %w", q.id, err)
		}
	}
	for _, q := range pieces(items, byVariant) {
		err := u.Later(ctx, db.Change{
			Table: "price_variants",
			Query: `UPDATE price_variants SET reserved_count = reserved_count - ?, sold_count = sold_count + ? WHERE account_id = ? AND id = ?`,
			Args:  []any{q.pieces, q.pieces, account, q.id}, Rows: 1,
		})
		if err != nil {
			return fmt.Errorf("sell stock of %s: %w", q.id, err)
		}
	}
	return nil
}
