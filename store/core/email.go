package core

import (
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/cases"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
)

// How long an address may be, in bytes, by RFC 5321 and RFC 1035.
const (
	emailMost = 254
	localMost = 64
	labelMost = 63

	domainMost = 1024 // that is looked at; no address has as many
)

// EmailKey returns the form in which addresses are compared: two of one key are the same address, however they are written. The domain
// is as the DNS has it, so that xn-- and its letters are one. The rest is in lower case, with its accents composed. It takes any text, and
// the key of a key is the key itself.
func EmailKey(email string) string {
	if isPlain(email) {
		return strings.ToLower(email)
	}
	at := strings.LastIndexByte(email, '@')
	if at < 0 {
		return lowered(email)
	}
	return lowered(email[:at]) + "@" + asciiDomain(email[at+1:])
}

// SameEmail reports whether two texts are the same address.
func SameEmail(a, b string) bool { return EmailKey(a) == EmailKey(b) }

// ReadableEmail returns the key of an address with the letters of its domain, as people type it. It is the key itself if nothing of it stands for other letters.
func ReadableEmail(key string) string {
	at := strings.LastIndexByte(key, '@')
	if at < 0 || isPlain(key[at+1:]) {
		return key
	}
	domain, err := idna.Display.ToUnicode(key[at+1:])
	if err != nil {
		return key
	}
	return key[:at+1] + domain
}

// MailboxKey returns the key of the mailbox to which letters to an address go. What stands after a + changes nothing of that, nor do dots at Gmail.
func MailboxKey(email string) string {
	key := EmailKey(email)
	if at, plus := strings.LastIndexByte(key, '@'), strings.IndexByte(key, '+'); 0 < plus && plus < at {
		key = key[:plus] + key[at:]
	}
	if local, domain, _ := strings.Cut(key, "@"); domain == "gmail.com" || domain == "googlemail.com" {
		key = strings.ReplaceAll(local, ".", "") + "@gmail.com"
	}
	return key
}

// OddEmailKey returns the key of an address. It returns nil if that is the address in lower case, as SQL knows it on every engine, or if there is no
// address.
func OddEmailKey(email *string) *string {
	if email == nil || isPlain(*email) {
		return nil
	}
	return new(EmailKey(*email))
}

// KeptApart returns a key that no address has, because of its space, for somebody with an id whose address is another one's, too.
func KeptApart(key, id string) string { return key + " " + id }

// isPlain reports whether the key of a text is the text in lower case. It is if the text is ASCII, and no part of it stands for other letters.
func isPlain(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return !strings.Contains(strings.ToLower(text), "xn--")
}

// lowered returns a text in lower case, with its accents composed. Letters that are small already stay what they are: ß is not ss, because these are two
// mailboxes.
func lowered(text string) string {
	return norm.NFC.String(cases.Lower(language.Und).String(norm.NFD.String(text))) // the last capital sigma of a word is ς
}

// asciiDomain returns a domain as the DNS has it. One that it cannot have stays as it is, but for its capitals of ASCII.
func asciiDomain(domain string) string {
	if isPlain(domain) {
		return strings.ToLower(domain)
	}
	domain = norm.NFC.String(domain)
	if len(domain) > domainMost { // reading xn-- takes the square of its length
		return strings.Map(smallASCII, domain)
	}
	if ascii, err := idna.Lookup.ToASCII(domain); err == nil {
		return ascii
	}
	return strings.Map(smallASCII, domain)
}

// smallASCII returns a capital letter of ASCII as a small one, and any other character as it is.
func smallASCII(r rune) rune {
	if 'A' <= r && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}

// IsEmail reports whether a text is an e-mail address and nothing else, such as ada@example.com.
func IsEmail(s string) bool { return FaultOfEmail(s) == "" }

// CheckEmail notes for the field what is wrong with an address: see EmailProblem.
func (p *Problems) CheckEmail(field, email, otherwise string) {
	problem := EmailProblem(email, otherwise)
	p.Check(problem == "", field, problem)
}

// EmailFault says in a word why no letter can be sent to an address, empty if one can. Pages say it in the language of their reader.
type EmailFault string

// What can be wrong with an address.
const (
	EmailUnlike      EmailFault = "unlike" // it does not even look like one
	EmailSpaces      EmailFault = "spaces"
	EmailHidden      EmailFault = "hidden"
	EmailLong        EmailFault = "long"
	EmailLocalLong   EmailFault = "local_long"
	EmailLabelLong   EmailFault = "label_long"
	EmailDots        EmailFault = "dots"
	EmailHyphen      EmailFault = "hyphen"
	EmailDomain      EmailFault = "domain"
	EmailUnreachable EmailFault = "unreachable"
)

// emailSentences say each of them to a developer.
var emailSentences = map[EmailFault]string{
	EmailSpaces:      "An e-mail address has no spaces. Send it without them.",
	EmailHidden:      "The e-mail address has a character that nobody sees. Send it without it.",
	EmailLong:        "An e-mail address has at most 254 bytes. Send a shorter one.",
	EmailLocalLong:   "The part of an e-mail address before @ has at most 64 bytes. Send a shorter one.",
	EmailLabelLong:   "A part of the domain after @, between dots, has at most 63 characters. Send a shorter one.",
	EmailDots:        "The domain after @ begins or ends with a dot, or has two in a row. Send one such as example.com.",
	EmailHyphen:      "A part of the domain after @ begins or ends with a hyphen. Send it without it.",
	EmailDomain:      "The domain after @ is no domain name. Send one of letters, digits, hyphens and dots, such as example.com.",
	EmailUnreachable: "The domain after @ is none that letters reach. Send one with a dot in it, such as example.com.",
}

// problem says a fault in a sentence, and nothing of none. What does not even look like an address is told otherwise.
func (f EmailFault) problem(otherwise string) string {
	if f == EmailUnlike {
		return otherwise
	}
	return emailSentences[f]
}

// EmailProblem says in a sentence why no letter can be sent to an address on a public domain, and returns nothing if one can. What does not
// even look like an address is told otherwise.
func EmailProblem(email, otherwise string) string { return FaultOfEmail(email).problem(otherwise) }

// FaultOfEmail says why no letter can be sent to an address on a public domain.
func FaultOfEmail(email string) EmailFault {
	at := strings.LastIndexByte(email, '@')
	if at < 1 || !utf8.ValidString(email) {
		return EmailUnlike
	}
	for _, r := range email {
		switch {
		case unicode.IsSpace(r) || unicode.Is(unicode.Z, r):
			return EmailSpaces
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return EmailHidden
		}
	}
	switch {
	case len(email) > emailMost:
		return EmailLong
	case at > localMost:
		return EmailLocalLong
	}
	if fault := faultOfDomain(email[at+1:]); fault != "" {
		return fault
	}
	if address, err := mail.ParseAddress(email); err != nil || address.Address != email {
		return EmailUnlike
	}
	return ""
}

// AskedEmailProblem says in a sentence why nobody here has an address, and returns nothing if somebody may have it. What does not even look like
// an address is told otherwise.
func AskedEmailProblem(email, otherwise string) string {
	return FaultOfAskedEmail(email).problem(otherwise)
}

// FaultOfAskedEmail says why nobody here has an address. It is for those who are here already and ask for a letter. An address that was stored by an
// older version need not be one that FaultOfEmail takes today.
func FaultOfAskedEmail(email string) EmailFault {
	at := strings.LastIndexByte(email, '@')
	switch {
	case at < 1 || at == len(email)-1 || !utf8.ValidString(email):
		return EmailUnlike
	case strings.ContainsFunc(email, func(r rune) bool { return r <= ' ' || r == 0x7f }): // no version took any of these
		return EmailSpaces
	}
	return ""
}

// faultOfDomain says why a domain cannot be one of the public DNS.
func faultOfDomain(domain string) EmailFault {
	ascii := strings.ToLower(domain)
	if !isPlain(domain) {
		var err error
		if ascii, err = idna.Lookup.ToASCII(norm.NFC.String(domain)); err != nil {
			return EmailDomain
		}
	}
	for label := range strings.SplitSeq(ascii, ".") {
		switch {
		case len(label) == 0:
			return EmailDots
		case len(label) > labelMost:
			return EmailLabelLong
		case label[0] == '-' || label[len(label)-1] == '-':
			return EmailHyphen
		case strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-") != "":
			return EmailDomain
		}
	}
	last := ascii[strings.LastIndexByte(ascii, '.')+1:]
	switch {
	case last == ascii, last == "localhost":
		return EmailUnreachable
	case strings.Trim(last, "0123456789") == "":
		return EmailDomain
	}
	return ""
}
