// Package signature signs webhook bodies and checks the signatures. The sender and the SDK share it, so that the two
// can never disagree. It needs nothing but the standard library.
package signature

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"
)

// Prefix is how every signing secret begins. It is part of the key.
const Prefix = "whsec_"

// Sign returns the Base64 HMAC-SHA256 of the raw body: the value of the X-<Service>-Hmac-SHA256 header. The key is
// the whole secret string as it was shown, its prefix included.
func Sign(body []byte, secret string) string {
	return digest([]byte(secret), body)
}

// Verify reports whether one of values is the signature of exactly these bytes with the secret. It takes the same time
// wherever a wrong signature differs. With an empty secret it is always false.
func Verify(body []byte, secret string, values ...string) bool {
	return secret != "" && among(values, Sign(body, secret))
}

// StandardSign returns the webhook-signature header of the Standard Webhooks specification for a message id, the
// time of sending and a body. Its key is the part of the secret after the prefix, decoded.
func StandardSign(id string, sentAt time.Time, body []byte, secret string) string {
	return standardSign(id, strconv.FormatInt(sentAt.Unix(), 10), body, standardKey(secret))
}

// StandardVerify reports whether list, the value of webhook-signature, contains the signature of exactly these bytes
// with the values of webhook-id and webhook-timestamp. Whether that time is recent enough is for the caller to check.
// With a secret that is nothing but its prefix it is always false.
func StandardVerify(id, timestamp string, body []byte, secret, list string) bool {
	key := standardKey(secret)
	return len(key) > 0 && among(strings.Fields(list), standardSign(id, timestamp, body, key))
}

func standardSign(id, timestamp string, body, key []byte) string {
	return "v1," + digest(key, []byte(id+"."+timestamp+"."+string(body)))
}

// standardKey returns the key for a signature of Standard Webhooks: the part of the secret after the prefix, decoded. If
// that is not Base64, it is the bytes of the whole secret, so that there always is a signature.
func standardKey(secret string) []byte {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, Prefix))
	if err != nil {
		return []byte(secret)
	}
	return key
}

// among reports whether one of values is the right one. It compares all of them, so that the time it takes does not tell
// which one is.
func among(values []string, right string) bool {
	found := false
	for _, value := range values {
		found = hmac.Equal([]byte(value), []byte(right)) || found
	}
	return found
}

func digest(key, message []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write(message)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
