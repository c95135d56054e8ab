package fault

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// replicas starts three processes on one PostgreSQL.
func replicas(t *testing.T, s *site) []*harness.Process {
	t.Helper()
	var all []*harness.Process
	for range 3 {
		all = append(all, s.binary.Serve(t, ""))
	}
	return all
}

// TestReplicas_ShareOneQuota spreads exactly one quota over three servers, one of which is killed on the way.
func TestReplicas_ShareOneQuota(t *testing.T) {
	t.Parallel()
	s := newSite(t, harness.Build(t), database.URL(t, "postgres"), 2)
	harness.OpenDatabase(t, s.url).StopClock(t)
	servers := replicas(t, s)
	refused := s.spend(t, servers, 0, 300)
	servers[1].Kill()
	refused += s.spend(t, []*harness.Process{servers[0], servers[2]}, 0, 300)
	servers[1] = s.binary.Serve(t, servers[1].Addr)
	for _, server := range servers {
		s.client(server, 0).Do(t, http.MethodGet, "/v1/account", nil).Fault(t, http.StatusTooManyRequests, "rate_limit_exceeded")
	}
	if refused > 0 {
		t.Errorf("%d of 600 requests were refused", refused)
	}
	// The account's other key has its own quota.
	s.client(servers[0], 1).Must(t, http.MethodGet, "/v1/account", nil)
}

// spend sends n requests with one key, evenly over the servers and sixteen at a time, and returns how many were refused.
func (s *site) spend(t *testing.T, servers []*harness.Process, key, n int) int {
	t.Helper()
	var refused atomic.Int64
	var group sync.WaitGroup
	slots := make(chan struct{}, 16)
	clients := make([]*harness.Client, len(servers))
	for i := range servers {
		clients[i] = s.client(servers[i], key)
	}
	for i := range n {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			if resp := clients[i%len(clients)].Do(t, http.MethodGet, "/v1/account", nil); resp.Status != http.StatusOK {
				refused.Add(1)
			}
		})
	}
	group.Wait()
	return int(refused.Load())
}

func TestReplicas_RefuseADeletedKeyAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t, harness.Build(t), database.URL(t, "postgres"), 10)
	servers := replicas(t, s)
	owner := s.client(servers[0], 0)
	for round := range count(20, 180) {
		owner.Key = s.keys[round%len(s.keys)] // a round spends two requests of a key, and three of the address that is refused
		key := owner.Must(t, http.MethodPost, "/v1/auth/keys", map[string]any{"name": "short-lived"})
		for _, server := range servers {
			c := s.client(server, 0).As(key["token"].(string))
			c.Must(t, http.MethodGet, "/v1/account", nil)
			c.HTTP.CloseIdleConnections()
		}
		owner.Must(t, http.MethodDelete, "/v1/auth/keys/"+key["id"].(string), nil)
		for _, server := range servers {
			c := s.client(server, 0).As(key["token"].(string))
			c.Do(t, http.MethodGet, "/v1/account", nil).Fault(t, http.StatusUnauthorized, "authentication_required")
			c.HTTP.CloseIdleConnections()
		}
	}
}

func TestReplicas_MakeOneResourceOfFiftyParallelRequests(t *testing.T) {
	t.Parallel()
	s := newSite(t, harness.Build(t), database.URL(t, "postgres"), 50)
	servers := replicas(t, s)
	for round := range count(4, 50) {
		bodies := s.race(t, servers, "round "+string(rune('a'+round%26))+string(rune('a'+round/26)))
		if len(bodies) != 1 {
			t.Errorf("round %d: %d different answers", round, len(bodies))
		}
	}
	db := harness.OpenDatabase(t, s.url)
	if n := db.Count(t, "products"); n != count(4, 50) {
		t.Errorf("%d products for %d keys", n, count(4, 50))
	}
}

// race sends one request fifty times at once, each until it is answered, and returns the different answers.
func (s *site) race(t *testing.T, servers []*harness.Process, key string) map[string]bool {
	t.Helper()
	var mu sync.Mutex
	bodies := map[string]bool{}
	var group sync.WaitGroup
	for i := range 50 {
		client := s.client(servers[i%len(servers)], i)
		group.Go(func() {
			defer client.HTTP.CloseIdleConnections()
			for {
				resp, err := client.Try(http.MethodPost, "/v1/products", map[string]any{"name": key}, "Idempotency-Key", key)
				if err != nil {
					t.Error(err)
					return
				}
				if resp.Status == http.StatusConflict {
					time.Sleep(200 * time.Millisecond)
					continue
				}
				if resp.Status != http.StatusCreated {
					t.Errorf("answered %d: %s", resp.Status, resp.Body)
				}
				mu.Lock()
				bodies[string(resp.Body)] = true
				mu.Unlock()
				return
			}
		})
	}
	group.Wait()
	return bodies
}
