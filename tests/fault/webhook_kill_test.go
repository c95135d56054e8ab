package fault

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// TestWebhooks_SurviveKills kills the server again and again while it delivers what twelve clients do to products. Afterwards
// the database, the clients and the receivers must agree on what has happened.
func TestWebhooks_SurviveKills(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		c := newCampaign(t, harness.Build(t), url)
		all := c.subscribe()
		created := c.subscribe("product.created")
		c.run(count(5, 200), c.makeAndRename)
		awaitSettled(t, url)

		ledger := readLedger(t, url)
		faults := append(c.untoldEvents(ledger), ledger.faults(all)...)
		faults = append(faults, ledger.faults(created)...)
		report(t, c, append(faults, c.brokenInvariants(c.t)...))
		doubled := all.Count() + created.Count() - len(ledger.wanted[all.id]) - len(ledger.wanted[created.id])
		t.Logf("%d events, %d deliveries, %d of them sent twice", len(ledger.events), all.Count()+created.Count(), doubled)
		if most := 2 * 16 * c.kills; doubled > most {
			t.Errorf("%d deliveries were repeated: at most 16 to each of 2 endpoints are under way at each of %d kills", doubled, c.kills)
		}
	})
}

// subscription is an endpoint and what has arrived at it.
type subscription struct {
	*harness.Receiver
	id, secret string
}

// subscribe registers a new receiver for events, all of them when none are named.
func (c *campaign) subscribe(events ...string) *subscription {
	c.t.Helper()
	s := &subscription{Receiver: harness.NewReceiver(c.t)}
	endpoint := subscribe(c.t, c.client(c.server.Load(), 0), 1, s.URL, events...)
	s.id, s.secret = endpoint["id"].(string), endpoint["secret"].(string)
	return s
}

// makeAndRename is two events about one product.
func (c *campaign) makeAndRename(n int64) {
	product := c.insist(request{key: fmt.Sprint("make ", n), path: "/v1/products", body: map[string]any{"name": fmt.Sprint("Product ", n)}}, http.StatusCreated)
	if product == nil {
		return
	}
	c.insist(request{
		method: http.MethodPatch, key: fmt.Sprint("rename ", n), path: "/v1/products/" + product["id"].(string),
		body: map[string]any{"name": fmt.Sprint("Renamed ", n)},
	}, http.StatusOK)
}

// untoldEvents compares the events with what the clients were told: each answer has made exactly one.
func (c *campaign) untoldEvents(l *ledger) (faults []string) {
	events, told := map[string]int{}, map[string]int{}
	for _, e := range l.events {
		events[e.kind+" of "+e.object]++
	}
	for _, a := range c.answers {
		kind := map[int]string{http.StatusCreated: "product.created", http.StatusOK: "product.updated"}[a.status]
		told[kind+" of "+(&harness.Response{Body: a.text}).Object(c.t)["id"].(string)]++
	}
	for what, n := range told {
		if events[what] != n {
			faults = append(faults, fmt.Sprintf("%d times somebody was told of %s, there are %d events", n, what, events[what]))
		}
	}
	for what := range events {
		if told[what] == 0 {
			faults = append(faults, "nobody was told of "+what)
		}
	}
	return faults
}

// TestWebhookLedger_SeesEveryFault gives the comparison ledgers that are wrong, each in one way.
func TestWebhookLedger_SeesEveryFault(t *testing.T) {
	t.Parallel()
	secret := "whsec_secret"
	right := func() (*ledger, *subscription) {
		s := &subscription{Receiver: harness.NewReceiver(t), id: "we_1", secret: secret}
		l := &ledger{events: map[string]storedEvent{}, wanted: map[string]map[string]string{"we_1": {}}}
		for _, id := range []string{"whev_1", "whev_2"} {
			body := fmt.Sprintf(`{"id":%q,"type":"product.created"}`, id)
			l.events[id] = storedEvent{kind: "product.created", object: "prod_" + id, body: body}
			l.wanted["we_1"][id] = "succeeded"
			send(t, s, id, body, secret)
		}
		return l, s
	}
	for name, spoil := range map[string]func(l *ledger, s *subscription){
		"a lost event":      func(l *ledger, _ *subscription) { l.wanted["we_1"]["whev_3"] = "succeeded" },
		"an invented event": func(l *ledger, _ *subscription) { delete(l.events, "whev_1") },
		"another's event":   func(l *ledger, _ *subscription) { delete(l.wanted["we_1"], "whev_1") },
		"a failed delivery": func(l *ledger, _ *subscription) { l.wanted["we_1"]["whev_1"] = "failed timeout" },
		"other bytes": func(_ *ledger, s *subscription) {
			send(t, s, "whev_1", `{"id": "whev_1","type":"product.created"}`, secret)
		},
		"another id":          func(l *ledger, s *subscription) { send(t, s, "whev_2", l.events["whev_1"].body, secret) },
		"another's signature": func(l *ledger, s *subscription) { send(t, s, "whev_1", l.events["whev_1"].body, "whsec_other") },
	} {
		l, s := right()
		if faults := l.faults(s); len(faults) > 0 {
			t.Errorf("a ledger without a fault: %s", faults)
		}
		send(t, s, "whev_1", l.events["whev_1"].body, secret)
		if faults := l.faults(s); len(faults) > 0 {
			t.Errorf("a delivery that comes twice is allowed: %s", faults)
		}
		spoil(l, s)
		if len(l.faults(s)) == 0 {
			t.Errorf("%s was not seen", name)
		}
	}
}
