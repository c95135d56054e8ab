package advert

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
)

// PhoneForm is how a phone number is written before it is hashed.
type PhoneForm string

// A number has its country code in both forms.
const (
	PhoneE164   PhoneForm = "e164"   // +15551234567
	PhoneDigits PhoneForm = "digits" // 15551234567
)

// NormalizeEmail returns an email address in lower case, without white space around it. It keeps the dots of the
// mailbox: networks do not agree about them, and one form serves all.
func NormalizeEmail(text string) (plain, problem string) {
	plain = strings.ToLower(strings.TrimSpace(text))
	mailbox, domain, ok := strings.Cut(plain, "@")
	if !ok || mailbox == "" || domain == "" || strings.Contains(domain, "@") || strings.ContainsFunc(plain, unicode.IsSpace) {
		return "", "Send an e-mail address, such as ada@example.com."
	}
	return plain, ""
}

// NormalizePhone returns the digits of a phone number. For E.164 a + stands before them, and the country code must be marked by + or 00. Without it
// nobody can know which country is meant, and a guess would be somebody else's number.
func NormalizePhone(text string, form PhoneForm) (plain, problem string) {
	digits := keep(text, func(r rune) bool { return r >= '0' && r <= '9' })
	if form == PhoneDigits {
		if len(digits) < 7 || len(digits) > 16 || strings.ContainsFunc(text, unicode.IsLetter) {
			return "", "Send a phone number of 7 to 16 digits with its country code."
		}
		return digits, ""
	}
	trimmed := strings.TrimSpace(text)
	marked := strings.HasPrefix(trimmed, "+")
	if strings.HasPrefix(trimmed, "00") {
		marked, digits = true, digits[2:]
	}
	if !marked || len(digits) < 7 || len(digits) > 15 || digits[0] == '0' || strings.ContainsFunc(text, unicode.IsLetter) {
		return "", "Send a phone number with + and its country code, such as +15551234567."
	}
	return "+" + digits, ""
}

// NormalizeDetail returns a field that says who somebody is, such as city, in the form that networks hash, or what is wrong with it.
func NormalizeDetail(field, text string) (plain, problem string) {
	plain = strings.ToLower(strings.TrimSpace(text))
	switch field {
	case "city", "state":
		plain = keep(plain, unicode.IsLetter)
	case "country":
		if !IsCountry(plain) {
			return "", "Send a country of two letters, such as US."
		}
	case "zip":
		plain, _, _ = strings.Cut(plain, "-")
		plain = keep(plain, func(r rune) bool { return !unicode.IsSpace(r) })
	}
	if plain == "" {
		return "", "Send a " + field + ", or leave it out."
	}
	return plain, ""
}

// keep returns only those characters of a text that are wanted.
func keep(text string, wanted func(rune) bool) string {
	return strings.Map(func(r rune) rune {
		if wanted(r) {
			return r
		}
		return -1
	}, text)
}

// IsCountry reports whether a text has the form of a two-letter country code of ISO 3166.
func IsCountry(text string) bool {
	return len(text) == 2 && strings.Trim(strings.ToLower(text), "abcdefghijklmnopqrstuvwxyz") == ""
}

// GivenHash reports whether a value is a hash already, and returns it in lower case. No name, address or number looks
// like one. Hashed again it would match nobody, and nobody would notice.
func GivenHash(value string) (string, bool) {
	hash := strings.ToLower(strings.TrimSpace(value))
	return hash, IsSHA256(hash)
}

// IsSHA256 reports whether a text is a SHA-256 in lower-case hex.
func IsSHA256(text string) bool {
	return len(text) == 2*sha256.Size && strings.Trim(text, "0123456789abcdef") == ""
}

// HashOf returns the SHA-256 of a text in lower-case hex, in which form networks match people.
func HashOf(plain string) string {
	sum := sha256.Sum256([]byte(plain))
	return hex.EncodeToString(sum[:])
}
