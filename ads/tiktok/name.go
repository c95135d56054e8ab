package tiktok

import (
	"regexp"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// The widths that a name may have, counted as TikTok does: most signs of East Asia count twice (T1).
const (
	widestName     = 512
	widestAudience = 128
)

// markSeparator stands between a text and the token that it carries. TikTok has no field for a reference of the caller's. So the name is the only
// place where a token can be left and found again. TidyNames takes it off again.
const markSeparator = " · "

var marked = regexp.MustCompile(markSeparator + `(adact|aud)_[0-9a-z]+$|^(adact|aud)_[0-9a-z]+$`)

// mark returns a text with a token behind it. The text is cut if both together would be too wide.
func mark(text, token string, widest int) string {
	room := widest - width(markSeparator+token)
	for width(text) > room {
		runes := []rune(text)
		text = strings.TrimRight(string(runes[:len(runes)-1]), " ")
	}
	return text + markSeparator + token
}

// width returns how wide a text is.
func width(text string) int {
	wide := 0
	for _, r := range text {
		wide++
		if r >= 0x2E80 {
			wide++
		}
	}
	return wide
}

// unmark returns a text without the token behind it.
func unmark(text string) string { return marked.ReplaceAllString(text, "") }

// tokenIn returns the token behind a text, or "" if there is none.
func tokenIn(text string) string { return strings.TrimPrefix(marked.FindString(text), markSeparator) }

// carries reports whether a text has this token behind it.
func carries(text, token string) bool { return tokenIn(text) == token }

// slack is how much older than its token a thing may seem to be, because the network has a clock of its own.
const slack = 24 * time.Hour

// since returns the time before which nothing that carries a token can have been made: the token contains the time at which it was
// minted. It is "" if the token has no time.
func since(token string) string {
	_, random, _ := strings.Cut(token, "_")
	id, err := ulid.ParseStrict(strings.ToUpper(random))
	if err != nil {
		return ""
	}
	return stamp(ulid.Time(id.Time()).Add(-slack))
}

// stampLayout is how TikTok writes a time, in UTC.
const stampLayout = time.DateTime

func stamp(at time.Time) string { return at.UTC().Format(stampLayout) }
