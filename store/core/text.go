package core

import (
	"net/mail"
	"unicode/utf8"
)

// HasAtMost reports whether a text has at most limit characters; nil has none.
func HasAtMost(text *string, limit int) bool {
	return text == nil || utf8.RuneCountInString(*text) <= limit
}

// IsEmail reports whether a text is an e-mail address and nothing else, such as ada@example.com.
func IsEmail(s string) bool {
	address, err := mail.ParseAddress(s)
	return err == nil && address.Address == s && len(s) <= 254
}
