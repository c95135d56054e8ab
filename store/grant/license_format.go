package grant

import (
	"crypto/rand"
	"strings"

	"github.com/tillwright/tillwright/store/core"
)

// licenseAlphabet is Crockford's base32: no letter of it looks like a digit.
const licenseAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// A generated key has 23 random characters, which are 115 bits, and two that check them, in groups of five.
const (
	licenseRandom = 23
	licenseGroup  = 5
)

// licenseModulus is the greatest prime below 32², so that two characters hold any remainder: a wrong character and two neighbours
// that changed places always show.
const licenseModulus = 1021

// The shortest and the longest key that is taken from elsewhere. Spaces and hyphens do not count for the shortest.
const (
	licenseShortest = 4
	licenseLongest  = 200
)

// newLicenseText returns a new key, in groups of five characters.
func newLicenseText() string {
	var random [licenseRandom]byte
	if _, err := rand.Read(random[:]); err != nil {
		panic(err) // crypto/rand does not fail on a supported system
	}
	remainder := 0
	for i, b := range random {
		digit := int(b & 31)
		random[i] = licenseAlphabet[digit]
		remainder = (remainder*32 + digit) % licenseModulus
	}
	text := string(random[:]) + string(licenseAlphabet[remainder/32]) + string(licenseAlphabet[remainder%32])
	var groups []string
	for ; text != ""; text = text[licenseGroup:] {
		groups = append(groups, text[:licenseGroup])
	}
	return strings.Join(groups, "-")
}

// normalLicense returns a key as keys are compared: in upper case, without spaces and hyphens, with 0 for O, and 1 for I and L. Whoever
// types one from paper sees no difference between these.
func normalLicense(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ' || r == '-':
			return -1
		case r >= 'a' && r <= 'z':
			r -= 'a' - 'A'
		}
		switch r {
		case 'O':
			return '0'
		case 'I', 'L':
			return '1'
		}
		return r
	}, text)
}

// Subject returns a name of the key that a program shows to an account, under which its requests are counted. It does not tell the key.
func (u LicenseUse) Subject(account string) string { return licenseHash(account + "\n" + u.Key) }

// licenseHash returns what a key is found by.
func licenseHash(text string) string {
	return core.HashOf(normalLicense(text))
}

// checkLicenseText notes what is wrong with a key from elsewhere.
func checkLicenseText(text string, p *core.Problems) {
	printable := strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) < 0
	p.Check(printable && len(text) <= licenseLongest && len(normalLicense(text)) >= licenseShortest, "key",
		"Send a key of at most 200 printable ASCII characters, of which at least four are no spaces or hyphens.")
}

// displayLicense returns the last five characters of a key, spaces and hyphens left out.
func displayLicense(text string) string {
	normal := normalLicense(text)
	return normal[max(0, len(normal)-licenseGroup):]
}
