package store

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/store/tenant"
)

// Owners are told once each time that an endpoint begins to fail, and nobody else is.
func TestTellOfFailing_TellsOwnersOnce(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		for email, role := range map[string]person.Role{"ada@example.com": person.RoleOwner, "grace@example.com": person.RoleOwner, "help@example.com": person.RoleSupport} {
			p, err := s.Person.CreatePerson(t.Context(), person.NewPerson{Email: email})
			require.NoError(t, err)
			require.NoError(t, s.Person.ConfirmEmail(t.Context(), p.ID))
			require.NoError(t, s.Person.AddMember(t.Context(), s.account, p.ID, role))
		}
		e, err := s.Outbox.CreateWebhookEndpoint(t.Context(), s.account, outbox.WebhookEndpoint{URL: "https://hooks.example.com/secret-path"})
		require.NoError(t, err)
		now := time.Now()
		fails := func(since time.Time) {
			_, err := s.db.Write.DB.Exec(s.db.Rebind(`UPDATE webhook_endpoints SET consecutive_failures = 1, failing_since = ?`), core.TimeOf(since))
			require.NoError(t, err)
		}
		tells := func() int {
			due, err := s.Outbox.FailingEndpoints(t.Context(), 10)
			require.NoError(t, err)
			for range 2 { // a replica looked at the same time
				for _, d := range due {
					require.NoError(t, s.TellOfFailing(t.Context(), d.AccountID, d.ID))
				}
			}
			return s.count(t, `SELECT COUNT(*) FROM people_letters`)
		}
		s.at(now)
		require.Zero(t, tells(), "it works")
		fails(now.Add(-59 * time.Minute))
		require.Zero(t, tells(), "it is no hour yet")
		s.at(now.Add(time.Minute))
		require.Equal(t, 2, tells())
		require.Equal(t, 2, tells())
		fails(now.Add(-10 * time.Hour))
		require.Equal(t, 4, tells(), "it worked meanwhile")

		ids, err := s.Person.DueLetters(t.Context(), 10)
		require.NoError(t, err)
		l, err := s.Person.ClaimLetter(t.Context(), ids[0])
		require.NoError(t, err)
		require.Equal(t, person.LetterDetail{Endpoint: e.ID, Host: "hooks.example.com", Since: l.Detail.V.Since}, l.Detail.V)
		require.NotEqual(t, "help@example.com", l.Email)
		again, err := s.Person.ClaimLetter(t.Context(), ids[0])
		require.NoError(t, err)
		require.Nil(t, again, "another replica has it")

		disabled := s.count(t, `SELECT COUNT(*) FROM people_letters`)
		_, _, err = s.Tenant.DisableAccount(t.Context(), s.account)
		require.NoError(t, err)
		fails(now.Add(-12 * time.Hour))
		require.Equal(t, disabled, tells(), "nobody sells there")
		require.NoError(t, s.TellOfFailing(t.Context(), s.account, e.ID), "it was disabled meanwhile")
		_, _, err = s.Tenant.EnableAccount(t.Context(), s.account)
		require.NoError(t, err)
		require.Equal(t, disabled+2, tells(), "it was failing all the time")

		_, err = s.Tenant.UpdateAccount(t.Context(), s.account, func(a *tenant.AccountChange) {
			a.SwitchLetters(map[string]bool{"webhook_failing": false, "file_updated": false, "receipt": false})
		})
		require.NoError(t, err)
		require.Equal(t, 1, s.count(t, `SELECT COUNT(*) FROM accounts WHERE letters_off = '["receipt"]'`), "a server of the release before refuses other kinds there")
		fails(now.Add(-11 * time.Hour))
		require.Equal(t, disabled+2, tells(), "it is switched off")
	})
}
