package core

import "strings"

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
	for _, part := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`,;:()<>[]{}"`, r) }) {
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

func isSign(r rune) bool { return r < 0x80 && (r < '0' || r > '9') && (r < 'a' || r > 'z') }

func cut(word string) string {
	if runes := []rune(word); len(runes) > wordLength {
		return string(runes[:wordLength])
	}
	return word
}
