package signature

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tillwright/tillwright/sdk/internal/require"
)

// vector is one published example. The signatures were computed with openssl, not with this package.
type vector struct {
	Name, Secret, Body, Signature string
	Previous                      *struct{ Secret, Signature string }
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
	require.Len(t, all, 9)
	return all
}

// recipe is what the guide tells integrators, written without this package.
func recipe(key []byte, parts ...string) string {
	mac := hmac.New(sha256.New, key)
	for _, part := range parts {
		mac.Write([]byte(part))
	}
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func TestVectors_AreWhatTheRecipeGives(t *testing.T) {
	t.Parallel()
	for _, v := range vectors(t) {
		require.Equal(t, v.Signature, recipe([]byte(v.Secret), v.Body), v.Name)
		secrets := []string{v.Secret}
		if v.Previous != nil {
			require.Equal(t, v.Previous.Signature, recipe([]byte(v.Previous.Secret), v.Body), v.Name)
			secrets = append(secrets, v.Previous.Secret)
		}
		signatures := strings.Split(v.Standard.Signature, " ")
		require.Len(t, signatures, len(secrets))
		for i, secret := range secrets {
			key, err := base64.StdEncoding.DecodeString(secret[len("whsec_"):])
			require.NoError(t, err)
			require.Equal(t, signatures[i], "v1,"+recipe(key, v.Standard.ID, ".", strconv.FormatInt(v.Standard.Timestamp, 10), ".", v.Body), v.Name)
		}
	}
}

func TestSign_MatchesThePublishedVectors(t *testing.T) {
	t.Parallel()
	for _, v := range vectors(t) {
		require.Equal(t, v.Signature, Sign([]byte(v.Body), v.Secret), v.Name)
		require.True(t, Verify([]byte(v.Body), v.Secret, v.Signature), v.Name)
		require.True(t, Verify([]byte(v.Body), v.Secret, "another", v.Signature, ""), v.Name)
	}
}

func TestStandardSign_MatchesThePublishedVectors(t *testing.T) {
	t.Parallel()
	for _, v := range vectors(t) {
		at := strconv.FormatInt(v.Standard.Timestamp, 10)
		got := StandardSign(v.Standard.ID, time.Unix(v.Standard.Timestamp, 0), []byte(v.Body), v.Secret)
		require.Equal(t, strings.Fields(v.Standard.Signature)[0], got, v.Name)
		require.True(t, StandardVerify(v.Standard.ID, at, []byte(v.Body), v.Secret, v.Standard.Signature), v.Name)
		require.False(t, StandardVerify(v.Standard.ID, at+"0", []byte(v.Body), v.Secret, v.Standard.Signature), v.Name)
		if v.Previous != nil {
			require.True(t, StandardVerify(v.Standard.ID, at, []byte(v.Body), v.Previous.Secret, v.Standard.Signature), v.Name)
		}
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
		"no signatures at all":     Verify(body, v.Secret),
		"cut signature":            Verify(body, v.Secret, v.Signature[:len(v.Signature)-1]),
		"empty secret":             Verify(body, "", Sign(body, "")),
		"empty secret, standard":   StandardVerify("id", "0", body, Prefix, StandardSign("id", time.Unix(0, 0), body, Prefix)),
	}
	for name, verified := range cases {
		require.False(t, verified, name)
	}
}
