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

// Prefix begins every signing secret. It is part of the key.
const Prefix = "whsec_"

// Sign returns the Base64 HMAC-SHA256 of the raw body: the value of the X-<Service>-Hmac-SHA256 header. The key is
// the whole secret string as it was shown, its prefix included.
func Sign(body []byte, secret string) string {
	return digest([]byte(secret), body)
}

// Verify reports whether value is the signature of exactly these bytes under secret. It takes the same time whether
// the first or the last character differs. An empty secret verifies nothing.
func Verify(body []byte, secret, value string) bool {
	return secret != "" && hmac.Equal([]byte(Sign(body, secret)), []byte(value))
}

// StandardSign returns the webhook-signature header of the Standard Webhooks specification for a message id, the
// time of sending and a body. Its key is the part of the secret after the prefix, decoded.
func StandardSign(id string, sentAt time.Time, body []byte, secret string) string {
	signed := id + "." + strconv.FormatInt(sentAt.Unix(), 10) + "." + string(body)
	return "v1," + digest(standardKey(secret), []byte(signed))
}

// standardKey falls back to the bytes of the secret where it is not Base64, so that a signature can always be made.
func standardKey(secret string) []byte {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, Prefix))
	if err != nil {
		return []byte(secret)
	}
	return key
}

func digest(key, message []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write(message)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
