package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
	_ "github.com/tillwright/tillwright/tests/harness/migrated"
)

// fixture is a server of testdata/widgets.yaml over an empty SQLite database.
type fixture struct {
	t       *testing.T
	url     string
	server  *Server
	store   *store.Store
	account string
	token   string // of a key that may do everything
	log     *lockedBuffer
	calls   *calls // what reached a handler
	stopped atomic.Pointer[time.Time]
}

// newFixture starts the server. The handlers do what the test needs; without one
// of its own an operation answers with what it was given.
func newFixture(t *testing.T, handlers map[string]echo.HandlerFunc) *fixture {
	t.Helper()
	f := &fixture{t: t, log: &lockedBuffer{}, calls: &calls{}}
	f.store = openStoreAt(t, f.now)
	f.account, f.token = makeKey(t, f.store)
	document, err := os.ReadFile("testdata/widgets.yaml")
	require.NoError(t, err)
	f.server, err = New(Deps{
		Store: f.store, Log: NewLogger(f.log, LogJSON), Document: document,
		Pages: map[string]echo.HandlerFunc{"/shop/:id": showPage, "POST /shop/:id": showPage, "POST /shop/:id/buy": showPage, "/half": showHalf},
		Media: map[string]echo.HandlerFunc{"/media/:name": showMedia},
		Hooks: map[string]echo.HandlerFunc{"POST /hooks/:provider": takeHook},
		ErrorPage: func(c echo.Context, status int, _ bool) error {
			return c.HTML(status, "<h1>"+http.StatusText(status)+"</h1>")
		},
		Register: func(r api.EchoRouter) { registerWidgets(r, f.calls, handlers) },
	})
	require.NoError(t, err)
	server := httptest.NewServer(f.server)
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

// now is when the clock was stopped, or the time.
func (f *fixture) now() time.Time {
	if at := f.stopped.Load(); at != nil {
		return *at
	}
	return time.Now()
}

// stopClock makes the store stay in this minute, whose quota is used up then however slow the machine is, and returns its time.
func (f *fixture) stopClock() time.Time {
	now := f.now()
	f.stopped.Store(&now)
	return now
}

func openStore(t *testing.T) *store.Store {
	t.Helper()
	return openStoreAt(t, time.Now)
}

func openStoreAt(t *testing.T, now func() time.Time) *store.Store {
	t.Helper()
	sealer, err := core.NewSealer(make([]byte, 32))
	require.NoError(t, err)
	s, err := store.Open(t.Context(), store.Options{
		CloseTime: time.Minute,
		Now:       now,
		URL:       database.URL(t, "sqlite"),
		Sealer:    sealer,
		Render:    func(string, any) ([]byte, error) { return []byte(`{}`), nil },
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	require.NoError(t, s.Migrate(t.Context()))
	return s
}

// showPage shows how much of a form it may read.
func showPage(c echo.Context) error {
	form, err := io.ReadAll(c.Request().Body)
	if err != nil {
		return c.String(http.StatusRequestEntityTooLarge, "too large")
	}
	return c.HTML(http.StatusOK, fmt.Sprintf("%s: %d bytes", c.Param("id"), len(form)))
}

// takeHook reads a notification.
func takeHook(c echo.Context) error {
	if _, err := io.ReadAll(c.Request().Body); err != nil {
		return err
	}
	return c.NoContent(http.StatusOK)
}

// showHalf fails when half of its answer is sent.
func showHalf(c echo.Context) error {
	if err := c.String(http.StatusOK, strings.Repeat("half", 10_000)); err != nil {
		return err
	}
	return errors.New("the other half is lost")
}

// makeKey makes an account and a key of it; without scopes it may do everything.
func makeKey(t *testing.T, s *store.Store, scopes ...string) (account, token string) {
	t.Helper()
	a, err := s.Tenant.CreateAccount(t.Context(), tenant.NewAccount{Name: "Shop", Email: "shop@example.com"})
	require.NoError(t, err)
	_, token, err = s.Tenant.CreateAPIKey(t.Context(), a.ID, tenant.Granted{}, tenant.NewAPIKey{Scopes: scopes})
	require.NoError(t, err)
	return a.ID, token
}

// registerWidgets stands in for the generated code.
func registerWidgets(r api.EchoRouter, calls *calls, handlers map[string]echo.HandlerFunc) {
	handler := func(id string, status int) echo.HandlerFunc {
		return func(c echo.Context) error {
			calls.note(id)
			if h := handlers[id]; h != nil {
				return h(c)
			}
			return echoBack(c, id, status)
		}
	}
	r.GET("/widgets", handler("listWidgets", 200))
	r.POST("/widgets", handler("createWidget", 201))
	r.GET("/widgets/:id", handler("getWidget", 200))
	r.PATCH("/widgets/:id", handler("updateWidget", 200))
	r.POST("/widgets/:id/publish", handler("publishWidget", 200))
	r.GET("/widgets/events", handler("listWidgetEvents", 200))
	r.POST("/test_helpers/widgets", handler("breakWidgets", 200))
	r.POST("/hooks", handler("createHook", 201))
	r.POST("/parcels", handler("createParcel", 201))
	r.PATCH("/parcels", handler("sendParcels", 200))
	r.GET("/gadgets", handler("listGadgets", 200))
	r.GET("/public/tickets/:client_secret", handler("getPublicTicket", 200))
	r.POST("/public/tickets/:client_secret", handler("usePublicTicket", 200))
}

// echoBack answers with the operation, the caller and the body that was validated.
func echoBack(c echo.Context, id string, status int) error {
	answer := map[string]any{"operation": id, "account": caller.Account(c.Request().Context())}
	if body, ok := c.Request().Body.(interface{ ValidatedValue() any }); ok {
		answer["body"] = body.ValidatedValue()
	}
	return c.JSON(status, answer)
}

// answer is a response, read.
type answer struct {
	*http.Response
	body string
}

// problem returns the error of the envelope.
func (a *answer) problem(t *testing.T) envelopeError {
	t.Helper()
	require.Equal(t, "application/json", a.Header.Get("Content-Type"), a.body)
	var e envelope
	decoder := json.NewDecoder(strings.NewReader(a.body))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&e), a.body)
	require.NotEmpty(t, e.Error.Message)
	return e.Error
}

// send asks with the fixture's key. Headers come in pairs; an empty value removes one.
func (f *fixture) send(method, path, body string, headers ...string) *answer {
	f.t.Helper()
	return f.sendBody(method, path, strings.NewReader(body), headers...)
}

func (f *fixture) sendBody(method, path string, body io.Reader, headers ...string) *answer {
	f.t.Helper()
	r, err := http.NewRequest(method, f.url+path, body)
	require.NoError(f.t, err)
	r.Header.Set("Authorization", "Bearer "+f.token)
	if r.ContentLength != 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Del(headers[i])
		if headers[i+1] != "" {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	return do(f.t, r)
}

func do(t *testing.T, r *http.Request) *answer {
	t.Helper()
	response, err := (&http.Client{Timeout: time.Minute}).Do(r)
	require.NoError(t, err)
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return &answer{response, string(content)}
}

// useUp spends the quota of the fixture's key.
func (f *fixture) useUp() {
	f.t.Helper()
	f.stopClock()
	for range tenant.RateLimit {
		r := httptest.NewRequest(http.MethodGet, "/v1/nowhere", nil)
		r.Header.Set("Authorization", "Bearer "+f.token)
		f.server.ServeHTTP(httptest.NewRecorder(), r)
	}
}

// logged returns the lines of the log so far that belong to a request.
func (f *fixture) logged(requestID string) []map[string]any {
	f.t.Helper()
	var lines []map[string]any
	for line := range strings.Lines(f.log.String()) {
		var fields map[string]any
		require.NoError(f.t, json.Unmarshal([]byte(line), &fields))
		if fields["request_id"] == requestID {
			lines = append(lines, fields)
		}
	}
	return lines
}
