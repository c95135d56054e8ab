package fault

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// TestWebhooks_FailedOnesStaySevenDays moves the server's clock. What succeeded is in the log for a day, what failed for
// seven; the event is there as long as one of its deliveries.
func TestWebhooks_FailedOnesStaySevenDays(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := harness.Boot(t, url)
		c := s.Account(t)
		broken := harness.NewReceiverThat(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
		failed, succeeded := subscribe(t, c, 1, broken.URL)["id"], subscribe(t, c, 1, s.Hooks.URL)["id"]
		create(t, c, "Guide")
		log := func(endpoint any) []any {
			return c.Must(t, http.MethodGet, fmt.Sprintf("/v1/webhook_endpoints/%s/deliveries", endpoint), nil)["data"].([]any)
		}
		finished := func(endpoint any, status string) bool {
			all := log(endpoint)
			return len(all) == 1 && all[0].(map[string]any)["status"] == status
		}
		await(t, "both deliveries are over", func() bool { return finished(failed, "failed") && finished(succeeded, "succeeded") })
		event := "/v1/webhook_events/" + broken.Deliveries()[0].Event().ID
		for _, moment := range []struct {
			after             time.Duration
			failed, succeeded int
		}{
			{23 * time.Hour, 1, 1},
			{25 * time.Hour, 1, 0},
			{7*24*time.Hour - time.Hour, 1, 0},
			{7*24*time.Hour + time.Hour, 0, 0},
		} {
			s.Clock.SetAhead(moment.after)
			s.DeleteOldDeliveries(t)
			if got := [2]int{len(log(failed)), len(log(succeeded))}; got != [2]int{moment.failed, moment.succeeded} {
				t.Errorf("after %s the log has %d failed and %d succeeded deliveries", moment.after, got[0], got[1])
			}
			if resp := c.Do(t, http.MethodGet, event, nil); moment.failed == 0 {
				resp.Fault(t, http.StatusNotFound, "resource_missing")
			} else if resp.Status != http.StatusOK {
				t.Errorf("after %s the event is answered %d: %s", moment.after, resp.Status, resp.Body)
			}
		}
	})
}
