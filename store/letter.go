package store

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/tenant"
)

// LetterStatus says what became of a letter.
type LetterStatus string

// The states of a letter. Whatever it has come to, it is queued again when the seller asks for it.
const (
	LetterStatusQueued  LetterStatus = "queued"
	LetterStatusSent    LetterStatus = "sent"    // the mail server has taken it
	LetterStatusFailed  LetterStatus = "failed"  // the mail server did not take it, however often it was asked
	LetterStatusSkipped LetterStatus = "skipped" // it was not to be sent any more: LastError says why
)

// letterLifecycle lists, for each state of a letter, the states that may follow it.
var letterLifecycle = core.Lifecycle[LetterStatus]{
	LetterStatusQueued:  {LetterStatusSent, LetterStatusFailed, LetterStatusSkipped},
	LetterStatusSent:    {LetterStatusQueued},
	LetterStatusFailed:  {LetterStatusQueued},
	LetterStatusSkipped: {LetterStatusQueued},
}

// Letter is what a customer is sent, by itself or because somebody asked. It is a row that commits with its cause, and each cause has one. A cause is
// of a kind, about an object, and in a period, which tells several about the same object apart. What it says is found out when it is sent, and is not kept.
type Letter struct {
	AccountID     string            `db:"account_id"`
	ID            string            `db:"id"`
	Kind          tenant.LetterKind `db:"kind"`
	Status        LetterStatus      `db:"status"`
	CustomerID    string            `db:"customer_id"`
	ObjectID      string            `db:"object_id"`
	Period        string            `db:"period"`
	DueAt         *core.Time        `db:"due_at"`          // by the account's clock, from when on it is to be sent; nil: at once
	NextAttemptAt *core.Time        `db:"next_attempt_at"` // by the store's time; nil before DueAt, and once it is not queued any more
	Attempts      int64             `db:"attempts"`        // since it was last asked for
	Resends       int64             `db:"resends"`         // how often the seller asked for it again
	Recipient     *string           `db:"recipient"`       // the address that it was last tried to be sent to
	Subject       *string           `db:"subject"`
	LastError     *string           `db:"last_error"`
	SentAt        *core.Time        `db:"sent_at"`
	CreatedAt     core.Time         `db:"created_at"`
	UpdatedAt     core.Time         `db:"updated_at"`
}

// letterObjects says what the letters of a kind are about.
var letterObjects = map[tenant.LetterKind]core.Kind{
	tenant.LetterReceipt: core.KindOrder, tenant.LetterPaymentFailed: core.KindInvoice, tenant.LetterTrialEnding: core.KindSubscription,
	tenant.LetterSubscriptionCanceled: core.KindSubscription, tenant.LetterSubscriptionEnded: core.KindSubscription,
	tenant.LetterAccessGiven: core.KindGrant, tenant.LetterRefund: core.KindRefund, tenant.LetterSubscriptionKept: core.KindSubscription,
	tenant.LetterPlanChanged: core.KindSubscription, tenant.LetterRenewalUpcoming: core.KindSubscription, tenant.LetterCardExpiring: core.KindSubscription,
	tenant.LetterInvoiceReminder: core.KindInvoice, tenant.LetterInvoice: core.KindInvoice, tenant.LetterFileUpdated: core.KindFile,
	tenant.LetterCheckoutAbandoned: core.KindCheckout, tenant.LetterProductNews: core.KindProductNews,
}

// Object returns what the letter is about.
func (l *Letter) Object() core.Kind { return letterObjects[l.Kind] }

// NextAt returns when the letter is to be sent, or tried again; nil if it is not queued.
func (l *Letter) NextAt() *core.Time {
	if l.DueAt != nil {
		return l.DueAt
	}
	return l.NextAttemptAt
}

// ListLetters holds the filters of a list of letters. An empty one does not filter.
type ListLetters struct {
	core.Page
	core.ListFilter
	Kind     tenant.LetterKind
	Status   LetterStatus
	Customer string
}

var letterColumns = db.ColumnsOf[Letter]("letters")

// GetLetter returns a letter, or CodeMissing.
func (s *Store) GetLetter(ctx context.Context, account, ref string) (*Letter, error) {
	return findLetter(ctx, s.db, account, ref)
}

// ListLetters returns a page of letters, newest first, and whether there are more. A customer who does not exist is CodeMissing.
func (s *Store) ListLetters(ctx context.Context, account string, in ListLetters) ([]Letter, bool, error) {
	var f db.Filter
	f.OrderedIfSet("kind", string(in.Kind))
	f.OrderedIfSet("status", string(in.Status))
	f.OrderedIfSet("customer_id", db.IDNamed(ctx, s.db, &f, s.Customer.Named, account, in.Customer, "customer"))
	f.List(s.db, "letters", core.KindLetter, in.ListFilter)
	return db.Page(ctx, s.db, letterColumns, core.KindLetter, account, in.Page, &f)
}

// ResendLetter has a letter sent once more, whether or not its kind is switched off. It is counted, as Mailbox.CountLetter does, with the other letters about its
// object. One that is queued is CodeInvalid on status. So is a reminder of a checkout, of which nobody is sent more than two, and one of product news.
func (s *Store) ResendLetter(ctx context.Context, account, ref string) (*Letter, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Letter, error) {
		l, err := s.lockLetter(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		if l.Status == LetterStatusQueued {
			return nil, core.Invalid("status", "The letter is queued already: it will be sent.")
		}
		if l.Kind == tenant.LetterCheckoutAbandoned {
			return nil, core.Invalid("status", "A buyer is reminded of a checkout twice at most: this letter is not sent again.")
		}
		if l.Kind == tenant.LetterProductNews {
			return nil, core.Invalid("status", "News is sent once to each mailbox: this letter is not sent again.")
		}
		if err := s.Mailbox.CountLetter(ctx, account, l.ObjectID); err != nil {
			return nil, err
		}
		now, err := db.BusinessNow(ctx, u, account)
		if err != nil {
			return nil, err
		}
		l.Status, l.Attempts, l.LastError, l.NextAttemptAt, l.UpdatedAt = LetterStatusQueued, 0, nil, new(s.Now()), now
		l.Resends++
		return l, u.Update(ctx, letterColumns, l)
	})
}

// lockLetter does what GetLetter does, and locks the row until the transaction ends.
func (s *Store) lockLetter(ctx context.Context, u *db.Unit, account, ref string) (*Letter, error) {
	return findLetter(ctx, u.Locked(), account, ref)
}

// findLetter reads a letter, or returns CodeMissing.
func findLetter(ctx context.Context, r db.Reader, account, ref string) (*Letter, error) {
	id, ok := core.ParseID(core.KindLetter, ref)
	if !ok {
		return nil, core.Missing("letter", "", ref)
	}
	l, err := db.Get[Letter](ctx, r, letterColumns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, id)
	if err != nil {
		return nil, fmt.Errorf("read letter: %w", err)
	}
	if l == nil {
		return nil, core.Missing("letter", "", ref)
	}
	return l, nil
}
