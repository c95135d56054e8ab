package signature

import (
	"crypto/hmac"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/tillwright/tillwright/sdk/internal/require"
)

// FuzzVerify: a header verifies if it is the signature of the body, byte for byte, and nothing else does. The test computes the
// signature by the published recipe.
func FuzzVerify(f *testing.F) {
	body, secret := `{"id":"whev_1"}`, Prefix+"MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	right := Sign([]byte(body), secret)
	for _, c := range [][3]string{
		{body, secret, right}, {body, secret, ""}, {body, "", right}, {body, secret, right + "\n"}, {body, secret, right[:len(right)-1]}, {"", Prefix, "="},
		{body, secret, strings.ToLower(right)}, {body + " ", secret, right}, {body, secret[len(Prefix):], right}, {body, secret, right + "," + right},
	} {
		f.Add([]byte(c[0]), c[1], c[2])
	}
	f.Fuzz(func(t *testing.T, body []byte, secret, header string) {
		right := recipe([]byte(secret), string(body))
		require.Equal(t, secret != "" && header == right, Verify(body, secret, header))
		require.Equal(t, secret != "", Verify(body, secret, header, right), "among others, the right one counts")
		require.False(t, Verify(append(body, '.'), secret, right), "the right one, of another body")
		require.False(t, Verify(body, secret+"x", right), "the right one, of another secret")
	})
}

// FuzzStandardVerify: a list verifies if one of its words is the signature of the message with its id and its time.
func FuzzStandardVerify(f *testing.F) {
	body, secret := `{"id":"whev_1"}`, Prefix+"MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	list := standardSign("msg_1", "1700000000", []byte(body), standardKey(secret))
	for _, c := range [][5]string{
		{"msg_1", "1700000000", body, secret, list}, {"msg_1", "1700000000", body, secret, "v1,AAAA " + list + "\tv2,x"}, {"msg_1", "1700000000", body, Prefix, list},
		{"msg_1.1700000000", "", body, secret, list}, {"", "", "", "", ""}, {"msg_1", "1700000001", body, secret, list}, {"msg_1", "1700000000", body, "not base64", list},
		{"msg_1", "1700000000", body, secret, strings.Replace(list, "v1,", "v1a,", 1)}, {"msg_1", "1700000000", body, secret, strings.TrimPrefix(list, "v1,")},
	} {
		f.Add(c[0], c[1], []byte(c[2]), c[3], c[4])
	}
	f.Fuzz(func(t *testing.T, id, timestamp string, body []byte, secret, list string) {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, Prefix))
		if err != nil {
			key = []byte(secret)
		}
		right := "v1," + recipe(key, id, ".", timestamp, ".", string(body))
		named := false
		for _, word := range strings.Fields(list) {
			named = named || hmac.Equal([]byte(word), []byte(right))
		}
		require.Equal(t, named && len(key) > 0, StandardVerify(id, timestamp, body, secret, list))
		require.Equal(t, len(key) > 0, StandardVerify(id, timestamp, body, secret, list+" "+right), "among others, the right one counts")
		require.False(t, StandardVerify(id, timestamp+"0", body, secret, right), "the right one, of another time")
	})
}
