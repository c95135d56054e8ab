package server

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/request"
)

// What may be a secret is kept of no path.
func TestRequestLog_KeepsNoSecretOfAPath(t *testing.T) {
	t.Parallel()
	for path, c := range map[string][2]string{
		"/v1/products": {"/v1/products", "/v1/products"},
		"/v1/products/prod_01k0000000000000000000000a":               {"/v1/products/:id", "/v1/products/prod_01k0000000000000000000000a"},
		"/v1/products/a-slug":                                        {"/v1/products/:id", "/v1/products/:id"},
		"/v1/licenses/AAAA-BBBB-CCCC/x":                              {"/v1/licenses/:key/x", "/v1/licenses/:key/x"},
		"/v1/unknown/chk_01k0000000000000000000000a_secret_abcdefgh": {"/v1/*", "/v1/unknown/…"},
		"/v1/unknown/prod_01k0000000000000000000000a/publish":        {"/v1/*", "/v1/unknown/prod_01k0000000000000000000000a/publish"},
		"/v1": {"/v1", "/v1"},
		"/v1/products/prod_01k0000000000000000000000a/Sk9": {"/v1/products/:id/*", "/v1/products/prod_01k0000000000000000000000a/…"},
	} {
		assert.Equal(t, c[1], safePath(c[0], path), path)
	}
}

// A message that repeats a key or a card says neither.
func TestRequestLog_MasksWhatAMessageRepeats(t *testing.T) {
	t.Parallel()
	said := `{"error":{"code":"request_headers_too_large","message":"No such key: sk_live_51Habcdefghijklmnop, card 4242 4242 4242 4242 or 4242424242424242 of prod_01k0000000000000000000000a"}}`
	want := `{"error":{"code":"request_headers_too_large","message":"No such key: ***, card *** or *** of prod_01k0000000000000000000000a"}}`
	assert.Equal(t, want, masked(said))
	assert.Equal(t, `{"message":"No such license_key: '***'. The buyer's card, and 'prod_01k0000000000000000000000a', are fine."}`,
		masked(`{"message":"No such license_key: 'SHORT'. The buyer's card, and 'prod_01k0000000000000000000000a', are fine."}`))
}

// When the server stops, what waits is written; what found no place is counted.
func TestRequestLog_WritesTheRestAndCountsWhatFindsNoPlace(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	require.Equal(t, http.StatusOK, f.send(http.MethodGet, "/v1/widgets", "").StatusCode)
	require.Equal(t, http.StatusNotFound, f.send(http.MethodGet, "/v1/nothing", "").StatusCode)
	for range requestsWaiting - 2 {
		f.server.requests.waiting <- noted{Request: request.Request{AccountID: f.account, ID: core.NewID(core.KindRequest), Status: http.StatusOK, CreatedAt: f.store.Now()}}
	}
	f.send(http.MethodGet, "/v1/widgets", "")
	f.send(http.MethodGet, "/v1/nothing", "")
	require.Eventually(t, func() bool { // a request is noted after it was answered
		f.server.requests.mu.Lock()
		defer f.server.requests.mu.Unlock()
		return f.server.requests.dropped[f.account] == 2
	}, time.Minute, time.Millisecond)
	ended, end := context.WithCancel(t.Context())
	end()
	f.server.WriteRequests(ended)

	lost, err := f.store.Requests.CountDropped(t.Context(), f.account, 0)
	require.NoError(t, err)
	assert.EqualValues(t, 2, lost)
	failed, _, err := f.store.Requests.ListRequests(t.Context(), f.account, request.ListRequests{Page: core.Page{Limit: 10}, Class: 4})
	require.NoError(t, err)
	require.Len(t, failed, 1)
	assert.Contains(t, *failed[0].Error, "resource_missing")
	assert.Empty(t, f.server.requests.waiting)
}
