package pinterest

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// longestName is how many characters a name may have.
const longestName = 255

// markSeparator stands between a text and the token of what made the thing. Pinterest has no field for a caller's own
// reference, and a tracking URL would be called at every view: the name is the only place where a token can be left
// and found. With an audience it is the description.
const markSeparator = " · "

var marked = regexp.MustCompile(markSeparator + `(adact|aud)_[0-9a-z]+$|^(adact|aud)_[0-9a-z]+$`)

// mark puts a token behind a text, which is cut where both are longer than a name.
func mark(text, token string) string {
	if text == "" {
		return token
	}
	room := longestName - utf8.RuneCountInString(markSeparator+token)
	if runes := []rune(text); len(runes) > room {
		text = strings.TrimRight(string(runes[:room]), " ")
	}
	return text + markSeparator + token
}

// unmark takes it off again.
func unmark(text string) string { return marked.ReplaceAllString(text, "") }

// carries reports whether a text has the token behind it.
func carries(text, token string) bool {
	return text == token || strings.HasSuffix(text, markSeparator+token)
}
