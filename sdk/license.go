package sdk

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"
)

var (
	// ErrBadLicense means that a token was not signed with this key, or was changed.
	ErrBadLicense = errors.New("sdk: the licence token is not signed with this key")
	// ErrLicenseExpired means that a token has ended, or is newer than this device's clock. Ask the server for another one.
	ErrLicenseExpired = errors.New("sdk: the licence token has expired, or the clock of this device is wrong")
	// ErrLicenseElsewhere means that a token belongs to another device.
	ErrLicenseElsewhere = errors.New("sdk: the licence token is of another device")
)

// License is the content of an activation's token. Check that Product is your program's, because one key signs for all
// products of an account.
type License struct {
	Account     string // `acct_...`
	LicenseKey  string // `lic_...`
	Product     string // `prod_...`
	Fingerprint string
	IssuedAt    time.Time
	ExpiresAt   time.Time // until then the device needs no network
}

// licenseSkew is how far the clock of a device may be behind the server's.
const licenseSkew = 24 * time.Hour

// longestLicense bounds a token that is read: the longest fingerprint fits.
const longestLicense = 8 << 10

// VerifyLicense checks, without a network, that a token was made for the device with this fingerprint, and has not ended.
//
// publicKey is the `x` of one of the account's signing keys. Make it a constant of your program: a user could change a setting.
// The error is ErrBadLicense, ErrLicenseElsewhere or ErrLicenseExpired. With the last of these the license is returned too.
func VerifyLicense(token, publicKey, fingerprint string) (*License, error) {
	return verifyLicense(token, publicKey, fingerprint, time.Now())
}

func verifyLicense(token, publicKey, fingerprint string, now time.Time) (*License, error) {
	public, err := base64.RawURLEncoding.Strict().DecodeString(publicKey)
	if err != nil || len(public) != ed25519.PublicKeySize {
		return nil, errors.New("sdk: send the 32 bytes of a signing key, as `x` of its `jwk` has them in base64url")
	}
	l, err := openLicense(token, public)
	switch {
	case err != nil:
		return nil, err
	case l.Fingerprint != fingerprint:
		return nil, ErrLicenseElsewhere
	case !now.Before(l.ExpiresAt), l.IssuedAt.Sub(now) > licenseSkew:
		return l, ErrLicenseExpired
	}
	return l, nil
}

// openLicense reads a token and checks its signature. Only EdDSA is taken, whatever the token says.
func openLicense(token string, public ed25519.PublicKey) (*License, error) {
	parts := strings.Split(token, ".")
	if len(token) > longestLicense || len(parts) != 3 {
		return nil, ErrBadLicense
	}
	var bytes [3][]byte
	for i, part := range parts {
		decoded, err := base64.RawURLEncoding.Strict().DecodeString(part)
		if err != nil || strings.ContainsAny(part, "\r\n") { // decoding steps over line breaks
			return nil, ErrBadLicense
		}
		bytes[i] = decoded
	}
	if !ed25519.Verify(public, []byte(parts[0]+"."+parts[1]), bytes[2]) {
		return nil, ErrBadLicense
	}
	var header struct {
		Algorithm string `json:"alg"`
	}
	var claims struct {
		Account     string `json:"iss"`
		LicenseKey  string `json:"sub"`
		Product     string `json:"prd"`
		Fingerprint string `json:"fpr"`
		IssuedAt    int64  `json:"iat"`
		ExpiresAt   int64  `json:"exp"`
	}
	if json.Unmarshal(bytes[0], &header) != nil || json.Unmarshal(bytes[1], &claims) != nil || header.Algorithm != "EdDSA" {
		return nil, ErrBadLicense
	}
	return &License{
		Account: claims.Account, LicenseKey: claims.LicenseKey, Product: claims.Product, Fingerprint: claims.Fingerprint,
		IssuedAt: time.Unix(claims.IssuedAt, 0).UTC(), ExpiresAt: time.Unix(claims.ExpiresAt, 0).UTC(),
	}, nil
}

// licenseDigits is the alphabet of keys that a server generates, Crockford's base32.
const licenseDigits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// licenseModulus is what the last two of a key's 25 characters are the remainder by.
const licenseModulus = 1021

// IsLicenseKey reports whether a text may be a key that a server generated, such as `9F3XT-0MBWC-5Z8RA-H4DNE-17QK2`. It finds a
// mistyped character, or two that changed places, without a request. Do not use it if you import keys from elsewhere.
func IsLicenseKey(text string) bool {
	var value, digits, check int
	for _, r := range strings.ToUpper(text) {
		if r == ' ' || r == '-' {
			continue
		}
		if instead := strings.IndexRune("OIL", r); instead >= 0 {
			r = rune("011"[instead])
		}
		digit := strings.IndexRune(licenseDigits, r)
		if digits++; digit < 0 || digits > 25 {
			return false
		}
		if digits <= 23 {
			value = (value*32 + digit) % licenseModulus
		} else {
			check = check*32 + digit
		}
	}
	return digits == 25 && value == check
}
