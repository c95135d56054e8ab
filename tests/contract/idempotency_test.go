package contract

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/tests/conformance"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// TestEveryOperation_AnswersItsExample sends the specification's own example. Of a write it sends more. It must be done once, however often it is
// sent under its key. It must leave a line in the activity, and show a signing secret only where one is made.
func TestEveryOperation_AnswersItsExample(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := boot(t, url)
		shared := newWorld(t, s)
		every(t, gets, func(t *testing.T, op *harness.Operation) {
			answer := shared.send(t, op)
			answered(t, op, answer)
			showsItsSecret(t, op, answer)
		})
		on := newStage(t, s)
		every(t, writes, func(t *testing.T, op *harness.Operation) { isDoneOnce(t, on, op) })
		deliversNoSecret(t, s)
	})
}

// isDoneOnce sends a write twice at a time and a third time later, and tests one promise after the other.
func isDoneOnce(t *testing.T, on *stage, op *harness.Operation) {
	t.Helper()
	var refused, early, first, again, activity *harness.Response
	w := on.perform(t, op, func(w *world) (done bool) {
		if other := w.useKey(t, op); other.Status >= 300 {
			return false
		}
		path, body := w.path(op), w.body(op)
		refused = w.Do(t, op.Method, path, body, "Idempotency-Key", "used by "+op.ID)
		early, first = w.sendTwice(t, on.server, op.Method, path, body, "Idempotency-Key", op.ID)
		again = w.Do(t, op.Method, path, conformance.Spaced(body), "Idempotency-Key", op.ID, "Content-Type", contentType(body))
		activity = w.Do(t, http.MethodGet, "/v1/activity?limit=100", nil)
		return first.Status < 300 && leavesALine(op) == (len(linesIn(t, activity, first)) > 0)
	})
	if first == nil {
		t.Fatal("another request under a key is refused")
	}
	t.Run("RefusesAKeyOfAnother", func(t *testing.T) {
		conformance.ReusesNoKey(harness.Tested(t), refused)
	})
	t.Run("AnswersConflictWhileTheFirstRuns", func(t *testing.T) {
		early.Fault(t, http.StatusConflict, "idempotency_request_in_progress")
		if early.Header.Get("Retry-After") != "1" {
			t.Errorf("Retry-After is %q", early.Header.Get("Retry-After"))
		}
	})
	t.Run("AnswersItsExample", func(t *testing.T) { answered(t, op, first) })
	t.Run("ShowsASecretWhereOneIsMade", func(t *testing.T) { showsItsSecret(t, op, first) })
	t.Run("ReplaysItsAnswer", func(t *testing.T) { conformance.Replays(harness.Tested(t), first, again) })
	t.Run("LeavesItsLine", func(t *testing.T) { isLogged(t, w, op, activity, first, again) })
}

func answered(t *testing.T, op *harness.Operation, resp *harness.Response) {
	t.Helper()
	if resp.Status >= 300 {
		t.Fatalf("the example of %s is answered %d: %s", op.ID, resp.Status, resp.Body)
	}
}

func contentType(body any) string {
	if body == nil {
		return ""
	}
	return "application/json"
}

// useKey sends another request under a key, which the operation may not have then.
func (w *world) useKey(t *testing.T, op *harness.Operation) *harness.Response {
	t.Helper()
	method, path, body := http.MethodPost, "/v1/customers", map[string]any{"email": unique() + "@example.com"}
	switch {
	case strings.Contains(op.Path, "/license_keys/") && op.Public: // its keys belong to the licence key
		path, body = "/public/license_keys/activate", w.body(op).(map[string]any)
		body["fingerprint"] = "other"
	case op.ID == "createPublicLead": // its keys belong to the form
		path, body = "/public/leads", w.body(op).(map[string]any)
		body["email"] = unique() + "@example.com"
	case op.Public: // its keys belong to the client secret
		method, path, body = http.MethodPatch, "/public/checkouts/"+w.Secret, map[string]any{"customer_name": unique()}
	}
	return w.Do(t, method, path, body, "Idempotency-Key", "used by "+op.ID)
}

// sendTwice sends a write with a key twice at a time. It holds the database's writers back from outside, so that
// the first is certainly still running when the second comes.
func (w *world) sendTwice(t *testing.T, s *harness.Server, method, path string, body any, headers ...string) (early, late *harness.Response) {
	t.Helper()
	answers := make(chan *harness.Response, 2)
	release := s.HoldWrites(t)
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if resp, err := w.Try(method, path, body, headers...); err == nil {
				answers <- resp
			}
		})
	}
	early = <-answers
	release()
	both.Wait()
	if len(answers) != 1 {
		t.Fatal("a request was not answered")
	}
	return early, <-answers
}

func TestEveryWrite_ChecksItsIdempotencyKey(t *testing.T) {
	t.Parallel()
	keeps(t, conformance.ChecksIdempotencyKeys)
}

func TestKey_IsFreeAgainAfterARefusal(t *testing.T) {
	t.Parallel()
	keeps(t, conformance.FreesAKeyAfterARefusal)
}

func TestKey_BelongsToItsAccount(t *testing.T) {
	t.Parallel()
	onShared(t, func(t *testing.T, s *harness.Server) {
		conformance.KeepsKeysOfAccountsApart(harness.Tested(t), newWorldOfSales(t, s).subject(t, s), newWorldOfSales(t, s).subject(t, s))
	})
}

func TestKey_OfFiftyParallelRequestsMakesOneResource(t *testing.T) {
	t.Parallel()
	onShared(t, func(t *testing.T, s *harness.Server) {
		c := s.Account(t)
		callers := make([]*harness.Client, 50)
		for i := range callers {
			callers[i] = c.As(s.Key(t, c.Account)) // each asks until it has the answer, which costs quota
		}
		conformance.MakesOneThing(harness.Tested(t), &conformance.Subject{}, callers)
		if n := len(c.Must(t, http.MethodGet, "/v1/products", nil)["data"].([]any)); n != 1 {
			t.Errorf("%d products exist", n)
		}
	})
}

// A thing of each kind is made once, by HTTP alone.
func TestEveryCreation_IsReplayed(t *testing.T) {
	t.Parallel()
	keeps(t, conformance.ReplaysWhatItMade)
}

// What an account has kept for its keys grows by answers much larger than what was sent, whatever they answer. It grows until the account has all of
// its share. What gives back what was sent is kept beyond that.
func TestKey_KeepsNoLargeAnswersBeyondTheAccountsShare(t *testing.T) {
	onEachAccount(t, func(t *testing.T, c *harness.Client, s *harness.Server) {
		long := map[string]any{"title": "Long", "body": strings.Repeat("long ", 20_000)}
		post := "/v1/blog_posts/" + c.Must(t, http.MethodPost, "/v1/blog_posts", long)["id"].(string)
		rename := func(title, key string) *harness.Response {
			return c.Do(t, http.MethodPatch, post, map[string]any{"title": title}, "Idempotency-Key", key)
		}
		assert.Equal(t, http.StatusOK, rename("First", "first").Status)
		s.Must(t, fmt.Sprintf(`UPDATE idempotency_keys SET size = %d WHERE account_id = '%s' AND size > 0`, mostKept, c.Account))
		rename("Second", "second").Fault(t, http.StatusTooManyRequests, "rate_limit_exceeded")
		assert.Equal(t, "First", c.Must(t, http.MethodGet, post, nil)["title"])
		assert.Equal(t, http.StatusOK, rename("First", "first").Status, "what is kept is replayed")
		assert.Equal(t, http.StatusOK, c.Do(t, http.MethodPatch, post, map[string]any{"title": "Third"}).Status, "without a key")
		assert.Equal(t, http.StatusCreated, c.Do(t, http.MethodPost, "/v1/blog_posts", long, "Idempotency-Key", "as large as what was sent").Status)
	})
}

// mostKept is how many bytes of answers an account may have kept.
const mostKept = 256 << 20
