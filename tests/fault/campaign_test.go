package fault

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/webhooks"
)

// campaign is a server that is killed at random points under clients that do not give up.
type campaign struct {
	*site
	t      *testing.T
	chance *rand.Rand
	addr   string
	price  string        // what its buyers buy
	spared time.Duration // how long the server lives at least between two kills, where what they are to meet is not an answer
	kills  int
	most   int // how many answers more than answersOfAKill a server lives for at most
	http   *http.Client

	server   atomic.Pointer[harness.Process]
	started  atomic.Int64 // pieces of work
	sent     atomic.Int64
	repeated atomic.Int64
	mu       sync.Mutex
	answers  map[string]answer // by Idempotency-Key
}

type request struct {
	as        *harness.Client // who asks; one of the campaign's account when it is nil
	method    string          // POST when it is empty
	key, path string
	body      any
}

// answer is the first answer to a request, which every repetition must get again.
type answer struct {
	request
	status int
	text   []byte
}

const (
	workers        = 12
	answersOfAKill = 5 // at least, or the kills meet hardly any work
)

func newCampaign(t *testing.T, binary *harness.Binary, url string) *campaign {
	t.Helper()
	c := &campaign{site: newSite(t, binary, url, 40), t: t, chance: random(t), addr: harness.FreeAddr(t), answers: map[string]answer{}}
	c.most = 8 * workers
	// On a connection that was used before, net/http itself would repeat what has an Idempotency-Key.
	c.http = &http.Client{Timeout: harness.Patience, Transport: &http.Transport{DisableKeepAlives: true}}
	c.server.Store(c.binary.Serve(t, c.addr))
	return c
}

// run lets the workers work through a number of kills, and returns when each has the answer to its last request.
func (c *campaign) run(kills int, work func(n int64)) {
	c.t.Helper()
	stop := make(chan struct{})
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					work(c.started.Add(1))
				}
			}
		})
	}
	for range kills {
		time.Sleep(c.spared)
		c.awaitAnswers(c.answered() + answersOfAKill + c.chance.IntN(c.most))
		c.server.Load().Kill()
		c.kills++
		c.endLeases(c.t)
		c.server.Store(c.binary.Serve(c.t, c.addr))
	}
	close(stop)
	group.Wait()
}

// awaitAnswers waits until the clients have got so many answers: a kill comes after some work, however fast the machine is.
func (c *campaign) awaitAnswers(n int) {
	for begin := time.Now(); c.answered() < n && !c.t.Failed(); time.Sleep(time.Millisecond) {
		if time.Since(begin) > harness.Patience {
			c.t.Errorf("%d answers and not %d within %s", c.answered(), n, harness.Patience)
		}
	}
}

// answered returns how many answers there are.
func (c *campaign) answered() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.answers)
}

// endLeases does what a minute of waiting would do. Nobody lives who holds a claim, sends a webhook or waits for a
// payment provider or an ad network. An embedded database knows that by itself when it is opened.
func (s *site) endLeases(t *testing.T) {
	t.Helper()
	db := harness.OpenDatabase(t, s.url)
	defer db.Close()
	if db.Engine == "postgres" {
		db.Must(t, `UPDATE idempotency_keys SET lease_until = 0 WHERE status = 0`)
		db.Must(t, `UPDATE webhook_claims SET lease_until = 0`)
		db.Must(t, `UPDATE payments SET lease_until = 0 WHERE status IN ('pending', 'requires_action')`)
		db.Must(t, `UPDATE refunds SET lease_until = 0 WHERE status = 'pending'`)
		db.Must(t, `UPDATE uploads SET lease_until = 0 WHERE lease_until > 0`)
		db.Must(t, `UPDATE ad_actions SET lease_until = 0 WHERE state IN ('begun', 'unknown')`)
	}
	db.Must(t, `UPDATE ad_conversions SET due_at = 0 WHERE due_at IS NOT NULL`) // which an embedded database does not know
}

// insist repeats a request until it is answered with the status, remembers the answer, and returns its object. Any other
// answer than a broken connection, a 409, a 429 or a 5xx is a fault.
func (c *campaign) insist(r request, status int) map[string]any {
	for begin := time.Now(); ; {
		resp := c.post(r)
		switch {
		case resp == nil || resp.Status >= 500 || resp.Status == http.StatusConflict || resp.Status == http.StatusTooManyRequests:
			c.repeated.Add(1)
			if resp == nil { // the server that is just starting needs the processor more
				time.Sleep(20 * time.Millisecond)
			}
			time.Sleep(5 * time.Millisecond)
			if time.Since(begin) > harness.Patience {
				c.t.Errorf("%s has no answer after %s, the last one is %+v", r.key, harness.Patience, resp)
				return nil
			}
		case resp.Status == status:
			c.mu.Lock()
			c.answers[r.key] = answer{r, resp.Status, resp.Body}
			c.mu.Unlock()
			object := map[string]any{}
			if err := json.Unmarshal(resp.Body, &object); err != nil {
				c.t.Errorf("%s: %v", r.key, err)
			}
			return object
		default:
			c.t.Errorf("%s is answered %d: %s", r.key, resp.Status, resp.Body)
			return nil
		}
	}
}

// post returns nil when the connection broke. Any API key of the account will do: the Idempotency-Key is the account's.
func (c *campaign) post(r request) *harness.Response {
	client := c.client(c.server.Load(), int(c.sent.Add(1)))
	if r.as != nil {
		client = r.as.At(c.server.Load().URL)
	}
	client.HTTP = c.http
	resp, err := client.Try(cmp.Or(r.method, http.MethodPost), r.path, r.body, "Idempotency-Key", r.key)
	if err != nil {
		return nil
	}
	return resp
}

// patient is post once the campaign is over, which has used the keys' quotas up.
func (c *campaign) patient(r request) *harness.Response {
	resp := c.post(r)
	for resp != nil && resp.Status == http.StatusTooManyRequests {
		time.Sleep(time.Second)
		resp = c.post(r)
	}
	return resp
}

// differingReplays sends every answered request once more.
func (c *campaign) differingReplays() (faults []string) {
	c.t.Helper()
	for key, first := range c.answers {
		again := c.patient(first.request)
		if again == nil {
			return append(faults, "the server does not answer any more")
		}
		if again.Status != first.status || !bytes.Equal(again.Body, first.text) || again.Header.Get("Idempotent-Replayed") != "true" {
			faults = append(faults, fmt.Sprintf("%s was answered %d %s and is replayed as %d %s", key, first.status, first.text, again.Status, again.Body))
		}
	}
	return faults
}

// brokenInvariants asks the store itself what does not add up.
func (s *site) brokenInvariants(t *testing.T) (faults []string) {
	t.Helper()
	sealer, err := core.NewSealer(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), store.Options{URL: s.url, Sealer: sealer})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	violations, err := db.Audit.Check(t.Context(), webhooks.Retention(24*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range violations {
		faults = append(faults, v.String())
	}
	return faults
}
