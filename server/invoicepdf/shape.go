package invoicepdf

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-text/typesetting/di"
	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
	"github.com/go-text/typesetting/language"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/unicode/bidi"
)

// Scripts whose letters join, stack or change places are shaped: the font says which glyph goes where. The library for PDF knows
// only one glyph for each character, from left to right. So their glyphs are drawn as outlines, and their text lies invisibly on
// them.

// span is a part of a line with one direction.
type span struct {
	text  string
	right bool // it is read from right to left
}

// isRightToLeft reports the direction of a paragraph: that of its first letter that has one.
func isRightToLeft(text string) bool {
	for _, r := range text {
		switch p, _ := bidi.LookupRune(r); p.Class() {
		case bidi.L:
			return false
		case bidi.R, bidi.AL:
			return true
		}
	}
	return false
}

func hasRightToLeft(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		if r < 0x590 {
			return false
		}
		p, _ := bidi.LookupRune(r)
		return p.Class() == bidi.R || p.Class() == bidi.AL || p.Class() == bidi.AN
	})
}

// spans returns the parts of a line in the order in which they stand, from left to right. The line is of a paragraph that is
// read from right to left or not.
func spans(line string, right bool) []span {
	if !right && !hasRightToLeft(line) {
		return []span{{line, false}}
	}
	mark := "\u200e" // says the direction of the paragraph, and is not drawn
	if right {
		mark = "\u200f"
	}
	var p bidi.Paragraph
	if _, err := p.SetString(mark + line); err != nil {
		return []span{{line, right}}
	}
	order, err := p.Order()
	if err != nil {
		return []span{{line, right}}
	}
	var all []span
	var levels []int
	for i := range order.NumRuns() {
		run := order.Run(i)
		s := span{strings.TrimPrefix(run.String(), mark), run.Direction() == bidi.RightToLeft}
		switch n := len(all); {
		case s.text == "":
			continue
		case s.right:
			levels = append(levels, 1)
		case right, n > 0 && all[n-1].right && !hasLeftToRight(s.text): // a number among letters that are read from the right
			levels = append(levels, 2)
		default:
			levels = append(levels, 0)
		}
		all = append(all, s)
	}
	// Rule L2 of Unicode's bidirectional algorithm.
	for level := 2; level > 0; level-- {
		for i := 0; i < len(all); i++ {
			end := i
			for end < len(all) && levels[end] >= level {
				end++
			}
			if end > i {
				slices.Reverse(all[i:end])
				slices.Reverse(levels[i:end])
				i = end
			}
		}
	}
	return all
}

func hasLeftToRight(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		p, _ := bidi.LookupRune(r)
		return p.Class() == bidi.L
	})
}

// shape arranges the glyphs of a run. Its distances are in units of the font.
func (p *printer) shape(r run) shaping.Output {
	direction := di.DirectionLTR
	if r.right {
		direction = di.DirectionRTL
	}
	runes, face := []rune(r.text), p.drawn(r.face)
	script := language.Common
	for _, c := range runes {
		if script = language.LookupScript(c); script != language.Common && script != language.Inherited {
			break
		}
	}
	return p.shaper.Shape(shaping.Input{
		Text: runes, RunEnd: len(runes), Direction: direction, Face: face, Size: fixed.I(int(face.Upem())), Script: script, Language: language.NewLanguage("und"),
	})
}

// drawn returns a font as the shaper takes it. Others share the font, but not what it remembers of its glyphs.
func (p *printer) drawn(f *face) *font.Face {
	if p.faces[f] == nil {
		p.faces[f] = font.NewFace(p.outlines[f].font)
	}
	return p.faces[f]
}

// shapedUnits returns the width of a run in thousandths of the font's size.
func (p *printer) shapedUnits(r run) int {
	return p.shape(r).Advance.Round() * 1000 / int(p.outlines[r.face].font.Upem())
}

// printShaped draws a run with its left end at x and its baseline at y, and returns its width in millimetres.
func (p *printer) printShaped(x, y float64, r run, size float64) float64 {
	at := 0.0 // in units of the font, as all that belongs to glyphs
	scale := size / float64(p.drawn(r.face).Upem()) * 25.4 / 72
	for _, g := range p.shape(r).Glyphs {
		dx, dy := at+float64(g.XOffset)/64, float64(g.YOffset)/64
		p.printOutline(x+dx*scale, y-dy*scale, r.face, g.GlyphID, size)
		at += float64(g.Advance) / 64
	}
	p.hide(x, y, r, size, at*scale)
	return at * scale
}

// printOutline draws a glyph with its origin at x and y.
func (p *printer) printOutline(x, y float64, f *face, id font.GID, size float64) {
	const points = 72 / 25.4 // in a millimetre
	if path := p.path(f, id); path != "" {
		scale := size / float64(p.drawn(f).Upem())
		p.pdf.RawWriteStr(fmt.Sprintf("q %.5f 0 0 %.5f %.3f %.3f cm %sf Q", scale, scale, x*points, (pageHeight-y)*points, path))
	}
}

// path returns the outline of a glyph as PDF draws it, in units of the font. Nothing is drawn for an empty one.
func (p *printer) path(f *face, id font.GID) string {
	known := p.paths[f]
	if known == nil {
		known = map[font.GID]string{}
		p.paths[f] = known
	}
	path, ok := known[id]
	if ok {
		return path
	}
	outline, _ := p.drawn(f).GlyphDataOutline(id)
	var b strings.Builder
	var last opentype.SegmentPoint
	for _, s := range outline.Segments {
		args := s.ArgsSlice()
		operator := "l"
		switch s.Op {
		case opentype.SegmentOpMoveTo:
			operator = "m"
		case opentype.SegmentOpLineTo:
		case opentype.SegmentOpQuadTo: // as the cubic curve that it equals
			third := func(a, b float32) float32 { return a + (b-a)*2/3 }
			c, end := args[0], args[1]
			args = []opentype.SegmentPoint{{X: third(last.X, c.X), Y: third(last.Y, c.Y)}, {X: third(end.X, c.X), Y: third(end.Y, c.Y)}, end}
			operator = "c"
		case opentype.SegmentOpCubeTo:
			operator = "c"
		}
		for _, a := range args {
			fmt.Fprintf(&b, "%.0f %.0f ", a.X, a.Y)
		}
		b.WriteString(operator + " ")
		last = args[len(args)-1]
	}
	known[id] = b.String()
	return known[id]
}

// hide writes the text of a run invisibly where its outlines are, as wide as they are, so that it is found and copied.
func (p *printer) hide(x, y float64, r run, size, width float64) {
	text := []rune(r.text)
	if r.right {
		slices.Reverse(text) // readers expect it as it stands
	}
	pieces := make([]run, 0, 1)
	for _, c := range text {
		if !p.outlines[r.face].has(c) {
			continue // a joiner
		}
		f := p.spread(r.face, c)
		if n := len(pieces); n > 0 && pieces[n-1].face == f {
			pieces[n-1].text += string(c)
		} else {
			pieces = append(pieces, run{face: f, text: string(c)})
		}
	}
	natural := 0.0
	for _, piece := range pieces {
		p.pdf.SetFont(piece.face.family, piece.face.style, size)
		natural += p.pdf.GetStringWidth(piece.text)
	}
	if natural == 0 {
		return
	}
	p.pdf.RawWriteStr(fmt.Sprintf("%.2f Tz", width/natural*100))
	p.pdf.SetTextRenderingMode(3)
	for _, piece := range pieces {
		p.pdf.SetFont(piece.face.family, piece.face.style, size)
		p.pdf.Text(x, y, piece.text)
		x += p.pdf.GetStringWidth(piece.text) * width / natural
	}
	p.pdf.SetTextRenderingMode(0)
	p.pdf.RawWriteStr("100 Tz")
}

// boxUnits is the width of a box in thousandths of the font's size.
const boxUnits = 1000

// printBox draws a character that no font writes, which is copied as the character. An emoji is drawn as its outline, and any other as a box with its
// code point. It returns the width.
func (p *printer) printBox(x, y float64, text string, f *face, size float64) float64 {
	r, _ := utf8.DecodeRuneInString(text)
	width := millimetres(boxUnits, size)
	if !p.printEmoji(x, y, r, size) {
		p.printCode(x, y, width, fmt.Sprintf("%04X", r), f, size)
	}
	p.pdf.RawWriteStr(fmt.Sprintf("/Span <</ActualText <FEFF%s>>> BDC", hexOf(text)))
	p.pdf.SetTextRenderingMode(3)
	p.pdf.SetFont(f.family, f.style, size)
	p.pdf.Text(x, y, "M")
	p.pdf.SetTextRenderingMode(0)
	p.pdf.RawWriteStr("EMC")
	return width
}

// printEmoji draws an emoji as wide as a box, and reports whether the character is one. Its font is loaded for signs alone, and is no font of the document.
func (p *printer) printEmoji(x, y float64, r rune, size float64) bool {
	if !unicode.In(r, unicode.So, unicode.Sk) || p.emoji == nil {
		return false
	}
	if p.outlines[p.emoji] == nil {
		loaded, err := p.emoji.load()
		if err != nil {
			p.err = err
			return false
		}
		p.outlines[p.emoji] = loaded
	}
	font := p.outlines[p.emoji].font
	id, has := font.NominalGlyph(r)
	if !has || id == 0 {
		return false
	}
	wide := p.drawn(p.emoji).HorizontalAdvance(id) * 1000 / float32(font.Upem())
	p.printOutline(x, y, p.emoji, id, size*min(boxUnits/float64(max(wide, 1)), 1))
	return true
}

// printCode draws a box of a width with a code in two rows.
func (p *printer) printCode(x, y, width float64, code string, f *face, size float64) {
	half, small := (len(code)+1)/2, size*0.4
	p.pdf.SetDrawColor(90, 90, 90)
	p.pdf.SetLineWidth(0.1)
	p.pdf.Rect(x+0.05*width, y-0.8*width, 0.9*width, width, "D")
	for i, row := range []string{code[:half], code[half:]} {
		at := x + (width-p.width(row, f, small))/2
		for _, digit := range row {
			id, _ := p.outlines[f].font.NominalGlyph(digit)
			p.printOutline(at, y-0.36*width+float64(i)*0.46*width, f, id, small)
			at += p.width(string(digit), f, small)
		}
	}
}

func hexOf(text string) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(text)) {
		fmt.Fprintf(&b, "%04X", unit)
	}
	return b.String()
}

// isJoiner reports whether a character has no glyph of its own and changes how its neighbours are shaped.
func isJoiner(r rune) bool { return r == '\u200c' || r == '\u200d' }

// clings reports whether no line may begin with a character: it is a mark on the one before.
func clings(r rune) bool { return unicode.In(r, unicode.Mn, unicode.Mc, unicode.Me) || isJoiner(r) }
