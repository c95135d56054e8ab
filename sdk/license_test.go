package sdk

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"
)

var licenseSeed = []byte("0123456789abcdef0123456789abcdef")

// signedLicense returns a token and the public key that checks it.
func signedLicense(header, claims string) (token, public string) {
	key := ed25519.NewKeyFromSeed(licenseSeed)
	signed := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString([]byte(claims))
	return signed + "." + base64.RawURLEncoding.EncodeToString(ed25519.Sign(key, []byte(signed))),
		base64.RawURLEncoding.EncodeToString(key.Public().(ed25519.PublicKey))
}

const licenseHeader = `{"alg":"EdDSA","kid":"lsk_1"}`

func licenseClaims(issued, ends time.Time) string {
	return fmt.Sprintf(`{"iss":"acct_1","sub":"lic_1","prd":"prod_1","fpr":"mac","iat":%d,"exp":%d}`, issued.Unix(), ends.Unix())
}

func TestVerifyLicense_SaysWhatTheTokenSays(t *testing.T) {
	t.Parallel()
	now := time.Now()
	token, public := signedLicense(licenseHeader, licenseClaims(now, now.Add(time.Hour)))
	l, err := VerifyLicense(token, public, "mac")
	if err != nil || l.Product != "prod_1" || l.LicenseKey != "lic_1" || l.Account != "acct_1" || l.ExpiresAt.Unix() != now.Add(time.Hour).Unix() {
		t.Fatal(l, err)
	}
}

func TestVerifyLicense_Refuses(t *testing.T) {
	t.Parallel()
	now := time.Now()
	good, public := signedLicense(licenseHeader, licenseClaims(now, now.Add(time.Hour)))
	parts := strings.Split(good, ".")
	ended, _ := signedLicense(licenseHeader, licenseClaims(now.Add(-2*time.Hour), now))
	early, _ := signedLicense(licenseHeader, licenseClaims(now.Add(25*time.Hour), now.Add(48*time.Hour)))
	none, _ := signedLicense(`{"alg":"none"}`, licenseClaims(now, now.Add(time.Hour)))
	for name, refused := range map[string]struct {
		token, fingerprint string
		err                error
	}{
		"of another device":    {good, "other", ErrLicenseElsewhere},
		"ended":                {ended, "mac", ErrLicenseExpired},
		"of a later time":      {early, "mac", ErrLicenseExpired},
		"another algorithm":    {none, "mac", ErrBadLicense},
		"without a signature":  {parts[0] + "." + parts[1] + ".", "mac", ErrBadLicense},
		"other claims":         {parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(`{"fpr":"mac","exp":99999999999}`)) + "." + parts[2], "mac", ErrBadLicense},
		"a line break in it":   {parts[0] + "." + parts[1] + "." + parts[2][:9] + "\n" + parts[2][9:], "mac", ErrBadLicense},
		"more than a token":    {good + ".x", "mac", ErrBadLicense},
		"nothing":              {"", "mac", ErrBadLicense},
		"much more than fits":  {strings.Repeat("a", longestLicense+1), "mac", ErrBadLicense},
		"signed as no JSON is": {func() string { token, _ := signedLicense(licenseHeader, "{"); return token }(), "mac", ErrBadLicense},
	} {
		if _, err := VerifyLicense(refused.token, public, refused.fingerprint); !errors.Is(err, refused.err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := VerifyLicense(good, "no key", "mac"); err == nil {
		t.Error("a key that is none was taken")
	}
}

// FuzzVerifyLicense holds that nothing but what was signed is taken, whatever is sent.
func FuzzVerifyLicense(f *testing.F) {
	now := time.Now()
	good, public := signedLicense(licenseHeader, licenseClaims(now, now.Add(24*time.Hour)))
	f.Add(good)
	f.Add(good[1:])
	f.Add(strings.Replace(good, ".", "..", 1))
	f.Add(good + "=")
	f.Add("..")
	f.Fuzz(func(t *testing.T, token string) {
		if _, err := VerifyLicense(token, public, "mac"); err == nil && token != good {
			t.Errorf("%q was taken", token)
		}
	})
}

func TestIsLicenseKey_FindsWhatWasMistyped(t *testing.T) {
	t.Parallel()
	const random = "9F3XT0MBWC5Z8RAH4DNE17Q"
	value := new(big.Int)
	for _, r := range random { // by another way than IsLicenseKey
		value.Add(value.Mul(value, big.NewInt(32)), big.NewInt(int64(strings.IndexRune(licenseDigits, r))))
	}
	check := value.Mod(value, big.NewInt(1021)).Int64()
	key := random + string(licenseDigits[check/32]) + string(licenseDigits[check%32])
	if !IsLicenseKey(key) || !IsLicenseKey(strings.ToLower(key[:5]+"-"+key[5:9]+" "+key[9:])) || !IsLicenseKey(strings.ReplaceAll(strings.ReplaceAll(key, "0", "o"), "1", "l")) {
		t.Fatal(key)
	}
	for i := range key {
		for _, r := range licenseDigits {
			if wrong := key[:i] + string(r) + key[i+1:]; wrong != key && IsLicenseKey(wrong) {
				t.Errorf("%s was taken for %s", wrong, key)
			}
		}
		if i > 0 && key[i] != key[i-1] && i != 23 { // two neighbours, but for those of which one checks the other
			if wrong := key[:i-1] + string(key[i]) + string(key[i-1]) + key[i+1:]; IsLicenseKey(wrong) {
				t.Errorf("%s was taken for %s", wrong, key)
			}
		}
	}
	for _, wrong := range []string{"", key[1:], key + "0", "U" + key[1:], key[:24] + "é"} {
		if IsLicenseKey(wrong) {
			t.Errorf("%q was taken", wrong)
		}
	}
}
