package fault

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/outbox"
)

// TestWebhookLog_IsQuickInAMillion measures pages of an endpoint's log, with each filter, at its beginning and deep in it. A
// hundred of the deliveries have failed, and a hundred are of another type; there were twenty a second.
func TestWebhookLog_IsQuickInAMillion(t *testing.T) {
	eachAlone(t, func(t *testing.T, databaseURL string) {
		s := newSite(t, harness.Build(t), databaseURL, 3)
		server := s.binary.Serve(t, "")
		receiver, n := harness.NewReceiver(t), count(20_000, 1_000_000)
		endpoint := subscribe(t, s.client(server, 0), 1, receiver.URL)["id"].(string)
		create(t, s.client(server, 0), "The first")
		awaitSettled(t, databaseURL)
		begin := s.growLog(t, n)

		path := "/v1/webhook_endpoints/" + endpoint + "/deliveries?limit=20"
		at := func(n int) string {
			return url.QueryEscape(begin.Add(time.Duration(n) * interval).Format(time.RFC3339))
		}
		position := func(n int) string {
			var id ulid.ULID
			_ = id.SetTime(ulid.Timestamp(begin.Add(time.Duration(n) * interval)))
			return "whd_" + strings.ToLower(id.String()[:10]) + fmt.Sprintf("%016d", n)
		}
		for i, page := range []struct {
			name, query string
			rows        int
		}{
			{"no filter", "", 20},
			{"no filter, deep", "&starting_after=" + position(n/2), 20},
			{"no filter, backwards from the end", "&ending_before=" + position(1), 20},
			{"failed", "&status=failed", 20},
			{"failed, deep", "&status=failed&starting_after=" + position(n/2), 20},
			{"succeeded, deep", "&status=succeeded&starting_after=" + position(n/2), 20},
			{"sending, of which there are none", "&status=sending", 0},
			{"rare type", "&type=order.paid", 20},
			{"rare type, deep", "&type=order.paid&starting_after=" + position(n/2), 20},
			{"type that never happened", "&type=order.voided", 0},
			{"failed ones of a rare type", "&status=failed&type=order.paid", 0},
			{"before a time deep in the log", "&created_before=" + at(n/2), 20},
			{"a minute deep in the log", "&created_after=" + at(n/2) + "&created_before=" + at(n/2+1200), 20},
			{"a minute before all", "&created_after=" + at(-2400) + "&created_before=" + at(-1200), 0},
			{"failed before a time deep in the log", "&status=failed&created_before=" + at(n/2), 20},
		} {
			client := s.client(server, i)
			var times []time.Duration
			for range count(1, 40) {
				begin := time.Now()
				list := client.Must(t, http.MethodGet, path+page.query, nil)
				times = append(times, time.Since(begin))
				if rows := len(list["data"].([]any)); rows != page.rows {
					t.Fatalf("%s: %d deliveries, not %d", page.name, rows, page.rows)
				}
			}
			client.HTTP.CloseIdleConnections()
			slices.Sort(times)
			harness.Within(t, 50*time.Millisecond, percentile(times, 95), page.name+", p95")
		}
	})
}

// interval is the time between two deliveries of the log; a million of them fit into the day that they are kept.
const interval = 50 * time.Millisecond

// growLog copies the only delivery n times, back into the past, and returns when the first of the copies was created.
func (s *site) growLog(t *testing.T, n int) time.Time {
	t.Helper()
	db := harness.OpenDatabase(t, s.url)
	defer db.Close()
	begin := time.Now().Add(-time.Duration(n+1000) * interval).Truncate(time.Second)
	created := fmt.Sprintf("%d + n * CAST(%d AS BIGINT)", begin.UnixMicro(), interval.Microseconds())
	id := outbox.IDAt(db.Engine, "whd_", created, "n")
	db.Must(t, fmt.Sprintf(`
		INSERT INTO webhook_deliveries (account_id, id, endpoint_id, event_id, type, ordering_key, key_seq, state, attempts, reason, status_code,
			duration_ms, response, created_at, updated_at, finished_at)
		SELECT account_id, %s, endpoint_id, event_id, CASE WHEN n %% %d = 7 THEN 'order.paid' ELSE type END, ordering_key, key_seq,
			CASE WHEN n %% %d = 5 THEN 'failed' ELSE 'succeeded' END, 1, CASE WHEN n %% %d = 5 THEN 'timeout' END, status_code,
			duration_ms, 'ok', %s, %s, %s
		FROM webhook_deliveries, %s`, id, n/100, n/100, n/100, created, created, created, outbox.Numbers(db.Engine, 1, n)))
	db.Must(t, "ANALYZE")
	if got := db.Count(t, "webhook_deliveries"); got != n+1 {
		t.Fatalf("%d deliveries are there, %d were wanted", got, n+1)
	}
	return begin
}
