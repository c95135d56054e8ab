package core

import (
	"slices"
	"strings"
)

// wordLength is how many characters of a word stand in the table filter_entries; q has no more.
const wordLength = 200

// Part is a piece of a text without spaces. Its words are what stands between its signs, but that an e-mail address is one word, from which
// a purchase has four copies to keep.
type Part struct {
	Text  string // without the signs at its ends: an address may begin with it
	Words []string
}

// Parts returns those parts of a text that have words, in lower case and cut. PostgreSQL splits in the same way in filter_words.
func Parts(text string) []Part {
	var found []Part
	for _, part := range strings.FieldsFunc(strings.ToLower(text), isSpace) {
		if strings.Contains(part, "@") {
			found = append(found, Part{cut(part), []string{cut(part)}})
		} else if words := strings.FieldsFunc(part, isSign); len(words) > 0 {
			for i := range words {
				words[i] = cut(words[i])
			}
			found = append(found, Part{cut(strings.TrimFunc(part, isSign)), words})
		}
	}
	return found
}

// Words returns the words of all parts of a text.
func Words(text string) []string {
	var found []string
	for _, part := range Parts(text) {
		found = append(found, part.Words...)
	}
	return found
}

// MostWords is how many words q may have: each is asked of every row that a list examines.
const MostWords = 8

// Asked is a word that q asks for. One of an object's words begins with it, or its address begins with the part of q in which the word stands.
type Asked struct{ Word, Address string }

// AskedBy returns the words of some parts, each once.
func AskedBy(parts []Part) []Asked {
	var asked []Asked
	for _, part := range parts {
		for i, word := range part.Words {
			ask := Asked{word, part.Text}
			if i == 0 { // an address that begins with the part begins with this
				ask.Address = word
			}
			if !slices.Contains(asked, ask) {
				asked = append(asked, ask)
			}
		}
	}
	return asked
}

// In reports whether a text in lower case has a word, or an address, that begins as asked. It goes through the text once, and splits nothing.
func (a Asked) In(text string) bool {
	return begins(text, a.Word) || a.Address != a.Word && begins(text, a.Address)
}

// begins reports whether what Words returns of a text in lower case has one that begins with word.
func begins(text, word string) bool {
	for from := 0; ; {
		at := strings.Index(text[from:], word)
		if at < 0 {
			return false
		}
		at += from
		if at == 0 || isSpace(rune(text[at-1])) {
			return true
		}
		from = at + 1
		if isSign(rune(text[at-1])) {
			begin, end := strings.LastIndexFunc(text[:at], isSpace)+1, len(text)
			if length := strings.IndexFunc(text[at:], isSpace); length >= 0 {
				end = at + length
			}
			if !strings.Contains(text[begin:end], "@") {
				return true
			}
			from = end // signs separate no words of an address
		}
	}
}

// isSpace reports whether a character separates parts.
func isSpace(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`,;:()<>[]{}"`, r) }

func isSign(r rune) bool { return r < 0x80 && (r < '0' || r > '9') && (r < 'a' || r > 'z') }

func cut(word string) string {
	if runes := []rune(word); len(runes) > wordLength {
		return string(runes[:wordLength])
	}
	return word
}
