package invoicepdf

import (
	"bytes"
	"context"
	"strings"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/text/unicode/bidi"
)

// A4 in millimetres.
const (
	pageWidth  = 210.0
	pageHeight = 297.0
	margin     = 15.0
	right      = pageWidth - margin
	bottom     = pageHeight - 22 // below it is the page number
)

// printer draws text on pages. Positions are in millimetres from the top left. The first error stops everything after it, and
// is kept until finish.
type printer struct {
	pdf       *fpdf.Fpdf
	fallbacks []*face
	emoji     *face // nil for none
	outlines  map[*face]*outline
	glyphs    map[*face]map[rune]glyph // by the font that is preferred
	shown     map[*face]map[rune]bool  // what each font is to hold
	copies    map[*face]*face
	faces     map[*face]*font.Face
	paths     map[*face]map[font.GID]string
	shaper    shaping.HarfbuzzShaper
	stopped   func() error // why the work is not wanted any more
	err       error
	y         float64
}

// newPrinter returns a printer whose output depends on nothing but what is printed and made, the date of the document. Its
// parts are written in a fixed order.
func newPrinter(ctx context.Context, fallbacks []*face, made time.Time) *printer {
	pdf := fpdf.New("P", "mm", "A4", "")
	pdf.SetAutoPageBreak(false, 0)
	pdf.SetCatalogSort(true)
	pdf.SetCreationDate(made.UTC())
	pdf.SetModificationDate(made.UTC())
	pdf.SetProducer("Tillwright", true)
	return &printer{
		pdf: pdf, fallbacks: fallbacks, outlines: map[*face]*outline{}, glyphs: map[*face]map[rune]glyph{},
		shown: map[*face]map[rune]bool{}, copies: map[*face]*face{}, faces: map[*face]*font.Face{}, paths: map[*face]map[font.GID]string{}, stopped: ctx.Err,
	}
}

// outline loads a face, so that the document can be written in it. It returns nil after an error.
func (p *printer) outline(f *face) *outline {
	if known, ok := p.outlines[f]; ok || p.err != nil {
		return known
	}
	loaded, err := f.load()
	if err != nil {
		p.err = err
		return nil
	}
	p.pdf.AddUTF8FontFromBytes(f.family, f.style, bytes.Clone(loaded.bytes)) // it writes to them when it cuts the font
	p.outlines[f] = loaded
	return loaded
}

// printText draws one line, a paragraph of its own, with its left end at x and its baseline at y.
func (p *printer) printText(x, y float64, text string, f *face, size float64) {
	p.printLine(x, y, text, isRightToLeft(text), f, size)
}

// printLine draws one line of a paragraph that is read from right to left or not.
func (p *printer) printLine(x, y float64, text string, right bool, f *face, size float64) {
	if p.stops() {
		return
	}
	for _, r := range p.ordered(text, right, f) {
		switch {
		case r.face == nil:
			x += p.printBox(x, y, r.text, f, size)
		case r.face.shaped:
			x += p.printShaped(x, y, r, size)
		default:
			if r.right { // such as brackets and spaces
				r.text = bidi.ReverseString(r.text)
			}
			p.pdf.SetFont(r.face.family, r.face.style, size)
			p.pdf.Text(x, y, r.text)
			x += p.pdf.GetStringWidth(r.text)
		}
	}
}

// textRight draws one line whose right end is at x. If it is wider than width, it is drawn smaller.
func (p *printer) textRight(x, y, width float64, text string, f *face, size float64) {
	text = prepare(text)
	w := p.width(text, f, size)
	if w > width {
		size *= width / w
		w = p.width(text, f, size)
	}
	p.printText(x-w, y, text, f, size)
}

// block draws a paragraph from y downwards and returns the y below it.
func (p *printer) block(x, y, width float64, text string, f *face, size float64) float64 {
	right := isRightToLeft(text)
	for _, line := range p.wrap(strings.ReplaceAll(text, "\n", " "), f, size, width) {
		y += lineHeight(size)
		p.printLine(x, y, line, right, f, size)
	}
	return y
}

// rule draws a thin line over the page's width.
func (p *printer) rule(y float64) {
	p.pdf.SetDrawColor(170, 170, 170)
	p.pdf.SetLineWidth(0.2)
	p.pdf.Line(margin, y, right, y)
}

// stops reports whether to stop: after an error, or when nobody waits for the document any more.
func (p *printer) stops() bool {
	if p.err == nil {
		p.err = p.stopped()
	}
	return p.err != nil
}

func (p *printer) finish() ([]byte, error) {
	if p.stops() {
		return nil, p.err
	}
	var out bytes.Buffer
	err := p.pdf.Output(&out)
	return out.Bytes(), err
}

// lineHeight returns the distance between two lines of text, in millimetres, for a size in points.
func lineHeight(size float64) float64 { return size * 0.3528 * 1.35 }
