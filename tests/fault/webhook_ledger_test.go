package fault

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/sdk/signature"
	"github.com/tillwright/tillwright/tests/harness"
)

// ledger is what the database says of events and deliveries.
type ledger struct {
	events map[string]storedEvent
	wanted map[string]map[string]string // endpoint -> event -> state of the delivery
}

type storedEvent struct{ kind, object, body string }

func readLedger(t *testing.T, url string) *ledger {
	t.Helper()
	db := harness.OpenDatabase(t, url)
	defer db.Close()
	l := &ledger{events: map[string]storedEvent{}, wanted: map[string]map[string]string{}}
	rows, err := db.Query(`
		SELECT e.id, e.type, e.ordering_key, e.body, COALESCE(d.endpoint_id, ''), COALESCE(d.state || COALESCE(' ' || d.reason, ''), '')
		FROM events AS e LEFT JOIN webhook_deliveries AS d ON d.account_id = e.account_id AND d.event_id = e.id`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, endpoint, state string
		var e storedEvent
		if err := rows.Scan(&id, &e.kind, &e.object, &e.body, &endpoint, &state); err != nil {
			t.Fatal(err)
		}
		l.events[id] = e
		if l.wanted[endpoint] == nil {
			l.wanted[endpoint] = map[string]string{}
		}
		l.wanted[endpoint][id] = state
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return l
}

// faults holds what has arrived at an endpoint against the database. That is everything that is stored for it, and nothing else, in the stored bytes,
// under its id, signed. A delivery may have arrived more than once, and may then have been given up as one that nobody ever got to record.
func (l *ledger) faults(s *subscription) (faults []string) {
	arrived := map[string]int{}
	for _, d := range s.Deliveries() {
		event, err := sdk.VerifyWebhook(d.Body, d.Header, s.secret)
		if err != nil {
			faults = append(faults, fmt.Sprintf("%v: %s", err, d.Body))
			continue
		}
		arrived[event.ID]++
		if l.wanted[s.id][event.ID] == "" {
			faults = append(faults, event.ID+" arrived and is not stored for the endpoint")
		}
		if string(d.Body) != l.events[event.ID].body {
			faults = append(faults, fmt.Sprintf("%s arrived as\n%s\nand is stored as\n%s", event.ID, d.Body, l.events[event.ID].body))
		}
		for _, name := range []string{"X-Service-Event-Id", "webhook-id"} {
			if id := d.Header.Get(name); id != event.ID {
				faults = append(faults, fmt.Sprintf("%s arrived with the %s %s", event.ID, name, id))
			}
		}
	}
	for id, state := range l.wanted[s.id] {
		if arrived[id] == 0 || state != "succeeded" && state != "failed aborted" {
			faults = append(faults, fmt.Sprintf("%s arrived %d times and is %s", id, arrived[id], state))
		}
	}
	return faults
}

// send posts what a server would.
func send(t *testing.T, s *subscription, id, body, secret string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, s.URL, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Service-Event-Id", id)
	req.Header.Set("webhook-id", id)
	req.Header.Set("X-Service-Hmac-SHA256", signature.Sign([]byte(body), secret))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
}
