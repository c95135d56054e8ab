package invoicepdf

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// unknown stands for a character that no font draws.
const unknown = '?'

// run is a piece of text in one font.
type run struct {
	face *face
	text string
}

// prepare brings text into the form that fonts are made for: composed letters, and no characters that only steer.
func prepare(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\u00a0':
			return r
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Variation_Selector, r):
			return -1
		}
		return r
	}, norm.NFC.String(strings.ToValidUTF8(text, "?")))
}

// runs splits prepared text by the fonts that draw it, preferring the given one.
func (p *printer) runs(text string, preferred *face) []run {
	var all []run
	for _, r := range text {
		chosen, r := p.choose(r, preferred)
		if n := len(all); n > 0 && all[n-1].face == chosen {
			all[n-1].text += string(r)
		} else if p.err == nil {
			all = append(all, run{chosen, string(r)})
		}
	}
	return all
}

func (p *printer) choose(r rune, preferred *face) (*face, rune) {
	for i := -1; i < len(p.fallbacks); i++ {
		f := preferred
		if i >= 0 {
			f = p.fallbacks[i]
		}
		if o := p.outline(f); o != nil && o.has(&p.buffer, r) {
			return f, r
		}
	}
	return preferred, unknown
}

// wrap breaks text into lines of at most the width: at spaces, between the characters of scripts that have none, and
// within a word only if it is wider than a line.
func (p *printer) wrap(text string, f *face, size, width float64) []string {
	var lines []string
	for paragraph := range strings.SplitSeq(prepare(text), "\n") {
		lines = append(lines, p.wrapParagraph(paragraph, f, size, width)...)
	}
	return lines
}

func (p *printer) wrapParagraph(text string, f *face, size, width float64) []string {
	var lines []string
	line := ""
	for _, word := range words(text) {
		if p.width(strings.TrimRight(line+word, " "), f, size) <= width {
			line += word
			continue
		}
		if line != "" {
			lines = append(lines, strings.TrimRight(line, " "))
		}
		var full []string
		full, line = p.cut(word, f, size, width)
		lines = append(lines, full...)
	}
	return append(lines, strings.TrimRight(line, " "))
}

// cut breaks a word that is wider than a line, and returns the full lines and the rest.
func (p *printer) cut(word string, f *face, size, width float64) (full []string, rest string) {
	start, used := 0, 0.0
	for i, r := range word {
		w := p.width(string(r), f, size)
		if i > start && r != ' ' && used+w > width {
			full = append(full, word[start:i])
			start, used = i, 0
		}
		used += w
	}
	return full, word[start:]
}

// words returns the pieces of text between which a line may break; a space belongs to the word before it.
func words(text string) []string {
	var all []string
	start, last := 0, rune(0)
	for i, r := range text {
		if i > start && breaks(last, r) {
			all = append(all, text[start:i])
			start = i
		}
		last = r
	}
	return append(all, text[start:])
}

// breaks says whether a line may end between two characters. Korean breaks at its spaces, as Latin does; Chinese and
// Japanese anywhere but before closing and after opening punctuation.
func breaks(before, after rune) bool {
	switch {
	case after == ' ':
		return false
	case before == ' ':
		return true
	case !ideographic(before) && !ideographic(after):
		return false
	}
	return after != 'ー' && !unicode.In(after, unicode.Pe, unicode.Pf, unicode.Po) && !unicode.In(before, unicode.Ps, unicode.Pi)
}

func ideographic(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || 0x3000 <= r && r <= 0x303f || 0xff00 <= r && r <= 0xff60
}
