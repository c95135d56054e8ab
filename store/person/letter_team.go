package person

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/tenant"
)

// teamLetterLife is how long it is known what a team was told of.
const teamLetterLife = 90 * core.Day

// TeamLetter is what the team of an account is told of, once for each kind and period.
type TeamLetter struct {
	AccountID string            `db:"account_id"`
	ID        string            `db:"id"`
	Kind      tenant.LetterKind `db:"kind"`
	Period    string            `db:"period"` // tells several of a kind apart
	People    int64             `db:"people"` // to whom it was written
	Sent      int64             `db:"sent"`
	Dropped   int64             `db:"dropped"` // it was not to be sent to so many any more, or could not be
	CreatedAt core.Time         `db:"created_at"`
}

var teamLetterColumns = db.ColumnsOf[TeamLetter]("team_letters")

// Sum is how much there was of something in one currency.
type Sum struct {
	Currency string `json:"currency"`
	Count    int64  `json:"count"`
	Amount   int64  `json:"amount"`
}

// Week is what happened in a week.
type Week struct {
	Sales     []Sum `json:"sales"`
	Refunds   []Sum `json:"refunds"`   // which nobody counts
	Customers int64 `json:"customers"` // new ones
	Started   int64 `json:"started"`   // subscriptions
	Ended     int64 `json:"ended"`
}

// TellTeam has the owners and admins of an account told of something, unless they were told of this kind in this period. They are those whose addresses are
// confirmed. If there are none, nothing is noted.
func (s *Store) TellTeam(ctx context.Context, u *db.Unit, l TeamLetter, detail LetterDetail) error {
	people, err := db.Select[Person](ctx, u, personColumns.SelectSQL+` WHERE id IN (SELECT person_id FROM members WHERE account_id = ? AND role IN (?, ?)) ORDER BY id`,
		l.AccountID, RoleOwner, RoleAdmin)
	if err != nil {
		return fmt.Errorf("read who is told: %w", err)
	}
	l.ID, l.CreatedAt = "team_letter_"+core.NewULID(), s.Now()
	var copies []Letter
	for _, p := range people {
		if p.GetsLetters() {
			copies = append(copies, Letter{ID: "person_letter_" + core.NewULID(), PersonID: p.ID, Kind: l.Kind, AccountID: &l.AccountID, TeamLetterID: &l.ID,
				Detail: core.JSONOf(detail), DueAt: l.CreatedAt, CreatedAt: l.CreatedAt})
		}
	}
	if len(copies) == 0 {
		return nil
	}
	l.People = int64(len(copies))
	made, err := u.Exec(ctx, teamLetterColumns.InsertSQL+` ON CONFLICT (account_id, kind, period) DO NOTHING`, teamLetterColumns.Values(&l)...)
	if err != nil || made == 0 {
		return err
	}
	return db.InsertAll(ctx, u, letterColumns, copies)
}

// ListTeamLetters returns what the team of an account was told of, the newest first, at most limit.
func (s *Store) ListTeamLetters(ctx context.Context, account string, limit int) ([]TeamLetter, error) {
	return db.Select[TeamLetter](ctx, s.db, teamLetterColumns.SelectSQL+` WHERE account_id = ? ORDER BY id DESC LIMIT ?`, account, limit)
}

// isOfTeam reports whether somebody is one of those whom the letters of an account's team are for.
func (s *Store) isOfTeam(ctx context.Context, u *db.Unit, account, person string) (bool, error) {
	role, err := db.Get[Role](ctx, u, `SELECT role FROM members WHERE account_id = ? AND person_id = ?`, account, person)
	if err != nil {
		return false, fmt.Errorf("read a member: %w", err)
	}
	return role != nil && (*role == RoleOwner || *role == RoleAdmin), nil
}
