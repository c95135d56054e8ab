package store

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/store/team"
	"github.com/tillwright/tillwright/store/tenant"
)

// Whoever signs up with the address of somebody else, or works for a shop that makes many tokens, fills nobody's mailbox.
func TestTellOwners_WritesToConfirmedAddressesFewTimes(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		now := time.Now()
		s.at(now)
		letters := func(kind tenant.LetterKind) int {
			return s.count(t, `SELECT COUNT(*) FROM people_letters WHERE kind = ?`, kind)
		}
		p, err := s.Team.SignUp(t.Context(), team.SignUp{Shop: "Win a prize at https://evil.example", Email: "grace@example.net"})
		require.NoError(t, err)
		shops, err := s.Person.ListMemberships(t.Context(), p.ID)
		require.NoError(t, err)
		account := shops[0].AccountID
		helper, err := s.Person.CreatePerson(t.Context(), person.NewPerson{Email: "help@example.com"})
		require.NoError(t, err)
		require.NoError(t, s.Person.AddMember(t.Context(), account, helper.ID, person.RoleSupport))
		acts := func(times int) {
			by := team.Manager{AccountID: account, PersonID: p.ID}
			for range times {
				_, _, err := s.Tenant.CreateAPIKey(t.Context(), account, tenant.Granted{}, tenant.NewAPIKey{Name: "CI"})
				require.NoError(t, err)
				require.NoError(t, s.Team.SetMemberRole(t.Context(), by, helper.ID, person.RoleOwner))
				require.NoError(t, s.Team.SetMemberRole(t.Context(), by, helper.ID, person.RoleSupport))
				_, err = s.Person.StartSession(t.Context(), p.ID, "a browser", "203.0.113.7", false)
				require.NoError(t, err)
			}
		}
		acts(1)
		require.Zero(t, s.count(t, `SELECT COUNT(*) FROM people_letters`), "nobody has shown that the address is theirs")

		require.NoError(t, s.Person.ConfirmEmail(t.Context(), p.ID))
		acts(1)
		require.Equal(t, []int{1, 2, 1}, []int{letters(person.LetterTokenMade), letters(person.LetterOwnerChanged), letters(person.LetterNewBrowser)})
		acts(person.MostLetters)
		for _, kind := range []tenant.LetterKind{person.LetterTokenMade, person.LetterOwnerChanged, person.LetterNewBrowser} {
			require.Equal(t, person.MostLetters, letters(kind), kind)
		}
		require.NoError(t, s.Person.AddMember(t.Context(), s.account, p.ID, person.RoleOwner))
		_, _, err = s.Tenant.CreateAPIKey(t.Context(), s.account, tenant.Granted{}, tenant.NewAPIKey{Name: "CI"})
		require.NoError(t, err)
		require.Equal(t, person.MostLetters+1, letters(person.LetterTokenMade), "another account keeps none from it")
		s.at(now.Add(time.Hour))
		acts(1)
		require.Equal(t, person.MostLetters+2, letters(person.LetterTokenMade))
	})
}

// Whoever is told that somebody signed in, or made a token, is told before the teams of all shops are told of their day.
func TestDueLetters_HasThoseToTeamsWait(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		_, now := s.staffed(t)
		for range 3 {
			_, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (any, error) {
				return nil, s.Person.TellTeam(ctx, u, person.TeamLetter{AccountID: s.account, Kind: tenant.LetterSale, Period: core.NewULID()}, person.LetterDetail{})
			})
			require.NoError(t, err)
		}
		s.at(now.Add(time.Minute))
		require.NoError(t, s.Person.TellOwners(t.Context(), s.account, person.LetterTokenMade, person.LetterDetail{Token: "CI"}))
		ids, err := s.Person.DueLetters(t.Context(), 10)
		require.NoError(t, err)
		require.Len(t, ids, 7)
		require.Zero(t, s.count(t, `SELECT COUNT(*) FROM people_letters WHERE due_at <> created_at`))
		for most := range 3 {
			some, err := s.Person.DueLetters(t.Context(), most)
			require.NoError(t, err)
			require.Equal(t, ids[:most], some, "whoever looks at few sees the first")
		}
		l, err := s.Person.ClaimLetter(t.Context(), ids[0])
		require.NoError(t, err)
		require.Equal(t, person.LetterTokenMade, l.Kind)
	})
}
