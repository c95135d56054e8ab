package portal

import (
	"context"
	"crypto/subtle"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// sessionLifetime is how long a new session opens the portal.
const sessionLifetime = 24 * time.Hour

// Session lets one customer use the portal for a while. The token is stored as a hash. Token is set only when the session is made. URL, which
// holds it, is set only then and when the session is opened by its token.
type Session struct {
	AccountID  string    `db:"account_id"`
	ID         string    `db:"id"`
	CustomerID string    `db:"customer_id"`
	TokenHash  string    `db:"token_hash"`
	ReturnURL  *string   `db:"return_url"` // where the portal's link back leads
	ExpiresAt  core.Time `db:"expires_at"`
	CreatedAt  core.Time `db:"created_at"`
	UpdatedAt  core.Time `db:"updated_at"`

	Token string `db:"-"`
	URL   string `db:"-"`
}

var sessionColumns = db.ColumnsOf[Session]("portal_sessions")

// maxSessions is how many sessions a customer may have at once. One more ends the oldest.
const maxSessions = 50

// CreateSession makes a portal session for a customer, whom it locks. A customer who does not exist is CodeMissing. The
// session expires by the store's time, not by the account's clock.
func (s *Store) CreateSession(ctx context.Context, account, customer string, returnURL *string) (*Session, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Session, error) {
		return s.createSession(ctx, u, account, customer, core.NewID(core.KindPortalSession), returnURL)
	})
}

func (s *Store) createSession(ctx context.Context, u *db.Unit, account, customer, id string, returnURL *string) (*Session, error) {
	c, err := lockCustomer(ctx, u, account, customer)
	if err != nil {
		return nil, err
	}
	now := s.db.Now()
	p := &Session{
		AccountID: account, ID: id, CustomerID: c.ID, ReturnURL: returnURL,
		ExpiresAt: now.Add(sessionLifetime), CreatedAt: now, UpdatedAt: now,
	}
	p.giveToken(s.db.Options.PublicURL)
	if err := u.Insert(ctx, sessionColumns, p); err != nil {
		return nil, err
	}
	return p, s.endOldest(ctx, u, c)
}

// endOldest deletes the oldest sessions of a locked customer beyond maxSessions.
func (s *Store) endOldest(ctx context.Context, u *db.Unit, c *customer) error {
	_, err := u.Exec(ctx, `
		DELETE FROM portal_sessions WHERE account_id = ? AND customer_id = ? AND id NOT IN (
			SELECT id FROM portal_sessions WHERE account_id = ? AND customer_id = ? ORDER BY id DESC LIMIT ?)`,
		c.AccountID, c.ID, c.AccountID, c.ID, maxSessions)
	if err != nil {
		return fmt.Errorf("end the oldest portal sessions: %w", err)
	}
	return nil
}

// giveToken gives the session its secret token, and sets the hash and the URL that go with it.
func (p *Session) giveToken(publicURL string) {
	p.Token = newToken(p.AccountID, p.ID)
	p.TokenHash, p.URL = core.HashOf(p.Token), publicURL+"/portal/"+p.Token
}

// Open returns the session that a token opens. A token that opens none, or an account that is disabled, is CodeMissing. If the session is
// over, expired is true.
func (s *Store) Open(ctx context.Context, token string) (p *Session, expired bool, err error) {
	if p, err = s.findSession(ctx, token); err != nil {
		return nil, false, err
	}
	p.URL = s.db.Options.PublicURL + "/portal/" + token
	return p, p.ExpiresAt <= s.db.Now(), nil
}

// findSession returns the session of a token, expired or not, or CodeMissing.
func (s *Store) findSession(ctx context.Context, token string) (*Session, error) {
	account, id, ok := splitToken(token)
	if !ok {
		return nil, core.Missing("portal session", "", "")
	}
	p, err := db.Get[Session](ctx, s.db, sessionColumns.SelectSQL+` WHERE account_id = ? AND id = ? AND `+db.EnabledAccount, account, id)
	if err != nil {
		return nil, fmt.Errorf("read portal session: %w", err)
	}
	if p == nil || subtle.ConstantTimeCompare([]byte(p.TokenHash), []byte(core.HashOf(token))) != 1 {
		return nil, core.Missing("portal session", "", "")
	}
	return p, nil
}

// EndSession deletes a session, so that its token opens nothing any more.
func (s *Store) EndSession(ctx context.Context, p *Session) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `DELETE FROM portal_sessions WHERE account_id = ? AND id = ?`, p.AccountID, p.ID)
	})
	return err
}

// DeleteSession deletes a session of a customer and returns it; only its ids are set. A session that does not exist, or
// is over, is CodeMissing.
func (s *Store) DeleteSession(ctx context.Context, account, customer, ref string) (*Session, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Session, error) {
		c, err := findCustomer(ctx, u, account, customer)
		if err != nil {
			return nil, err
		}
		id, _ := core.ParseID(core.KindPortalSession, ref)
		ended, err := u.Exec(ctx, `
			DELETE FROM portal_sessions WHERE account_id = ? AND customer_id = ? AND id = ? AND expires_at > ?`, account, c.ID, id, s.db.Now())
		if err == nil && ended == 0 {
			err = core.Missing("portal session", "", ref)
		}
		return &Session{AccountID: account, ID: id, CustomerID: c.ID}, err
	})
}

// DeleteExpiredSessions deletes at most limit sessions that have been over for a day, and returns how many. On that day
// customers who open one are told that it is over.
func (s *Store) DeleteExpiredSessions(ctx context.Context, limit int) (int64, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.ExecBatch(ctx, `DELETE FROM portal_sessions`, `portal_sessions WHERE expires_at < ? ORDER BY expires_at LIMIT ?`, s.db.Now().Add(-24*time.Hour), limit)
	})
}
