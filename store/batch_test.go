package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/person"
)

// What is deleted together is one batch, however little PostgreSQL knows of the table.
func TestExecBatch_HoldsItsLimit(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		if s.db.Engine == core.PostgreSQL {
			_, err := s.db.Write.DB.ExecContext(t.Context(), `ALTER TABLE throttles SET (autovacuum_enabled = false)`)
			require.NoError(t, err)
		}
		over := func(many int) {
			t.Helper()
			_, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
				return u.Exec(ctx, `
					INSERT INTO throttles (account_id, subject, counted, ends_at)
					WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
					SELECT CAST(? AS text), CAST(? AS text) || n, 1, 1 FROM numbers`, many, s.account, core.NewULID())
			})
			require.NoError(t, err)
		}
		over(1)
		_, err := s.db.Write.DB.ExecContext(t.Context(), `ANALYZE throttles`)
		require.NoError(t, err)
		for n := range 10 { // after six, PostgreSQL may keep a plan
			if n > 0 {
				over(1)
			}
			deleted, err := s.Throttle.DeleteOver(t.Context(), 200)
			require.NoError(t, err)
			require.EqualValues(t, 1, deleted)
		}
		over(450)
		for _, want := range []int64{200, 200, 50, 0} {
			deleted, err := s.Throttle.DeleteOver(t.Context(), 200)
			require.NoError(t, err)
			assert.Equal(t, want, deleted)
		}
	})
}

// old inserts rows of a table that are long over. Columns that have to have a value and are not given get their number, as a text or a number.
func (s *shop) old(t *testing.T, table string, many int, given map[string]string) {
	t.Helper()
	query := `SELECT name, lower(type) AS kind FROM pragma_table_info(?) WHERE "notnull" AND dflt_value IS NULL`
	if s.db.Engine == core.PostgreSQL {
		query = `SELECT column_name AS name, data_type AS kind FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = ? AND is_nullable = 'NO' AND column_default IS NULL`
	}
	columns, err := db.Select[struct {
		Name string `db:"name"`
		Kind string `db:"kind"`
	}](t.Context(), s.db, query, table)
	require.NoError(t, err)
	var names, values []string
	for _, c := range columns {
		value := "1"
		switch {
		case given[c.Name] != "":
			value = given[c.Name]
		case c.Name == "account_id":
			value = "'" + s.account + "'"
		case slices.Contains([]string{"text", "bytea", "blob"}, c.Kind):
			value = "CAST('" + core.NewULID() + "' || n AS " + c.Kind + ")"
		case c.Kind == "boolean":
			value = "FALSE"
		}
		names, values = append(names, c.Name), append(values, value)
	}
	for name, value := range given { // those that need not have a value
		if !slices.Contains(names, name) {
			names, values = append(names, name), append(values, value)
		}
	}
	_, err = s.db.Write.DB.ExecContext(t.Context(), s.db.Rebind(`
		INSERT INTO `+table+` (`+strings.Join(names, ", ")+`)
		WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < CAST(? AS bigint))
		SELECT `+strings.Join(values, ", ")+` FROM numbers`), many)
	require.NoError(t, err, table)
}

// No cleaner deletes more at a time than it is asked to, though PostgreSQL keeps the plan of a table that had one row.
func TestCleaners_HoldTheirLimit(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		owner, err := s.Person.CreatePerson(t.Context(), person.NewPerson{Email: "owner@example.com", Password: "hash"})
		require.NoError(t, err)
		customer := map[string]string{"customer_id": "'" + s.customer(t, "grace@example.com", nil).ID + "'"}
		access := "CAST('x' AS blob)"
		if s.db.Engine == core.PostgreSQL {
			access = "CAST('x' AS bytea)"
		}
		for _, c := range []struct {
			table string
			given map[string]string
			clean func(ctx context.Context, limit int) (int64, error)
		}{
			{"activities", map[string]string{"actor_type": "'system'"}, func(ctx context.Context, limit int) (int64, error) {
				return s.Activity.DeleteOld(ctx, time.Hour, limit)
			}},
			{"idempotency_keys", nil, s.DeleteExpiredKeys},
			{"person_sessions", map[string]string{"person_id": "'" + owner.ID + "'"}, s.Person.DeleteOver},
			{"person_links", map[string]string{"kind": "'setup'"}, s.Person.DeleteOver},
			{"portal_links", customer, s.Portal.DeleteExpiredLinks},
			{"portal_sessions", customer, s.Portal.DeleteExpiredSessions},
			{"letter_windows", nil, s.Throttle.DeleteFormer},
			{"sign_in_failures", nil, s.Throttle.DeleteFormer},
			{"payment_guards", map[string]string{"under_way": "0"}, s.Payment.DeleteOldGuards},
			{"provider_events", nil, s.Payment.DeleteOldProviderEvents},
			{"requests", nil, s.Requests.DeleteOld},
			{"request_gaps", map[string]string{"hour": "n"}, s.Requests.DeleteOld},
			{"social_connections", map[string]string{"status": "'pending'"}, s.Advert.DeleteOldConnections},
			{"social_connections", map[string]string{"status": "'choose'", "access": access, "created_at": fmt.Sprint(int64(s.Now()))}, s.Advert.DeleteOldConnections},
		} {
			_, err := s.db.Write.DB.ExecContext(t.Context(), `DELETE FROM `+c.table)
			require.NoError(t, err)
			if s.db.Engine == core.PostgreSQL {
				_, err := s.db.Write.DB.ExecContext(t.Context(), `ALTER TABLE `+c.table+` SET (autovacuum_enabled = false)`)
				require.NoError(t, err)
			}
			s.old(t, c.table, 1, c.given)
			_, err = s.db.Write.DB.ExecContext(t.Context(), `ANALYZE `+c.table)
			require.NoError(t, err)
			for n := range 7 { // after six, PostgreSQL may keep a plan
				if n > 0 {
					s.old(t, c.table, 1, c.given)
				}
				deleted, err := c.clean(t.Context(), 20)
				require.NoError(t, err, c.table)
				require.EqualValues(t, 1, deleted, c.table)
			}
			s.old(t, c.table, 45, c.given)
			for _, want := range []int64{20, 20, 5, 0} {
				deleted, err := c.clean(t.Context(), 20)
				require.NoError(t, err, c.table)
				assert.Equal(t, want, deleted, c.table)
			}
		}
	})
}
