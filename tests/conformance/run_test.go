package conformance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/tests/conformance"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
	_ "github.com/tillwright/tillwright/tests/harness/migrated"
)

func names(results []*conformance.Result) []string {
	all := []string{}
	for _, r := range results {
		all = append(all, r.Name)
	}
	return all
}

// check holds a server with two new accounts to what is said of products, as a stranger that has the address of a number. The server is asked for its
// document if there is none. Tests that look at something else give the one that it would serve: to make it and to read it takes longer than they do.
func check(t *testing.T, s *harness.Server, document *conformance.Document, number int, through *altering) *conformance.Report {
	t.Helper()
	o := conformance.Options{URL: s.URL, Key: s.Account(t).Key, SecondKey: s.Account(t).Key, Only: []string{"products"}, Listen: "127.0.0.1:0", Transport: from(t, number), Document: document}
	if through != nil {
		through.base, o.Transport = o.Transport, through
	}
	report, err := conformance.Check(t.Context(), o)
	require.NoError(t, err)
	return report
}

func TestCheck_FindsThatAServerKeepsTheContract(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		report := check(t, harness.Boot(t, url), nil, 0, nil)
		for _, r := range report.Promises {
			assert.Equal(t, conformance.OutcomeKept, r.Outcome, "%s: %s %s", r.Name, asJSON(r.Broken), asJSON(r.NotChecked))
		}
		assert.Greater(t, report.Asked, 9)
	})
}

// Of a server that breaks a promise, that one is named and no other. Which database it has makes no difference: the answers are changed on their way.
func TestCheck_NamesThePromiseThatIsBroken(t *testing.T) {
	t.Parallel()
	s := harness.Boot(t, database.URL(t, database.Engines()[0]))
	document, err := conformance.Served(t.Context(), s.URL, http.DefaultTransport) // to read it takes longer than most checks
	require.NoError(t, err)
	number := 0
	for kind, through := range servers() {
		number++
		name, _, _ := strings.Cut(kind, "/")
		t.Run(kind, func(t *testing.T) {
			report := check(t, s, document, number, through)
			if !assert.Equal(t, []string{name}, names(report.Broken())) {
				for _, r := range report.Broken() {
					t.Log(r.Name, asJSON(r.Broken))
				}
				return
			}
			broken := report.Broken()[0]
			assert.NotEmpty(t, broken.Sentence)
			assert.NotEmpty(t, broken.Broken[0].Message)
			assert.Contains(t, broken.Broken[0].Request, "/v1/")
			assert.NotContains(t, broken.Broken[0].Request, "sk_")
		})
	}
}

func asJSON(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

// left returns what there is in an account, but for what is archived because it cannot be deleted.
func left(t *testing.T, s *harness.Server, c *harness.Client) (all []string) {
	t.Helper()
	for _, path := range []string{"/v1/products", "/v1/customers", "/v1/blog_posts", "/v1/webhook_endpoints", "/v1/discounts", "/v1/leads"} {
		for _, object := range c.As(s.Key(t, c.Account)).Must(t, http.MethodGet, path, nil)["data"].([]any) {
			if object.(map[string]any)["status"] != "archived" {
				all = append(all, path+" "+asJSON(object))
			}
		}
	}
	return all
}

// What a run makes is gone after it, and one that only reads makes nothing.
func TestCheck_LeavesNothingBehind(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := harness.Boot(t, url)
		c := s.Account(t)
		for _, readOnly := range []bool{true, false} {
			wrote := 0
			counting := asked(func(req *http.Request, body string) string {
				if req.Method != http.MethodGet && req.Method != http.MethodPut {
					wrote++
				}
				return body
			})
			counting.base = from(t, 0)
			report, err := conformance.Check(t.Context(), conformance.Options{URL: s.URL, Document: conformance.Promised(), Key: c.Key, ReadOnly: readOnly, Only: []string{"customers", "pages", "replay"}, Transport: counting})
			require.NoError(t, err)
			assert.Empty(t, names(report.Broken()))
			assert.Equal(t, readOnly, wrote == 0, "%d writes", wrote)
			assert.Empty(t, left(t, s, c), report.Notes)
		}
	})
}

// Nor does it leave what a server made that ought to have refused it: a copy, say, or what came of an import.
func TestCheck_TakesAwayWhatWasMadeAgainstTheRule(t *testing.T) {
	t.Parallel()
	s := harness.Boot(t, database.URL(t, database.Engines()[0]))
	for number, name := range []string{"unknown-fields", "idempotency-key", "authentication"} {
		c := s.Account(t)
		lenient := servers()[name]
		lenient.base = from(t, number)
		report, err := conformance.Check(t.Context(), conformance.Options{URL: s.URL, Document: conformance.Promised(), Key: c.Key, Only: []string{name, "products", "leads"}, Transport: lenient})
		require.NoError(t, err)
		assert.Equal(t, []string{name}, names(report.Broken()))
		assert.Empty(t, left(t, s, c), report.Notes)
	}
}

// Answers that are nonsense, while what is sent is made, break a promise, and nothing else breaks.
func TestCheck_GoesOnAfterNonsense(t *testing.T) {
	t.Parallel()
	s := harness.Boot(t, database.URL(t, database.Engines()[0]))
	c := s.Account(t)
	nonsense := &altering{base: from(t, 0), answer: func(req *http.Request, _ *http.Response, body []byte) []byte {
		if req.Method == http.MethodGet && req.URL.Path == "/v1/customers" {
			return []byte("<html>")
		}
		return body
	}}
	report, err := conformance.Check(t.Context(), conformance.Options{URL: s.URL, Document: conformance.Promised(), Key: c.Key, Only: []string{"lists", "customers"}, Transport: nonsense})
	require.NoError(t, err)
	assert.Contains(t, names(report.Broken()), "document")
	assert.Empty(t, left(t, s, c), report.Notes)
}

// A server that refuses what may be read has kept nothing, even where a refusal might lie in the state of the account.
func TestCheck_TakesNoRefusalForAPromiseKept(t *testing.T) {
	t.Parallel()
	s := harness.Boot(t, database.URL(t, database.Engines()[0]))
	refusing := &altering{base: from(t, 0), answer: func(req *http.Request, resp *http.Response, body []byte) []byte {
		if req.Method != http.MethodGet || req.URL.Path == "/v1/account" || resp.StatusCode != http.StatusOK {
			return body
		}
		resp.StatusCode = http.StatusForbidden
		return []byte(`{"error":{"type":"invalid_request_error","code":"forbidden","message":"The key has no right to it."}}`)
	}}
	report, err := conformance.Check(t.Context(), conformance.Options{URL: s.URL, Document: conformance.Promised(), Key: s.Account(t).Key, ReadOnly: true, Only: []string{"lists", "order", "products"}, Transport: refusing})
	require.NoError(t, err)
	assert.Empty(t, names(report.Broken()))
	for _, r := range report.Promises {
		if r.Name == "lists" || r.Name == "order" {
			assert.Equal(t, conformance.OutcomeNotChecked, r.Outcome, "%s: %s", r.Name, asJSON(r.NotChecked))
		}
	}
}

// Rows that come in while isolation and order are looked at break nothing, nor do those that go while expand is.
func TestCheck_IsNotMisledByNewRows(t *testing.T) {
	t.Parallel()
	s := harness.Boot(t, database.URL(t, database.Engines()[0]))
	c, other := s.Account(t), s.Account(t)
	busy := map[string]*harness.Client{}
	for _, asks := range []*harness.Client{c, other} {
		busy["Bearer "+asks.Key] = &harness.Client{URL: s.URL, Key: s.Key(t, asks.Account), HTTP: &http.Client{Transport: from(t, 9)}}
	}
	came, gone := 0, 0
	coming := asked(func(req *http.Request, body string) string {
		query := req.URL.Query()
		if who := busy[req.Header.Get("Authorization")]; who != nil && req.URL.Path == "/v1/customers" && (query.Has("ending_before") || query.Has("starting_after") && query.Get("sort") == "created_at") {
			came++
			who.Must(t, http.MethodPost, "/v1/customers", map[string]any{"email": fmt.Sprintf("new%d@example.com", came)})
		}
		if who := busy[req.Header.Get("Authorization")]; who != nil && req.URL.Path == "/v1/products" && strings.Contains(query.Get("expand"), "price_variants") {
			for _, product := range who.Must(t, http.MethodGet, "/v1/products", nil)["data"].([]any) {
				if prices := product.(map[string]any)["price_variants"].([]any); len(prices) > 1 {
					gone++
					who.Must(t, http.MethodDelete, "/v1/price_variants/"+prices[0].(string), nil)
				}
			}
		}
		return body
	})
	coming.base = from(t, 0)
	for _, only := range [][]string{{"isolation", "order", "customers"}, {"expand", "products"}} {
		report, err := conformance.Check(t.Context(), conformance.Options{URL: s.URL, Document: conformance.Promised(), Key: c.Key, SecondKey: other.Key, Only: only, Transport: coming})
		require.NoError(t, err)
		assert.Empty(t, names(report.Broken()), asJSON(report.Broken()))
	}
	require.Greater(t, came, 1)
	require.Positive(t, gone)
}

// A run that cannot begin says why.
func TestCheck_SaysWhyItCannotBegin(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := harness.Boot(t, url)
		c := s.Account(t)
		for _, it := range []struct {
			options conformance.Options
			why     string
		}{
			{conformance.Options{URL: s.URL, Document: conformance.Promised(), Key: "sk_none"}, "does not know the key of --key"},
			{conformance.Options{URL: s.URL, Document: conformance.Promised(), Key: s.Key(t, c.Account, "orders:read")}, "needs all scopes"},
			{conformance.Options{URL: s.URL, Document: conformance.Promised(), Key: c.Key, SecondKey: s.Key(t, c.Account)}, "of the same account"},
			{conformance.Options{URL: s.URL, Document: conformance.Promised(), Key: c.Key, Only: []string{"products", "nonsense"}}, "--only nonsense is none of account, activity, "},
			{conformance.Options{URL: "http://127.0.0.1:1", Key: c.Key}, "no answer from http://127.0.0.1:1"},
		} {
			_, err := conformance.Check(t.Context(), it.options)
			require.ErrorContains(t, err, it.why)
		}
		ended, end := context.WithCancel(t.Context())
		end()
		_, err := conformance.Check(ended, conformance.Options{URL: s.URL, Key: c.Key})
		require.ErrorIs(t, err, context.Canceled)
	})
}
