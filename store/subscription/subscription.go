package subscription

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/pricing"
)

// Status is where a subscription stands.
type Status string

// The states of a subscription. Canceled and completed are final.
const (
	StatusTrialing  Status = "trialing"
	StatusActive    Status = "active"
	StatusPastDue   Status = "past_due" // its latest invoice could not be collected yet
	StatusPaused    Status = "paused"
	StatusCanceled  Status = "canceled"
	StatusCompleted Status = "completed" // all its billing cycles are over
)

// lifecycle lists, for each state of a subscription, the states that may follow it.
var lifecycle = core.Lifecycle[Status]{
	StatusTrialing: {StatusActive, StatusPaused, StatusCanceled},
	StatusActive:   {StatusPastDue, StatusPaused, StatusCanceled, StatusCompleted},
	StatusPastDue:  {StatusActive, StatusCanceled},
	StatusPaused:   {StatusTrialing, StatusActive, StatusCanceled},
}

// Subscription bills a customer for a price variant, period after period. A period is billed when it begins. While the
// subscription is trialing, its current period is the trial.
type Subscription struct {
	AccountID          string                            `db:"account_id"`
	ID                 string                            `db:"id"`
	Status             Status                            `db:"status"`
	CustomerID         string                            `db:"customer_id"`
	CustomerVerified   bool                              `db:"customer_verified"` // false: only a typed address says whose it is, so that it is charged to its own method alone
	ProductID          string                            `db:"product_id"`
	PriceVariantID     string                            `db:"price_variant_id"`
	ProductName        string                            `db:"product_name"`
	PriceVariantName   *string                           `db:"price_variant_name"`
	Quantity           int64                             `db:"quantity"`
	UnitAmount         int64                             `db:"unit_amount"`
	Currency           string                            `db:"currency"`
	Interval           string                            `db:"interval"`
	IntervalCount      int64                             `db:"interval_count"`
	AnchorDay          int64                             `db:"anchor_day"` // the day of the month on which periods begin, where the month has it
	CurrentPeriodStart core.Time                         `db:"current_period_start"`
	CurrentPeriodEnd   core.Time                         `db:"current_period_end"`
	PeriodAmount       int64                             `db:"period_amount"`  // what the current period costs after its discount
	MonthlyAmount      *int64                            `db:"monthly_amount"` // what it counts with in the metrics, nil if it does not
	TrialStart         *core.Time                        `db:"trial_start"`
	TrialEnd           *core.Time                        `db:"trial_end"`
	StartedAt          core.Time                         `db:"started_at"`
	CancelAtPeriodEnd  bool                              `db:"cancel_at_period_end"`
	CanceledAt         *core.Time                        `db:"canceled_at"` // when the cancellation was asked for
	EndedAt            *core.Time                        `db:"ended_at"`
	Cancellation       core.JSON[*Cancellation]          `db:"cancellation"`
	CancellationReason *CancellationReason               `db:"cancellation_reason"`
	PauseAtPeriodEnd   bool                              `db:"pause_at_period_end"`
	PausedAt           *core.Time                        `db:"paused_at"`
	ResumesAt          *core.Time                        `db:"resumes_at"`
	PausedByCustomer   bool                              `db:"paused_by_customer"` // what it rests for, or is going to, was their wish
	PastDueAt          *core.Time                        `db:"past_due_at"`
	NextAttemptAt      *core.Time                        `db:"next_payment_attempt_at"` // nil while an attempt of the schedule is under way
	AttemptCount       int64                             `db:"attempt_count"`           // failed attempts of the schedule at the latest invoice
	ExtraAttempt       bool                              `db:"extra_attempt"`           // a new payment method is to be tried at once
	CyclesBilled       int64                             `db:"cycles_billed"`
	Restarts           int64                             `db:"restarts"`       // how many of CyclesBilled a change of plan began
	BillingCycles      *int64                            `db:"billing_cycles"` // nil = until it is cancelled
	DiscountID         *string                           `db:"discount_id"`
	Discount           core.JSON[*discount.Terms]        `db:"discount"` // as it was when it was given
	DiscountEndsAt     *core.Time                        `db:"discount_ends_at"`
	DiscountWaits      core.JSON[*WaitingDiscount]       `db:"discount_waits"` // set until the period is over in which the discount was given, used up or taken away
	Method             core.JSON[*payment.BillingMethod] `db:"payment_method"`
	LatestInvoiceID    *string                           `db:"latest_invoice_id"`
	PendingChange      core.JSON[*PendingChange]         `db:"pending_change"`
	Prorations         core.JSON[[]Proration]            `db:"prorations"` // billed with the next period
	Units              core.JSON[[]PlanUnits]            `db:"units"`      // empty until its plan changes, or a change waits, for the first time
	Carried            core.JSON[[]PaidPart]             `db:"carried"`    // what paid for the rest of the period, since a change of plan; nil: its own bill
	CustomFieldData    core.JSON[map[string]string]      `db:"custom_field_data"`
	BillingName        *string                           `db:"billing_name"`
	BillingAddress     core.JSON[*core.Address]          `db:"billing_address"`
	TaxID              core.JSON[*customer.TaxID]        `db:"tax_id"`
	CheckoutID         *string                           `db:"checkout_id"`
	Granted            core.JSON[*Granted]               `db:"granted"` // nil for one that is older than grants, until it changes
	Metadata           core.Metadata                     `db:"metadata"`
	DueAt              *core.Time                        `db:"due_at"` // when something is to be done next, nil for never
	CreatedAt          core.Time                         `db:"created_at"`
	UpdatedAt          core.Time                         `db:"updated_at"`

	IsPaid      bool `json:"-"` // the current period was paid for in this transaction
	IsCovered   bool `json:"-"` // nobody has to pay it since this transaction: see Deliver
	Begins      bool `json:"-"` // a period began in this transaction
	GotCard     bool `json:"-"` // a card was chosen for it in this transaction
	IsKept      bool `json:"-"` // its cancellation was taken back in this transaction
	IsOverruled bool `json:"-"` // and the customer had cancelled it, but the seller took that back
	IsAsked     bool `json:"-"` // somebody asks for its plan, or for one that waits, in this transaction
	Ends        bool `json:"-"` // set from its end until that is stored
	Owes        bool `json:"-"` // its last bill was not collected in this transaction: see billLast
	IsSettled   bool `json:"-"` // the last of its unpaid bills was paid or given up in this transaction
}

// CancellationReason says why a subscription was cancelled.
type CancellationReason string

// CancellationReasonPaymentFailed is the reason if no attempt could collect the latest invoice.
const CancellationReasonPaymentFailed CancellationReason = "payment_failed"

// Cancellation says why a subscription was cancelled, and by whom.
type Cancellation struct {
	Reason  *CancellationReason `json:"reason"`
	Comment *string             `json:"comment"`
	By      string              `json:"by"` // merchant, customer or system

	RefundIDs  []string `json:"refunds,omitempty"`           // ids of the refunds of what was left of the period
	Unrefunded int64    `json:"unrefunded_amount,omitempty"` // what was left of it besides and cannot be given back here
}

// Who cancels a subscription.
const (
	CancelledByMerchant = "merchant"
	CancelledByCustomer = "customer"
	CancelledBySystem   = "system"
)

// Plan is what a subscription bills in each period.
type Plan struct {
	ProductID        string  `json:"product"`
	PriceVariantID   string  `json:"price_variant"`
	ProductName      string  `json:"product_name"`
	PriceVariantName *string `json:"price_variant_name"`
	Quantity         int64   `json:"quantity"`
	UnitAmount       int64   `json:"unit_amount"`
	Interval         string  `json:"interval"`
	IntervalCount    int64   `json:"interval_count"`
	BillingCycles    *int64  `json:"billing_cycles"`
}

// PendingChange is a change of plan that has not taken place yet. It waits for the end of the period, or for the payment of its invoice.
type PendingChange struct {
	Plan        Plan           `json:"plan"`
	EffectiveAt core.Time      `json:"effective_at"`
	InvoiceID   *string        `json:"invoice"`  // the invoice that has to be paid first; nil: it waits for the end of the period
	Restarts    bool           `json:"restarts"` // a new period begins
	Amount      int64          `json:"amount"`   // what the whole period costs under the new plan, after its discount
	Discounted  bool           `json:"discounted"`
	Replaces    *PendingChange `json:"replaces,omitempty"` // waits for the end of the period, if this one is not paid
	ByCustomer  bool           `json:"by_customer,omitempty"`
}

// Proration is a debit that waits: the price of a part of a period that a change of plan made dearer. It is billed with the next period,
// or with a last invoice when there is none.
type Proration struct {
	Description string    `json:"description"`
	Amount      int64     `json:"amount"`
	TaxIncluded bool      `json:"tax_included"` // false only for one from before debits were written with their tax
	Start       core.Time `json:"start"`        // the latest change of plan: until then a share of it was used
	Left        int64     `json:"left"`         // of Amount, the share that falls on the time from Start to the end of the period
}

// List holds the filters of a list of subscriptions. An empty one does not filter.
type List struct {
	core.Page
	core.ListFilter
	Status                 Status
	Customer               string
	Product                string // id or slug
	PriceVariant           string
	Discount               string
	CancelAtPeriodEnd      *bool
	CurrentPeriodEndBefore *core.Time // exclusive
	CurrentPeriodEndAfter  *core.Time // inclusive
	CancellationReason     CancellationReason

	IsVerified bool // leaves out those of which only a typed address says that they are the customer's
}

// Columns are those of a Subscription.
var Columns = db.ColumnsOf[Subscription]("subscriptions")

// Amount returns what a period costs, before any discount and without tax on top.
func (s *Subscription) Amount() int64 { return s.UnitAmount * s.Quantity }

// CancelAt returns when the subscription ends, nil if it goes on or has ended.
func (s *Subscription) CancelAt() *core.Time {
	if !s.CancelAtPeriodEnd || s.EndedAt != nil {
		return nil
	}
	return &s.CurrentPeriodEnd
}

// HasEnded reports whether the subscription is canceled or completed: it bills nothing any more.
func (s *Subscription) HasEnded() bool { return len(lifecycle[s.Status]) == 0 }

// CurrentPlan returns the plan that the subscription bills now.
func (s *Subscription) CurrentPlan() Plan {
	return Plan{s.ProductID, s.PriceVariantID, s.ProductName, s.PriceVariantName, s.Quantity, s.UnitAmount, s.Interval, s.IntervalCount, s.BillingCycles}
}

// nextPlan returns the plan of the next period, as far as it is known now.
func (s *Subscription) nextPlan() Plan {
	if change := s.PendingChange.V; change != nil {
		return change.Plan
	}
	return s.CurrentPlan()
}

// IsComplete reports whether no period follows the current one. Then all its billing cycles are over, and so they are by the plan
// of a change that waits.
func (s *Subscription) IsComplete() bool {
	over := func(cycles *int64) bool { return cycles != nil && s.cyclesPaid() >= *cycles }
	return over(s.BillingCycles) && over(s.nextPlan().BillingCycles)
}

// cyclesPaid returns how many of its billing cycles are over with the current period. A period that a change of plan began takes the place of the
// one that it ended, of which the rest was credited.
func (s *Subscription) cyclesPaid() int64 { return s.CyclesBilled - s.Restarts }

// Follow gives the subscription another plan.
func (s *Subscription) Follow(p Plan) {
	s.keepUnits()
	s.ProductID, s.PriceVariantID, s.ProductName, s.PriceVariantName = p.ProductID, p.PriceVariantID, p.ProductName, p.PriceVariantName
	s.Quantity, s.UnitAmount, s.Interval, s.IntervalCount, s.BillingCycles = p.Quantity, p.UnitAmount, p.Interval, p.IntervalCount, p.BillingCycles
}

// Describe names what is subscribed to for people.
func (s *Subscription) Describe() string { return s.CurrentPlan().Describe() }

// HasProduct reports whether the subscription gives something: a tip gives nothing.
func (s *Subscription) HasProduct() bool { return s.Granted.V != nil && s.Granted.V.GrantID != "" }

// Describe names the product and the price variant for people.
func (p Plan) Describe() string {
	if p.PriceVariantName != nil {
		return p.ProductName + " (" + *p.PriceVariantName + ")"
	}
	return p.ProductName
}

// HasNameOf reports whether another price variant is called the same, so that people cannot tell the two by their names.
func (p Plan) HasNameOf(other Plan) bool {
	return p.PriceVariantID != other.PriceVariantID && p.Describe() == other.Describe()
}

// Price returns what a piece of the plan costs in each period.
func (p Plan) Price(currency string) *lineitem.PlanPrice {
	return &lineitem.PlanPrice{Amount: p.UnitAmount, Currency: currency, Interval: p.Interval, IntervalCount: p.IntervalCount}
}

// PeriodEnd returns when a period of the plan ends that begins at start. Months and years end on the anchor day of the month:
// pricing.Interval.Next says how.
func (p Plan) PeriodEnd(start core.Time, anchorDay int64) (core.Time, error) {
	end, err := pricing.Interval{Unit: pricing.IntervalUnit(p.Interval), Count: p.IntervalCount}.Next(start.Time(), int(anchorDay))
	if err != nil {
		return 0, fmt.Errorf("end of a period of %d %s: %w", p.IntervalCount, p.Interval, err)
	}
	return core.TimeOf(end), nil
}

// Begin sets the current period to the one that starts at start, with which the months of a discount begin that have not begun yet. It
// charges nothing, and forgets what was carried into the period before.
func (s *Subscription) Begin(start core.Time) error {
	end, err := s.CurrentPlan().PeriodEnd(start, s.AnchorDay)
	s.CurrentPeriodStart, s.CurrentPeriodEnd, s.Carried = start, end, core.JSON[[]PaidPart]{}
	s.DiscountWaits, s.Begins = core.JSON[*WaitingDiscount]{}, true
	s.beginDiscount()
	return err
}

// Schedule sets DueAt, when something is to be done next for the subscription. That is the end of its period, the next attempt to collect, or the
// end of its pause. Nil means that the worker leaves it alone.
func (s *Subscription) Schedule() {
	s.DueAt = nil
	switch s.Status {
	case StatusTrialing, StatusActive:
		s.DueAt = &s.CurrentPeriodEnd
	case StatusPastDue:
		s.DueAt = s.NextAttemptAt
		if s.ExtraAttempt {
			s.DueAt = s.PastDueAt
		}
	case StatusPaused:
		s.DueAt = s.ResumesAt
		if s.CancelAtPeriodEnd && (s.DueAt == nil || *s.DueAt > s.CurrentPeriodEnd) {
			s.DueAt = &s.CurrentPeriodEnd
		}
	case StatusCanceled, StatusCompleted: // over
	}
}

// End makes the subscription canceled or completed at the given moment, and drops everything that was still planned for it, debits
// that wait too.
func (s *Subscription) End(status Status, at core.Time) {
	s.Status, s.EndedAt, s.Ends = status, &at, true
	s.NextAttemptAt, s.ResumesAt, s.ExtraAttempt, s.PauseAtPeriodEnd, s.PausedByCustomer = nil, nil, false, false, false
	s.PendingChange, s.Prorations = core.JSON[*PendingChange]{}, core.JSON[[]Proration]{}
}

// Get returns a subscription, or CodeMissing.
func (s *Store) Get(ctx context.Context, account, ref string) (*Subscription, error) {
	return s.Named(ctx, s.db, account, ref, "")
}

// ByID returns those of the subscriptions with these ids that exist, by id.
func (s *Store) ByID(ctx context.Context, account string, ids []string) (map[string]*Subscription, error) {
	return db.ByID(ctx, s.db, Columns, account, ids)
}

// OfCheckout returns the first subscription that a checkout made, or CodeMissing.
func (s *Store) OfCheckout(ctx context.Context, account, checkout string) (*Subscription, error) {
	sub, err := db.Get[Subscription](ctx, s.db, Columns.SelectSQL+` WHERE account_id = ? AND checkout_id = ? ORDER BY id LIMIT 1`, account, checkout)
	if err == nil && sub == nil {
		err = core.Missing("subscription", "", checkout)
	}
	return sub, err
}

// List returns a page of subscriptions, newest first, and whether there are more. A customer, product,
// price variant or discount that does not exist is CodeMissing.
func (s *Store) List(ctx context.Context, account string, in List) ([]Subscription, bool, error) {
	var f db.Filter
	f.OrderedIfSet("status", string(in.Status))
	f.OrderedIfSet("cancellation_reason", string(in.CancellationReason))
	if in.CancelAtPeriodEnd != nil {
		f.Ordered("cancel_at_period_end", *in.CancelAtPeriodEnd)
	}
	if in.IsVerified {
		f.And(`customer_verified`)
	}
	db.Between(&f, "current_period_end", in.CurrentPeriodEndAfter, "<", in.CurrentPeriodEndBefore)
	f.OrderedIfSet("customer_id", db.IDNamed(ctx, s.db, &f, s.rooms.Customer.Named, account, in.Customer, "customer"))
	f.OrderedIfSet("product_id", db.IDNamed(ctx, s.db, &f, s.rooms.Catalog.ProductNamed, account, in.Product, "product"))
	f.OrderedIfSet("price_variant_id", db.IDNamed(ctx, s.db, &f, s.rooms.Catalog.PriceVariantNamed, account, in.PriceVariant, "price_variant"))
	f.OrderedIfSet("discount_id", db.IDNamed(ctx, s.db, &f, s.rooms.Discount.Named, account, in.Discount, "discount"))
	f.List(s.db, "subscriptions", core.KindSubscription, in.ListFilter, "product_name", "price_variant_name", "billing_name")
	return db.Page(ctx, s.db, Columns, core.KindSubscription, account, in.Page, &f)
}

// Named reads a subscription, or returns CodeMissing. Param is the parameter that named it, "" if the path did.
func (s *Store) Named(ctx context.Context, r db.Reader, account, ref, param string) (*Subscription, error) {
	return find(ctx, r, account, ref, param)
}

// Lock does what Named does, and locks the row until the transaction ends.
func (s *Store) Lock(ctx context.Context, u *db.Unit, account, ref string) (*Subscription, error) {
	return find(ctx, u.Locked(), account, ref, "")
}

func find(ctx context.Context, r db.Reader, account, ref, param string) (*Subscription, error) {
	id, ok := core.ParseID(core.KindSubscription, ref)
	if !ok {
		return nil, core.Missing("subscription", param, ref)
	}
	sub, err := db.Get[Subscription](ctx, r, Columns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, id)
	if err != nil {
		return nil, fmt.Errorf("read subscription: %w", err)
	}
	if sub == nil {
		return nil, core.Missing("subscription", param, ref)
	}
	return sub, nil
}

// CheckNone returns CodeInvalid on base if the customer has a subscription that has not ended.
func (s *Store) CheckNone(ctx context.Context, u *db.Unit, c *customer.Customer) error {
	sub, err := db.Get[string](ctx, u, `
		SELECT id FROM subscriptions WHERE account_id = ? AND customer_id = ? AND status NOT IN ('canceled', 'completed') LIMIT 1`, c.AccountID, c.ID)
	if err == nil && sub != nil {
		err = core.Invalid("base", fmt.Sprintf("The customer has a subscription, %s. Cancel it first.", *sub))
	}
	return err
}
