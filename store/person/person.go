package person

import (
	"context"
	"fmt"
	"strings"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Person is somebody who signs in.
type Person struct {
	ID         string    `db:"id"`
	Email      string    `db:"email"`
	EmailKey   string    `db:"email_key"`
	Password   string    `db:"password"`    // a hash: see HashPassword
	IsOperator bool      `db:"is_operator"` // runs this server
	CreatedAt  core.Time `db:"created_at"`
	UpdatedAt  core.Time `db:"updated_at"`

	EmailConfirmedAt *core.Time `db:"email_confirmed_at"` // when they used a link of a letter to Email, nil if they never did
}

// GetsLetters reports whether somebody is sent letters that they did not ask for: their address is confirmed, or they run this server. Anybody can sign
// up with the address of somebody else.
func (p *Person) GetsLetters() bool { return p.EmailConfirmedAt != nil || p.IsOperator }

var personColumns = db.ColumnsOf[Person]("people")

// NewPerson says who CreatePerson is to make.
type NewPerson struct {
	Email      string
	Password   string // a hash
	IsOperator bool
	IsInvited  bool // Email was checked by the rule of the version that invited them, which need not be today's
}

// keyOf returns an e-mail address as it is compared.
func keyOf(email string) string { return core.EmailKey(strings.TrimSpace(email)) }

// HasPeople reports whether anybody can sign in.
func (s *Store) HasPeople(ctx context.Context) (bool, error) {
	return s.HasPeopleIn(ctx, s.db)
}

// HasPeopleIn does what HasPeople does, where r says.
func (s *Store) HasPeopleIn(ctx context.Context, r db.Reader) (bool, error) {
	row, err := db.Get[int](ctx, r, `SELECT 1 FROM people LIMIT 1`)
	return row != nil, err
}

// CreatePerson makes somebody who can sign in. An address that another one has is CodeInvalid for email.
func (s *Store) CreatePerson(ctx context.Context, in NewPerson) (*Person, error) {
	now := s.Now()
	p := &Person{ID: core.NewID(core.KindPerson), Email: strings.TrimSpace(in.Email), EmailKey: keyOf(in.Email), Password: in.Password, IsOperator: in.IsOperator, CreatedAt: now, UpdatedAt: now}
	if problem := core.EmailProblem(p.Email, "Type an e-mail address, such as ada@example.com."); problem != "" && !in.IsInvited {
		return nil, core.Invalid("email", problem)
	}
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Person, error) {
		made, err := u.Exec(ctx, personColumns.InsertSQL+` ON CONFLICT (email_key) DO NOTHING`, personColumns.Values(p)...)
		if err != nil {
			return nil, fmt.Errorf("insert person: %w", err)
		}
		if made == 0 {
			return nil, core.Invalid("email", "Somebody signs in with this address already. Sign in, or use another one.")
		}
		return p, nil
	})
}

// GetPerson returns a person, or CodeMissing.
func (s *Store) GetPerson(ctx context.Context, id string) (*Person, error) {
	return s.GetPersonIn(ctx, s.db, id)
}

// GetPersonIn does what GetPerson does, where r says.
func (s *Store) GetPersonIn(ctx context.Context, r db.Reader, id string) (*Person, error) {
	return s.find(ctx, r, "person", `id = ?`, id)
}

// PersonOfEmail returns who signs in with an address, however it is written, or CodeMissing.
func (s *Store) PersonOfEmail(ctx context.Context, email string) (*Person, error) {
	return s.find(ctx, s.db, "person", `email_key = ?`, keyOf(email))
}

func (s *Store) find(ctx context.Context, r db.Reader, what, condition, arg string) (*Person, error) {
	p, err := db.Get[Person](ctx, r, personColumns.SelectSQL+` WHERE `+condition, arg)
	if err != nil {
		return nil, fmt.Errorf("read person: %w", err)
	}
	if p == nil {
		return nil, core.Missing(what, "", "")
	}
	return p, nil
}

// ConfirmEmail notes that somebody used a link of a letter to their address, so that they are written to from now on.
func (s *Store) ConfirmEmail(ctx context.Context, id string) error {
	return s.change(ctx, `UPDATE people SET email_confirmed_at = ? WHERE id = ? AND email_confirmed_at IS NULL`, s.Now(), id)
}

// SetPassword gives a person another password, and ends all their sessions but one, which may be empty: whoever knew the old one is out.
func (s *Store) SetPassword(ctx context.Context, id, hash, except string) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		changed, err := u.Exec(ctx, `UPDATE people SET password = ?, updated_at = ? WHERE id = ?`, hash, s.Now(), id)
		if err != nil {
			return 0, fmt.Errorf("set password: %w", err)
		}
		if changed == 0 {
			return 0, core.Missing("person", "", id)
		}
		return u.Exec(ctx, `DELETE FROM person_sessions WHERE person_id = ? AND id <> ?`, id, except)
	})
	return err
}
