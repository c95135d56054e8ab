package person

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

const (
	recoveryLease    = time.Minute // doubled by each attempt to send a letter
	recoveryAttempts = 4           // a quarter of an hour: whoever waits has asked again by then
)

// Recovery is a letter by which somebody chooses another password.
type Recovery struct {
	LinkID, Token, Email string
}

// AskRecovery has a letter with a link sent to whoever signs in with an address, and ends the link before. Nobody is told whether there is
// such a person.
func (s *Store) AskRecovery(ctx context.Context, email string) error {
	p, err := s.PersonOfEmail(ctx, email)
	var missing *core.Error
	if errors.As(err, &missing) && missing.Code == core.CodeMissing {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = s.CreateLink(ctx, Link{Kind: LinkRecovery, PersonID: &p.ID, LetterDueAt: new(s.Now())})
	return err
}

// DueRecoveries returns the ids of links whose letters are to be sent, at most limit, for ClaimRecovery.
func (s *Store) DueRecoveries(ctx context.Context, limit int) ([]string, error) {
	return db.Select[string](ctx, s.db, `SELECT id FROM person_links WHERE letter_due_at <= ? ORDER BY letter_due_at LIMIT ?`, s.Now(), limit)
}

// ClaimRecovery returns a letter that is to be sent now, by this caller alone, until another attempt is due. Each attempt has a token of its own: that of
// an attempt before opens nothing. It is nil if there is nothing to send: another caller has it, or it was tried often enough.
func (s *Store) ClaimRecovery(ctx context.Context, id string) (*Recovery, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Recovery, error) {
		now := s.Now()
		l, err := db.Get[Link](ctx, u, linkColumns.SelectSQL+` WHERE id = ? AND letter_due_at <= ?`+u.LockSkip(), id, now)
		if err != nil || l == nil {
			return nil, err
		}
		if l.LetterAttempts >= recoveryAttempts {
			return nil, s.EndRecovery(ctx, id)
		}
		p, err := s.GetPersonIn(ctx, u, *l.PersonID)
		if err != nil {
			return nil, err
		}
		r := &Recovery{Token: newToken(), Email: p.Email}
		r.LinkID = hashOf(r.Token)
		_, err = u.Exec(ctx, `UPDATE person_links SET id = ?, letter_due_at = ?, letter_attempts = ?, expires_at = ? WHERE id = ?`,
			r.LinkID, now.Add(recoveryLease<<l.LetterAttempts), l.LetterAttempts+1, now.Add(LinkRecovery.life()), id)
		if err != nil {
			return nil, fmt.Errorf("claim recovery: %w", err)
		}
		return r, nil
	})
}

// EndRecovery notes that the letter of a link needs no further attempt.
func (s *Store) EndRecovery(ctx context.Context, id string) error {
	return s.change(ctx, `UPDATE person_links SET letter_due_at = NULL WHERE id = ?`, id)
}

// Recover gives somebody another password by a link, which it uses up, and ends all their sessions. A link that is used up or over is CodeMissing. One
// that came by a letter confirms their address.
func (s *Store) Recover(ctx context.Context, token, hash string) (personID string, err error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, _ *db.Unit) (string, error) {
		l, err := s.UseLink(ctx, LinkRecovery, token)
		if err != nil {
			return "", err
		}
		if l.LetterAttempts > 0 {
			if err := s.ConfirmEmail(ctx, *l.PersonID); err != nil {
				return "", err
			}
		}
		return *l.PersonID, s.SetPassword(ctx, *l.PersonID, hash, "")
	})
}
