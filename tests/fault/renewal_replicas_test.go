package fault

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// TestReplicas_BillEveryPeriodOnce has three servers move one account's clock at once, again and again. They move it over
// the end of the period of forty subscribers, and over all the attempts at what ten of them do not pay.
func TestReplicas_BillEveryPeriodOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t, harness.Build(t), database.URL(t, "postgres"), 1)
	servers := replicas(t, s)
	receiver := harness.NewReceiver(t)
	subscribe(t, s.client(servers[0], 0), 1, receiver.URL)
	price := monthly(t, s.client(servers[0], 0), 900)
	told := map[string]member{}
	for i := range 40 {
		method := []string{"pm_card_visa", "tok_recover_on_3rd", "pm_card_visa", "tok_fail_on_renewal"}[i%4]
		c := s.client(servers[i%len(servers)], 0)
		checkout := c.Must(t, http.MethodPost, "/v1/checkouts", map[string]any{
			"customer_email": fmt.Sprintf("member-%d@example.com", i), "line_items": []any{map[string]any{"price_variant": price}},
		})
		paid := c.Must(t, http.MethodPost, "/v1/checkouts/"+checkout["id"].(string)+"/confirm", map[string]any{"payment_method": method})
		told[paid["subscription"].(string)] = member{method: method}
	}
	at := time.Now()
	for _, days := range []int{32, 3, 6, 8, 8} {
		at = at.Add(time.Duration(days) * 24 * time.Hour)
		var group sync.WaitGroup
		for _, server := range servers {
			group.Go(func() {
				clock := s.client(server, 0).Do(t, http.MethodPost, "/v1/test_helpers/clock", map[string]any{"now": at.UTC().Format(time.RFC3339)})
				assert.Equal(t, http.StatusOK, clock.Status)
				assert.Equal(t, true, clock.Object(t)["done"])
			})
		}
		group.Wait()
	}
	awaitSettled(t, s.url)
	for _, fault := range append(readBooks(t, s.url).faults(told), s.brokenInvariants(t)...) {
		t.Error(fault)
	}
	if events := harness.OpenDatabase(t, s.url).Count(t, "events"); receiver.Count() != events {
		t.Errorf("%d of %d events arrived", receiver.Count(), events)
	}
}
