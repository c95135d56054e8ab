package store

import (
	"context"
	"crypto/subtle"
	"fmt"
	"strings"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/throttle"
)

const (
	portalLinkLifetime   = 30 * time.Minute // from when its letter is written
	portalLinkShops      = 10               // letters that one request sends at most: to customers of so many shops
	portalLetters        = 5                // an hour, asked for with an address
	portalLetterLease    = time.Minute      // doubled by each attempt
	portalLetterAttempts = 4                // a quarter of an hour: whoever waits has asked again by then
)

// PortalLink opens the portal for a customer, once: it becomes the session with its id. It is sent to the customer's address, so
// that whoever reads that mail is let in. The token is stored as a hash, and URL is set only when its letter is to be written.
type PortalLink struct {
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

var portalLinkColumns = db.ColumnsOf[PortalLink]("portal_links")

// PortalURL returns the address of the page on which customers of a shop ask for a link to their purchases.
func (s *Store) PortalURL(handle string) string {
	return s.db.Options.PublicURL + "/portal?shop=" + handle
}

// CountPortalLetter counts a request for links to the portal, by the address that was typed and by the network address from which
// it came. It does not look whether anybody has that address. One too many is CodeRateLimit.
func (s *Store) CountPortalLetter(ctx context.Context, email, from string) error {
	return s.Throttle.Count(ctx, throttle.EveryAccount, func(o *throttle.Over) error {
		return o.Refuse("email", "Links were asked for too often. You can ask for another one in")
	}, append(lettersFrom(from), throttle.Limit{Subject: "portal:" + mailboxKey(throttle.EveryAccount, email), Most: portalLetters, Window: time.Hour}, toMailbox(email))...)
}

// AskPortalLinks has a letter with a link sent to each customer who owns an address: of one account, or, if that is empty, of
// those at the last portalLinkShops shops that have met the address. Nobody is told whether there is one.
func (s *Store) AskPortalLinks(ctx context.Context, email, account string) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		where, args := `email_key = ?`, []any{*emailKey(email)}
		if account != "" {
			where, args = `account_id = ? AND email_key = ?`, []any{account, *emailKey(email)}
		}
		customers, err := db.Select[Customer](ctx, u, customerColumns.SelectSQL+`
			WHERE `+where+` AND deleted_at IS NULL AND `+db.EnabledAccount+` ORDER BY id DESC LIMIT ?`, append(args, portalLinkShops)...)
		if err != nil {
			return nil, fmt.Errorf("look for customers: %w", err)
		}
		now := s.Now()
		for _, c := range customers {
			l := &PortalLink{
				AccountID: c.AccountID, ID: core.NewID(core.KindPortalSession), CustomerID: c.ID,
				LetterDueAt: &now, ExpiresAt: now.Add(portalLinkLifetime), CreatedAt: now,
			}
			if err := u.Insert(ctx, portalLinkColumns, l); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	return err
}

// DuePortalLetters names links whose letters are to be sent, at most limit, for ClaimPortalLetter.
func (s *Store) DuePortalLetters(ctx context.Context, limit int) ([]core.Due, error) {
	return db.Select[core.Due](ctx, s.db, `SELECT account_id, id FROM portal_links WHERE letter_due_at <= ? ORDER BY letter_due_at LIMIT ?`, s.Now(), limit)
}

// ClaimPortalLetter returns a link whose letter is to be sent now, by this caller alone, until another attempt is due. Each attempt
// has a link of its own: that of an attempt before opens nothing. It is nil if there is nothing to send: another caller has it, the
// customer or the account is gone, or it was tried often enough.
func (s *Store) ClaimPortalLetter(ctx context.Context, account, id string) (*PortalLink, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*PortalLink, error) {
		l, err := db.Get[PortalLink](ctx, u, portalLinkColumns.SelectSQL+` WHERE account_id = ? AND id = ? AND letter_due_at <= ?`+u.LockSkip(), account, id, s.Now())
		if err != nil || l == nil {
			return nil, err
		}
		disabled, err := s.Tenant.IsDisabled(ctx, account)
		if err != nil {
			return nil, err
		}
		found, err := s.CustomersByID(ctx, account, []string{l.CustomerID})
		if err != nil {
			return nil, err
		}
		c := found[l.CustomerID]
		if disabled || c == nil || c.EmailKey == nil || l.UsedAt != nil || l.LetterAttempts >= portalLetterAttempts {
			l.LetterDueAt = nil
			return nil, u.Update(ctx, portalLinkColumns, l)
		}
		now := s.Now()
		l.LetterDueAt, l.ExpiresAt = new(now.Add(portalLetterLease<<l.LetterAttempts)), now.Add(portalLinkLifetime)
		l.LetterAttempts++
		token := newPortalToken(l.AccountID, l.ID)
		l.TokenHash, l.URL, l.Recipient, l.Locale = secretHash(token), s.db.Options.PublicURL+"/portal/open/"+token, *c.Email, c.PreferredLocale
		return l, u.Update(ctx, portalLinkColumns, l)
	})
}

// EndPortalLetter notes that the letter of a link needs no further attempt.
func (s *Store) EndPortalLetter(ctx context.Context, account, id string) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `UPDATE portal_links SET letter_due_at = NULL WHERE account_id = ? AND id = ?`, account, id)
	})
	return err
}

// OpenPortalLink returns the link that a token opens, and reports whether it can be used: it was not, and its half hour is not over. A
// token that opens none, or an account that is disabled, is CodeMissing.
func (s *Store) OpenPortalLink(ctx context.Context, token string) (l *PortalLink, usable bool, err error) {
	account, id, ok := splitPortalToken(token)
	if !ok {
		return nil, false, core.Missing("page", "", "")
	}
	l, err = db.Get[PortalLink](ctx, s.db, portalLinkColumns.SelectSQL+` WHERE account_id = ? AND id = ? AND `+db.EnabledAccount, account, id)
	if err != nil {
		return nil, false, fmt.Errorf("read portal link: %w", err)
	}
	if l == nil || subtle.ConstantTimeCompare([]byte(l.TokenHash), []byte(secretHash(token))) != 1 {
		return nil, false, core.Missing("page", "", "")
	}
	return l, l.UsedAt == nil && l.ExpiresAt > s.Now(), nil
}

// UsePortalLink uses a link up, and returns the session that it becomes. The session is nil if the link cannot be used; the rest is
// as of OpenPortalLink. Of several callers one has the session.
func (s *Store) UsePortalLink(ctx context.Context, token string) (l *PortalLink, p *PortalSession, err error) {
	p, err = db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*PortalSession, error) {
		var usable bool
		if l, usable, err = s.OpenPortalLink(ctx, token); err != nil || !usable {
			return nil, err
		}
		if _, err := s.lockCustomer(ctx, u, l.AccountID, l.CustomerID, ""); err != nil { // whom a merge locks first, too
			return nil, err
		}
		now := s.Now()
		rows, err := u.Exec(ctx, `UPDATE portal_links SET used_at = ?, letter_due_at = NULL WHERE account_id = ? AND id = ? AND used_at IS NULL`, now, l.AccountID, l.ID)
		if err != nil || rows == 0 {
			return nil, err
		}
		return s.createPortalSession(ctx, u, l.AccountID, l.CustomerID, l.ID, nil)
	})
	return l, p, err
}

// splitPortalToken returns which row a token of the portal names: that of a session, or of the link that becomes it.
func splitPortalToken(token string) (account, id string, ok bool) {
	parts := strings.Split(token, "_")
	if len(parts) != 4 {
		return "", "", false
	}
	id, isSession := core.ParseID(core.KindPortalSession, parts[0]+"_"+parts[1])
	account, isAccount := core.ParseID(core.KindAccount, core.KindAccount.Prefix()+parts[2])
	return account, id, isSession && isAccount
}

// DeleteExpiredPortalLinks deletes at most limit links that could not be used for a day, and returns how many. On that day whoever
// opens one is told that it is over.
func (s *Store) DeleteExpiredPortalLinks(ctx context.Context, limit int) (int64, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `
			DELETE FROM portal_links WHERE (account_id, id) IN (
				SELECT account_id, id FROM portal_links WHERE expires_at < ? LIMIT ?`+u.LockSkip()+`)`, s.Now().Add(-day), limit)
	})
}
