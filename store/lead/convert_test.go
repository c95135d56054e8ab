package lead

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/tests/harness/database"
	"github.com/tillwright/tillwright/tests/harness/reads"
)

// TestConvert_ReadsTheLeadsOfOneAddress has PostgreSQL keep a plan that it made of an empty table. A plan that reads all leads of the account holds the
// locks of a purchase as long as that takes.
func TestConvert_ReadsTheLeadsOfOneAddress(t *testing.T) {
	t.Parallel()
	var log reads.Log
	d := dbtest.OpenWith(t, db.Options{URL: database.URL(t, core.PostgreSQL), Trace: log.Note})
	s, account := &Store{db: d}, dbtest.Account(t, d)
	conn, err := d.Write.DB.Conn(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	exec := func(query string, args ...any) {
		t.Helper()
		_, err := conn.ExecContext(t.Context(), query, args...)
		require.NoError(t, err)
	}
	_, err = db.Tx(t.Context(), d, func(ctx context.Context, u *db.Unit) (any, error) {
		return nil, s.Convert(ctx, u, account, "ord_1", new("buyer7@example.com"), d.Now())
	})
	require.NoError(t, err)
	for _, text := range log.Statements() {
		if reads.IsLike(text, "UPDATE leads") {
			exec(`PREPARE convert AS ` + d.Rebind(text))
		}
	}
	execute := func(buyer string) string {
		return fmt.Sprintf(`EXECUTE convert (1, 'ord_1', 1, '%s', '%s@example.com')`, account, buyer)
	}
	exec(`ALTER TABLE leads SET (autovacuum_enabled = false)`)
	for range 10 {
		exec(execute("nobody"))
	}
	const many = 10_000
	exec(`
		INSERT INTO leads (account_id, id, email, email_key, source, status, customer_id, consent, custom_field_data, tags, metadata, created_at, updated_at)
		SELECT $1, 'lead_' || n, 'buyer' || n || '@example.com', 'buyer' || n || '@example.com', 'api', 'new', 'cus_' || n, '{}', '{}', '[]', '{}', 1, 1
		FROM generate_series(1, $2) AS n`, account, many)

	for buyer, most := range map[string]int{"nobody": 20, "buyer7": many / 20} { // one index may be read as a whole for who has a lead, but no lead
		var plan []byte
		require.NoError(t, conn.QueryRowContext(t.Context(), `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) `+execute(buyer)).Scan(&plan))
		var plans []struct {
			Plan struct {
				Hit  int `json:"Shared Hit Blocks"`
				Read int `json:"Shared Read Blocks"`
			}
		}
		require.NoError(t, json.Unmarshal(plan, &plans))
		assert.Less(t, plans[0].Plan.Hit+plans[0].Plan.Read, most, string(plan))
	}
	assert.Equal(t, 1, dbtest.Count(t, d, `SELECT count(*) FROM leads WHERE account_id = ? AND status = 'converted'`, account))
}
