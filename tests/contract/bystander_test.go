package contract

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// ledger notes what requests take, by their ids, and how long those of one account waited.
type ledger struct {
	mu      sync.Mutex
	of      map[string]*load
	account string // whose waits are noted

	unshared bool // the server knows no accounts at its gate
	waits    []int
}

func (l *ledger) trace(ctx context.Context, statement string, args []any) {
	id := caller.RequestID(ctx)
	if id == "" || strings.Contains(statement, "sandbox_") { // the books of a network, which has them elsewhere
		return
	}
	size := 0
	for _, arg := range args {
		switch v := arg.(type) {
		case string:
			size += len(v)
		case []byte:
			size += len(v)
		case json.RawMessage:
			size += len(v)
		default:
			size += 8
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		return
	}
	if l.of[id] == nil {
		l.of[id] = &load{}
	}
	l.of[id].statements++
	l.of[id].sent += size
}

func (l *ledger) waited(ctx context.Context, account string, turns int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unshared {
		account = caller.Account(ctx)
	}
	if l.account != "" && account == l.account {
		l.waits = append(l.waits, turns)
	}
}

// allocations returns how many bytes this process has ever allocated.
func allocations() int {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return int(sample[0].Value.Uint64())
}

// take sends a request, and returns what it took and its answer. Nobody else may be at work.
func (l *ledger) take(t *testing.T, c *harness.Client, r *dearRequest) (load, *harness.Response) {
	t.Helper()
	l.mu.Lock()
	l.of = map[string]*load{}
	l.mu.Unlock()
	before := allocations()
	answer := r.send(t, c)
	after := allocations()
	l.mu.Lock()
	defer l.mu.Unlock()
	took := load{}
	if known := l.of[answer.Header.Get("X-Request-Id")]; known != nil {
		took = *known
	}
	l.of = nil
	took.allocated, took.in, took.out, took.status = after-before, len(r.body)+len(r.path), len(answer.Body), answer.Status
	return took, answer
}

// dearRequest is a request that is written once and sent often.
type dearRequest struct {
	op           *harness.Operation
	method, path string
	body         []byte
}

func (r *dearRequest) send(t *testing.T, c *harness.Client) *harness.Response {
	t.Helper()
	if r.body == nil {
		return c.Do(t, r.method, r.path, nil)
	}
	return c.Do(t, r.method, r.path, r.body)
}

// attack sends an operation its dearest requests, and returns what each took, and those that were done. What the server refuses by the name of its field, or of its
// parameter, is as in the example when it is sent again.
func (l *ledger) attack(t *testing.T, w *world, op *harness.Operation) (loads []load, done []*dearRequest) {
	t.Helper()
	for _, query := range w.queries(op) {
		body := w.dearest(op)
		example, _ := w.body(op).(map[string]any)
		if example["email"] != nil {
			example["email"] = unique() + "@example.com"
		}
		for range mostTries {
			r := &dearRequest{op: op, method: op.Method, path: w.at(op, query.Encode())}
			if body != nil {
				r.body = harness.Encode(body)
			}
			took, answer := l.take(t, w.Client, r)
			loads = append(loads, took)
			if answer.Status < 300 {
				done = append(done, r)
				break
			}
			if answer.Status >= http.StatusInternalServerError {
				t.Errorf("%s %.200s is answered %d: %s", r.method, r.path, answer.Status, answer.Body)
			}
			if !tame(answer, query, body, example) {
				break
			}
		}
	}
	return loads, done
}

// mostTries is how often a request is changed until it is done, or is the example.
const mostTries = 40

// tame changes what an answer complains of, and reports whether there is something.
func tame(answer *harness.Response, query url.Values, body, example map[string]any) (changed bool) {
	f, err := harness.ParseFault(answer.Body)
	if err != nil {
		return false
	}
	names := []string{f.Param}
	for name := range f.Errors {
		names = append(names, name)
	}
	for _, name := range names {
		if query.Has(name) {
			query.Del(name)
			changed = true
			continue
		}
		path := strings.Split(name, ".")
		if len(path) > 1 && prune(body, path) {
			changed = true
			continue
		}
		like, known := example[path[0]]
		if now, sent := body[path[0]]; !sent || known && reflect.DeepEqual(like, now) {
			continue
		}
		if changed = true; known {
			body[path[0]] = like
		} else {
			delete(body, path[0])
		}
	}
	if !changed && body != nil && !reflect.DeepEqual(body, example) { // it does not say which
		clear(body)
		maps.Copy(body, example)
		changed = true
	}
	return changed
}

// prune takes a field out of a body, and out of all items beside that in which it stands, and reports whether it was there.
func prune(v any, path []string) (was bool) {
	switch v := v.(type) {
	case map[string]any:
		if len(path) > 1 {
			return prune(v[path[0]], path[1:])
		}
		_, was = v[path[0]]
		delete(v, path[0])
	case []any:
		if _, err := strconv.Atoi(path[0]); err != nil || len(path) == 1 {
			return false
		}
		for _, item := range v {
			was = prune(item, path[1:]) || was
		}
	}
	return was
}

// creates reports whether an operation makes objects that a list of the account shows.
func creates(op *harness.Operation) bool {
	return op.Method == http.MethodPost && !op.Public && !strings.Contains(op.Path, "{") && (listed(op) != "" || strings.HasSuffix(op.Path, "/import"))
}

// often is how often an attacker makes each object, and atOnce how many requests of theirs are under way at once.
const often, atOnce = 5, 16

// TestEveryOperation_LeavesOthersTheirPace sends every operation the dearest requests that the document lets it take. None may take more of the
// database, of its writer or of memory than its size allows. Nor may it ask more often because there are more rows. Then one account makes and reads
// all that it can, many requests at a time, while another one reads and sells. Whenever that has to wait, it is next once each of the others had one
// turn.
//
// It runs beside no other test: the memory that it measures is that of the whole process.
func TestEveryOperation_LeavesOthersTheirPace(t *testing.T) { //nolint:paralleltest // see above
	for _, engine := range database.Engines() {
		t.Run(engine, func(t *testing.T) {
			l := &ledger{}
			s := harness.Boot(t, database.URL(t, engine), harness.Traced(l.trace), harness.Waited(l.waited))
			shared := newWorld(t, s)
			var dearest []*dearRequest
			judge := func(t *testing.T, op *harness.Operation, loads []load) {
				t.Helper()
				for _, took := range loads {
					if what := took.excess(op.ID); what != "" {
						t.Errorf("%s %s, %s", op.ID, what, took)
					}
				}
			}
			every(t, creates, func(t *testing.T, op *harness.Operation) {
				w := shared.with(s.Key(t, shared.Account))
				loads, done := l.attack(t, w, op)
				if len(done) == 0 {
					t.Fatal("no dear request was answered")
				}
				for range often {
					for _, r := range done {
						took, _ := l.take(t, w.Client, r)
						loads = append(loads, took)
					}
				}
				dearest = append(dearest, done...)
				judge(t, op, loads)
			})
			every(t, gets, func(t *testing.T, op *harness.Operation) {
				w := shared.with(s.Key(t, shared.Account))
				loads, done := l.attack(t, w, op)
				if len(done) == 0 {
					t.Fatal("no dear request was answered")
				}
				dearest = append(dearest, done...)
				judge(t, op, loads)
				for _, r := range done {
					if one := strings.Replace(r.path, "limit=100", "limit=1", 1); one != r.path {
						least, _ := l.take(t, w.Client, &dearRequest{op: op, method: r.method, path: one})
						whole, _ := l.take(t, w.Client, r)
						if growsWithRows(least, whole, len(expandable(op))) {
							t.Errorf("%s asks more often for more rows: %s, and for one row %s", r.path, whole, least)
						}
					}
				}
			})
			on := newStage(t, s)
			every(t, writes, func(t *testing.T, op *harness.Operation) {
				var loads []load
				on.perform(t, op, func(w *world) bool {
					tried, done := l.attack(t, w, op)
					loads = append(loads, tried...)
					return len(done) > 0
				})
				judge(t, op, loads)
			})
			t.Run("TakesTurns", func(t *testing.T) {
				turns, waits := l.besides(t, s, shared.Account, dearest, sales)
				if t.Logf("%d waits, for %d turns at most", waits, turns); turns > mostTurns {
					t.Errorf("somebody waited for %d turns of others", turns)
				}
				if engine == core.SQLite && waits == 0 {
					t.Error("nobody had to wait for the only writer: that is no attack")
				}
			})
		})
	}
}

// mostTurns is for how many turns of others somebody waits who has nothing else under way. They are one of the account that takes all that it can,
// one of strangers, and one of a worker.
const mostTurns = 3

// sales is how much a bystander sells beside an attack.
const sales = 25

// besides lets an account send all its dearest requests over and over, many at a time, while a bystander reads and sells so often. It returns for how many turns of
// others the bystander waited at most at once, and how often it had to wait.
func (l *ledger) besides(t *testing.T, s *harness.Server, account string, dearest []*dearRequest, sold int) (turns, waits int) {
	t.Helper()
	bystander := s.Account(t)
	v := onSale(t, bystander.SDK(), 1900)
	l.mu.Lock()
	l.account, l.waits = bystander.Account, nil
	l.mu.Unlock()
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait() // should a purchase fail
	defer stop()
	var served atomic.Int64
	for i := range atOnce {
		c := bystander.As(s.Key(t, account))
		all.Go(func() {
			for n := i * len(dearest) / atOnce; ctx.Err() == nil; n++ {
				r := dearest[n%len(dearest)]
				var body any
				if r.body != nil {
					body = r.body
				}
				answer, err := c.Try(r.method, r.path, body)
				switch {
				case err == nil && answer.Status < 300:
					served.Add(1)
				case err != nil:
					t.Errorf("%s %.200s: %v", r.method, r.path, err)
				case answer.Status == http.StatusServiceUnavailable: // it waits for itself
				case answer.Status >= http.StatusInternalServerError:
					t.Errorf("%s %.200s: %+v", r.method, r.path, answer)
					return
				}
			}
		})
	}
	for range sold {
		purchase(t, bystander.SDK(), unique()+"@example.com", v)
		bystander.Must(t, http.MethodGet, "/v1/orders?limit=5", nil)
	}
	stop()
	all.Wait()
	if served.Load() == 0 {
		t.Error("none of the dear requests was answered: that is no attack")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.account = ""
	return slices.Max(append(l.waits, 0)), len(l.waits)
}

// TestTurns_CatchAnAccountThatTakesAll is the same beside a server that is wrong on purpose: who comes first is served first.
func TestTurns_CatchAnAccountThatTakesAll(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		l := &ledger{unshared: true}
		s := harness.Boot(t, url, harness.Traced(l.trace), harness.Waited(l.waited), harness.WithoutShares())
		account := s.Account(t).Account
		r := &dearRequest{method: http.MethodPost, path: "/v1/products", body: []byte(`{"name": "Guide", "description": "` + strings.Repeat("word ", 3000) + `"}`)}
		if !comes(func() bool {
			turns, _ := l.besides(t, s, account, []*dearRequest{r}, 3)
			return turns > mostTurns
		}) {
			t.Error("nobody sees that an account takes the turns of others")
		}
	})
}
