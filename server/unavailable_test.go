package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
)

func TestServer_TheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	var failure error
	fail := func(echo.Context) error { return fmt.Errorf("read widget: %w", failure) }
	f := newFixture(t, map[string]echo.HandlerFunc{"getWidget": fail, "publishWidget": fail})
	for _, c := range []struct {
		name, method, path string
		failure            error
		headers            []string
		status             int
		says               string
	}{
		{"a read", "GET", "/v1/widgets/w", &core.UnavailableError{}, nil, 503, "nothing was changed"},
		{"a write", "POST", "/v1/widgets/w/publish", &core.UnavailableError{}, nil, 503, "nothing was changed"},
		{"too many reads at once", "GET", "/v1/widgets/w", &core.UnavailableError{Busy: true}, nil, 503, "Send fewer at a time"},
		{"too many writes at once", "POST", "/v1/widgets/w/publish", &core.UnavailableError{Busy: true}, nil, 503, "nothing was changed"},
		{"a write of which nobody knows", "POST", "/v1/widgets/w/publish", &core.UnavailableError{Unclear: true}, []string{"Idempotency-Key", "k"}, 503, "may have been made"},
		{"the same without a key", "POST", "/v1/widgets/w/publish", &core.UnavailableError{Unclear: true}, nil, 500, "may have been made"},
	} {
		t.Run(c.name, func(t *testing.T) {
			failure = c.failure
			asked := time.Now()
			a := f.send(c.method, c.path, "", c.headers...)
			require.Equal(t, c.status, a.StatusCode, a.body)
			problem := a.problem(t)
			assert.Equal(t, codeInternal, problem.Code)
			assert.Equal(t, typeAPI, problem.Type)
			assert.Contains(t, problem.Message, c.says)
			wait := map[int]string{503: "1", 500: ""}[c.status] // nobody is invited to do something twice
			assert.Equal(t, wait, a.Header.Get("Retry-After"))
			assertLimitHeaders(t, asked, a.Header)
		})
	}
}

func TestServer_APageFailsAsAPage(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	var crowded bool
	f.server.errorPage = func(c echo.Context, status int, isCrowded bool) error {
		crowded = isCrowded
		return c.HTML(status, "<h1>Try again</h1>")
	}
	for _, c := range []struct {
		method string
		err    error
		status int
		after  string
	}{
		{http.MethodGet, &core.UnavailableError{}, 503, "1"},
		{http.MethodPost, &core.UnavailableError{}, 503, ""}, // nobody is invited to do something twice
		{http.MethodGet, assert.AnError, 500, ""},
		{http.MethodPost, &core.Error{Code: core.CodeRateLimit, After: time.Second}, 429, "1"},
		{http.MethodPost, fmt.Errorf("read the form: %w", &core.CrowdedError{}), 429, "1"}, // of which nothing was done
		{http.MethodPost, fmt.Errorf("read the form: %w", &core.CrowdedError{ByAll: true}), 503, "1"},
	} {
		w := httptest.NewRecorder()
		handler := f.server.observe(asPage(func(echo.Context) error { return c.err }))
		require.NoError(t, handler(f.server.echo.NewContext(httptest.NewRequest(c.method, "/shop/7", nil), w)))
		assert.Equal(t, c.status, w.Code)
		assert.Equal(t, "<h1>Try again</h1>", w.Body.String())
		assert.Contains(t, w.Header().Get("Content-Type"), "text/html")
		assert.Equal(t, c.after, w.Header().Get("Retry-After"), "%s %d", c.method, c.status)
		assert.Equal(t, strings.HasPrefix(c.err.Error(), "read the form"), crowded, "%s %d", c.method, c.status)
	}
}
