package locale

import (
	"strings"
)

// Accented and Mirrored are English to look at while a page is made. What stands there without accents is not in the catalogue,
// and a text that is longer in other languages is longer here. Mirrored, all runs from right to left.
var (
	Accented = pseudo("en-XA", "ltr")
	Mirrored = pseudo("ar-XB", "rtl")
)

// Pseudo returns the pseudo-locale of a tag, nil if there is none.
func Pseudo(tag string) *Locale {
	switch tag {
	case Accented.Tag:
		return Accented
	case Mirrored.Tag:
		return Mirrored
	}
	return nil
}

func pseudo(tag, dir string) *Locale {
	l := newLocale("en", dir, nil)
	l.Tag, l.names = tag, accented
	for key, m := range English.messages {
		l.messages[key] = message{}
		for form, t := range m {
			l.messages[key][form] = disguised(key, t)
		}
	}
	return l
}

// disguised returns a text with accents, and longer by two fifths if it is one that people read.
func disguised(key string, t text) text {
	d, length := text{names: t.names, words: make([]string, len(t.words))}, 0
	for i, words := range t.words {
		d.words[i] = accented(words)
		length += len(words)
	}
	if !strings.HasPrefix(key, "format.") && length > 0 {
		padding := strings.Repeat(" óñé", (length*2/5+3)/4)
		d.words[len(d.words)-1] += padding
	}
	return d
}

// accents has for each letter, from A to Z and from a to z, one with accents.
var accents = []rune("ÅƁÇÐÉƑĜĤÎĴĶĻṀÑÖÞǪŔŠŢÛṼŴẊÝŽåƀçðéƒĝĥîĵķļɱñöþǫŕšţûṽŵẋýž")

func accented(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return accents[r-'A']
		case r >= 'a' && r <= 'z':
			return accents[r-'a'+26]
		}
		return r
	}, text)
}
