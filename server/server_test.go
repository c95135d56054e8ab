package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dunglas/httpsfv"
	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
)

func TestServer_EveryResponseHasTheHeaders(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]echo.HandlerFunc{
		"getWidget":     func(echo.Context) error { return errors.New("the database is on fire") },
		"publishWidget": func(echo.Context) error { panic("oh no") },
	})
	big := strings.Repeat("x", 3000)
	cases := []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		code                     core.Code
	}{
		{"ok", "GET", "/v1/widgets", "", nil, 200, ""},
		{"bad request", "GET", "/v1/widgets?limit=x", "", nil, 400, core.CodeBadRequest},
		{"no key", "GET", "/v1/widgets", "", []string{"Authorization", ""}, 401, core.CodeUnauthenticated},
		{"unknown route", "GET", "/v1/nowhere", "", nil, 404, core.CodeMissing},
		{"the version alone", "GET", "/v1", "", nil, 404, core.CodeMissing},
		{"slash at the end", "GET", "/v1/widgets/", "", nil, 404, core.CodeMissing},
		{"below a leaf", "POST", "/v1/widgets/a/publish/b", "", nil, 404, core.CodeMissing},
		{"unknown public route", "GET", "/public/nowhere", "", nil, 404, core.CodeMissing},
		{"unknown public route below the version", "GET", "/v1/public/nowhere", "", []string{"Authorization", ""}, 404, core.CodeMissing},
		{"public below the version", "GET", "/v1/public/tickets/x", "", []string{"Authorization", ""}, 200, ""},
		{"public with a key of nobody", "GET", "/v1/public/tickets/x", "", []string{"Authorization", "Bearer x"}, 200, ""},
		{"wrong method on a public path below the version", "DELETE", "/v1/public/tickets/x", "", []string{"Authorization", ""}, 405, codeMethodNotAllowed},
		{"outside of the API", "GET", "/nowhere", "", nil, 404, core.CodeMissing},
		{"the root", "GET", "/", "", nil, 404, core.CodeMissing},
		{"wrong method outside of the API", "POST", "/openapi.json", "{}", nil, 405, codeMethodNotAllowed},
		{"wrong method", "PUT", "/v1/widgets", "{}", nil, 405, codeMethodNotAllowed},
		{"wrong method on a public path", "DELETE", "/public/tickets/x", "", nil, 405, codeMethodNotAllowed},
		{"too large", "POST", "/v1/widgets", `{"name":"` + big + `"}`, nil, 413, core.CodeTooLarge},
		{"no json", "POST", "/v1/widgets", "name=x", []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, core.CodeMediaType},
		{"unacceptable", "POST", "/v1/widgets", `{"name":"","amount":1}`, nil, 422, core.CodeInvalid},
		{"large headers", "GET", "/v1/widgets", "", []string{"X-Large", strings.Repeat("x", 65<<10)}, 431, codeHeadersTooLarge},
		{"error", "GET", "/v1/widgets/w", "", nil, 500, codeInternal},
		{"panic", "POST", "/v1/widgets/w/publish", "", nil, 500, codeInternal},
	}
	seen := map[string]bool{}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			asked := time.Now()
			a := f.send(c.method, c.path, c.body, c.headers...)
			require.Equal(t, c.status, a.StatusCode, a.body)
			if c.code != "" {
				problem := a.problem(t)
				assert.Equal(t, c.code, problem.Code)
				_, kind := statusOf(c.code)
				assert.Equal(t, kind, problem.Type)
			}
			id := a.Header.Get("X-Request-Id")
			assert.Regexp(t, `^req_[0-9a-hjkmnp-tv-z]{26}$`, id)
			assert.False(t, seen[id], "an id is used once")
			seen[id] = true
			assert.Equal(t, "nosniff", a.Header.Get("X-Content-Type-Options"))
			assert.Empty(t, a.Header.Get("Access-Control-Allow-Origin"))
			assertLimitHeaders(t, asked, a.Header)
		})
	}
}

// Browsers come by https alone once they were here, to pages, sites and the API alike. Of a server without https they are not asked that.
func TestServer_HasBrowsersComeByHTTPSAlone(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	document, err := os.ReadFile("testdata/widgets.yaml")
	require.NoError(t, err)
	for publicURL, want := range map[string][]string{"https://pay.example": {"max-age=31536000"}, "http://pay.example": nil} {
		s, err := New(Deps{
			Store: f.store, Log: NewLogger(f.log, LogJSON), Document: document, PublicURL: publicURL,
			Pages:    map[string]echo.HandlerFunc{"/shop/:id": showPage},
			Register: func(r api.EchoRouter) { registerWidgets(r, f.calls, nil) },
		})
		require.NoError(t, err)
		for _, address := range []string{"https://pay.example/shop/a", "https://own.example/shop/a", "https://pay.example/nowhere", "https://pay.example/v1/widgets"} {
			answer := httptest.NewRecorder()
			s.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, address, nil))
			assert.Equal(t, want, answer.Header()["Strict-Transport-Security"], "%s of %s", address, publicURL)
		}
		malformed := string(s.refuseMalformed("192.0.2.1:1", http.StatusBadRequest, ""))
		assert.Equal(t, want != nil, strings.Contains(malformed, "\r\nStrict-Transport-Security: max-age=31536000\r\n"), publicURL)
	}
}

// assertLimitHeaders reads them the way RFC 9651 says. They are of a request that was sent after asked.
func assertLimitHeaders(t *testing.T, asked time.Time, h http.Header) (remaining, reset int64) {
	t.Helper()
	answered := time.Now()
	policy, err := httpsfv.UnmarshalList(h.Values("RateLimit-Policy"))
	require.NoError(t, err)
	require.Len(t, policy, 1)
	assert.Equal(t, "default", policy[0].(httpsfv.Item).Value)
	q, _ := policy[0].(httpsfv.Item).Params.Get("q")
	w, _ := policy[0].(httpsfv.Item).Params.Get("w")
	assert.Equal(t, []any{int64(600), int64(60)}, []any{q, w})

	limit, err := httpsfv.UnmarshalList(h.Values("RateLimit"))
	require.NoError(t, err)
	require.Len(t, limit, 1)
	assert.Equal(t, "default", limit[0].(httpsfv.Item).Value)
	r, _ := limit[0].(httpsfv.Item).Params.Get("r")
	s, _ := limit[0].(httpsfv.Item).Params.Get("t")
	remaining, reset = r.(int64), s.(int64)
	assert.GreaterOrEqual(t, remaining, int64(0), remaining)
	assert.Less(t, remaining, int64(600), remaining)
	assert.GreaterOrEqual(t, reset, int64(1), reset)
	assert.LessOrEqual(t, reset, int64(60), reset)
	end, err := httpsfv.UnmarshalItem(h.Values("X-RateLimit-Reset"))
	require.NoError(t, err)
	at, ok := end.Value.(int64)
	require.True(t, ok, end.Value)
	assert.Zero(t, at%60, "a window is a minute of the clock")
	assert.LessOrEqual(t, asked.Unix()+reset-1, at, "asked at %d: it ends in %d s, at %d", asked.Unix(), reset, at)
	assert.LessOrEqual(t, at, answered.Unix()+reset+1, "asked at %d: it ends in %d s, at %d", asked.Unix(), reset, at)
	return remaining, reset
}

func TestServer_ChecksInOrder(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	_, reader := makeKey(t, f.store, "orders:read")
	bearer := "Bearer " + reader
	bad := []string{"Idempotency-Key", "é", "Content-Type", "text/plain"}
	cases := []struct {
		name, method, path, body string
		headers                  []string
		status                   int
	}{
		{"a key before the route", "GET", "/v1/nowhere", "", []string{"Authorization", "Basic x"}, 401},
		{"a key before the method", "PUT", "/v1/widgets", "", []string{"Authorization", "Basic x"}, 401},
		{"the route before the scope", "PUT", "/v1/widgets", "", []string{"Authorization", bearer}, 405},
		{"the scope before the key's syntax", "POST", "/v1/widgets", "x", append(bad, "Authorization", bearer), 403},
		{"the key's syntax before the body", "POST", "/v1/widgets", "x", bad, 400},
		{"the size before the type", "POST", "/v1/widgets", strings.Repeat("x", 3000), []string{"Content-Type", "text/plain"}, 413},
		{"the type before the JSON", "POST", "/v1/widgets", "x", []string{"Content-Type", "text/plain"}, 415},
		{"the JSON before the query", "POST", "/v1/widgets?x=1", "x", nil, 400},
		{"the query before the values", "POST", "/v1/widgets?x=1", `{"name":"","amount":1}`, nil, 400},
	}
	for _, c := range cases {
		a := f.send(c.method, c.path, c.body, c.headers...)
		assert.Equal(t, c.status, a.StatusCode, "%s: %s", c.name, a.body)
	}
	assert.Zero(t, f.calls.of("createWidget"))

	f.useUp()
	for path, method := range map[string]string{"/v1/nowhere": "GET", "/v1/widgets": "PUT", "/v1/widgets?limit=x": "GET"} {
		a := f.send(method, path, "")
		require.Equal(t, http.StatusTooManyRequests, a.StatusCode, path)
		assert.Equal(t, core.CodeRateLimit, a.problem(t).Code)
		remaining, reset := assertLimitHeaders(t, f.now(), a.Header)
		assert.Zero(t, remaining)
		assert.Equal(t, fmt.Sprint(reset), a.Header.Get("Retry-After"))
	}
}

func TestServer_RefusesOtherMethodsWithAllow(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for _, method := range []string{"OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "PROPFIND", "FROBNICATE"} {
		a := f.send(method, "/v1/widgets", "")
		assert.Equal(t, http.StatusMethodNotAllowed, a.StatusCode, method)
		assert.Equal(t, "GET, HEAD, POST", a.Header.Get("Allow"), method)
		assert.NotEmpty(t, a.Header.Get("RateLimit"), method)
		assert.Equal(t, codeMethodNotAllowed, a.problem(t).Code)
	}
	a := f.send("PATCH", "/v1/widgets/events", `{}`)
	assert.Equal(t, http.StatusMethodNotAllowed, a.StatusCode, "a fixed path is not another one's id")
	assert.Equal(t, "GET, HEAD", a.Header.Get("Allow"))
	assert.Equal(t, http.StatusMethodNotAllowed, f.send("POST", "/openapi.json", "").StatusCode)
	assert.Equal(t, http.StatusNotFound, f.send("FROBNICATE", "/v1/nowhere", "").StatusCode)
	w, asked := httptest.NewRecorder(), time.Now()
	f.server.ServeHTTP(w, httptest.NewRequest("OPTIONS", "*", nil))
	assert.Equal(t, http.StatusNotFound, w.Code)
	assert.NotEmpty(t, w.Header().Get("X-Request-Id"))
	assertLimitHeaders(t, asked, w.Header())
}

// HEAD is what GET is, without the body.
func TestServer_AnswersHeadWhereGetIs(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for _, path := range []string{"/v1/widgets", "/v1/widgets/w", "/v1/public/tickets/one", "/public/tickets/one", "/v1/widgets?nonsense=1"} {
		get, head := f.send("GET", path, ""), f.send("HEAD", path, "")
		assert.Equal(t, get.StatusCode, head.StatusCode, path)
		assert.Equal(t, get.Header.Get("Content-Length"), head.Header.Get("Content-Length"), path)
		assert.Equal(t, get.Header.Get("Content-Type"), head.Header.Get("Content-Type"), path)
		assert.NotEmpty(t, head.Header.Get("X-Request-Id"), path)
		assert.Empty(t, head.body, path)
	}
	assert.Equal(t, 401, f.send("HEAD", "/v1/widgets", "", "Authorization", "").StatusCode)
	assert.Equal(t, 405, f.send("HEAD", "/v1/widgets/w/publish", "").StatusCode, "where there is no GET")
}

func TestServer_HasNoPageOfWhatNoDatabaseTakes(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for path, status := range map[string]int{"/shop/7": 200, "/shop/%00": 404, "/shop/a%00b": 404, "/shop/%ff": 404} {
		for _, method := range []string{"GET", "POST"} {
			assert.Equal(t, status, f.send(method, path, "").StatusCode, "%s %s", method, path)
		}
	}
	assert.Equal(t, 404, f.send("POST", "/shop/%00/buy", "a=b").StatusCode)
}

func TestServer_CountsPathsOutsideOfTheAPIForTheAddress(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	ask := func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		f.server.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		return w
	}
	f.stopClock()
	for range tenant.RateLimit {
		ask("/wp-login.php")
	}
	w := ask("/wp-login.php")
	assert.Equal(t, 429, w.Code)
	assert.NotEmpty(t, w.Header().Get("Retry-After"))
	assert.Equal(t, 200, ask("/healthz").Code, "whoever watches the server is not counted")
}

func TestServer_AnswersPanicsWithoutTheStack(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]echo.HandlerFunc{"createWidget": func(echo.Context) error { panic("secret detail") }})
	a := f.send("POST", "/v1/widgets", `{"name":"a","amount":1}`)
	require.Equal(t, 500, a.StatusCode)
	assert.NotContains(t, a.body, "secret detail")
	lines := f.logged(a.Header.Get("X-Request-Id"))
	require.Len(t, lines, 2, "the panic, and the access line with the failure")
	assert.Equal(t, "secret detail", lines[0]["panic"])
	assert.Contains(t, lines[0]["stack"], "server_test.go")
	assert.Equal(t, "request", lines[1]["msg"])
	assert.Equal(t, "ERROR", lines[1]["level"])
	assert.Equal(t, "api_error", lines[1]["code"])
	assert.Equal(t, "panic: secret detail", lines[1]["error"])
	assert.EqualValues(t, 500, lines[1]["status"])
	assert.Equal(t, 201, f.send("POST", "/v1/hooks", `{"url":"x"}`).StatusCode, "the next request is served")
}

func TestServer_LogsOneLineWithoutSecrets(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.send("GET", "/public/tickets/cs_hidden", "")
	f.send("GET", "/v1/widgets?metadata[hidden]=value", "", "X-Request-Id", "req_mine")
	a := f.send("POST", "/v1/widgets", `{"name":"hidden","amount":1}`)
	lines := f.logged(a.Header.Get("X-Request-Id"))
	require.Len(t, lines, 1)
	assert.Equal(t, "/v1/widgets", lines[0]["route"])
	assert.EqualValues(t, 201, lines[0]["status"])
	assert.Equal(t, f.account, lines[0]["account"])
	assert.Equal(t, "127.0.0.1", lines[0]["address"])
	assert.Empty(t, lines[0]["code"])
	refused := f.logged(f.send("GET", "/v1/nowhere", "").Header.Get("X-Request-Id"))
	require.Len(t, refused, 1)
	assert.Equal(t, "resource_missing", refused[0]["code"])
	assert.Equal(t, "INFO", refused[0]["level"])
	assert.NotContains(t, refused[0], "error", "what is the request's fault is none of ours")
	for _, secret := range []string{"hidden", f.token, "req_mine"} {
		assert.NotContains(t, f.log.String(), secret)
	}
}

func TestServer_NeedsEveryOperationMounted(t *testing.T) {
	t.Parallel()
	document := []byte(`{"openapi":"3.0.3","info":{"title":"x","version":"1"},"paths":{"/a":{"get":{"operationId":"getA","responses":{"200":{"description":"ok"}}}}}}`)
	none := func(api.EchoRouter) {}
	_, err := New(Deps{Store: &store.Store{}, Document: document, Register: none})
	assert.ErrorContains(t, err, "getA of the API document has no handler")
	other := func(r api.EchoRouter) { r.POST("/a", echo.NotFoundHandler) }
	_, err = New(Deps{Store: &store.Store{}, Document: document, Register: other})
	assert.ErrorContains(t, err, "POST /a")
}

func TestServer_Health(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	assert.Equal(t, 200, f.send("GET", "/healthz", "").StatusCode)
	assert.Equal(t, 200, f.send("HEAD", "/readyz", "").StatusCode)
	for path, want := range map[string]string{"/openapi.json": "Widgets", "/openapi.yaml": "openapi: 3.0.3", "/openapi-3.1.json": `"openapi": "3.1.0"`} {
		a := f.send("GET", path, "", "Authorization", "")
		assert.Equal(t, 200, a.StatusCode)
		assert.Contains(t, a.body, want)
	}
	require.NoError(t, f.store.Close())
	assert.Equal(t, 200, f.send("GET", "/healthz", "").StatusCode)
	assert.Equal(t, 503, f.send("GET", "/readyz", "").StatusCode)
	a := f.send("GET", "/v1/widgets", "")
	assert.Equal(t, 500, a.StatusCode, "a database that is gone is our fault")
	assertPolicyOnly(t, a.Header)
}

func assertPolicyOnly(t *testing.T, h http.Header) {
	t.Helper()
	assert.Equal(t, `"default";q=600;w=60`, h.Get("RateLimit-Policy"))
	assert.Contains(t, h.Get("RateLimit"), `"default";r=600;t=`)
}

func TestServer_Pages(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	asked := time.Now()
	a := f.send("GET", "/shop/7", "", "Authorization", "")
	assert.Equal(t, 200, a.StatusCode)
	assert.Equal(t, "7: 0 bytes", a.body)
	assert.NotEmpty(t, a.Header.Get("X-Request-Id"))
	assertLimitHeaders(t, asked, a.Header)
	assert.Equal(t, 200, f.send("HEAD", "/shop/7", "").StatusCode)
	assert.Equal(t, "7: 3 bytes", f.send("POST", "/shop/7", "a=b").body)
	assert.Equal(t, 413, f.send("POST", "/shop/7/buy", strings.Repeat("x", publicMaxBody+1)).StatusCode)
	a = f.send("PUT", "/shop/7", "")
	assert.Equal(t, 405, a.StatusCode)
	assert.Equal(t, "GET, HEAD, POST", a.Header.Get("Allow"))
	assert.Equal(t, 404, f.send("GET", "/shop/7/nothing", "").StatusCode)
}

func TestReadiness_AnswersInTimeAndAsksOnceAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r readiness
		var asked atomic.Int32
		thaw := make(chan struct{})
		hang := func(context.Context) error { asked.Add(1); <-thaw; return nil }
		var all sync.WaitGroup
		began := time.Now()
		for range 20 {
			all.Go(func() { assert.ErrorIs(t, r.ask(t.Context(), hang), context.DeadlineExceeded) })
		}
		all.Wait()
		assert.Equal(t, readyTime, time.Since(began))
		assert.EqualValues(t, 1, asked.Load(), "a database that hangs does not gather statements")
		close(thaw)
		synctest.Wait()
		assert.NoError(t, r.ask(t.Context(), func(context.Context) error { return nil }))
		failed := errors.New("older schema")
		assert.ErrorIs(t, r.ask(t.Context(), func(context.Context) error { return failed }), failed)
	})
}

func TestReads_HaveTheirLength(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]echo.HandlerFunc{
		"getWidget":    func(c echo.Context) error { return c.Blob(200, "application/json", make([]byte, 10_000)) },
		"listWidgets":  func(c echo.Context) error { return c.NoContent(204) },
		"createWidget": func(c echo.Context) error { return c.Blob(201, "application/json", make([]byte, 10_000)) },
	})
	assert.EqualValues(t, 10_000, f.send("GET", "/v1/widgets/w", "").ContentLength)
	assert.EqualValues(t, 10_000, f.send("POST", "/v1/widgets", `{"name":"a","amount":1}`).ContentLength)
	assert.Equal(t, 204, f.send("GET", "/v1/widgets", "").StatusCode)
}

func TestServer_AnErrorAfterTheAnswerBeganBreaksTheConnection(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	response, err := http.Get(f.url + "/half")
	require.NoError(t, err)
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF, "half an answer must not look like a whole one")
	require.Contains(t, f.log.String(), "the other half is lost")
}
