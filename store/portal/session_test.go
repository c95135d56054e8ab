package portal

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// shop is an account with its portal.
type shop struct {
	*Store
	account string
}

// eachShop runs a test on both engines.
func eachShop(t *testing.T, test func(t *testing.T, s *shop)) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) { test(t, &shop{New(d), dbtest.Account(t, d)}) })
}

// customer makes a customer who owns an address, and returns the id.
func (s *shop) customer(t testing.TB, email string) string {
	t.Helper()
	id := core.NewID(core.KindCustomer)
	_, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `
			INSERT INTO customers (account_id, id, email, email_key, tax_exempt, type, orders_count, total_spent, tags, metadata, created_at, updated_at)
			VALUES (?, ?, ?, ?, FALSE, 'lead', 0, '{}', '[]', '{}', ?, ?)`,
			s.account, id, email, core.EmailKey(email), s.db.Now(), s.db.Now())
	})
	require.NoError(t, err)
	return id
}

// session makes a session of a customer.
func (s *shop) session(t testing.TB, customer string) *Session {
	t.Helper()
	p, err := s.CreateSession(t.Context(), s.account, customer, nil)
	require.NoError(t, err)
	return p
}

func TestOpen_OpensToItsTokenAlone(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		ada, grace := s.customer(t, "ada@example.com"), s.customer(t, "grace@example.com")
		p, other := s.session(t, ada), s.session(t, grace)
		opened, expired, err := s.Open(t.Context(), p.Token)
		require.NoError(t, err)
		require.False(t, expired)
		require.Equal(t, []string{p.ID, ada}, []string{opened.ID, opened.CustomerID})
		require.Empty(t, opened.Token, "a token is known once")
		require.Zero(t, dbtest.Count(t, s.db, `SELECT COUNT(*) FROM portal_sessions WHERE token_hash LIKE ?`, "%"+p.Token[len(p.Token)-10:]+"%"))

		end := strings.LastIndexByte(p.Token, '_')
		for at := range p.Token {
			swapped := byte('a')
			if p.Token[at] == 'a' {
				swapped = 'b'
			}
			_, expired, err := s.Open(t.Context(), p.Token[:at]+string(swapped)+p.Token[at+1:])
			dbtest.RequireCode(t, err, core.CodeMissing)
			require.False(t, expired)
		}
		for _, wrong := range []string{"", "_", "___", p.ID, p.Token + "_", p.Token[:end], p.Token[:end] + other.Token[strings.LastIndexByte(other.Token, '_'):], strings.ToUpper(p.Token), "\x00", "a_b_c_d"} {
			_, _, err := s.Open(t.Context(), wrong)
			dbtest.RequireCode(t, err, core.CodeMissing)
		}
	})
}

func TestOpen_OpensForADayAtMost(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		ada := s.customer(t, "ada@example.com")
		p := s.session(t, ada)
		for _, c := range []struct {
			later   time.Duration
			expired bool
			deleted int64
		}{{23 * time.Hour, false, 0}, {25 * time.Hour, true, 0}, {49 * time.Hour, true, 1}} {
			s.db.Options.Now = func() time.Time { return time.Now().Add(c.later) }
			opened, expired, err := s.Open(t.Context(), p.Token)
			require.NoError(t, err)
			require.Equal(t, c.expired, expired)
			require.Equal(t, p.ID, opened.ID, "whose it was is known")
			deleted, err := s.DeleteExpiredSessions(t.Context(), 10)
			require.NoError(t, err)
			require.Equal(t, c.deleted, deleted)
		}
		_, _, err := s.Open(t.Context(), p.Token)
		dbtest.RequireCode(t, err, core.CodeMissing)
	})
}

func TestEndSession_LeavesTheOthersOpen(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		ada := s.customer(t, "ada@example.com")
		left, ended := s.session(t, ada), s.session(t, ada)
		for range 2 {
			require.NoError(t, s.EndSession(t.Context(), ended))
		}
		_, _, err := s.Open(t.Context(), ended.Token)
		dbtest.RequireCode(t, err, core.CodeMissing)
		_, _, err = s.Open(t.Context(), left.Token)
		require.NoError(t, err)
	})
}

// One whose time is over is kept for the customer, who is told so: it has ended already.
func TestDeleteSession_EndsNoneWhoseTimeIsOver(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		ada := s.customer(t, "ada@example.com")
		p := s.session(t, ada)
		s.db.Options.Now = func() time.Time { return p.ExpiresAt.Time() }
		_, err := s.DeleteSession(t.Context(), s.account, ada, p.ID)
		dbtest.RequireCode(t, err, core.CodeMissing)
		_, expired, err := s.Open(t.Context(), p.Token)
		require.NoError(t, err)
		require.True(t, expired)
		s.db.Options.Now = func() time.Time { return p.ExpiresAt.Time().Add(-time.Second) }
		_, err = s.DeleteSession(t.Context(), s.account, ada, p.ID)
		require.NoError(t, err)
	})
}

func TestCreateSession_EndsTheOldestOfTooMany(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		ada, other := s.customer(t, "ada@example.com"), s.customer(t, "grace@example.com")
		kept := s.session(t, other)
		var sessions []*Session
		for range maxSessions + 2 {
			sessions = append(sessions, s.session(t, ada))
		}
		for i, p := range append(sessions, kept) {
			_, _, err := s.Open(t.Context(), p.Token)
			require.Equal(t, i < 2, err != nil, "session %d", i)
		}
	})
}

// FuzzPortalToken: the portal opens to the token of the session alone.
func FuzzPortalToken(f *testing.F) {
	dbtest.AddChanges(f)
	d := dbtest.Open(f, database.URL(f, core.SQLite), nil)
	s := &shop{New(d), dbtest.Account(f, d)}
	ada := s.customer(f, "ada@example.com")
	p := s.session(f, ada)
	f.Fuzz(func(t *testing.T, at, length uint8, by string) {
		token := dbtest.Changed(p.Token, at, length, by)
		opened, expired, err := s.Open(t.Context(), token)
		require.False(t, expired)
		if token == p.Token {
			require.NoError(t, err)
			require.Equal(t, ada, opened.CustomerID)
			return
		}
		dbtest.RequireCode(t, err, core.CodeMissing)
		require.Nil(t, opened)
	})
}
