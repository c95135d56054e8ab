package chat

import (
	"strings"
	"unicode"
)

// phrase is a line for people. Its parts are not escaped. Each service escapes all of them in its own way, our words as
// well as a buyer's. So nobody has to remember which are safe.
type phrase []part

type part struct {
	words  string
	strong bool
}

func says(words string) phrase { return phrase{{words: words}} }

// and adds words.
func (t phrase) and(words string) phrase { return append(t, part{words: words}) }

// maybe adds a connection and words, or nothing if there are no words.
func (t phrase) maybe(connection, words string) phrase {
	if words == "" {
		return t
	}
	return t.and(connection).and(words)
}

// maybeStrong does what maybe does, with the words in bold.
func (t phrase) maybeStrong(connection, words string) phrase {
	if words == "" {
		return t
	}
	return append(t.and(connection), part{words: words, strong: true})
}

// How many runes of what a person typed a message repeats at most. An escaped rune grows to five at most (&amp;).
// Everything that a message repeats, escaped and added up, stays below the limits of both services.
const (
	longest = 120 // a name
	shorter = 40  // a number, a variant within a list
)

// clean makes one line of what somebody typed and cuts it to at most so many characters. It makes spaces of control
// characters and line breaks. It removes what turns a line's direction and other invisible characters, except the two
// joiners that emoji and some scripts are written with.
func clean(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r), unicode.IsSpace(r): // U+2028 and U+2029 are spaces
			return ' '
		case unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d':
			return -1
		}
		return r
	}, s)
	if strings.Trim(s, " \u200c\u200d") == "" {
		return ""
	}
	return cut(strings.Join(strings.Fields(s), " "), most)
}

// cut shortens a text to at most so many characters, including the ellipsis. It must be used before escaping.
func cut(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return strings.TrimRight(string(runes[:most-1]), " ") + "…"
}

// pings are the words that call everybody in a channel if an @ stands before them.
var pings = []string{"everyone", "here", "channel", "group"}

// callsSomebody reports whether an @ between two pieces of text may be read as calling somebody. The @ of an email
// address is not.
func callsSomebody(before, after string) bool {
	if before == "" || !alphanumeric(before[len(before)-1]) || after == "" || !alphanumeric(after[0]) {
		return true
	}
	for _, word := range pings {
		if len(after) >= len(word) && strings.EqualFold(after[:len(word)], word) {
			return true
		}
	}
	return false
}

// uncall puts a space without width behind every @ that may call somebody, so that it does not.
func uncall(s string) string {
	var b strings.Builder
	for i, r := range s {
		b.WriteRune(r)
		if r == '@' && callsSomebody(s[:i], s[i+1:]) {
			b.WriteString("\u200b")
		}
	}
	return b.String()
}

func alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
