package fault

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/tests/harness"
)

// TestWebhooks_BlackHolesDelayNobody gives five accounts 40 endpoints each that never answer, and more events for them than can time out during the
// test. One of the accounts has a healthy endpoint, too, and 50 events a second for it. From the first one on they arrive in time, which means before
// any of the black holes has shown what it is. How long they take on a clock that stands still while the machine works is tested in package webhooks.
func TestWebhooks_BlackHolesDelayNobody(t *testing.T) {
	eachAlone(t, func(t *testing.T, url string) {
		s := newSite(t, harness.Build(t), url, 10)
		shops := harness.Accounts(t, s.url, 4)
		server := s.binary.Serve(t, "")
		accounts := []*harness.Client{s.client(server, 0)}
		for _, shop := range shops {
			accounts = append(accounts, shop.At(server.URL))
		}
		for _, c := range accounts {
			subscribe(t, c, 40, harness.NewBlackHole(t), "product.updated")
		}
		healthy := harness.NewReceiver(t)
		subscribe(t, accounts[0], 1, healthy.URL, "product.created")
		for _, c := range accounts {
			rename(t, c, 20)
		}

		seconds := count(9, 60)
		begin := time.Now()
		s.createSteadily(t, server, 50*seconds)
		await(t, "every event has arrived at the healthy endpoint", func() bool { return healthy.Count() >= 50*seconds })

		var early, steady []*harness.Delivery
		for _, d := range healthy.Deliveries()[len(accounts)-len(shops)-1:] {
			if d.Event().CreatedAt.Before(begin.Add(6 * time.Second)) {
				early = append(early, d)
			} else {
				steady = append(steady, d)
			}
		}
		for when, sorted := range map[string][]time.Duration{"in the first 6 s": delays(early), "afterwards": delays(steady)} {
			if len(sorted) == 0 { // a busy machine may be no further in 6 s
				continue
			}
			t.Logf("%s: %d deliveries, p50 %s, p99 %s, at most %s", when, len(sorted), percentile(sorted, 50), percentile(sorted, 99), percentile(sorted, 100))
			harness.Within(t, 250*time.Millisecond, percentile(sorted, 99), when+", p99 of the healthy endpoint")
		}
		if left := unsettled(t, url); left < 200 {
			t.Errorf("only %d deliveries to black holes were left: they were no burden", left)
		}
	})
}

// rename makes a product and n events about it; they are sent one after another.
func rename(t *testing.T, c *harness.Client, n int) {
	t.Helper()
	product := create(t, c, "Before")
	for i := range n {
		c.Must(t, http.MethodPatch, product, map[string]any{"name": fmt.Sprint("After ", i)})
	}
}

// createSteadily makes n products of the site's account, 50 a second, whether the server keeps up or not.
func (s *site) createSteadily(t *testing.T, server *harness.Process, n int) {
	t.Helper()
	clients := make([]*harness.Client, len(s.keys))
	for i := range clients {
		clients[i] = s.client(server, i)
		defer clients[i].HTTP.CloseIdleConnections()
	}
	var group sync.WaitGroup
	defer group.Wait()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for i := range n {
		<-tick.C
		group.Go(func() {
			resp, err := clients[i%len(clients)].Try(http.MethodPost, "/v1/products", map[string]any{"name": fmt.Sprint("Steady ", i)})
			if assert.NoError(t, err, "product %d", i) {
				assert.Equal(t, http.StatusCreated, resp.Status, "product %d: %s", i, resp.Body)
			}
		})
	}
}

// TestWebhooks_BusyAccountDelaysNoOther queues 10,000 deliveries of one account, and gives 50 small ones an event each.
func TestWebhooks_BusyAccountDelaysNoOther(t *testing.T) {
	eachAlone(t, func(t *testing.T, url string) {
		s := newSite(t, harness.Build(t), url, 0)
		shops := harness.Accounts(t, s.url, 51)
		server := s.binary.Serve(t, "")
		busy, small := harness.NewReceiverThat(t, slowly), harness.NewReceiver(t)
		big := shops[50].At(server.URL)
		subscribe(t, big, 20, busy.URL)
		for _, shop := range shops[:50] {
			subscribe(t, shop.At(server.URL), 1, small.URL)
		}
		create(t, big, "The first")
		await(t, "the first event has arrived", func() bool { return busy.Count() == 20 })

		s.queue(t, big.Account, 10_000)
		await(t, "the backlog is being sent", func() bool { return busy.Count() > 100 })
		for _, shop := range shops[:50] {
			create(t, shop.At(server.URL), "The only one")
		}
		await(t, "the small accounts' events have arrived", func() bool { return small.Count() == 50 })
		if left := unsettled(t, url); left == 0 {
			t.Error("the backlog was gone before the small accounts were through")
		}
		sorted := delays(small.Deliveries())
		harness.Within(t, 500*time.Millisecond, percentile(sorted, 99), "p99 of 50 small accounts beside 10,000 deliveries of another")
		passed := meanwhile(small.Deliveries(), busy.Deliveries())
		t.Logf("of the other account %d to %d arrived meanwhile", passed[0], passed[len(passed)-1])
		if most := passed[len(passed)-1]; most > 1000 {
			t.Errorf("%d deliveries of the busy account came first", most)
		}
	})
}

// slowly answers like a receiver that does some work.
func slowly(http.ResponseWriter, *http.Request) { time.Sleep(50 * time.Millisecond) }

// TestWebhooks_BusyEndpointDelaysNoOther queues 5,000 deliveries of one endpoint; ten others of its account, and one of
// another account, are sent their events at once.
func TestWebhooks_BusyEndpointDelaysNoOther(t *testing.T) {
	eachAlone(t, func(t *testing.T, url string) {
		s := newSite(t, harness.Build(t), url, 0)
		shops := harness.Accounts(t, s.url, 2)
		server := s.binary.Serve(t, "")
		busy, others := harness.NewReceiverThat(t, slowly), harness.NewReceiver(t)
		same, other := shops[0].At(server.URL), shops[1].At(server.URL)
		subscribe(t, same, 1, busy.URL, "product.created")
		subscribe(t, same, 10, others.URL, "product.updated")
		subscribe(t, other, 1, others.URL, "product.updated")
		products := []string{create(t, same, "A"), create(t, other, "B")}
		await(t, "the first event has arrived", func() bool { return busy.Count() == 1 })

		s.queue(t, same.Account, 5000)
		await(t, "the backlog is being sent", func() bool { return busy.Count() > 20 })
		for i, c := range []*harness.Client{same, other} {
			c.Must(t, http.MethodPatch, products[i], map[string]any{"name": "C"})
		}
		await(t, "the others' events have arrived", func() bool { return others.Count() == 11 })
		sorted := delays(others.Deliveries())
		harness.Within(t, time.Second, percentile(sorted, 100), "the slowest of 11 endpoints beside 5,000 deliveries of another")
		passed := meanwhile(others.Deliveries(), busy.Deliveries())
		t.Logf("of the busy endpoint %d to %d arrived meanwhile", passed[0], passed[len(passed)-1])
		if most := passed[len(passed)-1]; most > 200 {
			t.Errorf("%d deliveries of the busy endpoint came first", most)
		}
		if left := unsettled(t, url); left == 0 {
			t.Error("the backlog was gone before the others were through")
		}
	})
}
