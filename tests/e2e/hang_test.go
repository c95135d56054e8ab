package e2e

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// A database hangs, as behind a network that loses every packet. Whoever asks is told so within seconds, and not when the last of all time-outs is
// over. The log says which one it was.
func TestServe_SaysInTimeThatTheDatabaseHangs(t *testing.T) {
	t.Parallel()
	const limit = 12 * time.Second // of patience five; the next limit is at fifteen
	s := newSite(t, database.URL(t, "postgres"))
	proxy := database.NewProxy(t, s.url)
	b := &harness.Binary{Path: s.binary.Path, Env: append(s.binary.Env, "TILLWRIGHT_DATABASE_URL="+proxy.URL)}
	server := b.Serve(t, "")
	c := s.client(server)
	product := c.Must(t, http.MethodPost, "/v1/products", map[string]any{"name": "Hangs"})["id"].(string)
	proxy.Freeze()
	for range 2 { // who comes later is told as soon
		var all sync.WaitGroup
		for _, ask := range []struct {
			c            *harness.Client
			method, path string
			body         any
			says, after  string
		}{
			{c, http.MethodGet, "/v1/products/" + product, nil, "api_error", "1"},
			{c, http.MethodPost, "/v1/products", map[string]any{"name": "Hangs too"}, "api_error", "1"},
			{c.As(""), http.MethodGet, "/public/checkouts/chk_secret", nil, "api_error", "1"},
			{c.As(""), http.MethodGet, "/checkout/chk_secret", nil, "<h1>", "1"},
			{c.As(""), http.MethodPost, "/checkout/chk_secret/pay", nil, "not known whether", ""}, // nobody is invited to pay twice
			{c.As(""), http.MethodGet, "/readyz", nil, "unavailable", ""},
		} {
			all.Go(func() {
				began := time.Now()
				answer, err := ask.c.Try(ask.method, ask.path, ask.body)
				took := time.Since(began)
				if err != nil {
					t.Errorf("%s %s: %s", ask.method, ask.path, err)
					return
				}
				assert.Equal(t, http.StatusServiceUnavailable, answer.Status)
				assert.Equal(t, ask.after, answer.Header.Get("Retry-After"))
				assert.Contains(t, string(answer.Body), ask.says)
				harness.Within(t, limit, took, ask.method+" "+ask.path)
			})
		}
		all.Wait()
	}
	for why, times := range map[string]int{"counting the request takes too long": 10, `"not ready" error="context deadline exceeded"`: 2} {
		require.Eventually(t, func() bool { return strings.Count(server.Log(), why) == times }, harness.Patience, 10*time.Millisecond, "%d times %s:\n%s", times, why, server.Log())
	}
	proxy.Thaw()
	c.Must(t, http.MethodGet, "/v1/products/"+product, nil)
}
