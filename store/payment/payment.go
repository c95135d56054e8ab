package payment

import (
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Status says how far a payment has come.
type Status string

// The states of a payment. Succeeded, failed and canceled are final.
const (
	StatusPending        Status = "pending" // the provider was or will be asked; the outcome is not known here
	StatusRequiresAction Status = "requires_action"
	StatusSucceeded      Status = "succeeded"
	StatusFailed         Status = "failed"
	StatusCanceled       Status = "canceled"
)

// Lifecycle lists, for each state of a payment, the states that may follow it.
var Lifecycle = core.Lifecycle[Status]{
	StatusPending:        {StatusRequiresAction, StatusSucceeded, StatusFailed, StatusCanceled},
	StatusRequiresAction: {StatusSucceeded, StatusFailed, StatusCanceled},
}

// IsFinal reports whether the payment has succeeded, failed or been canceled: its state never changes again.
func (p Status) IsFinal() bool { return len(Lifecycle[p]) == 0 }

// Purpose says what a payment is for.
type Purpose string

// The purposes of a payment. The payment of a checkout gets its order when it succeeds; that of an invoice has it from the start.
const (
	PurposeCheckout Purpose = "checkout"
	PurposeInvoice  Purpose = "invoice"
)

// Payment is one attempt to charge a buyer, from the intent to the outcome. Its id is the token by which the provider
// recognises the attempt. It is minted once and kept by every retry, so that the attempt charges at most once.
type Payment struct {
	AccountID     string              `db:"account_id"`
	ID            string              `db:"id"`
	Purpose       Purpose             `db:"purpose"`
	CheckoutID    *string             `db:"checkout_id"`
	OrderID       *string             `db:"order_id"`
	InvoiceID     *string             `db:"invoice_id"`
	CustomerID    *string             `db:"customer_id"`
	Status        Status              `db:"status"`
	Amount        int64               `db:"amount"`
	Currency      string              `db:"currency"`
	Provider      string              `db:"provider"`
	ProviderRef   *string             `db:"provider_ref"`
	MethodRef     string              `db:"method_ref"`
	CustomerRef   *string             `db:"customer_ref"`      // the provider's id of the customer who has the method, once it is saved
	MethodID      *string             `db:"payment_method_id"` // our id of the saved method, if it is one
	SaveMethod    bool                `db:"save_method"`       // the method is to be saved when the payment succeeds
	OffSession    bool                `db:"off_session"`       // the buyer is not there to do anything
	OnPage        bool                `db:"on_page"`           // the buyer is on our page, and comes back to it from their bank
	Keyless       bool                `db:"keyless"`           // the buyer came without an API key
	Guards        core.JSON[[]string] `db:"guards"`            // the subjects of the guards that count it while it is under way
	PaymentMethod core.JSON[Method]   `db:"payment_method"`
	Failure       core.JSON[*Failure] `db:"failure"`
	NextActionURL *string             `db:"next_action_url"` // while it requires an action
	LeaseUntil    core.Time           `db:"lease_until"`     // by the database's clock; the reconciler leaves it alone until then
	CreatedAt     core.Time           `db:"created_at"`
	UpdatedAt     core.Time           `db:"updated_at"`
}

// Method is the part of a payment method that may be shown.
type Method struct {
	Type     string `json:"type"` // card
	Brand    string `json:"brand"`
	Last4    string `json:"last4"`
	ExpMonth int    `json:"exp_month"`
	ExpYear  int    `json:"exp_year"`
}

// Failure says why a payment did not go through.
type Failure struct {
	Code        string  `json:"code"`
	DeclineCode *string `json:"decline_code"`
	Message     string  `json:"message"`
	OfSeller    bool    `json:"of_seller,omitempty"` // no card helps: the seller's settings have to be mended
}

// Reason returns what a buyer is told the reason of: "seller" if it is the seller's fault, else the bank's code, or the provider's.
func (f *Failure) Reason() string {
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
func (f *Failure) Err() error {
	return &core.Error{
		Code: core.CodeInvalid, Param: "payment_method", Message: f.Message, Outcome: core.Recorded, Reason: f.Reason(),
		Fields: map[string][]string{"payment_method": {f.Message}},
	}
}

// ChargeResult is the provider's answer about the charge of a payment.
type ChargeResult struct {
	Status        Status
	Failure       *Failure // with failed and canceled
	NextActionURL string   // with requires_action
}

// Columns are those of a Payment.
var Columns = db.ColumnsOf[Payment]("payments")

// ByID returns those of the payments with these ids that exist, by id.
func (s *Store) ByID(ctx context.Context, account string, ids []string) (map[string]*Payment, error) {
	return s.ByIDIn(ctx, s.db, account, ids)
}

// ByIDIn does what ByID does, where r says.
func (s *Store) ByIDIn(ctx context.Context, r db.Reader, account string, ids []string) (map[string]*Payment, error) {
	return db.ByID(ctx, r, Columns, account, ids)
}

// SetRef stores the provider's reference of a payment, before money moves. A payment that has one keeps it.
func (s *Store) SetRef(ctx context.Context, account, id, ref string) error {
	_, err := db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `UPDATE payments SET provider_ref = ? WHERE account_id = ? AND id = ? AND provider_ref IS NULL`, ref, account, id)
	})
	return err
}

// SetMethod stores the references and the card that a provider returned for a method that it has saved, before the
// method is charged. Nothing changes once the payment has a reference of the provider.
func (s *Store) SetMethod(ctx context.Context, p *Payment) error {
	_, err := db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `
			UPDATE payments SET method_ref = ?, payment_method = ?, customer_ref = ? WHERE account_id = ? AND id = ? AND provider_ref IS NULL`,
			p.MethodRef, p.PaymentMethod, p.CustomerRef, p.AccountID, p.ID)
	})
	return err
}

// OfCheckout returns the payment of a checkout that is under way, or CodeMissing.
func (s *Store) OfCheckout(ctx context.Context, account, checkout string) (*Payment, error) {
	payment, err := db.Get[Payment](ctx, s.db, Columns.SelectSQL+`
		WHERE account_id = ? AND checkout_id = ? AND status IN ('pending', 'requires_action')`, account, checkout)
	if err == nil && payment == nil {
		err = core.Missing("payment", "", checkout)
	}
	return payment, err
}

// Get reads a payment, or returns CodeMissing.
func (s *Store) Get(ctx context.Context, r db.Reader, account, id string) (*Payment, error) {
	return find(ctx, r, account, id)
}

// Lock does what Get does, and locks the row until the transaction ends.
func (s *Store) Lock(ctx context.Context, u *db.Unit, account, id string) (*Payment, error) {
	return find(ctx, u.Locked(), account, id)
}

func find(ctx context.Context, r db.Reader, account, id string) (*Payment, error) {
	payment, err := db.Get[Payment](ctx, r, Columns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, id)
	if err != nil {
		return nil, fmt.Errorf("read payment: %w", err)
	}
	if payment == nil {
		return nil, core.Missing("payment", "", id)
	}
	return payment, nil
}

// RecordResult writes what the provider said into the payment. A payment that has its outcome is counted by no guard any more.
func (p *Payment) RecordResult(result ChargeResult, now core.Time) {
	p.Status, p.Failure, p.NextActionURL, p.UpdatedAt = result.Status, core.JSONOf(result.Failure), nil, now
	if result.Status == StatusRequiresAction {
		p.NextActionURL = &result.NextActionURL
	}
	if p.Status.IsFinal() {
		p.Guards.V = nil
	}
}

// LastOfInvoice returns the latest attempt to pay an invoice, or nil.
func (s *Store) LastOfInvoice(ctx context.Context, account, invoice string) (*Payment, error) {
	payment, err := db.Get[Payment](ctx, s.db, Columns.SelectSQL+` WHERE account_id = ? AND invoice_id = ? ORDER BY created_at DESC, id DESC LIMIT 1`, account, invoice)
	if err != nil {
		return nil, fmt.Errorf("read the last payment of an invoice: %w", err)
	}
	return payment, nil
}

// OfCharge returns the payment that a provider knows by a reference, nil if there is none.
func (s *Store) OfCharge(ctx context.Context, account, provider, ref string) (*Payment, error) {
	return db.Get[Payment](ctx, s.db, Columns.SelectSQL+` WHERE account_id = ? AND provider = ? AND provider_ref = ?`, account, provider, ref)
}

// ProviderOutOfBand is the provider of a payment that was made without this service, such as a bank transfer to the seller.
const ProviderOutOfBand = "out_of_band"

// BillingMethod is the payment method that a subscription or an invoice is charged with.
type BillingMethod struct {
	ID          *string `json:"id"` // of the saved method, if it is one
	Provider    string  `json:"provider"`
	Ref         string  `json:"ref"`
	CustomerRef *string `json:"customer_ref"`
	Card        Method  `json:"card"`
}

// Saved returns the id of the saved method, nil if it is none.
func (m *BillingMethod) Saved() *string {
	if m == nil {
		return nil
	}
	return m.ID
}

// MethodOf returns the payment method that a payment is charged to, nil without a payment.
func MethodOf(p *Payment) *BillingMethod {
	if p == nil {
		return nil
	}
	return &BillingMethod{ID: p.MethodID, Provider: p.Provider, Ref: p.MethodRef, CustomerRef: p.CustomerRef, Card: p.PaymentMethod.V}
}

// Expiry returns when a card is not valid any more, the zero time if that is not known.
func (m Method) Expiry() core.Time {
	if m.ExpMonth < 1 || m.ExpMonth > 12 || m.ExpYear < 2000 {
		return 0
	}
	return core.TimeOf(time.Date(m.ExpYear, time.Month(m.ExpMonth)+1, 1, 0, 0, 0, 0, time.UTC))
}

// Period tells a card apart from others that a subscription is charged to.
func (m Method) Period() string {
	return fmt.Sprintf("%s.%d-%02d", m.Last4, m.ExpYear, m.ExpMonth)
}

// IsPaying reports whether a payment of an invoice is under way.
func (s *Store) IsPaying(ctx context.Context, r db.Reader, account, invoice string) (bool, error) {
	n, err := db.Get[int](ctx, r, `SELECT count(*) FROM payments WHERE account_id = ? AND invoice_id = ? AND status IN ('pending', 'requires_action')`,
		account, invoice)
	return err == nil && *n > 0, err
}
