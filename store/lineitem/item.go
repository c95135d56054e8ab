package lineitem

import (
	"context"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Kind says what a line is for.
type Kind string

// The kinds of line. Only one of a price counts as a sale of its price variant.
const (
	KindPrice     Kind = "price"
	KindSetupFee  Kind = "setup_fee"
	KindProration Kind = "proration"
	KindCustom    Kind = "custom" // ad hoc, on an invoice
)

// Item is one line of a checkout, or of an order and its invoice, which share it. The lines of an order are copies of those
// of its checkout. Names and unit amount are those of the moment when the line was made. A custom line has no product.
type Item struct {
	AccountID        string     `db:"account_id"`
	ID               string     `db:"id"`
	CheckoutID       *string    `db:"checkout_id"`
	OrderID          *string    `db:"order_id"`
	InvoiceID        *string    `db:"invoice_id"`
	Kind             Kind       `db:"kind"`
	ProductID        *string    `db:"product_id"`
	PriceVariantID   *string    `db:"price_variant_id"`
	ProductName      string     `db:"product_name"`
	PriceVariantName *string    `db:"price_variant_name"`
	Description      *string    `db:"description"` // nil: the names of product and price variant say it
	Position         int64      `db:"position"`
	Quantity         int64      `db:"quantity"`
	CustomAmount     *int64     `db:"custom_amount"`
	UnitAmount       int64      `db:"unit_amount"`
	Currency         string     `db:"currency"`
	SubtotalAmount   int64      `db:"subtotal_amount"`
	DiscountAmount   int64      `db:"discount_amount"`
	NetAmount        int64      `db:"net_amount"`
	TaxAmount        int64      `db:"tax_amount"`
	TaxRateBps       int64      `db:"tax_rate_bps"`
	TaxName          *string    `db:"tax_name"`
	TaxInclusive     bool       `db:"tax_inclusive"`
	TotalAmount      int64      `db:"total_amount"`
	TrialDays        int64      `db:"trial_days"`      // of a recurring line in a checkout: how long it costs nothing
	TrialEnd         *core.Time `db:"trial_end"`       // or until then, if the seller said so
	TrialUsed        bool       `db:"trial_used"`      // but not this time: the buyer had theirs
	SubscriptionID   *string    `db:"subscription_id"` // which a line of an order bills for the period
	PeriodStart      *core.Time `db:"period_start"`
	PeriodEnd        *core.Time `db:"period_end"`
	Gives            bool       `db:"gives"`    // its payment gives its product, which is no tip
	Licensed         bool       `db:"licensed"` // what it gives may ask for a licence key: for a server of the release before, which looks here
	CreatedAt        core.Time  `db:"created_at"`
	UpdatedAt        core.Time  `db:"updated_at"`

	Licensing *grant.Licensing `json:"-"` // what it asks for now of licence keys, nil if that is not read. It is no column, and no line differs by it
}

// oneDay is a day of a trial.
const oneDay = 24 * time.Hour

// Columns are those of the lines.
var Columns = db.ColumnsOf[Item]("line_items")

// ByID returns the line items among ids, by their ids.
func (s *Store) ByID(ctx context.Context, account string, ids []string) (map[string]*Item, error) {
	return db.ByID(ctx, s.db, Columns, account, ids)
}

// OfCheckout returns the lines of a checkout in their order.
func (s *Store) OfCheckout(ctx context.Context, account, checkout string) ([]Item, error) {
	return s.OfCheckoutIn(ctx, s.db, account, checkout)
}

// OfCheckoutIn does what OfCheckout does, where r says.
func (s *Store) OfCheckoutIn(ctx context.Context, r db.Reader, account, checkout string) ([]Item, error) {
	return db.Select[Item](ctx, r, Columns.SelectSQL+` WHERE account_id = ? AND checkout_id = ? ORDER BY position`, account, checkout)
}

// TryUntil gives the line a trial that ends at a moment, in place of that of its price variant. Nil leaves the line as it is.
func (l *Item) TryUntil(end *core.Time, now core.Time) {
	if end == nil {
		return
	}
	l.TrialEnd = end
	l.TrialDays = max(int64((end.Time().Sub(now.Time())+oneDay-1)/oneDay), 1)
}

// TrialEndsAt returns when the trial of a line that is bought now ends, nil if it has none. A TrialEnd that has passed since the
// buyer was shown it becomes one second from now.
func (l *Item) TrialEndsAt(now core.Time) *core.Time {
	switch {
	case !l.HasTrial():
		return nil
	case l.TrialEnd != nil:
		return new(max(*l.TrialEnd, now.Add(time.Second)))
	}
	return new(now.Add(oneDay * time.Duration(l.TrialDays)))
}

// HasTrial reports whether the line of a checkout costs nothing at first.
func (l Item) HasTrial() bool { return l.TrialDays > 0 && !l.TrialUsed }

// SellsAs reports whether a line that has no discount and tax yet asks for the same as a stored one that has.
func (l Item) SellsAs(stored Item) bool {
	l.ID, l.CreatedAt, l.UpdatedAt = stored.ID, stored.CreatedAt, stored.UpdatedAt
	l.TaxRateBps, l.TaxName, l.TrialUsed = stored.TaxRateBps, stored.TaxName, stored.TrialUsed
	l.SubtotalAmount, l.DiscountAmount, l.NetAmount = stored.SubtotalAmount, stored.DiscountAmount, stored.NetAmount
	l.TaxAmount, l.TotalAmount = stored.TaxAmount, stored.TotalAmount
	return core.SameJSON(l, stored)
}

// IsGiven reports whether the payment of a line gives its product. What a subscription bills is given by the subscription.
func (l *Item) IsGiven() bool {
	return l.Gives && l.SubscriptionID == nil
}

// Repeats reports whether a line that has no id yet says the same as a stored one.
func (l Item) Repeats(stored Item) bool {
	l.ID, l.CreatedAt, l.UpdatedAt = stored.ID, stored.CreatedAt, stored.UpdatedAt
	return core.SameJSON(l, stored)
}

// Insert stores new lines.
func (s *Store) Insert(ctx context.Context, u *db.Unit, items []Item) error {
	return db.InsertAll(ctx, u, Columns, items)
}
