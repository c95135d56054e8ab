package store

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"strings"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// portalSessionLifetime is how long a new session opens the portal.
const portalSessionLifetime = 24 * time.Hour

// PortalSession lets one customer use the portal for a while. The token is stored as a hash: Token is set only when the session
// is made, and URL, which holds it, only then and when the session is opened by its token.
type PortalSession struct {
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

var portalSessionColumns = db.ColumnsOf[PortalSession]("portal_sessions")

// maxPortalSessions is how many sessions a customer may have at once. One more ends the oldest.
const maxPortalSessions = 50

// CreatePortalSession makes a portal session for a customer, whom it locks. A customer who does not exist is CodeMissing. The
// session expires by the store's time, not by the account's clock.
func (s *Store) CreatePortalSession(ctx context.Context, account, customer string, returnURL *string) (*PortalSession, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*PortalSession, error) {
		return s.createPortalSession(ctx, u, account, customer, core.NewID(core.KindPortalSession), returnURL)
	})
}

func (s *Store) createPortalSession(ctx context.Context, u *db.Unit, account, customer, id string, returnURL *string) (*PortalSession, error) {
	c, err := s.lockCustomer(ctx, u, account, customer, "")
	if err != nil {
		return nil, err
	}
	now := s.Now()
	p := &PortalSession{
		AccountID: account, ID: id, CustomerID: c.ID, ReturnURL: returnURL,
		ExpiresAt: now.Add(portalSessionLifetime), CreatedAt: now, UpdatedAt: now,
	}
	p.giveToken(s.db.Options.PublicURL)
	if err := u.Insert(ctx, portalSessionColumns, p); err != nil {
		return nil, err
	}
	return p, s.endOldest(ctx, u, c)
}

// endOldest deletes the oldest sessions of a locked customer beyond maxPortalSessions.
func (s *Store) endOldest(ctx context.Context, u *db.Unit, c *Customer) error {
	_, err := u.Exec(ctx, `
		DELETE FROM portal_sessions WHERE account_id = ? AND customer_id = ? AND id NOT IN (
			SELECT id FROM portal_sessions WHERE account_id = ? AND customer_id = ? ORDER BY id DESC LIMIT ?)`,
		c.AccountID, c.ID, c.AccountID, c.ID, maxPortalSessions)
	if err != nil {
		return fmt.Errorf("end the oldest portal sessions: %w", err)
	}
	return nil
}

// giveToken gives the session its secret token, and sets the hash and the URL that go with it.
func (p *PortalSession) giveToken(publicURL string) {
	p.Token = newPortalToken(p.AccountID, p.ID)
	p.TokenHash, p.URL = secretHash(p.Token), publicURL+"/portal/"+p.Token
}

// newPortalToken returns a secret token of a session, or of the link that becomes it: its id, the account's id without its prefix,
// and 256 random bits, with underscores between.
func newPortalToken(account, id string) string {
	var random [32]byte
	if _, err := rand.Read(random[:]); err != nil {
		panic(err) // crypto/rand does not fail on a supported system
	}
	return id + "_" + strings.TrimPrefix(account, core.KindAccount.Prefix()) + "_" + core.TokenEncoding.EncodeToString(random[:])
}

// OpenPortal returns the session that a token opens, and its customer. A token that opens none, or an account that is disabled,
// is CodeMissing. If the session is over, expired is true and neither is returned.
func (s *Store) OpenPortal(ctx context.Context, token string) (p *PortalSession, c *Customer, expired bool, err error) {
	if p, err = s.findPortalSession(ctx, token); err != nil {
		return nil, nil, false, err
	}
	if p.ExpiresAt <= s.Now() {
		return nil, nil, true, nil
	}
	p.URL = s.db.Options.PublicURL + "/portal/" + token
	c, err = s.getCustomer(ctx, p.AccountID, p.CustomerID, "")
	return p, c, false, err
}

// findPortalSession returns the session of a token, expired or not, or CodeMissing.
func (s *Store) findPortalSession(ctx context.Context, token string) (*PortalSession, error) {
	account, id, ok := splitPortalToken(token)
	if !ok {
		return nil, core.Missing("portal session", "", "")
	}
	p, err := db.Get[PortalSession](ctx, s.db, portalSessionColumns.SelectSQL+` WHERE account_id = ? AND id = ? AND `+db.EnabledAccount, account, id)
	if err != nil {
		return nil, fmt.Errorf("read portal session: %w", err)
	}
	if p == nil || subtle.ConstantTimeCompare([]byte(p.TokenHash), []byte(secretHash(token))) != 1 {
		return nil, core.Missing("portal session", "", "")
	}
	return p, nil
}

// EndPortalSession deletes a session, so that its token opens nothing any more.
func (s *Store) EndPortalSession(ctx context.Context, p *PortalSession) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `DELETE FROM portal_sessions WHERE account_id = ? AND id = ?`, p.AccountID, p.ID)
	})
	return err
}

// DeletePortalSession deletes a session of a customer and returns it; only its ids are set. A session that does not exist, or
// is over, is CodeMissing.
func (s *Store) DeletePortalSession(ctx context.Context, account, customer, ref string) (*PortalSession, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*PortalSession, error) {
		c, err := s.getCustomer(ctx, account, customer, "")
		if err != nil {
			return nil, err
		}
		id, _ := core.ParseID(core.KindPortalSession, ref)
		ended, err := u.Exec(ctx, `
			DELETE FROM portal_sessions WHERE account_id = ? AND customer_id = ? AND id = ? AND expires_at > ?`, account, c.ID, id, s.Now())
		if err == nil && ended == 0 {
			err = core.Missing("portal session", "", ref)
		}
		return &PortalSession{AccountID: account, ID: id, CustomerID: c.ID}, err
	})
}

// DeleteExpiredPortalSessions deletes at most limit sessions that have been over for a day, and returns how many. On that day
// customers who open one are told that it is over.
func (s *Store) DeleteExpiredPortalSessions(ctx context.Context, limit int) (int64, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `
			DELETE FROM portal_sessions WHERE (account_id, id) IN (
				SELECT account_id, id FROM portal_sessions WHERE expires_at < ? LIMIT ?`+u.LockSkip()+`)`, s.Now().Add(-day), limit)
	})
}
