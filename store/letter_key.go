package store

import (
	"context"
	"log/slog"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/store/tenant"
)

const (
	// keyPause is how long it takes until a team is told again that its key is refused, if it never worked meanwhile.
	keyPause = core.Day

	// keyWorked is for how long a key counts as refused though it worked: the provider may take it for some requests, and refuse others.
	keyWorked = time.Hour

	noteKeyTime = 10 * time.Second
)

// NoteKey notes whether the payment provider takes the key of an account. The team is told once when it does not, and again after a day, or after it worked.
// It is called between the transactions of a request and is part of none. What goes wrong is logged: the caller waits for a payment.
func (s *Store) NoteKey(ctx context.Context, account string, works bool) {
	apart, cancel := context.WithTimeout(context.Background(), noteKeyTime)
	defer cancel()
	note := s.noteKeyRefused
	if works {
		note = s.noteKeyTaken
	}
	if err := note(apart, account); err != nil {
		slog.ErrorContext(ctx, "note whether the payment provider takes a key", "account", account, "error", err)
	}
}

func (s *Store) noteKeyRefused(ctx context.Context, account string) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		now := s.Now()
		rows, err := u.Exec(ctx, `UPDATE accounts SET key_told_at = ? WHERE id = ? AND disabled_at IS NULL AND (key_told_at IS NULL OR key_told_at <= ?)`,
			now, account, now.Add(-keyPause))
		if err != nil || rows == 0 {
			return nil, err
		}
		seller, err := s.Tenant.Seller(ctx, u, account)
		if err != nil || !seller.Writes(tenant.LetterKeyRefused) {
			return nil, err
		}
		return nil, s.Person.TellTeam(ctx, u, person.TeamLetter{AccountID: account, Kind: person.LetterKeyRefused, Period: now.String()}, person.LetterDetail{Since: &now})
	})
	return err
}

func (s *Store) noteKeyTaken(ctx context.Context, account string) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `UPDATE accounts SET key_told_at = NULL WHERE id = ? AND key_told_at <= ?`, account, s.Now().Add(-keyWorked))
	})
	return err
}
