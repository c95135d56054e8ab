package store

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/store/tenant"
)

// waitingLetters has an account have so many receipts more that are to be sent now.
func (s *shop) waitingLetters(t *testing.T, account string, many int) {
	t.Helper()
	_, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		now, name := s.Now(), core.NewULID()
		return u.Exec(ctx, `
			INSERT INTO letters (account_id, id, kind, status, customer_id, object_id, period, next_attempt_at, attempts, resends, created_at, updated_at)
			WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
			SELECT CAST(? AS text), CAST(? AS text) || n, CAST(? AS text), 'queued', 'cus_1', CAST(? AS text) || n, '', CAST(? AS bigint), 0, 0, CAST(? AS bigint), CAST(? AS bigint) FROM numbers`,
			many, account, core.KindLetter.Prefix()+name, tenant.LetterReceipt, name, now.Add(-time.Second), now, now)
	})
	require.NoError(t, err)
}

// keepsPlans has PostgreSQL know of the letters only what it knew of a table with few rows.
func (s *shop) keepsPlans(t *testing.T) {
	t.Helper()
	if s.db.Engine == core.PostgreSQL {
		_, err := s.db.Write.DB.ExecContext(t.Context(), `ALTER TABLE letters SET (autovacuum_enabled = false)`)
		require.NoError(t, err)
	}
}

func TestSkipLetters_SkipsOneBatchOfOneAccount(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.keepsPlans(t)
		for range 10 { // after six, PostgreSQL may keep a plan
			s.waitingLetters(t, s.account, 1)
			more, err := s.SkipLetters(t.Context(), s.account, "No mail.")
			require.NoError(t, err)
			require.False(t, more)
		}
		accounts := []string{s.account, dbtest.Account(t, s.db)}
		for _, account := range accounts {
			s.waitingLetters(t, account, 450)
		}
		waiting := func(account string) int {
			return s.count(t, `SELECT count(*) FROM letters WHERE account_id = ? AND status = 'queued'`, account)
		}
		for _, account := range accounts {
			for _, left := range []int{250, 50, 0} {
				more, err := s.SkipLetters(t.Context(), account, "No mail.")
				require.NoError(t, err)
				assert.Equal(t, left > 0, more)
				assert.Equal(t, left, waiting(account))
			}
			assert.Equal(t, account == accounts[0], waiting(accounts[1]) > 0, "another account's letters are its own")
		}
		assert.Equal(t, 910, s.count(t, `SELECT count(*) FROM letters WHERE status = 'skipped' AND attempts = 1 AND last_error = 'No mail.'`))
	})
}

// PostgreSQL may have counted the letters when all of them waited. Looking for one that waits then still reads no others.
func TestSkipLetters_ReadsNoLettersThatWereSent(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.waitingLetters(t, s.account, 1000)
		_, err := s.db.Write.DB.ExecContext(t.Context(), `ANALYZE letters`)
		require.NoError(t, err)
		var plans []string
		s.db.Options.Trace = func(_ context.Context, text string, args []any) {
			if strings.Contains(text, "FROM letters") && !strings.Contains(text, "UPDATE") {
				plans = append(plans, s.plan(t, s.db.Rebind(text), args...))
			}
		}
		_, err = s.SkipLetters(t.Context(), s.account, "No mail.")
		s.db.Options.Trace = nil
		require.NoError(t, err)
		require.Len(t, plans, 1)
		require.NotContains(t, plans[0], "Seq Scan")
	})
}

func TestEndLetter_PostponesOneBatch(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.keepsPlans(t)
		postpone := func() {
			t.Helper()
			due, err := s.LettersToSend(t.Context(), s.account, 1)
			require.NoError(t, err)
			require.Len(t, due, 1)
			require.NoError(t, s.EndLetter(t.Context(), s.claim(t, due[0].ID), LetterOutcome{Wait: time.Hour, Error: "Too many."}))
		}
		for range 10 {
			s.waitingLetters(t, s.account, 1)
			postpone()
		}
		s.waitingLetters(t, s.account, 2*postponedAtOnce)
		postpone()
		assert.Equal(t, postponedAtOnce-1, s.count(t, fmt.Sprintf(`SELECT count(*) FROM letters WHERE next_attempt_at <= %d`, s.Now())))
	})
}

// A server that once sent mail, and sends none now, says of a letter that it may have sent what it said before. A letter that waits stays as it is.
func TestSkipLetters_LeavesWhatIsNotToBeSkipped(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		now := time.Now()
		s.at(now)
		s.waitingLetters(t, s.account, 1)
		id := s.letter(t, tenant.LetterReceipt).ID
		for range len(letterPauses) + 1 {
			require.NotNil(t, s.claim(t, id))
			s.db.Options.Trace = func(_ context.Context, text string, _ []any) {
				assert.NotContains(t, text, "UPDATE", "what waits for its time costs no write")
			}
			more, err := s.SkipLetters(t.Context(), s.account, "No mail.")
			s.db.Options.Trace = nil
			require.NoError(t, err)
			assert.False(t, more)
			now = now.Add(letterLease)
			s.at(now)
		}
		_, err := s.SkipLetters(t.Context(), s.account, "No mail.")
		require.NoError(t, err)
		l := s.letter(t, tenant.LetterReceipt)
		assert.Equal(t, LetterStatusFailed, l.Status)
		assert.Equal(t, diedSending, *l.LastError)
		assert.EqualValues(t, len(letterPauses)+1, l.Attempts)
	})
}
