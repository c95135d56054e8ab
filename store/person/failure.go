package person

import (
	"context"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// How often signing in may fail within a window, for an address of e-mail and for one of the network, whether or not somebody has the
// former: an answer would say so.
const (
	failureWindow    = 15 * time.Minute
	failuresEmail    = 10
	failuresAddress  = 30
	recoveriesEmail  = 5 // letters, not failures
	subjectOfEmail   = "email\x00"
	subjectOfAddress = "address\x00"

	subjectOfRecovery = "recovery\x00"
	subjectOfBrowser  = "browser\x00"
	contextOfBrowser  = "known browser\x00"
)

// Attempt says who tries to sign in: with which e-mail address, from which of the network, and in which browser, as KnownBrowser named it.
type Attempt struct{ Email, Address, Browser string }

// TryPassword counts an attempt to sign in before it is made, so that attempts at once are counted too. One too many is CodeRateLimit, which says
// when to try again. All replicas count together. A browser in which that person has signed in before is counted apart, so that no stranger keeps
// somebody out who comes from where they always do. Whoever then is let in is forgotten by ForgetFailures.
func (s *Store) TryPassword(ctx context.Context, a Attempt) error {
	return s.try(ctx, subject{subjectOfAddress + a.Address, failuresAddress}, subject{s.subjectOf(a), failuresEmail})
}

// subjectOf returns what an attempt is counted for beside its network address: the browser, if it is known to be that person's, else their e-mail address.
func (s *Store) subjectOf(a Attempt) string {
	sealed, err := base64.RawURLEncoding.DecodeString(a.Browser)
	if err == nil && len(sealed) > 0 {
		if _, err = s.db.Options.Sealer.Open(sealed, contextOfBrowser+keyOf(a.Email)); err == nil {
			return subjectOfBrowser + string(sealed)
		}
	}
	return subjectOfEmail + keyOf(a.Email)
}

// KnownBrowser returns what a browser keeps in which somebody has signed in, for the attempts to come: it opens nothing.
func (s *Store) KnownBrowser(email string) string {
	return base64.RawURLEncoding.EncodeToString(s.db.Options.Sealer.Seal([]byte("known"), contextOfBrowser+keyOf(email)))
}

// TrySignUp counts that somebody makes an account, by the address that they come from alone: nobody closes the door to all others.
func (s *Store) TrySignUp(ctx context.Context, address string) error {
	return s.try(ctx, subject{subjectOfAddress + address, failuresAddress})
}

// TryRecovery counts that somebody asks for a letter to choose another password, by the address that they typed and the one that they come from. It does
// not look whether anybody has the former.
func (s *Store) TryRecovery(ctx context.Context, email, address string) error {
	return s.try(ctx, subject{subjectOfAddress + address, failuresAddress}, subject{subjectOfRecovery + keyOf(email), recoveriesEmail})
}

// subject is what attempts are counted for, and how many there may be.
type subject struct {
	name string
	most int64
}

func (s *Store) try(ctx context.Context, subjects ...subject) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		now := s.Now()
		for _, subject := range subjects {
			id := hashOf(subject.name)
			if _, err := u.Exec(ctx, `
				INSERT INTO sign_in_failures (id, failures, began_at) VALUES (?, 1, ?)
				ON CONFLICT (id) DO UPDATE SET
					failures = CASE WHEN sign_in_failures.began_at <= ? THEN 1 ELSE sign_in_failures.failures + 1 END,
					began_at = CASE WHEN sign_in_failures.began_at <= ? THEN excluded.began_at ELSE sign_in_failures.began_at END`,
				id, now, now.Add(-failureWindow), now.Add(-failureWindow)); err != nil {
				return nil, fmt.Errorf("count attempt: %w", err)
			}
			count, err := db.Get[struct {
				Failures int64     `db:"failures"`
				BeganAt  core.Time `db:"began_at"`
			}](ctx, u, `SELECT failures, began_at FROM sign_in_failures WHERE id = ?`, id)
			if err != nil {
				return nil, fmt.Errorf("read attempts: %w", err)
			}
			if count.Failures > subject.most {
				after := count.BeganAt.Add(failureWindow).Time().Sub(now.Time())
				return nil, &core.Error{Code: core.CodeRateLimit, After: after, Message: fmt.Sprintf("There were too many attempts. Try again in %d minutes.", int(after.Minutes())+1)}
			}
		}
		return nil, nil
	})
	return err
}

// ForgetFailures has the attempts for an address of e-mail forgotten, or those of the known browser, and takes the last one off those of the network's address.
func (s *Store) ForgetFailures(ctx context.Context, a Attempt) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		if _, err := u.Exec(ctx, `DELETE FROM sign_in_failures WHERE id = ?`, hashOf(s.subjectOf(a))); err != nil {
			return 0, err
		}
		return u.Exec(ctx, `UPDATE sign_in_failures SET failures = failures - 1 WHERE id = ? AND failures > 0`, hashOf(subjectOfAddress+a.Address))
	})
	return err
}
