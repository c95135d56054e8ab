package person

import (
	"context"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Role is what a member may do for an account.
type Role string

// The roles. What each may do stands in server/dashboard.
const (
	RoleOwner     Role = "owner"
	RoleAdmin     Role = "admin"
	RoleDeveloper Role = "developer"
	RoleSupport   Role = "support"
	RoleReadOnly  Role = "read_only"
)

// Roles returns all roles, the strongest first.
func Roles() []Role { return []Role{RoleOwner, RoleAdmin, RoleDeveloper, RoleSupport, RoleReadOnly} }

// Member is somebody who may act for an account.
type Member struct {
	AccountID string     `db:"account_id"`
	PersonID  string     `db:"person_id"`
	Role      Role       `db:"role"`
	Email     string     `db:"email"`
	SeenAt    *core.Time `db:"seen_at"` // when they last used a session, to the hour; nil: they have none
	CreatedAt core.Time  `db:"created_at"`
}

// Membership is an account that somebody is a member of.
type Membership struct {
	AccountID  string     `db:"account_id"`
	Name       string     `db:"name"`
	Role       Role       `db:"role"`
	DisabledAt *core.Time `db:"disabled_at"` // nil: it is not
}

// AddMember makes somebody a member. Who is one already keeps their role.
func (s *Store) AddMember(ctx context.Context, account, person string, role Role) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `
			INSERT INTO members (account_id, person_id, role, created_at) VALUES (?, ?, ?, ?)
			ON CONFLICT (account_id, person_id) DO NOTHING`, account, person, role, s.Now())
	})
	if err != nil {
		return fmt.Errorf("add member: %w", err)
	}
	return nil
}

// ListMembers returns who may act for an account, the first first.
func (s *Store) ListMembers(ctx context.Context, account string) ([]Member, error) {
	return s.ListMembersIn(ctx, s.db, account)
}

// ListMembersIn does what ListMembers does, where r says.
func (s *Store) ListMembersIn(ctx context.Context, r db.Reader, account string) ([]Member, error) {
	return db.Select[Member](ctx, r, `
		SELECT m.account_id, m.person_id, m.role, p.email, m.created_at,
			(SELECT MAX(used_at) FROM person_sessions AS s WHERE s.person_id = m.person_id) AS seen_at
		FROM members AS m JOIN people AS p ON p.id = m.person_id
		WHERE m.account_id = ? ORDER BY m.created_at, m.person_id`, account)
}

// ListMemberships returns the accounts that somebody is a member of, by name. Accounts that are disabled are among them.
func (s *Store) ListMemberships(ctx context.Context, person string) ([]Membership, error) {
	return db.Select[Membership](ctx, s.db, `
		SELECT m.account_id, a.name, m.role, a.disabled_at FROM members AS m JOIN accounts AS a ON a.id = m.account_id
		WHERE m.person_id = ? ORDER BY a.name, m.account_id`, person)
}

// SetRole gives a member another role. The last owner of an account stays one: CodeInvalid. Their sessions obey from their next request on, and unless
// they become an owner the invitations that they made end.
func (s *Store) SetRole(ctx context.Context, account, person string, role Role) error {
	if !slices.Contains(Roles(), role) {
		return core.Invalid("role", "Choose one of the roles.")
	}
	return s.changeMember(ctx, account, person, role != RoleOwner, `UPDATE members SET role = ? WHERE account_id = ? AND person_id = ?`, role, account, person)
}

// RemoveMember has somebody act for an account no more, and ends the invitations that they made. The last owner of an account stays: CodeInvalid.
func (s *Store) RemoveMember(ctx context.Context, account, person string) error {
	return s.changeMember(ctx, account, person, true, `DELETE FROM members WHERE account_id = ? AND person_id = ?`, account, person)
}

// changeMember locks all members of an account, so that of two owners who go at once one stays.
func (s *Store) changeMember(ctx context.Context, account, person string, leaves bool, change string, args ...any) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		members, err := db.Select[Member](ctx, u.Locked(), `SELECT account_id, person_id, role, created_at FROM members WHERE account_id = ? ORDER BY person_id`, account)
		if err != nil {
			return 0, fmt.Errorf("lock members: %w", err)
		}
		at := slices.IndexFunc(members, func(m Member) bool { return m.PersonID == person })
		if at < 0 {
			return 0, core.Missing("member", "", person)
		}
		others := slices.ContainsFunc(members, func(m Member) bool { return m.PersonID != person && m.Role == RoleOwner })
		if leaves && members[at].Role == RoleOwner && !others {
			return 0, core.Invalid("role", "An account has one owner at least. Make somebody else an owner first.")
		}
		if leaves { // who may do less from now on must not come back by what they handed out before
			if _, err := u.Exec(ctx, `DELETE FROM person_links WHERE account_id = ? AND kind = ? AND person_id = ?`, account, LinkInvitation, person); err != nil {
				return 0, fmt.Errorf("end invitations: %w", err)
			}
		}
		return u.Exec(ctx, change, args...)
	})
	return err
}
