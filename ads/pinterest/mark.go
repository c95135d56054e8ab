package pinterest

import (
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"
)

// longestName is how many characters a name or a description with a token may have.
const longestName = 255

// markSeparator stands between a text and the token that it carries. Pinterest has no field for a reference of the
// caller's, and a tracking URL would be called at every view. So the name is the only place where a token can be left
// and found again, and for an audience the description. TidyNames takes it off the names again.
const markSeparator = " · "

var marked = regexp.MustCompile(markSeparator + `(adact|aud)_[0-9a-z]+$|^(adact|aud)_[0-9a-z]+$`)

// mark returns a text with a token behind it. The text is cut if both together would be too long.
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

// unmark returns a text without the token behind it.
func unmark(text string) string { return marked.ReplaceAllString(text, "") }

// tokenIn returns the token behind a text, or "" if there is none.
func tokenIn(text string) string { return strings.TrimPrefix(marked.FindString(text), markSeparator) }

// slack is how much older than its token a thing may seem to be, because the network has a clock of its own.
const slack = 24 * time.Hour

// since returns the Unix second before which nothing that carries a token can have been made. A token contains the time
// at which it was minted. Without a time in it the second is 0.
func since(token string) int64 {
	_, random, _ := strings.Cut(token, "_")
	id, err := ulid.ParseStrict(strings.ToUpper(random))
	if err != nil {
		return 0
	}
	return ulid.Time(id.Time()).Add(-slack).Unix()
}

// carries reports whether a text has this token behind it.
func carries(text, token string) bool {
	return text == token || strings.HasSuffix(text, markSeparator+token)
}
