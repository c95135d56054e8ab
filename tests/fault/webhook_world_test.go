package fault

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
	"github.com/tillwright/tillwright/tests/harness/outbox"
)

// subscribe registers n endpoints at a URL for events, all of them when none are named, and returns the last one.
func subscribe(t *testing.T, c *harness.Client, n int, url string, events ...string) map[string]any {
	t.Helper()
	var endpoint map[string]any
	for i := range n {
		body := map[string]any{"url": fmt.Sprintf("%s/%d", url, i)}
		if len(events) > 0 {
			body["enabled_events"] = events
		}
		endpoint = c.Must(t, http.MethodPost, "/v1/webhook_endpoints", body)
	}
	return endpoint
}

// create makes a product, which is an event, and returns its path.
func create(t *testing.T, c *harness.Client, name string) string {
	t.Helper()
	return "/v1/products/" + c.Must(t, http.MethodPost, "/v1/products", map[string]any{"name": name})["id"].(string)
}

// queue copies the last event of a shop n times, each with a pending delivery to one of the endpoints that it went to.
func (s *site) queue(t *testing.T, account string, n int) {
	t.Helper()
	db := harness.OpenDatabase(t, s.url)
	defer db.Close()
	if err := outbox.Fill(t.Context(), db.DB, db.Engine, 1, n, account); err != nil {
		t.Fatal(err)
	}
}

// unsettled returns how many deliveries wait or are being sent.
func unsettled(t *testing.T, url string) int {
	t.Helper()
	db := harness.OpenDatabase(t, url)
	defer db.Close()
	return len(db.Strings(t, `SELECT id FROM webhook_deliveries WHERE state = 'pending'`))
}

// awaitSettled waits until nothing is to be sent any more.
func awaitSettled(t *testing.T, url string) {
	t.Helper()
	await(t, "no delivery is under way", func() bool { return unsettled(t, url) == 0 })
}

// await waits for a condition that must come true.
func await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(harness.Patience); !condition(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", harness.Patience, what)
		}
	}
}

// eachAlone is database.Each for a test that measures time in make soak. No other of the package runs beside it, and one engine comes after the
// other.
func eachAlone(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	for _, engine := range database.Engines() {
		t.Run(engine, func(t *testing.T) { test(t, database.URL(t, engine)) })
	}
}

// delays returns how long the deliveries took from their events to the receiver, in order.
func delays(deliveries []*harness.Delivery) []time.Duration {
	var all []time.Duration
	for _, d := range deliveries {
		all = append(all, d.Delay())
	}
	slices.Sort(all)
	return all
}

// percentile returns the time that p of a hundred in a sorted list do not exceed.
func percentile(sorted []time.Duration, p int) time.Duration {
	return sorted[(len(sorted)*p+99)/100-1].Round(10 * time.Microsecond)
}

// meanwhile returns how many of the others arrived, for each delivery in order, between its event and its arrival. However busy the machine
// is, one that is sent in turn does not see many.
func meanwhile(deliveries, others []*harness.Delivery) []int {
	var all []int
	for _, d := range deliveries {
		n := 0
		for _, o := range others {
			if o.At.After(d.Event().CreatedAt) && o.At.Before(d.At) {
				n++
			}
		}
		all = append(all, n)
	}
	slices.Sort(all)
	return all
}
