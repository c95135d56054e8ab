package server

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
)

func TestAuthenticate_RefusesEverythingButOneGoodKey(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	_, other := makeKey(t, f.store)
	send := func(values ...string) *answer {
		r, err := http.NewRequest("GET", f.url+"/v1/widgets", nil)
		require.NoError(t, err)
		r.Header["Authorization"] = values
		return do(t, r)
	}
	assert.Equal(t, 200, send("Bearer "+f.token).StatusCode)
	assert.Equal(t, 200, send("bearer "+f.token).StatusCode, "the scheme has no case")
	assert.Equal(t, 200, send("Bearer   "+f.token).StatusCode, "RFC 6750 allows several spaces")
	for name, values := range map[string][]string{
		"none": nil, "empty": {""}, "no scheme": {f.token}, "basic": {"Basic " + f.token}, "no token": {"Bearer "},
		"two headers": {"Bearer " + f.token, "Bearer " + f.token}, "mistyped": {"Bearer " + mistype(f.token)},
		"upper case": {"Bearer " + strings.ToUpper(f.token)}, "comma": {"Bearer " + f.token + ", Bearer " + other},
	} {
		a := send(values...)
		require.Equal(t, 401, a.StatusCode, name)
		assert.Equal(t, core.CodeUnauthenticated, a.problem(t).Code, name)
		assert.Equal(t, "Bearer", a.Header.Get("WWW-Authenticate"), name)
	}
}

// mistype returns a token with one other character.
func mistype(token string) string {
	other := "x"
	if token[60:61] == other {
		other = "y"
	}
	return token[:60] + other + token[61:]
}

func TestAuthenticate_DeletedKeyFailsAtOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	key, token, err := f.store.Tenant.CreateAPIKey(t.Context(), f.account, tenant.Granted{}, tenant.NewAPIKey{})
	require.NoError(t, err)
	require.Equal(t, 200, f.send("GET", "/v1/widgets", "", "Authorization", "Bearer "+token).StatusCode)
	_, err = f.store.Tenant.DeleteAPIKey(t.Context(), f.account, tenant.Granted{}, key.ID, false)
	require.NoError(t, err)
	assert.Equal(t, 401, f.send("GET", "/v1/widgets", "", "Authorization", "Bearer "+token).StatusCode)
}

func TestAuthenticate_LimitsAnAddressWithoutAKey(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	ask := func(path, address string) int {
		r := httptest.NewRequest("GET", path, nil)
		r.RemoteAddr = address
		w := httptest.NewRecorder()
		f.server.ServeHTTP(w, r)
		return w.Code
	}
	f.stopClock()
	for range tenant.RateLimit {
		require.Equal(t, 401, ask("/v1/widgets", "192.0.2.1:5"))
	}
	assert.Equal(t, 429, ask("/v1/widgets", "192.0.2.1:6"), "whatever the port")
	assert.Equal(t, 429, ask("/public/tickets/x", "192.0.2.1:6"))
	assert.Equal(t, 401, ask("/v1/widgets", "192.0.2.2:5"))
	assert.Equal(t, 200, f.send("GET", "/v1/widgets", "").StatusCode, "a key has a quota of its own")
}

func TestCountPage_IsApartFromTheAPIAndRefusesWithAPage(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	ask := func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		f.server.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		return w
	}
	asked := f.stopClock()
	for range tenant.RateLimit + 1 {
		ask("/v1/widgets")
	}
	require.Equal(t, 429, ask("/v1/widgets").Code)
	require.Equal(t, 429, ask("/public/tickets/x").Code)
	w := ask("/shop/7")
	require.Equal(t, 200, w.Code, "what has no key uses up nothing of the pages")
	assert.Contains(t, w.Header().Get("RateLimit"), fmt.Sprintf("r=%d;", tenant.RateLimit-1))
	for range tenant.RateLimit - 1 {
		require.Equal(t, 200, ask("/shop/7").Code)
	}
	w = ask("/shop/7")
	assert.Equal(t, 429, w.Code)
	assert.Equal(t, "<h1>Too Many Requests</h1>", w.Body.String())
	assert.Equal(t, "text/html; charset=UTF-8", w.Header().Get("Content-Type"))
	assert.NotEmpty(t, w.Header().Get("Retry-After"))
	assert.NotEmpty(t, w.Header().Get("X-Request-Id"))
	assertLimitHeaders(t, asked, w.Header())
	assert.Contains(t, f.send("POST", "/v1/widgets", `{}`).Header.Get("Content-Type"), "json", "the API's refusals are as ever")
}

func TestAddress_SaysOnceThatAProxyIsNotNamed(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.server.proxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	ask := func(peer, forwarded string) {
		r := httptest.NewRequest("GET", "/shop/7", nil)
		r.RemoteAddr = peer
		if forwarded != "" {
			r.Header.Set("X-Forwarded-For", forwarded)
		}
		f.server.ServeHTTP(httptest.NewRecorder(), r)
	}
	said := func() int { return strings.Count(f.log.String(), "TILLWRIGHT_TRUSTED_PROXIES") }
	ask("192.0.2.1:1", "198.51.100.1")
	ask("10.0.0.1:1", "")
	require.Zero(t, said(), "a proxy that is named, and one that says nothing")
	for range 20 {
		ask("203.0.113.1:1", "198.51.100.1")
	}
	require.Equal(t, 1, said())
	for range 20 {
		ask("10.0.0.1:1", "198.51.100.1")
	}
	assert.Equal(t, 2, said(), "strangers do not keep the line about our own network away")
	assert.Contains(t, f.log.String(), `"address":"10.0.0.1"`)
	f.server.strangers.inside.Add(-int64(strangerInterval))
	ask("10.0.0.2:1", "198.51.100.1")
	assert.Equal(t, 3, said(), "and again after a while")
}

func TestAddress(t *testing.T) {
	t.Parallel()
	s := &Server{log: slog.New(slog.DiscardHandler), proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}}
	cases := []struct {
		name, peer string
		forwarded  []string
		want       string
	}{
		{"the peer", "192.0.2.1:80", nil, "192.0.2.1"},
		{"a peer that nobody trusts", "192.0.2.1:80", []string{"198.51.100.1"}, "192.0.2.1"},
		{"a trusted proxy", "10.1.1.1:80", []string{"198.51.100.1"}, "198.51.100.1"},
		{"two trusted proxies", "10.1.1.1:80", []string{"198.51.100.1, 10.2.2.2"}, "198.51.100.1"},
		{"what the client made up", "10.1.1.1:80", []string{"203.0.113.9, 198.51.100.1"}, "198.51.100.1"},
		{"several headers", "10.1.1.1:80", []string{"203.0.113.9", "198.51.100.1"}, "198.51.100.1"},
		{"nonsense from a proxy", "10.1.1.1:80", []string{"unknown"}, "10.1.1.1"},
		{"a proxy by itself", "10.1.1.1:80", nil, "10.1.1.1"},
		{"IPv6", "[2001:db8:1:2:3::4]:80", nil, "2001:db8:1:2:3::4"},
		{"IPv6 through a proxy", "[::1]:80", []string{"2001:db8:1:2::9"}, "2001:db8:1:2::9"},
		{"IPv4 in IPv6", "[::ffff:192.0.2.1]:80", nil, "192.0.2.1"},
		{"a zone", "[fe80::1%eth0]:80", nil, "fe80::1"},
		{"no address", "@", nil, "unknown"},
	}
	for _, c := range cases {
		r := &http.Request{RemoteAddr: c.peer, Header: http.Header{"X-Forwarded-For": c.forwarded}}
		assert.Equal(t, c.want, s.address(r), c.name)
	}
}

// The keys of an account have a quota together, if whoever runs the server wants that.
func TestAuthenticate_CountsAllKeysOfAnAccount(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.stopClock()
	f.server.accountQuota = 3
	_, second, err := f.store.Tenant.CreateAPIKey(t.Context(), f.account, tenant.Granted{}, tenant.NewAPIKey{})
	require.NoError(t, err)
	_, other := makeKey(t, f.store)
	for _, token := range []string{f.token, second, f.token} {
		a := f.send("GET", "/v1/widgets", "", "Authorization", "Bearer "+token)
		assert.Equal(t, 200, a.StatusCode)
		assert.Contains(t, a.Header.Get("RateLimit-Policy"), "q=600")
	}
	a := f.send("GET", "/v1/widgets", "", "Authorization", "Bearer "+second)
	assert.Equal(t, 429, a.StatusCode)
	assert.Contains(t, a.Header.Get("RateLimit-Policy"), "q=3;")
	assert.NotEmpty(t, a.Header.Get("Retry-After"))
	assert.Equal(t, 200, f.send("GET", "/v1/widgets", "", "Authorization", "Bearer "+other).StatusCode, "another account has its own")
}
