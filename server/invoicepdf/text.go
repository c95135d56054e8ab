package invoicepdf

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// run is a piece of text in one font and direction.
type run struct {
	face  *face
	text  string
	right bool // it is read from right to left
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
		case isJoiner(r):
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Variation_Selector, r):
			return -1
		}
		return r
	}, norm.NFC.String(strings.ToValidUTF8(text, "?")))
}

// glyph says how a character is drawn.
type glyph struct {
	face  *face // nil if no font draws the character
	units int   // its width in thousandths of the font's size; that of a shaped character when it stands alone
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
		g.face = p.choose(r, preferred)
		switch {
		case p.err != nil:
		case g.face == nil:
			g.units = boxUnits
		case g.face.shaped:
			g.units = p.shapedUnits(run{face: g.face, text: string(r)})
		default:
			p.pdf.SetFont(g.face.family, g.face.style, textSize)
			g.units = p.pdf.GetStringSymbolWidth(string(r))
		}
		known[r] = g
	}
	return g
}

// choose returns the font that draws a character, or nil if none does.
func (p *printer) choose(r rune, preferred *face) *face {
	for i := -1; i < len(p.fallbacks); i++ {
		f := preferred
		if i >= 0 {
			f = p.fallbacks[i]
		}
		if !f.isAsked(r) {
			continue
		}
		if o := p.outline(f); o != nil && o.has(r) {
			if f.shaped {
				return f
			}
			return p.spread(f, r)
		}
	}
	return nil
}

// longestRange is how many characters with consecutive code points one font of a document may hold.
const longestRange = 64

// spread returns the font in which to write a character: f, or a copy of it under another name. The time in which the library
// describes the widths of consecutive characters grows with the cube of their number. Some thousand Chinese ones would take
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

// runs splits prepared text into pieces that are drawn in one font each, preferably the given one. Each character that no font
// has is a piece of its own, without a font.
func (p *printer) runs(text string, preferred *face) []run {
	var all []run
	start := 0
	for i, r := range text {
		n := len(all) - 1
		if isJoiner(r) {
			if n >= 0 && all[n].face != nil && all[n].face.shaped {
				all[n].text = text[start : i+utf8.RuneLen(r)]
			}
			continue
		}
		f := p.glyph(r, preferred).face
		if n < 0 || f == nil || f != all[n].face || i != start+len(all[n].text) {
			start = i
			all = append(all, run{face: f})
			n++
		}
		all[n].text = text[start : i+utf8.RuneLen(r)]
	}
	return all
}

// ordered returns the pieces of a line in the order in which they stand, from left to right.
func (p *printer) ordered(line string, right bool, preferred *face) []run {
	var all []run
	for _, s := range spans(line, right) {
		pieces := p.runs(s.text, preferred)
		if s.right {
			slices.Reverse(pieces)
		}
		for _, r := range pieces {
			r.right = s.right
			all = append(all, r)
		}
	}
	return all
}

// units returns the width of prepared text in thousandths of the font's size.
func (p *printer) units(text string, f *face) int {
	sum := 0
	for _, r := range p.runs(text, f) {
		if r.face != nil && r.face.shaped {
			r.right = isRightToLeft(r.text)
			sum += p.shapedUnits(r)
			continue
		}
		for _, c := range r.text {
			sum += p.glyph(c, f).units
		}
	}
	return sum
}

// width returns the width of prepared text in millimetres.
func (p *printer) width(text string, f *face, size float64) float64 {
	return millimetres(p.units(text, f), size)
}

// millimetres converts units, thousandths of a size in points, into millimetres.
func millimetres(units int, size float64) float64 { return float64(units) * size / 1000 * 25.4 / 72 }

// wrap breaks text into lines of at most the width: at spaces, and between the characters of scripts that have none. It breaks
// within a word only if the word is wider than a line. It measures each character once, however long the text is.
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
		units := 0
		if !isJoiner(r) {
			units = p.glyph(r, f).units
		}
		if i > start && r != ' ' && !clings(r) && millimetres(used+units, size) > width {
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
