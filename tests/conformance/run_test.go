package conformance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/tests/conformance"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
	_ "github.com/tillwright/tillwright/tests/harness/migrated"
)

// altering sends requests to a server, and changes them and their answers, as a server would answer that breaks a promise.
type altering struct {
	base     http.RoundTripper
	question func(req *http.Request, body []byte) []byte
	answer   func(req *http.Request, resp *http.Response, body []byte) []byte
}

// RoundTrip implements http.RoundTripper.
func (a *altering) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Path == "/openapi.json" {
		return a.base.RoundTrip(req)
	}
	req = req.Clone(req.Context())
	if a.question != nil {
		var body []byte
		if req.Body != nil {
			body, _ = io.ReadAll(req.Body)
		}
		if body = a.question(req, body); body != nil {
			req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		}
	}
	resp, err := a.base.RoundTrip(req)
	if err != nil || a.answer == nil {
		return resp, err
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	body = a.answer(req, resp, body)
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	resp.Header.Del("Content-Length")
	return resp, err
}

// header has an answer changed by its headers alone.
func header(change func(h http.Header, req *http.Request)) *altering {
	return &altering{answer: func(req *http.Request, resp *http.Response, body []byte) []byte {
		change(resp.Header, req)
		return body
	}}
}

// replaced has a text of answers replaced.
func replaced(old, new string) *altering {
	return &altering{answer: func(_ *http.Request, _ *http.Response, body []byte) []byte {
		return bytes.ReplaceAll(body, []byte(old), []byte(new))
	}}
}

// unasked has parameters of a query left out that fit.
func unasked(name string, fits func(value string) bool) *altering {
	return &altering{question: func(req *http.Request, body []byte) []byte {
		if query := req.URL.Query(); query.Has(name) && fits(query.Get(name)) {
			query.Del(name)
			req.URL.RawQuery = query.Encode()
		}
		return body
	}}
}

// asked has a request changed.
func asked(change func(req *http.Request, body string) string) *altering {
	return &altering{question: func(req *http.Request, body []byte) []byte {
		if body == nil {
			change(req, "")
			return nil
		}
		return []byte(change(req, string(body)))
	}}
}

// strangers answers 403 for what another key has seen, in other words each time.
func strangers() *altering {
	var mu sync.Mutex
	seen, times := map[string]string{}, 0
	anID := regexp.MustCompile(`[a-z]+_[0-9a-hjkmnp-tv-z]{26}`)
	return &altering{answer: func(req *http.Request, resp *http.Response, body []byte) []byte {
		mu.Lock()
		defer mu.Unlock()
		who := req.Header.Get("Authorization")
		if id := anID.FindString(req.URL.Path); resp.StatusCode == http.StatusNotFound && seen[id] != "" && seen[id] != who {
			resp.StatusCode = http.StatusForbidden
			times++
			body = bytes.Replace(body, []byte(`"message":"`), fmt.Appendf(nil, `"message":"%d: `, times), 1)
			return bytes.Replace(body, []byte("resource_missing"), []byte("forbidden"), 1)
		}
		if resp.StatusCode < 300 {
			for _, id := range anID.FindAllString(string(body), -1) {
				if seen[id] == "" {
					seen[id] = who
				}
			}
		}
		return body
	}}
}

// goesOn answers though nothing is left. Before it answers the first request beyond the quota a minute begins.
func goesOn() *altering {
	times, reset := 0, 4102444800
	return header(func(h http.Header, req *http.Request) {
		if times > 0 && req.URL.Path == "/v1/account" && reset == 4102444800 {
			reset += 60
		}
		h.Set("X-RateLimit-Reset", fmt.Sprint(reset))
		if req.Method == http.MethodGet && strings.HasPrefix(req.URL.Path, "/v1/products") && req.URL.Query().Has("surprise") && times < 2 {
			times++
			h.Set("RateLimit", regexp.MustCompile(`r=.*`).ReplaceAllString(h.Get("RateLimit"), "r=0;t=1"))
		}
	})
}

// servers break the promise each whose name stands before the slash.
func servers() map[string]*altering {
	return map[string]*altering{
		"request-id":   header(func(h http.Header, _ *http.Request) { h.Set("X-Request-Id", "req_01m7y0ft9h0z5y70nmaqr71adk") }),
		"nosniff":      header(func(h http.Header, _ *http.Request) { h.Del("X-Content-Type-Options") }),
		"json":         header(func(h http.Header, _ *http.Request) { h.Set("Content-Type", "text/html") }),
		"rate-headers": header(func(h http.Header, _ *http.Request) { h.Set("RateLimit-Policy", "600;w=60") }),
		"deprecation":  header(func(h http.Header, _ *http.Request) { h.Set("Deprecation", "@1767225600") }),
		"methods":      header(func(h http.Header, _ *http.Request) { h.Del("Allow") }),
		"envelope":     replaced(`"message":"`, `"hint":"","message":"`),
		"document":     replaced(`"object":"product"`, `"object":"thing"`),
		"lists":        replaced(`"url":"/v1/`, `"url":"/v2/`),
		"walks":        replaced(`"has_more":true`, `"has_more":false`),
		"quota": header(func(h http.Header, _ *http.Request) {
			h.Set("RateLimit", regexp.MustCompile(`r=\d+`).ReplaceAllString(h.Get("RateLimit"), "r=599"))
		}),
		"quota/nothing left": goesOn(),
		"order/created_at": {answer: func(req *http.Request, _ *http.Response, body []byte) []byte {
			return bytes.Replace(body, []byte(`"created_at":"20`), []byte(`"created_at":"19`), 1)
		}},
		"expand/another one": {answer: func(req *http.Request, _ *http.Response, body []byte) []byte {
			if !strings.HasPrefix(req.URL.Path, "/v1/products") || !strings.Contains(req.URL.Query().Get("expand"), "price") {
				return body
			}
			return regexp.MustCompile(`"id":"price_\w+`).ReplaceAll(body, []byte(`"id":"price_01m7y0ft9h0z5y70nmaqr71adk`))
		}},
		"routes": {answer: func(req *http.Request, _ *http.Response, body []byte) []byte {
			if req.URL.Path != "/v1/nothing" {
				return body
			}
			return bytes.Replace(body, []byte("resource_missing"), []byte("no_route"), 1)
		}},
		"authentication": asked(func(req *http.Request, body string) string {
			req.Header.Set("Authorization", strings.Replace(req.Header.Get("Authorization"), "Basic ", "Bearer ", 1))
			return body
		}),
		"unknown-parameters": unasked("surprise", func(string) bool { return true }),
		"parameters": asked(func(req *http.Request, body string) string {
			query := req.URL.Query()
			for name := range query {
				if value := query.Get(name); name != "limit" && name != "sort" && name != "expand" && (value == "" || value == "\x00" || strings.HasPrefix(value, "2026-0")) {
					query.Del(name)
				}
			}
			req.URL.RawQuery = query.Encode()
			return body
		}),
		"positions": unasked("limit", func(value string) bool { return len(value) != 1 }),
		"order":     unasked("sort", func(value string) bool { return value == "created_at" }),
		"expand":    unasked("expand", func(value string) bool { return strings.HasPrefix(value, "price_variants") }),
		"unknown-fields": asked(func(_ *http.Request, body string) string {
			return strings.ReplaceAll(regexp.MustCompile(`"(surprise|account_id|object|id|created_at|secret)":"x",?`).ReplaceAllString(body, ""), ",}", "}")
		}),
		"content-type": asked(func(req *http.Request, body string) string {
			if req.Header.Get("Content-Type") != "" {
				req.Header.Set("Content-Type", "application/json")
				req.Header.Del("Content-Encoding")
			}
			return body
		}),
		"idempotency-key": asked(func(req *http.Request, body string) string {
			if key := req.Header["Idempotency-Key"]; len(key) > 1 || len(key) == 1 && (key[0] == "" || len(key[0]) > 255 || key[0] == "schlüssel") {
				req.Header.Set("Idempotency-Key", "valid "+conformance.Unique())
			}
			return body
		}),
		"replay": asked(func(req *http.Request, body string) string {
			if strings.HasPrefix(body, "\n ") {
				req.Header.Del("Idempotency-Key")
			}
			return body
		}),
		"thirty-callers": asked(func(req *http.Request, body string) string {
			if strings.Contains(body, " once") {
				req.Header.Del("Idempotency-Key")
			}
			return body
		}),
		"isolation": strangers(),
		"delivery":  replaced(`"secret":"whsec_`, `"secret":"whsec_0`),
	}
}

// from connects from an address of the loopback network, of which each has a quota without a key.
func from(t *testing.T, number int) http.RoundTripper {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 7, byte(2+number))}}
	transport := &http.Transport{DialContext: dialer.DialContext}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

func names(results []*conformance.Result) []string {
	all := []string{}
	for _, r := range results {
		all = append(all, r.Name)
	}
	return all
}

// check holds a server with two new accounts to what is said of products, as a stranger that has the address of a number.
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
			report, err := conformance.Check(t.Context(), conformance.Options{URL: s.URL, Key: c.Key, ReadOnly: readOnly, Only: []string{"customers", "pages", "replay"}, Transport: counting})
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
		report, err := conformance.Check(t.Context(), conformance.Options{URL: s.URL, Key: c.Key, Only: []string{name, "products", "leads"}, Transport: lenient})
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
	report, err := conformance.Check(t.Context(), conformance.Options{URL: s.URL, Key: c.Key, Only: []string{"lists", "customers"}, Transport: nonsense})
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
	report, err := conformance.Check(t.Context(), conformance.Options{URL: s.URL, Key: s.Account(t).Key, ReadOnly: true, Only: []string{"lists", "order", "products"}, Transport: refusing})
	require.NoError(t, err)
	assert.Empty(t, names(report.Broken()))
	for _, r := range report.Promises {
		if r.Name == "lists" || r.Name == "order" {
			assert.Equal(t, conformance.OutcomeNotChecked, r.Outcome, "%s: %s", r.Name, asJSON(r.NotChecked))
		}
	}
}

// A run that is interrupted takes away what it made, and calls nothing kept that it did not look at.
func TestCheck_TidiesUpWhenItIsInterrupted(t *testing.T) {
	t.Parallel()
	s := harness.Boot(t, database.URL(t, database.Engines()[0]))
	c := s.Account(t)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	walked := false
	report, err := conformance.Check(ctx, conformance.Options{URL: s.URL, Key: c.Key, Only: []string{"pages", "idempotency"}, Transport: from(t, 0), Progress: func(line string) {
		if walked = walked || strings.HasSuffix(line, ": walks"); walked {
			interrupt()
		}
	}})
	require.ErrorIs(t, err, context.Canceled)
	require.True(t, walked)
	outcomes := map[string]conformance.Outcome{}
	for _, r := range report.Promises {
		outcomes[r.Name] = r.Outcome
	}
	for _, name := range []string{"walks", "thirty-callers", "document", "envelope"} {
		assert.Equal(t, conformance.OutcomeNotChecked, outcomes[name], name)
	}
	assert.Empty(t, names(report.Broken()))
	assert.Empty(t, left(t, s, c), report.Notes)
}

// What is being made at an interrupt is waited for, and taken away. What nobody knows of, because its answer was lost
// or is that of a proxy, is named.
func TestCheck_KnowsWhatIsUnderWayWhenItIsInterrupted(t *testing.T) {
	t.Parallel()
	s := harness.Boot(t, database.URL(t, database.Engines()[0]))
	for number, how := range []string{"", "not answered", "answered 504"} {
		c := s.Account(t)
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		under := &underway{base: from(t, number), how: how, interrupt: interrupt}
		report, err := conformance.Check(ctx, conformance.Options{URL: s.URL, Key: c.Key, Only: []string{"replay", "customers"}, Transport: under, Progress: func(line string) {
			under.begun = under.begun || strings.HasPrefix(line, "1 of ")
		}})
		require.ErrorIs(t, err, context.Canceled)
		require.True(t, under.met)
		if how != "" {
			require.Regexp(t, `POST /v1/customers was `+how+`, and may have made what it sent: \{.*@example.com`, strings.Join(report.Notes, "\n"))
		} else {
			require.Empty(t, left(t, s, c), report.Notes)
		}
	}
}

// underway sends requests, and interrupts the run while a check makes its first customer.
type underway struct {
	base       http.RoundTripper
	how        string // the request's answer is lost, or another one, "" for neither
	begun, met bool
	interrupt  func()
}

// RoundTrip implements http.RoundTripper.
func (u *underway) RoundTrip(req *http.Request) (*http.Response, error) {
	if !u.begun || u.met || req.Method != http.MethodPost || req.URL.Path != "/v1/customers" {
		return u.base.RoundTrip(req)
	}
	u.met = true
	u.interrupt()
	resp, err := u.base.RoundTrip(req.WithContext(context.WithoutCancel(req.Context())))
	if err == nil && u.how == "answered 504" {
		resp.StatusCode = http.StatusGatewayTimeout
	} else if err == nil && (u.how != "" || req.Context().Err() != nil) {
		_ = resp.Body.Close()
		return nil, io.ErrUnexpectedEOF
	}
	return resp, err
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
		report, err := conformance.Check(t.Context(), conformance.Options{URL: s.URL, Key: c.Key, SecondKey: other.Key, Only: only, Transport: coming})
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
			{conformance.Options{URL: s.URL, Key: "sk_none"}, "does not know the key of --key"},
			{conformance.Options{URL: s.URL, Key: s.Key(t, c.Account, "orders:read")}, "needs all scopes"},
			{conformance.Options{URL: s.URL, Key: c.Key, SecondKey: s.Key(t, c.Account)}, "of the same account"},
			{conformance.Options{URL: s.URL, Key: c.Key, Only: []string{"products", "nonsense"}}, "--only nonsense is none of account, activity, "},
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
