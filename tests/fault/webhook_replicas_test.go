package fault

import (
	"net/http"
	"testing"
	"time"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// TestWebhooks_ReplicasShareTheWork lets two servers on one PostgreSQL send 20,000 deliveries, or 5,000 in make test, to 200 endpoints. These take
// more at a time than one server sends. Each delivery arrives once, and both servers do their part.
func TestWebhooks_ReplicasShareTheWork(t *testing.T) {
	t.Parallel()
	s := newSite(t, harness.Build(t), database.URL(t, "postgres"), 0)
	shops := harness.Accounts(t, s.url, 5)
	const endpoints = 40
	each := count(1000, 4000)
	// So slowly that one server needs seconds for all of them, and the other one sees in time that there is something to do.
	receiver := harness.NewReceiverThat(t, func(http.ResponseWriter, *http.Request) { time.Sleep(200 * time.Millisecond) })
	servers := []*harness.Process{s.binary.Serve(t, "", "--service-name", "First"), s.binary.Serve(t, "", "--service-name", "Second")}
	for _, shop := range shops {
		subscribe(t, shop.At(servers[0].URL), endpoints, receiver.URL+"/"+shop.Account)
		create(t, shop.At(servers[0].URL), "The first")
	}
	for _, shop := range shops {
		s.queue(t, shop.Account, each)
	}
	awaitSettled(t, s.url)

	arrived, sentBy := map[string]int{}, map[string]int{}
	for _, d := range receiver.Deliveries() {
		arrived[d.Path+" "+d.Event().ID]++
		sentBy[d.Header.Get("User-Agent")]++
	}
	t.Logf("%d deliveries: %v", receiver.Count(), sentBy)
	for what, n := range arrived {
		if n != 1 {
			t.Errorf("%s arrived %d times", what, n)
		}
	}
	if want := len(shops) * (endpoints + each); len(arrived) != want {
		t.Errorf("%d deliveries arrived, %d are due", len(arrived), want)
	}
	for _, server := range []string{"First-Webhooks/1", "Second-Webhooks/1"} {
		if sentBy[server] < len(arrived)/10 {
			t.Errorf("%s made only %d of %d deliveries", server, sentBy[server], len(arrived))
		}
	}
}
