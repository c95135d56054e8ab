package core

import (
	"crypto/sha256"
	"encoding/hex"
	"unicode/utf8"
)

// HasAtMost reports whether a text has at most limit characters; nil has none.
func HasAtMost(text *string, limit int) bool {
	return text == nil || utf8.RuneCountInString(*text) <= limit
}

// HashOf returns the SHA-256 of a text in lower-case hex. It is stored in place of what nobody is to read in the database.
func HashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
