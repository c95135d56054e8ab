package person

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/store/throttle"
)

// The kinds of letters that no account can switch off. Tenant has the others.
const (
	LetterNewBrowser   tenant.LetterKind = "new_browser"   // they signed in with a browser that is not known to be theirs
	LetterTokenMade    tenant.LetterKind = "token_made"    // programs can act for an account of theirs by it
	LetterOwnerChanged tenant.LetterKind = "owner_changed" // somebody is an owner of an account now, or no more
)

const (
	letterLease    = time.Minute // doubled by each attempt to send a letter
	letterAttempts = 10          // which take 17 hours
)

// MostLetters is how many letters of a kind about an account a person is sent in an hour.
const MostLetters = 5

// Letter is what somebody is told of. It commits with its cause, and is gone once it is sent.
type Letter struct {
	ID        string            `db:"id"`
	PersonID  string            `db:"person_id"`
	Kind      tenant.LetterKind `db:"kind"`
	AccountID *string           `db:"account_id"` // that it is about

	TeamLetterID *string `db:"letter_id"` // the letter to the team that it is a copy of, nil if it is none

	Detail    core.JSON[LetterDetail] `db:"detail"`
	DueAt     core.Time               `db:"due_at"`
	Attempts  int64                   `db:"attempts"`
	CreatedAt core.Time               `db:"created_at"`

	Email string `db:"-"` // of the person, once it is claimed
}

// LetterDetail is what a letter tells of, as it was.
type LetterDetail struct {
	Agent      string          `json:"agent,omitempty"` // what the browser says of itself
	Address    string          `json:"address,omitempty"`
	Token      string          `json:"token,omitempty"` // its name
	Member     string          `json:"member,omitempty"`
	Owns       bool            `json:"owns,omitempty"`     // the member is an owner now
	Endpoint   string          `json:"endpoint,omitempty"` // id of a webhook endpoint
	Host       string          `json:"host,omitempty"`     // of its URL
	Since      *core.Time      `json:"since,omitempty"`    // when it took something last, or was tried first
	Site       string          `json:"site,omitempty"`     // id of a site whose domain Host is
	Reason     string          `json:"reason,omitempty"`   // what is wrong with it, in a sentence
	Records    []DNSRecord     `json:"records,omitempty"`  // of which it needs one
	Domains    []FailingDomain `json:"domains,omitempty"`  // that fail, too
	Unnamed    int64           `json:"unnamed,omitempty"`  // how many more do
	Day        string          `json:"day,omitempty"`      // 2026-11-28, where the seller is
	Sums       []Sum           `json:"sums,omitempty"`
	HasMore    bool            `json:"has_more,omitempty"` // than were looked at for the sums
	Orders     []string        `json:"orders,omitempty"`   // ids of those that the letter names
	Retried    int64           `json:"retried,omitempty"`  // how many of what is summed up are tried again
	Next       *core.Time      `json:"next,omitempty"`     // when the first of them is
	Week       *Week           `json:"week,omitempty"`
	WeekBefore *Week           `json:"week_before,omitempty"`
}

// FailingDomain is the domain of a site, and what is wrong with it in a sentence.
type FailingDomain struct{ Host, Reason string }

// DNSRecord is what has to stand at a name.
type DNSRecord struct{ Type, Name, Value string }

var letterColumns = db.ColumnsOf[Letter]("people_letters")

// TellOwners has the owners of an account told of something, and others too. Nobody is told whose address is not confirmed, nor more often than
// MostLetters in an hour of one kind and account. What was done stands in the account's activity.
func (s *Store) TellOwners(ctx context.Context, account string, kind tenant.LetterKind, detail LetterDetail, others ...string) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		owners, err := db.Select[string](ctx, u, `SELECT person_id FROM members WHERE account_id = ? AND role = ?`, account, RoleOwner)
		if err != nil {
			return nil, fmt.Errorf("read owners: %w", err)
		}
		return nil, s.tell(ctx, u, append(owners, others...), Letter{Kind: kind, AccountID: &account, Detail: core.JSONOf(detail)})
	})
	return err
}

// tellOfBrowser tells somebody that they signed in with a browser that is not known to be theirs.
func (s *Store) tellOfBrowser(ctx context.Context, u *db.Unit, person, agent, address string) error {
	return s.tell(ctx, u, []string{person}, Letter{Kind: LetterNewBrowser, Detail: core.JSONOf(LetterDetail{Agent: cut(agent), Address: cut(address)})})
}

// tell writes a letter to each of some people who gets letters and had not too many. Whoever knows their password must not fill their mailbox.
func (s *Store) tell(ctx context.Context, u *db.Unit, people []string, l Letter) error {
	in, arg := s.db.In("id", people)
	// In the order in which throttle wants what is counted in one transaction.
	to, err := db.Select[Person](ctx, u, personColumns.SelectSQL+` WHERE `+in+` ORDER BY id`, arg)
	if err != nil {
		return fmt.Errorf("read who is told: %w", err)
	}
	now := s.Now()
	for _, p := range to {
		if !p.GetsLetters() {
			continue
		}
		over := false
		note := func(*throttle.Over) error {
			over = true
			return nil
		}
		limit := throttle.Limit{Subject: string(l.Kind) + ":" + p.ID, Most: MostLetters, Window: time.Hour}
		if err := s.throttle.Count(ctx, core.Deref(l.AccountID), note, limit); err != nil {
			return err
		}
		if over {
			continue
		}
		l.ID, l.PersonID, l.DueAt, l.CreatedAt = "person_letter_"+core.NewULID(), p.ID, now, now
		if err := u.Insert(ctx, letterColumns, &l); err != nil {
			return err
		}
	}
	return nil
}

// DueLetters returns the ids of letters that are to be sent now, at most limit, for ClaimLetter. Those to teams come last: there are many of them in a
// morning, and nobody waits for them.
func (s *Store) DueLetters(ctx context.Context, limit int) ([]string, error) {
	now := s.Now()
	first, err := db.Select[string](ctx, s.db, `SELECT id FROM people_letters WHERE letter_id IS NULL AND due_at <= ? ORDER BY due_at LIMIT ?`, now, limit)
	if err != nil || len(first) == limit {
		return first, err
	}
	toTeams, err := db.Select[string](ctx, s.db, `SELECT id FROM people_letters WHERE letter_id IS NOT NULL AND due_at <= ? ORDER BY due_at LIMIT ?`, now, limit-len(first))
	return append(first, toTeams...), err
}

// ClaimLetter returns a letter that is to be sent now, by this caller alone, until another attempt is due. It is nil if another
// caller has it, or it was tried often enough. It is nil, too, if its reader has left the team whose letter it is.
func (s *Store) ClaimLetter(ctx context.Context, id string) (*Letter, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Letter, error) {
		now := s.Now()
		l, err := db.Get[Letter](ctx, u, letterColumns.SelectSQL+` WHERE id = ? AND due_at <= ?`+u.LockSkip(), id, now)
		if err != nil || l == nil {
			return nil, err
		}
		if l.Attempts >= letterAttempts {
			return nil, s.EndLetter(ctx, l, false)
		}
		if l.TeamLetterID != nil {
			if isIn, err := s.isOfTeam(ctx, u, *l.AccountID, l.PersonID); err != nil || !isIn {
				return nil, errors.Join(err, s.EndLetter(ctx, l, false))
			}
		}
		p, err := s.GetPersonIn(ctx, u, l.PersonID)
		if err != nil {
			return nil, err
		}
		if _, err := u.Exec(ctx, `UPDATE people_letters SET due_at = ?, attempts = attempts + 1 WHERE id = ?`, now.Add(letterLease<<l.Attempts), id); err != nil {
			return nil, fmt.Errorf("claim letter: %w", err)
		}
		l.Email = p.Email
		return l, nil
	})
}

// EndLetter notes that a letter needs no further attempt, and whether it was sent.
func (s *Store) EndLetter(ctx context.Context, l *Letter, isSent bool) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		rows, err := u.Exec(ctx, `DELETE FROM people_letters WHERE id = ?`, l.ID)
		if err != nil || rows == 0 || l.TeamLetterID == nil {
			return nil, err
		}
		sent, dropped := 0, 1
		if isSent {
			sent, dropped = 1, 0
		}
		_, err = u.Exec(ctx, `UPDATE team_letters SET sent = sent + ?, dropped = dropped + ? WHERE account_id = ? AND id = ?`, sent, dropped, *l.AccountID, *l.TeamLetterID)
		return nil, err
	})
	return err
}
