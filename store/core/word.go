package core

import "strings"

// wordLength is how many characters of a word stand in the table filter_entries; q has no more.
const wordLength = 200

// Words returns the words of a text, in lower case and cut: what stands between spaces and signs of ASCII, but that an e-mail address
// is one word, from which a purchase has four copies to keep. PostgreSQL splits in the same way in filter_words.
func Words(text string) []string {
	var found []string
	for _, part := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`,;:()<>[]{}"`, r) }) {
		if strings.Contains(part, "@") {
			found = append(found, part)
			continue
		}
		found = append(found, strings.FieldsFunc(part, func(r rune) bool { return r < 0x80 && (r < '0' || r > '9') && (r < 'a' || r > 'z') })...)
	}
	for i, word := range found {
		if runes := []rune(word); len(runes) > wordLength {
			found[i] = string(runes[:wordLength])
		}
	}
	return found
}
