package person

import (
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// LinkKind is what a link lets somebody do.
type LinkKind string

// The kinds of links.
const (
	LinkSetup      LinkKind = "setup"      // be the first to sign in
	LinkInvitation LinkKind = "invitation" // become a member
	LinkRecovery   LinkKind = "recovery"   // choose another password
)

// life returns how long a link can be used.
func (k LinkKind) life() time.Duration {
	return map[LinkKind]time.Duration{LinkSetup: 24 * time.Hour, LinkInvitation: 7 * 24 * time.Hour, LinkRecovery: 30 * time.Minute}[k]
}

// Link lets whoever has its token do one thing once.
type Link struct {
	ID        string    `db:"id"` // hash of its token
	Kind      LinkKind  `db:"kind"`
	PersonID  *string   `db:"person_id"`  // whose password it is; of an invitation, who invites
	AccountID *string   `db:"account_id"` // whose member they become
	Email     string    `db:"email"`      // of who is invited
	Role      Role      `db:"role"`       // that they get
	ExpiresAt core.Time `db:"expires_at"`
	CreatedAt core.Time `db:"created_at"`

	LetterDueAt    *core.Time `db:"letter_due_at"` // when its letter is to be sent next, nil for none
	LetterAttempts int64      `db:"letter_attempts"`
}

var linkColumns = db.ColumnsOf[Link]("person_links")

// CreateLink makes a link and returns its token. The former ones for the same end: setup links, those to recover a password, and invitations of
// one address to one account. A setup link without an account takes over that of the former one.
func (s *Store) CreateLink(ctx context.Context, l Link) (string, error) {
	token, now := newToken(), s.Now()
	l.ID, l.ExpiresAt, l.CreatedAt = hashOf(token), now.Add(l.Kind.life()), now
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		former, args := ``, []any{l.Kind}
		switch l.Kind {
		case LinkSetup:
			before, err := db.Get[Link](ctx, u, linkColumns.SelectSQL+` WHERE kind = ?`, l.Kind)
			if err != nil {
				return nil, fmt.Errorf("read the former link: %w", err)
			}
			if before != nil && l.AccountID == nil {
				l.AccountID = before.AccountID
			}
		case LinkRecovery:
			former, args = ` AND person_id = ?`, append(args, l.PersonID)
		case LinkInvitation:
			ids, err := s.invitationsOf(ctx, u, *l.AccountID, l.Email)
			if err != nil {
				return nil, err
			}
			in, arg := s.db.In("id", ids)
			former, args = ` AND account_id = ? AND `+in, append(args, l.AccountID, arg)
		}
		if _, err := u.Exec(ctx, `DELETE FROM person_links WHERE kind = ?`+former, args...); err != nil {
			return nil, fmt.Errorf("end former links: %w", err)
		}
		return nil, u.Insert(ctx, linkColumns, &l)
	})
	if err != nil {
		return "", err
	}
	return token, nil
}

// GetLink returns the link of a token, or CodeMissing if there is none, if it was used, or if its time is over.
func (s *Store) GetLink(ctx context.Context, kind LinkKind, token string) (*Link, error) {
	return s.getLinkIn(ctx, s.db, kind, token)
}

// getLinkIn does what GetLink does, where r says.
func (s *Store) getLinkIn(ctx context.Context, r db.Reader, kind LinkKind, token string) (*Link, error) {
	l, err := db.Get[Link](ctx, r, linkColumns.SelectSQL+` WHERE id = ? AND kind = ? AND expires_at > ?`, hashOf(token), kind, s.Now())
	if err != nil {
		return nil, fmt.Errorf("read link: %w", err)
	}
	if l == nil {
		return nil, core.Missing("link", "", "")
	}
	return l, nil
}

// UseLink is GetLink that uses the link up, in the transaction of what it is used for. Of two who come at once one gets it.
func (s *Store) UseLink(ctx context.Context, kind LinkKind, token string) (*Link, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Link, error) {
		l, err := s.getLinkIn(ctx, u, kind, token)
		if err != nil {
			return nil, err
		}
		used, err := u.Exec(ctx, `DELETE FROM person_links WHERE id = ?`, l.ID)
		if err != nil {
			return nil, fmt.Errorf("use link: %w", err)
		}
		if used == 0 {
			return nil, core.Missing("link", "", "")
		}
		return l, nil
	})
}

// ListInvitations returns the invitations to an account that wait, the newest first.
func (s *Store) ListInvitations(ctx context.Context, account string) ([]Link, error) {
	return s.ListInvitationsIn(ctx, s.db, account)
}

// ListInvitationsIn does what ListInvitations does, where r says.
func (s *Store) ListInvitationsIn(ctx context.Context, r db.Reader, account string) ([]Link, error) {
	return db.Select[Link](ctx, r, linkColumns.SelectSQL+` WHERE account_id = ? AND kind = ? AND expires_at > ? ORDER BY created_at DESC, id`, account, LinkInvitation, s.Now())
}

// invitationsOf returns the ids of the invitations of an address to an account, also of those whose time is over. An account has so few that all
// are looked at.
func (s *Store) invitationsOf(ctx context.Context, r db.Reader, account, email string) ([]string, error) {
	all, err := db.Select[Link](ctx, r, linkColumns.SelectSQL+` WHERE account_id = ? AND kind = ?`, account, LinkInvitation)
	if err != nil {
		return nil, fmt.Errorf("read invitations: %w", err)
	}
	ids := []string{}
	for _, l := range all {
		if keyOf(l.Email) == keyOf(email) {
			ids = append(ids, l.ID)
		}
	}
	return ids, nil
}

// DeleteInvitation takes an invitation back. One that is not there any more is no error.
func (s *Store) DeleteInvitation(ctx context.Context, account, id string) error {
	return s.change(ctx, `DELETE FROM person_links WHERE account_id = ? AND kind = ? AND id = ?`, account, LinkInvitation, id)
}
