package signature

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// vector is one published example. The signatures were computed with openssl, not with this package.
type vector struct {
	Name, Secret, Body, Signature string
	Standard                      struct {
		ID        string `json:"webhook_id"`
		Timestamp int64  `json:"webhook_timestamp"`
		Signature string `json:"webhook_signature"`
	}
}

func vectors(t *testing.T) []vector {
	t.Helper()
	text, err := os.ReadFile("testdata/vectors.json")
	require.NoError(t, err)
	var all []vector
	require.NoError(t, json.Unmarshal(text, &all))
	require.Len(t, all, 3)
	return all
}

func TestSign_MatchesThePublishedVectors(t *testing.T) {
	t.Parallel()
	for _, v := range vectors(t) {
		require.Equal(t, v.Signature, Sign([]byte(v.Body), v.Secret), v.Name)
		require.True(t, Verify([]byte(v.Body), v.Secret, v.Signature), v.Name)
	}
}

func TestStandardSign_MatchesThePublishedVectors(t *testing.T) {
	t.Parallel()
	for _, v := range vectors(t) {
		got := StandardSign(v.Standard.ID, time.Unix(v.Standard.Timestamp, 0), []byte(v.Body), v.Secret)
		require.Equal(t, v.Standard.Signature, got, v.Name)
	}
}

func TestVerify_RefusesWhatIsNotTheSignature(t *testing.T) {
	t.Parallel()
	v := vectors(t)[0]
	body := []byte(v.Body)
	cases := map[string]bool{
		"another byte in the body": Verify(append([]byte(" "), body...), v.Secret, v.Signature),
		"another secret":           Verify(body, v.Secret+"x", v.Signature),
		"secret without prefix":    Verify(body, v.Secret[len(Prefix):], v.Signature),
		"no signature":             Verify(body, v.Secret, ""),
		"cut signature":            Verify(body, v.Secret, v.Signature[:len(v.Signature)-1]),
		"empty secret":             Verify(body, "", Sign(body, "")),
	}
	for name, verified := range cases {
		require.False(t, verified, name)
	}
}
