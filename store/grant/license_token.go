package grant

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
)

// defaultOfflineDays is how long a device goes on without asking again, if its price variant does not say so.
const defaultOfflineDays = 30

// licenseGrace is how long a device goes on after the period that a subscription has paid for: so long a payment may be late.
const licenseGrace = 3 * 24 * time.Hour

// licenseHeader is the header of a token (RFC 7515, RFC 8037).
type licenseHeader struct {
	Algorithm string `json:"alg"`
	Type      string `json:"typ"`
	KeyID     string `json:"kid"`
}

// licenseClaims is what a token says: sdk.License is the same.
type licenseClaims struct {
	Account     string `json:"iss"`
	LicenseKey  string `json:"sub"`
	Product     string `json:"prd"`
	Fingerprint string `json:"fpr"`
	IssuedAt    int64  `json:"iat"` // Unix seconds, as the next
	ExpiresAt   int64  `json:"exp"`
}

// tokenEnd returns when a token of the key that is made now ends, which is the earliest of three moments. One is after the days that the device
// may be offline, one is the end of the key itself. The third is soon after the period that its subscription has paid for.
func (k *LicenseKey) tokenEnd(now core.Time) core.Time {
	days := int64(defaultOfflineDays)
	if k.OfflineDays != nil {
		days = *k.OfflineDays
	}
	end := now.Add(time.Duration(days) * 24 * time.Hour)
	if k.ExpiresAt != nil {
		end = min(end, *k.ExpiresAt)
	}
	if k.lives != nil && k.lives.PaidUntil != nil {
		end = min(end, k.lives.PaidUntil.Add(licenseGrace))
	}
	return end
}

// licenseToken returns the proof that a key may be used on a device until some moment. It is a compact JWS (RFC 7515) under the
// account's signing key.
func licenseToken(signer *signer, k *LicenseKey, fingerprint string, now, end core.Time) (string, error) {
	head, err := json.Marshal(licenseHeader{Algorithm: "EdDSA", Type: "JWT", KeyID: signer.id})
	if err != nil {
		return "", fmt.Errorf("license token: %w", err)
	}
	claims, err := json.Marshal(licenseClaims{
		Account: k.AccountID, LicenseKey: k.ID, Product: k.ProductID, Fingerprint: fingerprint, IssuedAt: now.Time().Unix(), ExpiresAt: end.Time().Unix(),
	})
	if err != nil {
		return "", fmt.Errorf("license token: %w", err)
	}
	signed := base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(claims)
	return signed + "." + base64.RawURLEncoding.EncodeToString(ed25519.Sign(signer.private, []byte(signed))), nil
}
