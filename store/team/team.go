package team

import (
	"context"
	"slices"

	"github.com/tillwright/tillwright/store/activity"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/person"
)

// teamLimit is how many members and invitations an account has at most, so that they can be shown on one page.
const teamLimit = 200

// Manager is a member of an account who changes who its members are, or what they may do.
type Manager struct{ AccountID, PersonID string }

// InviteMember lets whoever has the token that it returns become a member by a role. A former invitation of the address ends.
// Only owners invite owners: CodeForbidden.
func (s *Store) InviteMember(ctx context.Context, by Manager, email string, role person.Role) (string, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (string, error) {
		members, err := s.team(ctx, u, by, role)
		if err != nil {
			return "", err
		}
		waiting, err := s.person.ListInvitationsIn(ctx, u, by.AccountID)
		if err != nil {
			return "", err
		}
		var p core.Problems
		p.CheckEmail("email", email, "Type an e-mail address, such as ada@example.com.")
		p.Check(slices.Contains(person.Roles(), role), "role", "Choose one of the roles.")
		p.Check(!slices.ContainsFunc(members, func(m person.Member) bool { return core.SameEmail(m.Email, email) }), "email", "They are a member already.")
		p.Check(len(members)+len(waiting) < teamLimit, "email", "An account has 200 members and invitations at most. Remove one first.")
		if err := p.Err(); err != nil {
			return "", err
		}
		token, err := s.person.CreateLink(ctx, person.Link{Kind: person.LinkInvitation, AccountID: &by.AccountID, PersonID: &by.PersonID, Email: email, Role: role})
		if err != nil {
			return "", err
		}
		return token, s.noteTeam(ctx, u, by.AccountID, "inviteMember", nil, map[string][2]any{"email": {nil, email}, "role": {nil, role}})
	})
}

// TakeBackInvitation ends an invitation. One that is used or over is CodeMissing; that of an owner only owners take back.
func (s *Store) TakeBackInvitation(ctx context.Context, by Manager, id string) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		waiting, err := s.person.ListInvitationsIn(ctx, u, by.AccountID)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(waiting, func(l person.Link) bool { return l.ID == id })
		if at < 0 {
			return nil, core.Missing("invitation", "", id)
		}
		link := waiting[at]
		if _, err := s.team(ctx, u, by, link.Role); err != nil {
			return nil, err
		}
		if err := s.person.DeleteInvitation(ctx, by.AccountID, id); err != nil {
			return nil, err
		}
		return nil, s.noteTeam(ctx, u, by.AccountID, "deleteInvitation", nil, map[string][2]any{"email": {link.Email, nil}, "role": {link.Role, nil}})
	})
	return err
}

// SetMemberRole gives a member another role. Only owners make owners, and change them; the last one stays.
func (s *Store) SetMemberRole(ctx context.Context, by Manager, who string, role person.Role) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		member, err := s.member(ctx, u, by, who, role)
		if err != nil || member.Role == role {
			return nil, err
		}
		if err := s.person.SetRole(ctx, by.AccountID, who, role); err != nil {
			return nil, err
		}
		if err := s.tellOwners(ctx, by.AccountID, who, member.Email, member.Role, role); err != nil {
			return nil, err
		}
		return nil, s.noteTeam(ctx, u, by.AccountID, "updateMember", member, map[string][2]any{"role": {member.Role, role}})
	})
	return err
}

// RemoveMember has somebody act for the account no more. Only owners remove owners; the last one stays. Everybody may leave.
func (s *Store) RemoveMember(ctx context.Context, by Manager, who string) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		member, err := s.member(ctx, u, by, who, "")
		if err != nil {
			return nil, err
		}
		if err := s.person.RemoveMember(ctx, by.AccountID, who); err != nil {
			return nil, err
		}
		if err := s.tellOwners(ctx, by.AccountID, who, member.Email, member.Role, ""); err != nil {
			return nil, err
		}
		operation := "removeMember"
		if who == by.PersonID {
			operation = "leaveAccount"
		}
		return nil, s.noteTeam(ctx, u, by.AccountID, operation, member, map[string][2]any{"email": {member.Email, nil}, "role": {member.Role, nil}})
	})
	return err
}

// tellOwners has the owners of an account told, and the member too, that the member is one of them now or no more.
func (s *Store) tellOwners(ctx context.Context, account, who, email string, was, is person.Role) error {
	if (was == person.RoleOwner) == (is == person.RoleOwner) {
		return nil
	}
	return s.person.TellOwners(ctx, account, person.LetterOwnerChanged, person.LetterDetail{Member: email, Owns: is == person.RoleOwner}, who)
}

// member returns a member whom somebody changes or removes, who may do so. Who leaves needs no leave.
func (s *Store) member(ctx context.Context, r db.Reader, by Manager, who string, to person.Role) (*person.Member, error) {
	members, err := s.person.ListMembersIn(ctx, r, by.AccountID)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(members, func(m person.Member) bool { return m.PersonID == who })
	if at < 0 {
		return nil, core.Missing("member", "", who)
	}
	if who == by.PersonID && to == "" {
		return &members[at], nil
	}
	_, err = s.team(ctx, r, by, members[at].Role, to)
	return &members[at], err
}

// team returns the members of an account to somebody who manages them. If one of the roles is that of owners, only another owner may.
func (s *Store) team(ctx context.Context, r db.Reader, by Manager, roles ...person.Role) ([]person.Member, error) {
	members, err := s.person.ListMembersIn(ctx, r, by.AccountID)
	if err != nil {
		return nil, err
	}
	var role person.Role
	if at := slices.IndexFunc(members, func(m person.Member) bool { return m.PersonID == by.PersonID }); at >= 0 {
		role = members[at].Role
	}
	switch {
	case role == person.RoleOwner, role == person.RoleAdmin && !slices.Contains(roles, person.RoleOwner):
		return members, nil
	case role == person.RoleAdmin:
		return nil, &core.Error{Code: core.CodeForbidden, Message: "Only an owner changes who is an owner."}
	}
	return nil, &core.Error{Code: core.CodeForbidden, Message: "Only owners and admins change who the members are."}
}

// noteTeam stores a line of what was done to a member, or to an invitation if there is none yet.
func (s *Store) noteTeam(ctx context.Context, u *db.Unit, account, operation string, m *person.Member, changes map[string][2]any) error {
	a := activity.Activity{AccountID: account, Operation: operation, TargetObject: "invitation", Changes: core.JSONOf(activity.Became(changes))}
	if m != nil {
		a.TargetObject, a.TargetID = string(core.KindPerson), &m.PersonID
	}
	return s.activity.Note(ctx, u, a)
}
