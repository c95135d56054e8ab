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
	// keyPause is how long it takes until a team is told again that the provider refuses the same key. That it takes the key for other requests says nothing:
	// a key may do some things, and not others.
	keyPause = core.Day

	noteKeyTime = 10 * time.Second
)

// NoteKeyRefused notes that the payment provider refuses a key of an account. The team is told once a day, and again of another key. If the account has
// another key by now, nobody is told. It is called between the transactions of a request and is part of none. What goes wrong is logged: the caller waits
// for a payment.
func (s *Store) NoteKeyRefused(ctx context.Context, account, key string) {
	apart, cancel := context.WithTimeout(context.Background(), noteKeyTime)
	defer cancel()
	if err := s.noteKeyRefused(apart, account, key); err != nil {
		slog.ErrorContext(ctx, "note that the payment provider refuses a key", "account", account, "error", err)
	}
}

func (s *Store) noteKeyRefused(ctx context.Context, account, key string) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		now := s.Now()
		isNews, err := s.Tenant.NoteKeyTold(ctx, u, account, key, now.Add(-keyPause))
		if err != nil || !isNews {
			return nil, err
		}
		seller, err := s.Tenant.Seller(ctx, u, account)
		if err != nil || !seller.Writes(tenant.LetterKeyRefused) {
			return nil, err
		}
		return nil, s.Person.TellTeam(ctx, u, person.TeamLetter{AccountID: account, Kind: tenant.LetterKeyRefused, Period: core.NewULID()}, person.LetterDetail{Since: &now})
	})
	return err
}
