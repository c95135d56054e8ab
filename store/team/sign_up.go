package team

import (
	"cmp"
	"context"
	"strings"

	"github.com/tillwright/tillwright/store/activity"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/store/tenant"
)

// SignUp is somebody who signs up, and the account that they are to own.
type SignUp struct {
	Shop     string // its name
	Email    string
	Password string // a hash
	Currency string // in which the shop sells unless it says otherwise; "" = the usual one
}

// SetUp makes the first person on this server, its operator, by the link that was printed when it started. They own the account that the link
// names, which takes the shop's name, or a new one. A link that is used up or over, or that comes after somebody else, is CodeMissing.
func (s *Store) SetUp(ctx context.Context, token string, in SignUp) (*person.Person, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*person.Person, error) {
		link, err := s.person.UseLink(ctx, person.LinkSetup, token)
		if err != nil {
			return nil, err
		}
		if others, err := s.person.HasPeopleIn(ctx, u); err != nil || others {
			return nil, cmp.Or(err, error(core.Missing("link", "", "")))
		}
		return s.signUp(ctx, in, core.Deref(link.AccountID), true)
	})
}

// SignUp makes a person with an account of their own.
func (s *Store) SignUp(ctx context.Context, in SignUp) (*person.Person, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, _ *db.Unit) (*person.Person, error) { return s.signUp(ctx, in, "", false) })
}

func (s *Store) signUp(ctx context.Context, in SignUp, account string, operates bool) (*person.Person, error) {
	if strings.TrimSpace(in.Shop) == "" {
		return nil, core.Invalid("name", "Type the name of your shop.")
	}
	p, err := s.person.CreatePerson(ctx, person.NewPerson{Email: in.Email, Password: in.Password, IsOperator: operates})
	if err != nil {
		return nil, err
	}
	if account == "" {
		a, err := s.tenant.CreateAccount(ctx, tenant.NewAccount{Name: in.Shop, Email: p.Email})
		if err != nil {
			return nil, err
		}
		account = a.ID
	}
	_, err = s.tenant.UpdateAccount(ctx, account, func(a *tenant.AccountChange) {
		a.Name, a.Email = in.Shop, p.Email
		if in.Currency != "" {
			a.DefaultCurrency = in.Currency
		}
	})
	if err != nil {
		return nil, err
	}
	return p, s.person.AddMember(ctx, account, p.ID, person.RoleOwner)
}

// AcceptInvitation makes somebody a member of the account that invites them, by the link that they were sent. They are a person who has signed
// in, or a new one with a password. New ones get the address that was invited. A link that is used up or over is CodeMissing.
func (s *Store) AcceptInvitation(ctx context.Context, token, personID, password string) (*person.Person, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*person.Person, error) {
		link, err := s.person.UseLink(ctx, person.LinkInvitation, token)
		if err != nil {
			return nil, err
		}
		var p *person.Person
		if personID != "" {
			p, err = s.person.GetPersonIn(ctx, u, personID)
		} else {
			p, err = s.person.CreatePerson(ctx, person.NewPerson{Email: link.Email, Password: password, IsInvited: true})
		}
		if err != nil {
			return nil, err
		}
		if err := s.person.AddMember(ctx, *link.AccountID, p.ID, link.Role); err != nil {
			return nil, err
		}
		if err := s.tellOwners(ctx, *link.AccountID, p.ID, p.Email, "", link.Role); err != nil {
			return nil, err
		}
		ctx = activity.As(ctx, activity.Actor{Type: activity.ActorPerson, ID: p.ID, Name: p.Email})
		return p, s.noteTeam(ctx, u, *link.AccountID, "acceptInvitation", &person.Member{PersonID: p.ID}, map[string][2]any{"email": {nil, p.Email}, "role": {nil, link.Role}})
	})
}
