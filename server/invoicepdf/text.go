package invoicepdf

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// unknown is drawn in the place of a character that no font has.
const unknown = '?'

// run is a piece of text in one font.
type run struct {
	face *face
	text string
}

// prepare brings text into the form that fonts are made for: accents are joined with their letters, and control characters are
// dropped.
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

// glyph says how a character is drawn.
type glyph struct {
	face  *face
	r     rune // unknown if no font draws the character
	units int  // its width in thousandths of the font's size
}

// glyph finds the font that draws a character, preferably the given one. It looks only once for each character of a document.
func (p *printer) glyph(r rune, preferred *face) glyph {
	known := p.glyphs[preferred]
	if known == nil {
		known = map[rune]glyph{}
		p.glyphs[preferred] = known
	}
	g, ok := known[r]
	if !ok {
		g.face, g.r = p.choose(r, preferred)
		if p.err == nil {
			p.pdf.SetFont(g.face.family, g.face.style, textSize)
			g.units = p.pdf.GetStringSymbolWidth(string(g.r))
		}
		known[r] = g
	}
	return g
}

func (p *printer) choose(r rune, preferred *face) (*face, rune) {
	for i := -1; i < len(p.fallbacks); i++ {
		f := preferred
		if i >= 0 {
			f = p.fallbacks[i]
		}
		if o := p.outline(f); o != nil && o.has(&p.buffer, r) {
			return p.spread(f, r), r
		}
	}
	return preferred, unknown
}

// longestRange is how many characters with consecutive code points one font of a document may hold.
const longestRange = 64

// spread returns the font in which to write a character: f, or a copy of it under another name. The time in which the library
// describes the widths of consecutive characters grows with the cube of their number: some thousand Chinese ones would take
// minutes. So when a range gets too long, the next character goes into a copy.
func (p *printer) spread(f *face, r rune) *face {
	for !p.shown[f][r] && p.rangeAt(f, r) > longestRange {
		if p.copies[f] == nil {
			p.copies[f] = &face{family: f.family + "copy", style: f.style, load: f.load}
		}
		f = p.copies[f]
		p.outline(f)
	}
	if p.shown[f] == nil {
		p.shown[f] = map[rune]bool{}
	}
	p.shown[f][r] = true
	return f
}

// rangeAt returns how many consecutive characters the font would hold with this one. Those of Latin-1 do not count, because
// they are always described.
func (p *printer) rangeAt(f *face, r rune) int {
	shown := p.shown[f]
	first, last := r, r
	for first > 256 && r-first <= longestRange && shown[first-1] {
		first--
	}
	for last-r <= longestRange && shown[last+1] {
		last++
	}
	return int(last-first) + 1
}

// runs splits prepared text into pieces that are drawn in one font each, preferably the given one.
func (p *printer) runs(text string, preferred *face) []run {
	var all []run
	var piece strings.Builder
	var last *face
	end := func() {
		if piece.Len() > 0 {
			all = append(all, run{last, piece.String()})
			piece.Reset()
		}
	}
	for _, r := range text {
		g := p.glyph(r, preferred)
		if g.face != last {
			end()
			last = g.face
		}
		piece.WriteRune(g.r)
	}
	end()
	return all
}

// units returns the width of prepared text in thousandths of the font's size.
func (p *printer) units(text string, f *face) int {
	sum := 0
	for _, r := range text {
		sum += p.glyph(r, f).units
	}
	return sum
}

// width returns the width of prepared text in millimetres.
func (p *printer) width(text string, f *face, size float64) float64 {
	return millimetres(p.units(text, f), size)
}

// millimetres converts units, thousandths of a size in points, into millimetres.
func millimetres(units int, size float64) float64 { return float64(units) * size / 1000 * 25.4 / 72 }

// wrap breaks text into lines of at most the width: at spaces, between the characters of scripts that have none, and
// within a word only if it is wider than a line. It measures each character once, however long the text is.
func (p *printer) wrap(text string, f *face, size, width float64) []string {
	if p.stops() {
		return []string{""}
	}
	var lines []string
	for paragraph := range strings.SplitSeq(prepare(text), "\n") {
		lines = append(lines, p.wrapParagraph(paragraph, f, size, width)...)
	}
	return lines
}

// wrapParagraph is wrap for text without line breaks.
func (p *printer) wrapParagraph(text string, f *face, size, width float64) []string {
	var lines []string
	start, at, used := 0, 0, 0 // where the line begins and its next word does, and what it measures so far
	for _, word := range words(text) {
		visible := strings.TrimRight(word, " ")
		units := p.units(visible, f)
		if millimetres(used+units, size) > width {
			if at > start {
				lines = append(lines, strings.TrimRight(text[start:at], " "))
			}
			var full []string
			full, word = p.cut(word, f, size, width)
			lines = append(lines, full...)
			at, used = at+length(full), 0
			start = at
			units = p.units(strings.TrimRight(word, " "), f)
			visible = strings.TrimRight(word, " ")
		}
		used += units + p.units(word[len(visible):], f)
		at += len(word)
	}
	return append(lines, strings.TrimRight(text[start:], " "))
}

func length(pieces []string) int {
	sum := 0
	for _, piece := range pieces {
		sum += len(piece)
	}
	return sum
}

// cut breaks a word that is wider than a line. It returns the full lines, and the rest that begins the next one.
func (p *printer) cut(word string, f *face, size, width float64) (full []string, rest string) {
	start, used := 0, 0
	for i, r := range word {
		units := p.glyph(r, f).units
		if i > start && r != ' ' && millimetres(used+units, size) > width {
			full = append(full, word[start:i])
			start, used = i, 0
		}
		used += units
	}
	return full, word[start:]
}

// words splits text at the places where a line may break. A space belongs to the word before it.
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

// breaks reports whether a line may end between two characters. Korean breaks at its spaces, as Latin does. Chinese and
// Japanese break anywhere, but not before closing nor after opening punctuation.
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
