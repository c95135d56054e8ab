package store

import (
	"cmp"
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lineitem"
)

// PaymentStatus says how far a payment has come.
type PaymentStatus string

// The states of a payment. Succeeded, failed and canceled are final.
const (
	PaymentStatusPending        PaymentStatus = "pending" // the provider was or will be asked; the outcome is not known here
	PaymentStatusRequiresAction PaymentStatus = "requires_action"
	PaymentStatusSucceeded      PaymentStatus = "succeeded"
	PaymentStatusFailed         PaymentStatus = "failed"
	PaymentStatusCanceled       PaymentStatus = "canceled"
)

// paymentLifecycle lists, for each state of a payment, the states that may follow it.
var paymentLifecycle = core.Lifecycle[PaymentStatus]{
	PaymentStatusPending:        {PaymentStatusRequiresAction, PaymentStatusSucceeded, PaymentStatusFailed, PaymentStatusCanceled},
	PaymentStatusRequiresAction: {PaymentStatusSucceeded, PaymentStatusFailed, PaymentStatusCanceled},
}

// IsFinal reports whether the payment has succeeded, failed or been canceled: its state never changes again.
func (p PaymentStatus) IsFinal() bool { return len(paymentLifecycle[p]) == 0 }

// PaymentPurpose says what a payment is for.
type PaymentPurpose string

// The purposes of a payment. The payment of a checkout gets its order when it succeeds; that of an invoice has it from the start.
const (
	PaymentPurposeCheckout PaymentPurpose = "checkout"
	PaymentPurposeInvoice  PaymentPurpose = "invoice"
)

// Payment is one attempt to charge a buyer, from the intent to the outcome. Its id is the token by which the provider
// recognises the attempt. It is minted once and kept by every retry, so that the attempt charges at most once.
type Payment struct {
	AccountID     string                     `db:"account_id"`
	ID            string                     `db:"id"`
	Purpose       PaymentPurpose             `db:"purpose"`
	CheckoutID    *string                    `db:"checkout_id"`
	OrderID       *string                    `db:"order_id"`
	InvoiceID     *string                    `db:"invoice_id"`
	CustomerID    *string                    `db:"customer_id"`
	Status        PaymentStatus              `db:"status"`
	Amount        int64                      `db:"amount"`
	Currency      string                     `db:"currency"`
	Provider      string                     `db:"provider"`
	ProviderRef   *string                    `db:"provider_ref"`
	MethodRef     string                     `db:"method_ref"`
	CustomerRef   *string                    `db:"customer_ref"`      // the provider's id of the customer who has the method, once it is saved
	MethodID      *string                    `db:"payment_method_id"` // our id of the saved method, if it is one
	SaveMethod    bool                       `db:"save_method"`       // the method is to be saved when the payment succeeds
	OffSession    bool                       `db:"off_session"`       // the buyer is not there to do anything
	OnPage        bool                       `db:"on_page"`           // the buyer is on our page, and comes back to it from their bank
	Keyless       bool                       `db:"keyless"`           // the buyer came without an API key
	Guards        core.JSON[[]string]        `db:"guards"`            // the subjects of the guards that count it while it is under way
	PaymentMethod core.JSON[PaymentMethod]   `db:"payment_method"`
	Failure       core.JSON[*PaymentFailure] `db:"failure"`
	NextActionURL *string                    `db:"next_action_url"` // while it requires an action
	LeaseUntil    core.Time                  `db:"lease_until"`     // by the database's clock; the reconciler leaves it alone until then
	CreatedAt     core.Time                  `db:"created_at"`
	UpdatedAt     core.Time                  `db:"updated_at"`
}

// PaymentMethod is the part of a payment method that may be shown.
type PaymentMethod struct {
	Type     string `json:"type"` // card
	Brand    string `json:"brand"`
	Last4    string `json:"last4"`
	ExpMonth int    `json:"exp_month"`
	ExpYear  int    `json:"exp_year"`
}

// PaymentFailure says why a payment did not go through.
type PaymentFailure struct {
	Code        string  `json:"code"`
	DeclineCode *string `json:"decline_code"`
	Message     string  `json:"message"`
	OfSeller    bool    `json:"of_seller,omitempty"` // no card helps: the seller's settings have to be mended
}

// Reason returns what a buyer is told the reason of: "seller" if it is the seller's fault, else the bank's code, or the provider's.
func (f *PaymentFailure) Reason() string {
	switch {
	case f.OfSeller:
		return "seller"
	case f.DeclineCode != nil:
		return *f.DeclineCode
	}
	return f.Code
}

// Err returns the answer to the request that wanted to pay. Its outcome is Recorded, so that the same request sent again gets
// this answer and is never charged again.
func (f *PaymentFailure) Err() error {
	return &core.Error{
		Code: core.CodeInvalid, Param: "payment_method", Message: f.Message, Outcome: core.Recorded, Reason: f.Reason(),
		Fields: map[string][]string{"payment_method": {f.Message}},
	}
}

// Confirm says how a buyer pays for a checkout. MethodRef is the provider's reference of a method that was sent, empty if none
// was. Saved is the id of one of the customer's saved methods that is to pay instead. Save asks to keep the method that was
// sent; one that pays for a subscription is always kept.
type Confirm struct {
	Provider         string
	MethodRef        string
	PaymentMethod    PaymentMethod
	Saved            string
	Save             bool
	TermsAccepted    bool
	WithdrawalWaived bool
	AdsConsent       *bool         // nil = as the checkout says
	AdsVisit         *advert.Visit // nil = none was sent
	OnPage           bool          // the buyer is on our page
	IsPublic         bool          // whoever has the client secret pays, on our page or elsewhere
	From             Buyer

	customerRef *string // the provider's id of the customer, if Saved names a method
	methodID    *string
}

// isKeyless reports whether the buyer pays without an API key.
func (c Confirm) isKeyless() bool { return c.IsPublic || c.From.keyless() }

// Confirmation says how far the payment of a checkout or of an invoice has come: one of Checkout and Invoice is set, the other
// nil. Payment is nil if there is nothing to charge.
type Confirmation struct {
	Checkout *Checkout
	Invoice  *Invoice
	Payment  *Payment

	// Again is set if an earlier request began the payment, and this one is the same request sent again.
	Again bool

	// HoldsTooMuch is set if the payment, which now waits for its buyer's bank, and others that wait hold more of something than they
	// leave. It is to be given up then.
	HoldsTooMuch bool
	// GivenUp is what a buyer is told whose payment is given up; empty for that they were too late.
	GivenUp string

	PausedUntil *core.Time // set if this decline was one too many: until then buyers without a key cannot pay in this account
}

// ChargeResult is the provider's answer about the charge of a payment.
type ChargeResult struct {
	Status        PaymentStatus
	Failure       *PaymentFailure // with failed and canceled
	NextActionURL string          // with requires_action
}

var paymentColumns = db.ColumnsOf[Payment]("payments")

// PaymentsByID returns those of the payments with these ids that exist, by id.
func (s *Store) PaymentsByID(ctx context.Context, account string, ids []string) (map[string]*Payment, error) {
	return db.ByID(ctx, s.db, paymentColumns, account, ids)
}

// BeginConfirm begins to charge for a checkout. It locks the checkout, checks that it can be bought as it stands, holds its
// stock, and commits the intent to charge before the provider is asked. If there is nothing to pay it makes the order at once,
// and the Payment is nil. A request that is sent again gets the payment of the first time, and a checkout that is completed is
// returned as it is. A checkout that is being paid, or has expired, is CodeInvalid on status. After too many declines it is
// CodeRateLimit.
func (s *Store) BeginConfirm(ctx context.Context, account, ref string, in Confirm) (*Confirmation, error) {
	return db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Confirmation, error) {
		c, err := s.lockCheckoutAndSecret(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		id := core.KindPayment.Prefix() + s.db.Effect(ctx)
		begun, err := s.PaymentsByID(ctx, account, []string{id})
		if err != nil || begun[id] != nil {
			return &Confirmation{Checkout: c, Payment: begun[id], Again: true}, err
		}
		if c.Status == CheckoutStatusCompleted {
			return &Confirmation{Checkout: c}, nil
		}
		payment, err := s.beginConfirm(ctx, u, c, id, in)
		return &Confirmation{Checkout: c, Payment: payment}, err
	})
}

// SetPaymentRef stores the provider's reference of a payment, before money moves. A payment that has one keeps it.
func (s *Store) SetPaymentRef(ctx context.Context, account, id, ref string) error {
	_, err := db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `UPDATE payments SET provider_ref = ? WHERE account_id = ? AND id = ? AND provider_ref IS NULL`, ref, account, id)
	})
	return err
}

// SetPaymentMethod stores the references and the card that a provider returned for a method that it has saved, before the
// method is charged. Nothing changes once the payment has a reference of the provider.
func (s *Store) SetPaymentMethod(ctx context.Context, p *Payment) error {
	_, err := db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `
			UPDATE payments SET method_ref = ?, payment_method = ?, customer_ref = ? WHERE account_id = ? AND id = ? AND provider_ref IS NULL`,
			p.MethodRef, p.PaymentMethod, p.CustomerRef, p.AccountID, p.ID)
	})
	return err
}

// SettlePayment stores what the provider said about a payment, and what follows from it. A checkout whose payment succeeds gets
// its order and its invoice, both paid; one whose payment fails or is canceled is open again, and what was held for it is free.
// An invoice whose payment succeeds is paid, with its order; the subscription that it bills, if there is one, learns of a
// success and of a failure. A payment that has its outcome keeps it.
func (s *Store) SettlePayment(ctx context.Context, begun *Payment, result ChargeResult) (*Confirmation, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Confirmation, error) {
		if begun.Purpose == PaymentPurposeInvoice {
			return s.settleInvoicePayment(ctx, u, begun, result)
		}
		c, err := s.lockCheckoutAndSecret(ctx, u, begun.AccountID, *begun.CheckoutID)
		if err != nil {
			return nil, err
		}
		payment, err := s.lockPayment(ctx, u, begun.AccountID, begun.ID)
		if err != nil {
			return nil, err
		}
		if payment.Status == result.Status || !paymentLifecycle.Allows(payment.Status, result.Status) {
			return &Confirmation{Checkout: c, Payment: payment}, nil
		}
		settled := &Confirmation{Checkout: c, Payment: payment}
		items, err := s.Lines.OfCheckout(ctx, c.AccountID, c.ID)
		if err != nil {
			return nil, err
		}
		guards, waited := payment.Guards.V, payment.Status == PaymentStatusRequiresAction
		if err := s.settleCheckoutPayment(ctx, u, c, items, payment, result); err != nil {
			return settled, err
		}
		if !payment.Status.IsFinal() {
			if err := s.holdForAll(ctx, u, payment, items); err != nil {
				return settled, err
			}
			settled.HoldsTooMuch, err = s.holdsTooMuch(ctx, c, payment, items)
			return settled, err
		}
		settled.PausedUntil, err = s.settleGuards(ctx, u, payment, guards, items, waited)
		return settled, err
	})
}

// GetConfirmation returns a payment with its checkout or invoice, or CodeMissing.
func (s *Store) GetConfirmation(ctx context.Context, account, id string) (*Confirmation, error) {
	payment, err := s.getPayment(ctx, account, id)
	if err != nil {
		return nil, err
	}
	if payment.Purpose == PaymentPurposeInvoice {
		invoice, err := s.GetInvoice(ctx, account, *payment.InvoiceID)
		return &Confirmation{Invoice: invoice, Payment: payment}, err
	}
	c, err := s.getCheckout(ctx, account, *payment.CheckoutID, "")
	return &Confirmation{Checkout: c, Payment: payment}, err
}

// CheckoutPayment returns the payment of a checkout that is under way, or CodeMissing.
func (s *Store) CheckoutPayment(ctx context.Context, account, checkout string) (*Payment, error) {
	payment, err := db.Get[Payment](ctx, s.db, paymentColumns.SelectSQL+`
		WHERE account_id = ? AND checkout_id = ? AND status IN ('pending', 'requires_action')`, account, checkout)
	if err == nil && payment == nil {
		err = core.Missing("payment", "", checkout)
	}
	return payment, err
}

// getPayment reads a payment, or returns CodeMissing.
func (s *Store) getPayment(ctx context.Context, account, id string) (*Payment, error) {
	return findPayment(ctx, s.db, account, id)
}

// lockPayment does what getPayment does, and locks the row until the transaction ends.
func (s *Store) lockPayment(ctx context.Context, u *db.Unit, account, id string) (*Payment, error) {
	return findPayment(ctx, u.Locked(), account, id)
}

func findPayment(ctx context.Context, r db.Reader, account, id string) (*Payment, error) {
	payment, err := db.Get[Payment](ctx, r, paymentColumns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, id)
	if err != nil {
		return nil, fmt.Errorf("read payment: %w", err)
	}
	if payment == nil {
		return nil, core.Missing("payment", "", id)
	}
	return payment, nil
}

// beginConfirm begins to pay for a locked checkout that is not completed: it stores the intent to charge and returns the
// payment, or makes the order and returns nil if there is nothing to charge. If a method is to be saved there is a payment even
// of the amount 0, because the provider has to be asked.
func (s *Store) beginConfirm(ctx context.Context, u *db.Unit, c *Checkout, id string, in Confirm) (*Payment, error) {
	if err := s.useSaved(ctx, c, &in); err != nil {
		return nil, err
	}
	items, err := s.checkConfirm(ctx, u, c, &in)
	if err != nil {
		return nil, err
	}
	if c.AmountDueNow == 0 && !in.saves() {
		if err := s.redeemOffer(ctx, u, c, items); err != nil {
			return nil, err
		}
		return nil, s.complete(ctx, u, c, items, nil, in.method())
	}
	payment, pausedUntil, err := s.beginPayment(ctx, u, c, id, in)
	if err != nil {
		return nil, err
	}
	if err := s.redeemOffer(ctx, u, c, items); err != nil {
		return nil, err
	}
	if err := s.Lines.Reserve(ctx, u, c.AccountID, items); err != nil { // late, because other buyers wait for these rows
		return nil, err
	}
	left, err := s.holdScarce(ctx, u, c, payment, items, in.From)
	if err != nil {
		return nil, err
	}
	return payment, s.guard(ctx, u, c.AccountID, payment.Guards.V, sizesOf(items), left, pausedUntil)
}

// redeemOffer counts a purchase by the checkout link that the buyer came by, and a use of the checkout's discount, if it has
// them, and holds the trials of its lines.
func (s *Store) redeemOffer(ctx context.Context, u *db.Unit, c *Checkout, items []lineitem.Item) error {
	if err := s.useCheckoutLink(ctx, u, c); err != nil {
		return err
	}
	if err := s.redeemDiscount(ctx, u, c); err != nil {
		return err
	}
	return s.holdTrials(ctx, u, c, items)
}

// beginPayment stores the payment of a locked checkout, which becomes processing. It counts as a try of the checkout: too many
// are CodeRateLimit. It also returns until when payments are paused for this buyer, nil if they are not.
func (s *Store) beginPayment(ctx context.Context, u *db.Unit, c *Checkout, id string, in Confirm) (*Payment, *core.Time, error) {
	lease, err := db.Get[core.Time](ctx, u, `SELECT `+s.db.NowSQL()+` + ?`, db.ProviderLease.Microseconds())
	if err != nil {
		return nil, nil, fmt.Errorf("read the database's clock: %w", err)
	}
	now, err := s.db.BusinessNow(ctx, c.AccountID)
	if err != nil {
		return nil, nil, err
	}
	seller, err := s.Tenant.Seller(ctx, c.AccountID)
	if err != nil {
		return nil, nil, err
	}
	pausedUntil, err := s.pausedFor(ctx, seller, c, in.From)
	if err != nil {
		return nil, nil, err
	}
	if err := c.try(s.Now()); err != nil {
		return nil, nil, err
	}
	c.Status, c.UpdatedAt = CheckoutStatusProcessing, now
	c.LastPaymentError = core.JSON[*PaymentFailure]{}
	if err := u.Update(ctx, checkoutColumns, c); err != nil {
		return nil, nil, err
	}
	guards := in.From.guards(c.CustomerID)
	if network := in.From.network(); pausedUntil != nil && network != "" {
		guards = append(guards, guardTurn+network)
	}
	payment := &Payment{
		AccountID: c.AccountID, ID: id, Purpose: PaymentPurposeCheckout, CheckoutID: &c.ID, Status: PaymentStatusPending, Amount: c.AmountDueNow, Currency: c.Currency,
		Provider: in.Provider, MethodRef: in.MethodRef, PaymentMethod: core.JSONOf(in.PaymentMethod),
		CustomerRef: in.customerRef, MethodID: in.methodID, SaveMethod: in.saves(), OnPage: in.OnPage,
		Keyless: in.isKeyless(), Guards: core.JSONOf(guards),
		LeaseUntil: *lease, CreatedAt: now, UpdatedAt: now,
	}
	return payment, pausedUntil, u.Insert(ctx, paymentColumns, payment)
}

// recordResult writes what the provider said into the payment. A payment that has its outcome is counted by no guard any more.
func (p *Payment) recordResult(result ChargeResult, now core.Time) {
	p.Status, p.Failure, p.NextActionURL, p.UpdatedAt = result.Status, core.JSONOf(result.Failure), nil, now
	if result.Status == PaymentStatusRequiresAction {
		p.NextActionURL = &result.NextActionURL
	}
	if p.Status.IsFinal() {
		p.Guards.V = nil
	}
}

// settleCheckoutPayment gives a locked payment of a checkout its next state, and changes the checkout to match. After a success it makes the
// order. After a failure the checkout is open again, and the use of its link and discount, its trials and its stock are given back. Payment
// and checkout are locked and stored here.
func (s *Store) settleCheckoutPayment(ctx context.Context, u *db.Unit, c *Checkout, items []lineitem.Item, payment *Payment, result ChargeResult) error {
	now, err := s.db.BusinessNow(ctx, c.AccountID)
	if err != nil {
		return err
	}
	result.NextActionURL = cmp.Or(result.NextActionURL, c.URL)
	payment.recordResult(result, now)
	switch result.Status {
	case PaymentStatusSucceeded:
		return s.complete(ctx, u, c, items, payment, nil)
	case PaymentStatusRequiresAction:
		c.NextAction = core.JSONOf(&NextAction{Type: "redirect", URL: result.NextActionURL})
	case PaymentStatusPending: // that is what it is already
	case PaymentStatusFailed, PaymentStatusCanceled:
		c.Status, c.NextAction, c.LastPaymentError = CheckoutStatusOpen, core.JSON[*NextAction]{}, payment.Failure
		if result.Status == PaymentStatusCanceled {
			c.forgiveTry(s.Now())
		}
		if err := s.releaseCheckoutLink(ctx, u, c); err != nil {
			return err
		}
		if err := s.Discount.Release(ctx, u, c.AccountID, c.ID); err != nil {
			return err
		}
		if err := s.releaseTrials(ctx, u, c, items); err != nil {
			return err
		}
		if err := s.Lines.Release(ctx, u, c.AccountID, items); err != nil {
			return err
		}
	default: // stored, the checkout would wait for ever
		return fmt.Errorf("payment %s: status %q is unknown", payment.ID, result.Status)
	}
	if err := u.Update(ctx, paymentColumns, payment); err != nil {
		return err
	}
	c.UpdatedAt = now
	return u.Update(ctx, checkoutColumns, c)
}

// settleInvoicePayment gives the payment of an invoice its next state. After a success the invoice and its order are paid, and their
// subscription, if there is one, learns what became of the payment. A payment that cannot go to that state is returned as it
// is.
func (s *Store) settleInvoicePayment(ctx context.Context, u *db.Unit, begun *Payment, result ChargeResult) (*Confirmation, error) {
	sub, err := s.lockBilled(ctx, u, begun.AccountID, *begun.InvoiceID)
	if err != nil {
		return nil, err
	}
	payment, err := s.lockPayment(ctx, u, begun.AccountID, begun.ID)
	if err != nil {
		return nil, err
	}
	b, err := s.lockBill(ctx, u, payment.AccountID, *payment.InvoiceID)
	if err != nil {
		return nil, err
	}
	settled, guards := &Confirmation{Invoice: b.Invoice, Payment: payment}, payment.Guards.V
	if payment.Status == result.Status || !paymentLifecycle.Allows(payment.Status, result.Status) {
		return settled, nil
	}
	now, err := s.db.BusinessNow(ctx, payment.AccountID)
	if err != nil {
		return nil, err
	}
	payment.recordResult(result, now)
	if err := u.Update(ctx, paymentColumns, payment); err != nil {
		return nil, err
	}
	switch payment.Status {
	case PaymentStatusSucceeded:
		if err = s.switchPaid(ctx, u, sub, b); err == nil {
			err = s.payOrder(ctx, u, b, payment)
		}
	case PaymentStatusFailed, PaymentStatusCanceled:
		b.Invoice.AttemptCount++
		b.Invoice.UpdatedAt = now
		err = u.Update(ctx, invoiceColumns, b.Invoice)
	case PaymentStatusPending, PaymentStatusRequiresAction:
	}
	if err == nil && sub != nil {
		err = s.afterInvoicePayment(ctx, u, sub, b, payment.Status, now)
	}
	if err == nil && payment.Status.IsFinal() {
		_, err = s.settleGuards(ctx, u, payment, guards, nil, false)
	}
	return settled, err
}

// lockBilled locks the subscription that an invoice bills, and returns nil if there is none. It comes first, because
// subscriptions are locked before every other row.
func (s *Store) lockBilled(ctx context.Context, u *db.Unit, account, ref string) (*Subscription, error) {
	invoice, err := s.GetInvoice(ctx, account, ref)
	if err != nil || invoice.SubscriptionID == nil {
		return nil, err
	}
	return s.lockSubscription(ctx, u, account, *invoice.SubscriptionID)
}
