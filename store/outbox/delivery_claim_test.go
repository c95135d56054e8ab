package outbox

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
	fill "github.com/tillwright/tillwright/tests/harness/outbox"
	"github.com/tillwright/tillwright/tests/harness/reads"
)

// TestExchangeDeliveries_ReadsWhatItClaims has an account emit a great deal at once, of which PostgreSQL knows nothing yet but what there was before.
// A claim that reads all of it takes longer than a round may, and nobody's webhooks go out until the tables are analysed.
func TestExchangeDeliveries_ReadsWhatItClaims(t *testing.T) {
	t.Parallel()
	url := database.URL(t, core.PostgreSQL)
	var log reads.Log
	o := &outbox{t: t}
	d := dbtest.OpenWith(t, db.Options{URL: url, Trace: log.Note})
	o.Store = New(d, func(_ string, v any) ([]byte, error) { return []byte(fmt.Sprint(v)), nil })
	o.account = dbtest.Account(t, d)
	for _, table := range []string{"events", "webhook_deliveries", "webhook_claims"} {
		_, err := d.Write.DB.Exec(`ALTER TABLE ` + table + ` SET (autovacuum_enabled = false)`)
		require.NoError(t, err)
	}
	var claims []DeliveryClaim
	for range 20 {
		claims = append(claims, claimOf(o.endpoint(EventOrderPaid), 6))
	}
	o.emit(EventOrderPaid, "order_1", 1)
	var results []DeliveryResult
	for _, c := range o.exchange(nil, claims...) {
		results = append(results, success(c))
	}
	require.Len(t, results, 20)
	o.exchange(results)
	_, err := d.Write.DB.Exec(`VACUUM ANALYZE`)
	require.NoError(t, err)
	require.NoError(t, fill.Fill(t.Context(), d.Write.DB.DB, core.PostgreSQL, 1, 10_000, o.account))
	log = reads.Log{}
	require.Len(t, o.exchange(nil, claims...), 120)
	var last []map[string]string // those that a claim comes to at the end
	for n := 9901; n <= 10_000; n++ {
		last = append(last, map[string]string{"account": o.account, "id": fmt.Sprintf("whd_01zz%022d", n)})
	}
	keys, err := json.Marshal(last)
	require.NoError(t, err)

	for _, text := range log.Statements() {
		if !reads.IsLike(text, "AS attempt, e.body") {
			continue
		}
		plan, err := db.Tx(t.Context(), o.db, func(ctx context.Context, u *db.Unit) (*string, error) {
			if err := u.PlanAnew(ctx); err != nil {
				return nil, err
			}
			return db.Get[string](ctx, u, `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) `+text, string(keys))
		})
		require.NoError(t, err)
		var plans []struct {
			Plan struct {
				Rows float64 `json:"Actual Rows"`
				Hit  int     `json:"Shared Hit Blocks"`
				Read int     `json:"Shared Read Blocks"`
			}
		}
		require.NoError(t, json.Unmarshal([]byte(*plan), &plans))
		of := plans[0].Plan
		assert.EqualValues(t, len(last), of.Rows)
		assert.Less(t, of.Hit+of.Read, 20*len(last), *plan)
		return
	}
	t.Error("nothing was claimed")
}
