package pinterest

import (
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"
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

// isMarked reports whether a text has a token behind it: the thing was made here.
func isMarked(text string) bool { return marked.MatchString(text) }

// slack is how much older than its token something may seem to be: the network has a clock of its own.
const slack = 24 * time.Hour

// since returns the second before which nothing can have been made that carries the token, whose id has its time in it;
// 0 if it has none.
func since(token string) int64 {
	_, random, _ := strings.Cut(token, "_")
	id, err := ulid.ParseStrict(strings.ToUpper(random))
	if err != nil {
		return 0
	}
	return ulid.Time(id.Time()).Add(-slack).Unix()
}

// carries reports whether a text has the token behind it.
func carries(text, token string) bool {
	return text == token || strings.HasSuffix(text, markSeparator+token)
}
