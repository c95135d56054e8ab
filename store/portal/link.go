package portal

import (
	"context"
	"crypto/subtle"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

const (
	linkLifetime   = 30 * time.Minute // from when its letter is written
	linkShops      = 10               // letters that one request sends at most: to customers of so many shops
	letterLease    = time.Minute      // doubled by each attempt
	letterAttempts = 4                // the last after 7 minutes: whoever waits has asked again by then
)

// Link opens the portal for a customer, once: it becomes the session with its id. It is sent to the customer's address, so
// that whoever reads that mail is let in. The token is stored as a hash, and URL is set only when its letter is to be written.
type Link struct {
	AccountID      string     `db:"account_id"`
	ID             string     `db:"id"`
	CustomerID     string     `db:"customer_id"`
	TokenHash      string     `db:"token_hash"`
	LetterDueAt    *core.Time `db:"letter_due_at"`
	LetterAttempts int64      `db:"letter_attempts"`
	ExpiresAt      core.Time  `db:"expires_at"`
	UsedAt         *core.Time `db:"used_at"`
	CreatedAt      core.Time  `db:"created_at"`

	URL       string  `db:"-"`
	Recipient string  `db:"-"` // the customer's address, set with URL
	Locale    *string `db:"-"` // the language that they prefer, set with URL
}

var linkColumns = db.ColumnsOf[Link]("portal_links")

// URL returns the address of the page on which customers of a shop ask for a link to their purchases.
func (s *Store) URL(handle string) string {
	return s.db.Options.PublicURL + "/portal?shop=" + handle
}

// AskLinks has a letter with a link sent to each customer who owns an address. They are of one account, or, if that is empty, of the last
// linkShops shops that have met the address. Nobody is told whether there is one.
func (s *Store) AskLinks(ctx context.Context, email, account string) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		where, args := `email_key = ?`, []any{core.EmailKey(email)}
		if account != "" {
			where, args = `account_id = ? AND email_key = ?`, []any{account, core.EmailKey(email)}
		}
		customers, err := db.Select[customer](ctx, u, selectCustomer+`
			WHERE `+where+` AND deleted_at IS NULL AND `+db.EnabledAccount+` ORDER BY id DESC LIMIT ?`, append(args, linkShops)...)
		if err != nil {
			return nil, fmt.Errorf("look for customers: %w", err)
		}
		now := s.db.Now()
		for _, c := range customers {
			l := &Link{
				AccountID: c.AccountID, ID: core.NewID(core.KindPortalSession), CustomerID: c.ID,
				LetterDueAt: &now, ExpiresAt: now.Add(linkLifetime), CreatedAt: now,
			}
			if err := u.Insert(ctx, linkColumns, l); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	return err
}

// DueLetters names links whose letters are to be sent, at most limit, for ClaimLetter.
func (s *Store) DueLetters(ctx context.Context, limit int) ([]core.Due, error) {
	return db.Select[core.Due](ctx, s.db, `SELECT account_id, id FROM portal_links WHERE letter_due_at <= ? ORDER BY letter_due_at LIMIT ?`, s.db.Now(), limit)
}

// ClaimLetter returns a link whose letter is to be sent now, by this caller alone, until another attempt is due. Each attempt
// has a link of its own: that of an attempt before opens nothing. It is nil if there is nothing to send: another caller has it, the link was
// used, or it was tried often enough. The same goes if the customer is gone or owns no address any more, or if the account is disabled.
func (s *Store) ClaimLetter(ctx context.Context, account, id string) (*Link, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Link, error) {
		l, err := db.Get[Link](ctx, u, linkColumns.SelectSQL+` WHERE account_id = ? AND id = ? AND letter_due_at <= ?`+u.LockSkip(), account, id, s.db.Now())
		if err != nil || l == nil {
			return nil, err
		}
		c, err := db.Get[customer](ctx, u, selectCustomer+` WHERE account_id = ? AND id = ? AND deleted_at IS NULL AND `+db.EnabledAccount, account, l.CustomerID)
		if err != nil {
			return nil, fmt.Errorf("read the customer of a link: %w", err)
		}
		if c == nil || c.EmailKey == nil || l.UsedAt != nil || l.LetterAttempts >= letterAttempts {
			l.LetterDueAt = nil
			return nil, u.Update(ctx, linkColumns, l)
		}
		now := s.db.Now()
		l.LetterDueAt, l.ExpiresAt = new(now.Add(letterLease<<l.LetterAttempts)), now.Add(linkLifetime)
		l.LetterAttempts++
		token := newToken(l.AccountID, l.ID)
		l.TokenHash, l.URL, l.Recipient, l.Locale = core.HashOf(token), s.db.Options.PublicURL+"/portal/open/"+token, *c.Email, c.PreferredLocale
		return l, u.Update(ctx, linkColumns, l)
	})
}

// EndLetter notes that the letter of a link needs no further attempt.
func (s *Store) EndLetter(ctx context.Context, account, id string) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `UPDATE portal_links SET letter_due_at = NULL WHERE account_id = ? AND id = ?`, account, id)
	})
	return err
}

// OpenLink returns the link that a token opens, and reports whether it can be used: it was not, and its half hour is not over. A
// token that opens none, or an account that is disabled, is CodeMissing.
func (s *Store) OpenLink(ctx context.Context, token string) (l *Link, usable bool, err error) {
	return s.openLinkIn(ctx, s.db, token)
}

// openLinkIn does what OpenLink does, where r says.
func (s *Store) openLinkIn(ctx context.Context, r db.Reader, token string) (l *Link, usable bool, err error) {
	account, id, ok := splitToken(token)
	if !ok {
		return nil, false, core.Missing("page", "", "")
	}
	l, err = db.Get[Link](ctx, r, linkColumns.SelectSQL+` WHERE account_id = ? AND id = ? AND `+db.EnabledAccount, account, id)
	if err != nil {
		return nil, false, fmt.Errorf("read portal link: %w", err)
	}
	if l == nil || subtle.ConstantTimeCompare([]byte(l.TokenHash), []byte(core.HashOf(token))) != 1 {
		return nil, false, core.Missing("page", "", "")
	}
	return l, l.UsedAt == nil && l.ExpiresAt > s.db.Now(), nil
}

// UseLink uses a link up, and returns the session that it becomes. The session is nil if the link cannot be used; the rest is
// as of OpenLink. Of several callers one has the session.
func (s *Store) UseLink(ctx context.Context, token string) (l *Link, p *Session, err error) {
	p, err = db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Session, error) {
		var usable bool
		if l, usable, err = s.openLinkIn(ctx, u, token); err != nil || !usable {
			return nil, err
		}
		if _, err := lockCustomer(ctx, u, l.AccountID, l.CustomerID); err != nil { // whom a merge locks first, too
			return nil, err
		}
		now := s.db.Now()
		rows, err := u.Exec(ctx, `UPDATE portal_links SET used_at = ?, letter_due_at = NULL WHERE account_id = ? AND id = ? AND used_at IS NULL`, now, l.AccountID, l.ID)
		if err != nil || rows == 0 {
			return nil, err
		}
		return s.createSession(ctx, u, l.AccountID, l.CustomerID, l.ID, nil)
	})
	return l, p, err
}

// DeleteExpiredLinks deletes at most limit links that could not be used for a day, and returns how many. On that day whoever
// opens one is told that it is over.
func (s *Store) DeleteExpiredLinks(ctx context.Context, limit int) (int64, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.ExecBatch(ctx, `DELETE FROM portal_links`, `portal_links WHERE expires_at < ? ORDER BY expires_at LIMIT ?`, s.db.Now().Add(-24*time.Hour), limit)
	})
}
