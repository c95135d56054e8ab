package conformance

import (
	"bytes"
	"net/http"
	"strings"
	"sync"
	"time"
)

// ReusesNoKey expects that a request is refused because another one was sent under its key.
func ReusesNoKey(t T, refused *Response) {
	t.Helper()
	f := refused.Fault(t, http.StatusUnprocessableEntity, "idempotency_key_reused")
	if f.Param != "Idempotency-Key" || len(f.Errors["idempotency_key"]) == 0 {
		t.Errorf("the fault is %+v", f)
	}
}

// Replays expects that an answer repeats the first one under its key.
func Replays(t T, first, again *Response) {
	t.Helper()
	if first.Header.Get("Idempotent-Replayed") != "" {
		t.Errorf("the first answer claims to be a replay")
	}
	if again.Status != first.Status || !bytes.Equal(again.Body, first.Body) || again.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the replay differs: %d %s\nfirst: %d %s", again.Status, again.Body, first.Status, first.Body)
	}
}

// ChecksIdempotencyKeys sends keys that are none.
func ChecksIdempotencyKeys(t T, s *Subject) {
	wrong := []struct {
		name string
		keys []string
	}{{"empty", []string{""}}, {"256 characters", []string{strings.Repeat("k", 256)}}, {"not ASCII", []string{"schlüssel"}}, {"two", []string{"a", "b"}}}
	s.Every(t, (*Operation).IsWrite, func(t T, op *Operation, turn int) {
		client := s.Fresh(t)
		path, body, ok := s.request(t, op, "")
		if !ok {
			return
		}
		for _, it := range turns(s, turn, 1, wrong) {
			resp := client.withKeys(it.keys).Do(t, op.Method, path, body)
			if f := resp.Fault(t, http.StatusBadRequest, "bad_request"); f.Param != "Idempotency-Key" {
				t.Errorf("%s: param is %q", it.name, f.Param)
			}
		}
	})
}

// withKeys returns a client that sends exactly these Idempotency-Key headers, an empty one included.
func (c *Client) withKeys(keys []string) *Client {
	client, other := *c.HTTP, *c
	client.Transport = headerSetter{c.HTTP.Transport, keys}
	other.HTTP = &client
	return &other
}

type headerSetter struct {
	base http.RoundTripper
	keys []string
}

func (h headerSetter) RoundTrip(req *http.Request) (*http.Response, error) {
	req.Header["Idempotency-Key"] = h.keys
	return h.base.RoundTrip(req)
}

// FreesAKeyAfterARefusal sends what is refused, and under the same key what is not.
func FreesAKeyAfterARefusal(t T, s *Subject) {
	client, key := s.Fresh(t), Unique()
	refused := client.Do(t, http.MethodPost, "/v1/products", map[string]any{"name": s.Mark(), "status": "active"}, "Idempotency-Key", key)
	refused.Fault(t, http.StatusUnprocessableEntity, "validation_failed")
	client.Must(t, http.MethodPost, "/v1/products", map[string]any{"name": s.Mark()}, "Idempotency-Key", key)
}

// MakesOneThing sends a write in parallel, from callers of whom each asks until it has the answer.
func MakesOneThing(t T, s *Subject, callers []*Client) {
	key, name := Unique(), s.Mark()+" once"
	var mu sync.Mutex
	var answers [][]byte
	firsts := 0
	var group sync.WaitGroup
	for _, caller := range callers {
		group.Go(func() {
			for tries := 1; ; tries++ {
				resp, err := caller.Try(http.MethodPost, "/v1/products", map[string]any{"name": name}, "Idempotency-Key", key)
				switch {
				case err != nil:
					t.Error(err)
					return
				case resp.Status == http.StatusConflict && tries < 120:
					time.Sleep(min(time.Duration(tries)*100*time.Millisecond, time.Second))
					continue
				case resp.Status != http.StatusCreated:
					t.Errorf("answered %d: %s", resp.Status, resp.Body)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				answers = append(answers, resp.Body)
				if resp.Header.Get("Idempotent-Replayed") == "" {
					firsts++
				}
				return
			}
		})
	}
	group.Wait()
	ids := map[string]bool{}
	for _, body := range answers {
		made := (&Response{Body: body}).Object(t)
		id, _ := made["id"].(string)
		ids[id] = true
		if !bytes.Equal(body, answers[0]) {
			t.Errorf("a caller is answered %s, another one %s", body, answers[0])
			break
		}
	}
	if len(answers) > 0 && (len(ids) != 1 || firsts != 1) {
		t.Errorf("%d products were made, and %d of %d answers are no replay", len(ids), firsts, len(answers))
	}
}

// KeepsKeysOfAccountsApart sends one key from two accounts.
func KeepsKeysOfAccountsApart(t T, s, other *Subject) {
	key := Unique()
	first := s.Fresh(t).Must(t, http.MethodPost, "/v1/products", map[string]any{"name": s.Mark()}, "Idempotency-Key", key)
	name := other.Mark() + " other"
	second := other.Fresh(t).Must(t, http.MethodPost, "/v1/products", map[string]any{"name": name}, "Idempotency-Key", key)
	if first["id"] == second["id"] || second["name"] != name {
		t.Errorf("the second account was answered with %v", second)
	}
}

// thirty is how many callers send one write at a time.
const thirty = 30

// MakesOneThingForThirty sends a write thirty times at a time.
func MakesOneThingForThirty(t T, s *Subject) {
	callers := make([]*Client, thirty)
	for i := range callers {
		callers[i] = s.Fresh(t)
	}
	MakesOneThing(t, s, callers)
}

// ReplaysWhatItMade makes one thing of each kind, asks for it again under the same key in other bytes, and for another one.
func ReplaysWhatItMade(t T, s *Subject) {
	s.Every(t, (*Operation).creates, func(t T, op *Operation, _ int) {
		path, body, ok := s.object(t, op)
		if !ok {
			return
		}
		s.rename(body)
		client, key := s.Fresh(t), Unique()
		first := client.Do(t, op.Method, path, body, "Idempotency-Key", key)
		if first.Status >= 300 {
			switch {
			case first.Status == http.StatusBadRequest || first.Status == http.StatusNotFound:
				t.NotChecked("the example is answered %d %s", first.Status, first.faultCode())
			case !s.excuses(t, op, first):
				t.Errorf("the example is answered %d: %s", first.Status, first.Body)
			}
			return
		}
		again := client.Do(t, op.Method, path, Spaced(body), "Idempotency-Key", key, "Content-Type", "application/json")
		Replays(t, first, again)
		ReusesNoKey(t, client.Do(t, http.MethodPost, "/v1/customers", map[string]any{"email": Unique() + "@example.com"}, "Idempotency-Key", key))
	})
}

// creates reports whether an operation makes one object, in the database alone, which can be taken away again.
func (o *Operation) creates() bool {
	external, _ := o.route.Operation.Extensions["x-external-effect"].(bool)
	return o.Method == http.MethodPost && !o.Public && !external && o.Approval == "allow" && !strings.Contains(o.Path, "{") &&
		o.BodySchema() != nil && o.Documents(http.StatusCreated) && o.removal() != nil
}

// Spaced is the same body in other bytes: white space does not make another request.
func Spaced(body any) any {
	if body == nil {
		return nil
	}
	var b bytes.Buffer
	b.WriteString("\n ")
	b.Write(Encode(body))
	b.WriteString(" \t")
	return b.Bytes()
}
