package store

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/tenant"
)

// Of domains that fail together the team is told in one letter, which names some and counts the others. Those that fail then wait for the letter of the
// next hour. Nobody is told of one that works again by then.
func TestTellOfDomains_WritesOneLetterAnHour(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		_, now := s.staffed(t)
		changes := func(set, domain string, args ...any) {
			_, err := s.db.Write.DB.Exec(s.db.Rebind(`UPDATE ai_sites SET `+set+` WHERE domain LIKE '`+domain+`'`), args...)
			require.NoError(t, err)
		}
		fail := func(from, until int) {
			for i := from; i < until; i++ {
				domain := fmt.Sprintf("ada%02d.example", i)
				_, err := s.Content.CreateAISite(t.Context(), s.account, content.AISiteDraft{AISite: &content.AISite{Name: "Ada's", Domain: &domain, IsLive: true}})
				require.NoError(t, err)
				changes(`domain_told = TRUE, domain_error = 'No record.', domain_tell_at = ?`, domain, s.Now())
			}
		}
		tells := func() int {
			accounts, err := s.Content.AccountsToTell(t.Context(), 100)
			require.NoError(t, err)
			var group sync.WaitGroup
			for range 3 {
				group.Go(func() {
					for _, account := range accounts {
						_, err := s.TellOfDomains(t.Context(), account)
						assert.NoError(t, err)
					}
				})
			}
			group.Wait()
			letters, people := s.teamLetters(t, tenant.LetterDomainFailing)
			require.Equal(t, 2*letters, people)
			return letters
		}
		fail(0, 1)
		require.Equal(t, 1, tells())
		alone := s.lastDetail(t, tenant.LetterDomainFailing)
		require.Equal(t, "ada00.example", alone.Host)
		require.Len(t, alone.Records, 2)
		require.Empty(t, alone.Domains)

		s.at(now.Add(time.Minute))
		fail(1, 15)
		require.Equal(t, 1, tells())
		s.at(now.Add(59 * time.Minute))
		require.Equal(t, 1, tells())
		changes(`domain_told = FALSE`, "ada01.example") // by a server of the release before, as it works again
		changes(`is_live = FALSE`, "ada02.example")
		s.at(now.Add(61 * time.Minute))
		require.Equal(t, 2, tells())
		many := s.lastDetail(t, tenant.LetterDomainFailing)
		require.Equal(t, "ada03.example", many.Host)
		require.Len(t, many.Domains, domainsOfLetter-1)
		require.Equal(t, "ada12.example", many.Domains[8].Host)
		require.EqualValues(t, 2, many.Unnamed)

		s.at(now.Add(3 * time.Hour))
		require.Equal(t, 2, tells(), "they were told of all")
		fail(15, 16)
		s.switches(t, tenant.LetterDomainFailing, false)
		require.Equal(t, 2, tells(), "it is switched off")
		require.Zero(t, s.count(t, `SELECT COUNT(*) FROM ai_sites WHERE domain_tell_at IS NOT NULL`))
	})
}
