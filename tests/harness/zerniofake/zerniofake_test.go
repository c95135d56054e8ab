package zerniofake

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// send sends a request with a key and returns status, headers and body of the answer.
func send(t *testing.T, n *Network, method, path, key, body string) (int, http.Header, string) {
	t.Helper()
	r, err := http.NewRequest(method, "https://zernio.example"+Prefix+path, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer k")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	res, err := n.RoundTrip(r)
	require.NoError(t, err)
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, res.Header, string(text)
}

func TestTable_HasAHandlerForEachCall(t *testing.T) {
	t.Parallel()
	assert.Len(t, Calls(), len(handlers))
	for _, c := range Calls() {
		assert.NotNil(t, handlers[c.String()], c)
	}
}

// A key repeats what succeeded for a day, refuses another request, and remembers nothing of what was refused.
func TestNetwork_KeepsKeys(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	n := New("k", func() time.Time { return now })
	status, _, refused := send(t, n, "POST", "/v1/profiles", "one", `{"nam":"a"}`)
	assert.Equal(t, http.StatusBadRequest, status)
	assert.Contains(t, refused, `"param":"nam"`)
	status, first, made := send(t, n, "POST", "/v1/profiles", "one", `{"name":"a"}`)
	assert.Equal(t, http.StatusCreated, status, "the body was corrected under the same key")
	assert.NotEmpty(t, first.Get("X-RateLimit-Remaining"))
	status, again, replayed := send(t, n, "POST", "/v1/profiles", "one", `{"name":"a"}`)
	assert.Equal(t, http.StatusCreated, status)
	assert.Equal(t, made, replayed)
	assert.Equal(t, "true", again.Get("Idempotent-Replayed"))
	status, _, other := send(t, n, "POST", "/v1/profiles", "one", `{"name":"b"}`)
	assert.Equal(t, http.StatusUnprocessableEntity, status)
	assert.Contains(t, other, "idempotency_key_reused")
	now = now.Add(24 * time.Hour)
	status, _, conflict := send(t, n, "POST", "/v1/profiles", "one", `{"name":"a"}`)
	assert.Equal(t, http.StatusConflict, status, "the key is forgotten, the name is not")
	assert.Contains(t, conflict, "existingProfileId")
}

func TestNetwork_RefusesWhatIsNotInTheTable(t *testing.T) {
	t.Parallel()
	n := New("k", time.Now)
	for path, want := range map[string]int{
		"/v1/profiles?nam=a": 400, "/v1/profiles?limit=0": 400, "/v1/profiles?limit=x": 400, "/v1/profiles?name=a&name=b": 400, "/v1/ads/accounts": 400, "/v1/nothing": 404,
		"/v1/ads?status=on": 400, "/v1/profiles": 200,
	} {
		status, _, text := send(t, n, "GET", path, "", "")
		assert.Equal(t, want, status, path+" "+text)
	}
	status, _, _ := send(t, n, "PUT", "/v1/ads/campaigns/1/status", "a-key", `{"status":"active","platform":"facebook"}`)
	assert.Equal(t, http.StatusBadRequest, status, "it has no keys")
}
