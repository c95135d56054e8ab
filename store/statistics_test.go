package store

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// onPostgres runs a test on PostgreSQL alone, whose plans depend on what it knows of a table. Autovacuum leaves the table alone.
func onPostgres(t *testing.T, test func(t *testing.T, s *shop)) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := newShop(t, url)
		if s.Engine() == core.SQLite {
			_, denied, err := s.Analyze(t.Context())
			require.NoError(t, err)
			require.Empty(t, denied)
			return
		}
		_, err := s.db.Write.DB.Exec(`ALTER TABLE line_items SET (autovacuum_enabled = false)`)
		require.NoError(t, err)
		test(t, s)
	})
}

// lines has so many line items in one account, each of a checkout of its own.
func (s *shop) lines(t *testing.T, from, to int) {
	t.Helper()
	if from == 1 {
		v := s.onSale(t, catalog.PriceVariant{Amount: 1900})
		_, err := s.Checkout.Create(t.Context(), s.account, checkout.Draft{
			Checkout: &checkout.Checkout{CustomerEmail: ref("ada@example.com")}, Lines: []offer.NewLine{{PriceVariant: v.ID, Quantity: 1}},
		})
		require.NoError(t, err)
	}
	names, _, _ := strings.Cut(strings.TrimPrefix(lineitem.Columns.SelectSQL, "SELECT "), " FROM")
	values := strings.Split(names, ", ")
	for i, name := range values {
		switch name {
		case "id":
			values[i] = `'li_' || lpad(CAST(n AS text), 26, '0')`
		case "checkout_id":
			values[i] = `'chk_' || lpad(CAST(n AS text), 26, '0')`
		}
	}
	_, err := s.db.Write.DB.Exec(fmt.Sprintf(`
		INSERT INTO line_items (%s) SELECT %s FROM generate_series(%d, %d) AS numbers(n), (SELECT * FROM line_items ORDER BY id DESC LIMIT 1) AS one`,
		names, strings.Join(values, ", "), from, to))
	require.NoError(t, err)
}

// keptPlan is a statement that was prepared, and planned for good, while its table was empty.
type keptPlan struct{ conn *sqlx.Conn }

func (s *shop) keptPlan(t *testing.T) keptPlan {
	t.Helper()
	conn, err := s.db.Write.DB.Connx(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	for _, statement := range []string{
		`SET plan_cache_mode = force_generic_plan`,
		`PREPARE kept (text, text) AS SELECT * FROM line_items WHERE account_id = $1 AND checkout_id = $2`,
		`EXECUTE kept('nobody', 'nothing')`,
	} {
		_, err := conn.ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}
	return keptPlan{conn}
}

// pages are how many pages the statement reads now to find one row.
func (k keptPlan) pages(t *testing.T, account string) float64 {
	t.Helper()
	var text []byte
	require.NoError(t, k.conn.GetContext(t.Context(), &text, fmt.Sprintf(
		`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE kept('%s', 'chk_%026d')`, account, 77)))
	var plans []struct {
		Plan struct {
			Hit  float64 `json:"Shared Hit Blocks"`
			Read float64 `json:"Shared Read Blocks"`
			Rows float64 `json:"Actual Rows"`
		}
	}
	require.NoError(t, json.Unmarshal(text, &plans))
	require.EqualValues(t, 1, plans[0].Plan.Rows)
	return plans[0].Plan.Hit + plans[0].Plan.Read
}

// A statement that was planned while its table was empty reads a page or two more than it must when there is one account. It does not read all that
// the account has.
func TestAnalyze_MakesKeptPlansAnew(t *testing.T) {
	onPostgres(t, func(t *testing.T, s *shop) {
		kept := s.keptPlan(t)
		s.lines(t, 1, 4000)
		require.Greater(t, kept.pages(t, s.account), 50.0, "the plan is the bad one that this is about")
		analyzed, denied, err := s.Analyze(t.Context())
		require.NoError(t, err)
		assert.Empty(t, denied)
		require.Len(t, analyzed, 1)
		assert.Equal(t, "line_items", analyzed[0].Name)
		assert.LessOrEqual(t, kept.pages(t, s.account), 6.0)

		again, _, err := s.Analyze(t.Context())
		require.NoError(t, err)
		assert.Empty(t, again, "it has not grown")
		s.lines(t, 4001, 4500)
		again, _, err = s.Analyze(t.Context())
		require.NoError(t, err)
		assert.Empty(t, again, "it has grown by an eighth")
		s.lines(t, 4501, 9000)
		again, _, err = openStore(t, s.db.Options.URL).Analyze(t.Context())
		require.NoError(t, err)
		assert.Len(t, again, 1, "it has doubled, which any replica sees")
		again, _, err = s.Analyze(t.Context())
		require.NoError(t, err)
		assert.Empty(t, again, "another replica has seen to it")
	})
}

// An index that is made after the rows, as a restore does, says how large the table is and nothing about what is in it.
func TestMigrate_AnalysesWhatWasRestored(t *testing.T) {
	onPostgres(t, func(t *testing.T, s *shop) {
		s.lines(t, 1, 2000)
		_, err := s.db.Write.DB.Exec(`REINDEX TABLE line_items`)
		require.NoError(t, err)
		known := func() (n int) {
			require.NoError(t, s.db.Write.DB.Get(&n, `SELECT count(*) FROM pg_stats WHERE tablename = 'line_items'`))
			return n
		}
		var pages int
		require.NoError(t, s.db.Write.DB.Get(&pages, `SELECT relpages FROM pg_class WHERE relname = 'line_items'`))
		require.Positive(t, pages)
		require.Zero(t, known())
		require.NoError(t, s.Migrate(t.Context()))
		assert.Positive(t, known())
	})
}

// A role that may not analyse plans its own statements anew, and says what is to be done.
func TestAnalyze_OfARoleThatMayNot(t *testing.T) {
	onPostgres(t, func(t *testing.T, s *shop) {
		role := "guest_" + strings.ToLower(core.NewULID())
		for _, statement := range []string{
			`CREATE ROLE ` + role + ` LOGIN PASSWORD 'guest'`, `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ` + role,
		} {
			_, err := s.db.Write.DB.Exec(statement)
			require.NoError(t, err)
		}
		t.Cleanup(func() {
			_, _ = s.db.Write.DB.Exec(`DROP OWNED BY ` + role)
			_, _ = s.db.Write.DB.Exec(`DROP ROLE ` + role)
		})
		address, err := url.Parse(s.db.Options.URL)
		require.NoError(t, err)
		address.User = url.UserPassword(role, "guest")
		guest := openStore(t, address.String())
		s.lines(t, 1, 2000)
		_, _, err = guest.Order.List(t.Context(), s.account, order.List{Page: core.Page{Limit: 1}})
		require.NoError(t, err)
		require.NotEmpty(t, guest.db.Write.Texts())
		analyzed, denied, err := guest.Analyze(t.Context())
		require.NoError(t, err)
		assert.Empty(t, analyzed)
		require.Len(t, denied, 1)
		assert.Contains(t, denied[0].Advice(), "ANALYZE line_items")
		assert.Empty(t, guest.db.Write.Texts(), "its statements are planned anew")
		_, denied, err = guest.Analyze(t.Context())
		require.NoError(t, err)
		assert.Empty(t, denied, "it says so once")
		stale, err := guest.StaleTables(t.Context())
		require.NoError(t, err)
		require.Len(t, stale, 1, "as long as it is so, doctor says it")
		assert.False(t, stale[0].Allowed)
	})
}

// A table that somebody vacuums or analyses just now is left to him, and looked at once he is done.
func TestAnalyze_LeavesATableToWhoIsAtIt(t *testing.T) {
	onPostgres(t, func(t *testing.T, s *shop) {
		s.lines(t, 1, 5000)
		conn, err := s.db.Write.DB.Connx(t.Context())
		require.NoError(t, err)
		defer func() { _ = conn.Close() }()
		_, err = conn.ExecContext(t.Context(), `BEGIN; LOCK TABLE line_items IN SHARE UPDATE EXCLUSIVE MODE`)
		require.NoError(t, err)
		analyzed, _, err := s.Analyze(t.Context())
		require.NoError(t, err)
		for _, table := range analyzed {
			assert.NotEqual(t, "line_items", table.Name)
		}
		_, err = conn.ExecContext(t.Context(), `ROLLBACK`)
		require.NoError(t, err)
		analyzed, _, err = s.Analyze(t.Context())
		require.NoError(t, err)
		assert.Contains(t, namesOf(analyzed), "line_items")
	})
}

func namesOf(tables []core.StaleTable) (names []string) {
	for _, table := range tables {
		names = append(names, table.Name)
	}
	return names
}
