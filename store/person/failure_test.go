package person

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
)

// A subscriber has all addresses of a /64, and types a password from another one each time.
func TestTryPassword_CountsASubscriberOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := New(d)
		attempt := func(n int, address string) Attempt {
			return Attempt{Email: fmt.Sprintf("ada%d@example.com", n), Address: address}
		}
		for n := range failuresAddress {
			require.NoError(t, s.TryPassword(t.Context(), attempt(n, fmt.Sprintf("2001:db8:1:2::%d", n+1))))
		}
		dbtest.RequireCode(t, s.TryPassword(t.Context(), attempt(100, "2001:db8:1:2:ffff::1")), core.CodeRateLimit)
		dbtest.RequireCode(t, s.TrySignUp(t.Context(), "2001:db8:1:2:ffff::2"), core.CodeRateLimit)
		dbtest.RequireCode(t, s.TryRecovery(t.Context(), "ada@example.com", "2001:db8:1:2:ffff::3"), core.CodeRateLimit)
		require.NoError(t, s.TryPassword(t.Context(), attempt(101, "2001:db8:1:3::1")), "another subscriber")

		require.NoError(t, s.ForgetFailures(t.Context(), attempt(1, "2001:db8:1:2:ffff::4")))
		require.NoError(t, s.TryPassword(t.Context(), attempt(102, "2001:db8:1:2:ffff::5")), "whoever was let in is counted no more")
		dbtest.RequireCode(t, s.TryPassword(t.Context(), attempt(103, "2001:db8:1:2:ffff::6")), core.CodeRateLimit)
	})
}
