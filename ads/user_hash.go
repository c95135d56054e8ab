package ads

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"

	"github.com/tillwright/tillwright/store/advert"
)

// userDetails are the fields that a network may match besides an identifier, in the order of User.
var userDetails = []string{"first_name", "last_name", "city", "state", "country", "zip"}

// identifier is an email address or a phone number of a user: plain, hashed by the caller, or both.
type identifier struct {
	kind        advert.Identifier
	plain, hash string
}

func (i identifier) isEmpty() bool { return i.plain == "" && i.hash == "" }

// hashed returns the hash of the identifier, or what is wrong with it. If it was sent plain and hashed, the two must
// agree. A hash in the plain field is taken as a hash.
func (i identifier) hashed(form PhoneForm) (string, *InvalidUser) {
	given := strings.ToLower(i.hash)
	param := string(i.kind) + "_sha256"
	if given != "" && !isSHA256(given) {
		return "", &InvalidUser{Param: param, Message: "A SHA-256 has 64 hexadecimal digits."}
	}
	if i.plain == "" {
		return given, nil
	}
	hash, ok := givenHash(i.plain)
	if !ok {
		plain, problem := i.normalized(form)
		if problem != "" {
			return "", &InvalidUser{Param: string(i.kind), Message: problem}
		}
		hash = hashOf(plain)
	}
	if given != "" && given != hash {
		return "", &InvalidUser{Param: param, Message: "This is not the hash of the " + string(i.kind) + " beside it. Send one of them."}
	}
	return hash, nil
}

// normalized returns the plain identifier in the form that the network hashes, or what is wrong with it.
func (i identifier) normalized(form PhoneForm) (plain, problem string) {
	if i.kind == advert.IdentifierEmail {
		return normalizeEmail(i.plain)
	}
	return normalizePhone(i.plain, form)
}

// normalizeEmail returns an email address in lower case, without white space around it. It keeps the dots of the
// mailbox: networks do not agree about them, and one form serves all.
func normalizeEmail(text string) (plain, problem string) {
	plain = strings.ToLower(strings.TrimSpace(text))
	mailbox, domain, ok := strings.Cut(plain, "@")
	if !ok || mailbox == "" || domain == "" || strings.Contains(domain, "@") || strings.ContainsFunc(plain, unicode.IsSpace) {
		return "", "Send an e-mail address, such as ada@example.com."
	}
	return plain, ""
}

// normalizePhone returns the digits of a phone number. For E.164 a + stands before them, and the country code must be
// marked by + or 00: without it nobody can know which country is meant, and a guess would be somebody else's number.
func normalizePhone(text string, form PhoneForm) (plain, problem string) {
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

// normalizeDetail returns a field of userDetails in the form that networks hash, or what is wrong with it.
func normalizeDetail(field, text string) (plain, problem string) {
	plain = strings.ToLower(strings.TrimSpace(text))
	switch field {
	case "city", "state":
		plain = keep(plain, unicode.IsLetter)
	case "country":
		if !isCountry(plain) {
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

// isCountry reports whether a text has the form of a two-letter country code of ISO 3166.
func isCountry(text string) bool {
	return len(text) == 2 && strings.Trim(strings.ToLower(text), "abcdefghijklmnopqrstuvwxyz") == ""
}

// givenHash reports whether a value is a hash already, and returns it in lower case. No name, address or number looks
// like one. Hashed again it would match nobody, and nobody would notice.
func givenHash(value string) (string, bool) {
	hash := strings.ToLower(strings.TrimSpace(value))
	return hash, isSHA256(hash)
}

func isSHA256(text string) bool {
	return len(text) == 2*sha256.Size && strings.Trim(text, "0123456789abcdef") == ""
}

func hashOf(plain string) string {
	sum := sha256.Sum256([]byte(plain))
	return hex.EncodeToString(sum[:])
}
