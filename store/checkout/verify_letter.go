package checkout

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// The letter that asks whose an address is waits as a row, until it is sent or nobody waits for it any more. Its link is made when it is sent, and is
// in no table. Whoever sends it moves its time first, so that no other replica sends it meanwhile.
const (
	letterLease    = time.Minute // doubled by each attempt
	letterAttempts = 4           // the last after 7 minutes: whoever waits has asked again by then
)

// Letter asks the reader of an address whether a checkout is theirs.
type Letter struct {
	AccountID string    `db:"account_id"`
	ID        string    `db:"id"`         // of the checkout
	EmailHash string    `db:"email_hash"` // of the address for which it was asked: it is sent to no other
	DueAt     core.Time `db:"due_at"`
	Attempts  int64     `db:"attempts"`
}

var letterColumns = db.ColumnsOf[Letter]("checkout_letters")

// AskVerification has a letter sent that asks whether the address of a checkout is the buyer's, and counts it. A
// checkout without an address, or whose buyer is known, is CodeInvalid on customer_email; one that is neither open nor completed
// on status. Too many letters, to this address or at the wish of the network address from, are CodeRateLimit.
func (s *Store) AskVerification(ctx context.Context, account, ref, from string) (*Checkout, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Checkout, error) {
		c, err := s.Lock(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		if c.Status != StatusOpen && c.Status != StatusCompleted {
			return nil, core.Invalid("status", fmt.Sprintf("The checkout is %s. Only the address of an open or a completed one can be confirmed.", c.Status))
		}
		if c.CustomerEmail == nil {
			return nil, core.Invalid("customer_email", "The checkout has no e-mail address yet.")
		}
		isKnown, err := s.isVerifiedIn(ctx, u, c)
		if err == nil && isKnown {
			err = core.Invalid("customer_email", "The seller knows whose this checkout is: there is nothing to confirm.")
		}
		if err == nil {
			err = s.rooms.Mailbox.CountVerification(ctx, c.AccountID, c.ID, *c.CustomerEmail, from)
		}
		if err != nil {
			return nil, err
		}
		l := Letter{AccountID: c.AccountID, ID: c.ID, EmailHash: letterTo(c), DueAt: s.db.Now()}
		_, err = u.Exec(ctx, letterColumns.InsertSQL+`
			ON CONFLICT (account_id, id) DO UPDATE SET email_hash = excluded.email_hash, due_at = excluded.due_at, attempts = 0`, letterColumns.Values(&l)...)
		return c, err
	})
}

// letterTo returns the hash of the address of a checkout, "" if it has none.
func letterTo(c *Checkout) string {
	if c.CustomerEmail == nil {
		return ""
	}
	return core.HashOf(core.EmailKey(*c.CustomerEmail))
}

// DueLetters names checkouts whose letters are to be sent, at most limit, for ClaimLetter.
func (s *Store) DueLetters(ctx context.Context, limit int) ([]core.Due, error) {
	return db.Select[core.Due](ctx, s.db, `SELECT account_id, id FROM checkout_letters WHERE due_at <= ? ORDER BY due_at LIMIT ?`, s.db.Now(), limit)
}

// ClaimLetter returns a checkout whose letter is to be sent now, by this caller alone, until another attempt is due. It is nil if there is nothing to
// send: another caller has it, it was tried often enough, or the account is disabled. The same goes if the checkout has another address now, or its
// buyer is known.
func (s *Store) ClaimLetter(ctx context.Context, account, id string) (*Checkout, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Checkout, error) {
		l, err := db.Get[Letter](ctx, u, letterColumns.SelectSQL+` WHERE account_id = ? AND id = ? AND due_at <= ?`+u.LockSkip(), account, id, s.db.Now())
		if err != nil || l == nil {
			return nil, err
		}
		c, err := s.toAsk(ctx, u, l)
		if err != nil {
			return nil, err
		}
		if c == nil {
			_, err := u.Exec(ctx, `DELETE FROM checkout_letters WHERE account_id = ? AND id = ?`, account, id)
			return nil, err
		}
		l.DueAt = s.db.Now().Add(letterLease << l.Attempts)
		l.Attempts++
		return c, u.Update(ctx, letterColumns, l)
	})
}

// toAsk returns the checkout of a letter, nil if its reader is not to be asked any more.
func (s *Store) toAsk(ctx context.Context, u *db.Unit, l *Letter) (*Checkout, error) {
	if l.Attempts >= letterAttempts {
		return nil, nil
	}
	if disabled, err := s.rooms.Tenant.IsDisabledIn(ctx, u, l.AccountID); err != nil || disabled {
		return nil, err
	}
	c, err := s.find(ctx, u, l.AccountID, l.ID, "")
	if gone, ok := errors.AsType[*core.Error](err); ok && gone.Code == core.CodeMissing {
		return nil, nil
	}
	if err != nil || c.Status != StatusOpen && c.Status != StatusCompleted || letterTo(c) != l.EmailHash {
		return nil, err
	}
	if isKnown, err := s.isVerifiedIn(ctx, u, c); err != nil || isKnown {
		return nil, err
	}
	return c, nil
}

// EndLetter notes that the letter of a checkout was sent. One that was asked for since is sent, too.
func (s *Store) EndLetter(ctx context.Context, account, id string) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `DELETE FROM checkout_letters WHERE account_id = ? AND id = ? AND attempts > 0`, account, id)
	})
	return err
}
