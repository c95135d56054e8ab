package server

import (
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/dunglas/httpsfv"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDeprecation_OnEveryResponseOfTheOperation(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	_, other := makeKey(t, f.store, "orders:read")
	check := func(status int, a *answer) {
		t.Helper()
		require.Equal(t, status, a.StatusCode, a.body)
		since, err := httpsfv.UnmarshalItem(a.Header.Values("Deprecation"))
		require.NoError(t, err)
		assert.Equal(t, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), since.Value.(time.Time).UTC())
		sunset, err := http.ParseTime(a.Header.Get("Sunset"))
		require.NoError(t, err)
		assert.Equal(t, time.Date(2026, 7, 3, 0, 0, 0, 0, time.UTC), sunset)
		assert.Equal(t, `<https://docs.example/gadgets>; rel="deprecation"; type="text/html"`, a.Header.Get("Link"))
	}
	check(200, f.send("GET", "/v1/gadgets", ""))
	check(400, f.send("GET", "/v1/gadgets?limit=0", ""))
	check(401, f.send("GET", "/v1/gadgets", "", "Authorization", ""))
	check(403, f.send("GET", "/v1/gadgets", "", "Authorization", "Bearer "+other))
	check(405, f.send("PUT", "/v1/gadgets", ""))
	f.useUp()
	check(429, f.send("GET", "/v1/gadgets", ""))
	assert.Empty(t, f.send("GET", "/v1/widgets", "").Header.Get("Deprecation"), "no other operation has them")
}

func TestReadOperations_RefusesADeprecationItCannotKeep(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("testdata/widgets.yaml")
	require.NoError(t, err)
	with := func(old, replacement string) error {
		require.Contains(t, string(document), old)
		_, err := ReadOperations([]byte(strings.Replace(string(document), old, replacement, 1)))
		return err
	}
	require.NoError(t, with("'2026-07-03'", "'2026-07-03'"))
	assert.ErrorContains(t, with("'2026-07-03'", "'2026-07-02'"), "183 days")
	assert.ErrorContains(t, with("x-sunset-at: '2026-07-03'", ""), "x-sunset-at must be a date")
	assert.ErrorContains(t, with("'2026-01-01'", "soon"), "x-deprecated-at must be a date")
	assert.ErrorContains(t, with("x-deprecation-link: https://docs.example/gadgets", ""), "x-deprecation-link")
	assert.ErrorContains(t, with("operationId: listGadgets", ""), "operationId")
}
