package core

import "unicode/utf8"

// HasAtMost reports whether a text has at most limit characters; nil has none.
func HasAtMost(text *string, limit int) bool {
	return text == nil || utf8.RuneCountInString(*text) <= limit
}
