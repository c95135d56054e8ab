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

// portalSessionLifetime is how long a portal session opens the portal.
const portalSessionLifetime = 24 * time.Hour

// PortalSession opens the portal to one customer, for a while. Token and URL, which holds it, are known when it is made,
// URL also while it is open, and never again.
type PortalSession struct {
	AccountID  string    `db:"account_id"`
	ID         string    `db:"id"`
	CustomerID string    `db:"customer_id"`
	TokenHash  string    `db:"token_hash"`
	ReturnURL  *string   `db:"return_url"` // where the customer goes from the portal
	ExpiresAt  core.Time `db:"expires_at"`
	CreatedAt  core.Time `db:"created_at"`
	UpdatedAt  core.Time `db:"updated_at"`

	Token string `db:"-"`
	URL   string `db:"-"`
}

var portalSessionColumns = db.ColumnsOf[PortalSession]("portal_sessions")

// maxPortalSessions is how many sessions of a customer are open. Each one more ends the oldest.
const maxPortalSessions = 50

// CreatePortalSession opens the portal to a customer, or returns CodeMissing. It expires by the real clock.
func (s *Store) CreatePortalSession(ctx context.Context, account, customer string, returnURL *string) (*PortalSession, error) {
	return tx(ctx, s, func(ctx context.Context, u *unit) (*PortalSession, error) {
		c, err := s.findCustomer(ctx, account, customer, "", u.Lock())
		if err != nil {
			return nil, err
		}
		now := s.Now()
		p := &PortalSession{
			AccountID: account, ID: core.NewID(core.KindPortalSession), CustomerID: c.ID, ReturnURL: returnURL,
			ExpiresAt: now.Add(portalSessionLifetime), CreatedAt: now, UpdatedAt: now,
		}
		p.giveToken(s.db.Options.PublicURL)
		if err := u.Insert(ctx, portalSessionColumns, p); err != nil {
			return nil, err
		}
		return p, u.endOldest(ctx, c)
	})
}

// endOldest ends the sessions of a locked customer that are too many.
func (u *unit) endOldest(ctx context.Context, c *Customer) error {
	_, err := u.Exec(ctx, `
		DELETE FROM portal_sessions WHERE account_id = ? AND customer_id = ? AND id NOT IN (
			SELECT id FROM portal_sessions WHERE account_id = ? AND customer_id = ? ORDER BY id DESC LIMIT ?)`,
		c.AccountID, c.ID, c.AccountID, c.ID, maxPortalSessions)
	if err != nil {
		return fmt.Errorf("end the oldest portal sessions: %w", err)
	}
	return nil
}

// giveToken makes the token: the id, the account's without its prefix, and 256 random bits, with underscores between.
func (p *PortalSession) giveToken(publicURL string) {
	var random [32]byte
	if _, err := rand.Read(random[:]); err != nil {
		panic(err) // crypto/rand does not fail on a supported system
	}
	p.Token = p.ID + "_" + strings.TrimPrefix(p.AccountID, core.KindAccount.Prefix()) + "_" + core.TokenEncoding.EncodeToString(random[:])
	p.TokenHash, p.URL = secretHash(p.Token), publicURL+"/portal/"+p.Token
}

// OpenPortal returns the session of a token and its customer, or CodeMissing, as while the account is disabled.
// Expired says that its time is over: then neither is returned.
func (s *Store) OpenPortal(ctx context.Context, token string) (p *PortalSession, c *Customer, expired bool, err error) {
	if p, err = s.findPortalSession(ctx, token); err != nil {
		return nil, nil, false, err
	}
	if p.ExpiresAt <= s.Now() {
		return nil, nil, true, nil
	}
	p.URL = s.db.Options.PublicURL + "/portal/" + token
	c, err = s.findCustomer(ctx, p.AccountID, p.CustomerID, "", "")
	return p, c, false, err
}

func (s *Store) findPortalSession(ctx context.Context, token string) (*PortalSession, error) {
	parts := strings.Split(token, "_")
	if len(parts) != 4 {
		return nil, core.Missing("portal session", "", "")
	}
	id, isSession := core.ParseID(core.KindPortalSession, parts[0]+"_"+parts[1])
	account, isAccount := core.ParseID(core.KindAccount, core.KindAccount.Prefix()+parts[2])
	if !isSession || !isAccount {
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

// EndPortalSession makes the token of a session open nothing any more.
func (s *Store) EndPortalSession(ctx context.Context, p *PortalSession) error {
	_, err := tx(ctx, s, func(ctx context.Context, u *unit) (int64, error) {
		return u.Exec(ctx, `DELETE FROM portal_sessions WHERE account_id = ? AND id = ?`, p.AccountID, p.ID)
	})
	return err
}

// DeletePortalSession ends a session of a customer and returns it, or CodeMissing, as one is whose time is over.
func (s *Store) DeletePortalSession(ctx context.Context, account, customer, ref string) (*PortalSession, error) {
	return tx(ctx, s, func(ctx context.Context, u *unit) (*PortalSession, error) {
		c, err := s.findCustomer(ctx, account, customer, "", "")
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

// DeleteExpiredPortalSessions deletes at most limit sessions whose time was over a day ago, and returns how many. Until
// then their customers are told that it is.
func (s *Store) DeleteExpiredPortalSessions(ctx context.Context, limit int) (int64, error) {
	return tx(ctx, s, func(ctx context.Context, u *unit) (int64, error) {
		return u.Exec(ctx, `
			DELETE FROM portal_sessions WHERE (account_id, id) IN (
				SELECT account_id, id FROM portal_sessions WHERE expires_at < ? LIMIT ?`+u.LockSkip()+`)`, s.Now().Add(-day), limit)
	})
}
