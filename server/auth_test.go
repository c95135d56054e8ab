package server

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
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
	for name, values := range map[string][]string{
		"none": nil, "empty": {""}, "no scheme": {f.token}, "basic": {"Basic " + f.token}, "no token": {"Bearer "}, "two spaces": {"Bearer  " + f.token},
		"two headers": {"Bearer " + f.token, "Bearer " + f.token}, "mistyped": {"Bearer " + mistype(f.token)},
		"upper case": {"Bearer " + strings.ToUpper(f.token)}, "comma": {"Bearer " + f.token + ", Bearer " + other},
	} {
		a := send(values...)
		require.Equal(t, 401, a.StatusCode, name)
		assert.Equal(t, store.CodeUnauthenticated, a.problem(t).Code, name)
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
	key, token, err := f.store.CreateAPIKey(t.Context(), f.account, store.Granted{}, store.NewAPIKey{})
	require.NoError(t, err)
	require.Equal(t, 200, f.send("GET", "/v1/widgets", "", "Authorization", "Bearer "+token).StatusCode)
	_, err = f.store.DeleteAPIKey(t.Context(), f.account, key.ID)
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
	for range store.RateLimit {
		require.Equal(t, 401, ask("/v1/widgets", "192.0.2.1:5"))
	}
	assert.Equal(t, 429, ask("/v1/widgets", "192.0.2.1:6"), "whatever the port")
	assert.Equal(t, 429, ask("/public/tickets/x", "192.0.2.1:6"))
	assert.Equal(t, 401, ask("/v1/widgets", "192.0.2.2:5"))
	assert.Equal(t, 200, f.send("GET", "/v1/widgets", "").StatusCode, "a key has a quota of its own")
}

func TestAddress(t *testing.T) {
	t.Parallel()
	s := &Server{proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}}
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
