package store

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
)

// Of several replicas one has the letter, and no link and no address is in its row.
func TestClaimCheckoutLetter_OneSendsIt(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		now := time.Now()
		s.at(now)
		replicas := []*Store{s.Store, s.Store}
		if s.db.Engine == core.PostgreSQL {
			replicas[1] = openStore(t, s.db.Options.URL)
			replicas[1].db.Options.Now = func() time.Time { return now }
		}
		c := s.asked(t, "ada@example.com")
		_, err := s.Checkout.AskVerification(t.Context(), s.account, c.ID, "203.0.113.7")
		require.NoError(t, err)
		require.Zero(t, s.count(t, `SELECT COUNT(*) FROM checkout_letters WHERE email_hash LIKE '%@%' OR length(email_hash) <> 64`))
		due, err := s.Checkout.DueLetters(t.Context(), 10)
		require.NoError(t, err)
		require.Equal(t, []core.Due{{AccountID: s.account, ID: c.ID}}, due)
		var group sync.WaitGroup
		var claims atomic.Int64
		for n := range 8 {
			group.Go(func() {
				claimed, err := replicas[n%2].Checkout.ClaimLetter(t.Context(), s.account, c.ID)
				assert.NoError(t, err)
				if claimed != nil {
					claims.Add(1)
				}
			})
		}
		group.Wait()
		require.EqualValues(t, 1, claims.Load())

		// Whoever asks again while it is sent has another one.
		s.at(now.Add(time.Minute))
		_, err = s.Checkout.AskVerification(t.Context(), s.account, c.ID, "203.0.113.7")
		require.NoError(t, err)
		require.NoError(t, s.Checkout.EndLetter(t.Context(), s.account, c.ID))
		again, err := s.Checkout.ClaimLetter(t.Context(), s.account, c.ID)
		require.NoError(t, err)
		require.NotNil(t, again)
		require.NoError(t, s.Checkout.EndLetter(t.Context(), s.account, c.ID))
		require.Zero(t, s.count(t, `SELECT COUNT(*) FROM checkout_letters`))
	})
}
