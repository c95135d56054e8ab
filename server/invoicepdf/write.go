package invoicepdf

import (
	"bytes"
	"context"
	"strconv"

	"codeberg.org/go-pdf/fpdf"

	"github.com/tillwright/tillwright/server/locale"
)

// Sizes in points.
const (
	titleSize = 18.0
	textSize  = 9.0
	smallSize = 8.0
)

// Writer writes documents. It may be used by several goroutines at once. Each document takes up to 60 MB while it is made, because the library
// reads whole fonts. So only few should be made at a time.
type Writer struct {
	regular   *face
	bold      *face
	fallbacks []*face
	emoji     *face
}

// New returns a Writer. It writes in Noto Sans, and characters that this lacks in its sisters for other scripts. Others it writes in Droid Sans
// Fallback or in Nanum Square, which have no bold. It costs almost nothing: each font is read with the first document that needs it.
func New() *Writer {
	return &Writer{
		regular: newFace("noto", "", "NotoSans-Regular"),
		bold:    newFace("noto", "B", "NotoSans-Bold"),
		emoji:   newFace("emoji", "", "NotoEmoji-Regular"),
		fallbacks: []*face{
			newFace("arabic", "", "NotoSansArabic-Regular").shapes().only([2]rune{0x600, 0x6ff}, [2]rune{0x750, 0x77f}, [2]rune{0x8a0, 0x8ff}, [2]rune{0xfb50, 0xfdff}, [2]rune{0xfe70, 0xfeff}),
			newFace("hebrew", "", "NotoSansHebrew-Regular").shapes().only([2]rune{0x590, 0x5ff}, [2]rune{0xfb1d, 0xfb4f}),
			newFace("thai", "", "NotoSansThai-Regular").shapes().only([2]rune{0xe00, 0xe7f}),
			newFace("devanagari", "", "NotoSansDevanagari-Regular").shapes().only([2]rune{0x900, 0x97f}, [2]rune{0xa8e0, 0xa8ff}),
			newFace("bengali", "", "NotoSansBengali-Regular").shapes().only([2]rune{0x980, 0x9ff}),
			newFace("tamil", "", "NotoSansTamil-Regular").shapes().only([2]rune{0xb80, 0xbff}),
			newFace("armenian", "", "NotoSansArmenian-Regular").only([2]rune{0x530, 0x58f}, [2]rune{0xfb13, 0xfb17}),
			newFace("georgian", "", "NotoSansGeorgian-Regular").only([2]rune{0x10a0, 0x10ff}, [2]rune{0x1c90, 0x1cbf}, [2]rune{0x2d00, 0x2d2f}),
			newFace("droid", "", "DroidSansFallbackFull"), newFace("nanum", "", "NanumSquareR"),
		},
	}
}

// Write returns the document as a PDF of A4 pages. Equal documents give equal bytes. An emoji is drawn as an outline, and
// any other character that no font has as a box with its code point. The time it takes depends on the length of the texts; when ctx ends, it stops.
func (w *Writer) Write(ctx context.Context, d Document) ([]byte, error) {
	s := &sheet{printer: newPrinter(ctx, w.fallbacks, d.IssuedAt), Writer: w, document: d, l: d.spoken()}
	s.printer.emoji = w.emoji
	s.pdf.SetTitle(prepare(d.Title+" "+d.Number), true)
	s.pdf.SetAuthor(prepare(d.Seller.Name), true)
	s.pdf.AddPage()
	s.heading()
	s.parties()
	if d.Memo != "" {
		s.note(d.Memo)
	}
	s.table()
	s.totals()
	for _, note := range d.Notes {
		s.note(note)
	}
	s.numberPages()
	return s.finish()
}

// sheet is a document while it is written.
type sheet struct {
	*printer
	*Writer
	document Document
	l        *locale.Locale
	running  string // the line at the head of every page after the first
}

// logo draws the logo from y downwards, and returns the y of what stands below it.
func (s *sheet) logo(y float64) float64 {
	const widest, highest = 50.0, 14.0
	if s.document.Logo == nil || s.stops() {
		return y
	}
	kind := fpdf.ImageOptions{ImageType: "PNG"}
	about := s.pdf.RegisterImageOptionsReader("logo", kind, bytes.NewReader(s.document.Logo))
	if s.pdf.Err() {
		s.err = s.pdf.Error()
		return y
	}
	scale := min(widest/about.Width(), highest/about.Height())
	s.pdf.ImageOptions("logo", margin, y, about.Width()*scale, about.Height()*scale, false, kind, 0, "")
	return y + about.Height()*scale + 6
}

// heading draws the title of the document, its number and status, and its dates.
func (s *sheet) heading() {
	d := s.document
	top := s.logo(margin)
	s.y = s.block(margin, top, 100, d.Title, s.bold, titleSize)
	s.y = s.block(margin, s.y+1, 100, d.Number, s.regular, 11)
	if d.Status != "" {
		s.y = s.block(margin, s.y+1, 100, d.Status, s.bold, textSize)
	}
	y := top + 2.0
	for _, f := range append([]Fact{{s.l.T("document.issued"), s.l.Day(d.IssuedAt)}}, d.Facts...) {
		below := s.block(120, y, 30, f.Name, s.regular, textSize)
		y = max(below, s.block(150, y, right-150, f.Value, s.bold, textSize))
	}
	s.y = max(s.y, y) + 8
}

// parties draws the seller and the buyer, side by side.
func (s *sheet) parties() {
	seller := s.party(margin, s.l.T("document.from"), s.document.Seller)
	buyer := s.party(pageWidth/2+5, s.l.T("document.to"), s.document.Buyer)
	s.y = max(seller, buyer) + 8
}

// party draws one of them, and returns the y below it.
func (s *sheet) party(x float64, label string, p Party) float64 {
	const width = pageWidth/2 - margin - 5
	y := s.block(x, s.y, width, label, s.regular, smallSize)
	if p.Name != "" {
		y = s.block(x, y+0.5, width, p.Name, s.bold, 10)
	}
	for _, line := range append(append([]string{}, p.Address...), p.Email) {
		if line != "" {
			y = s.block(x, y, width, line, s.regular, textSize)
		}
	}
	if p.TaxID != "" {
		y = s.block(x, y, width, s.l.T("document.tax_id", "id", p.TaxID), s.regular, textSize)
	}
	return y
}

// totals draws the sums below the table. They are kept together on one page.
func (s *sheet) totals() {
	d := s.document
	const below = 6.5
	s.hasRoom(below * float64(5+len(d.Taxes)+len(d.Balances)))
	s.sum(s.l.T("total.subtotal"), d.Subtotal, s.regular)
	if d.Discount != 0 {
		s.sum(s.l.T("total.discount"), -d.Discount, s.regular)
	}
	s.sum(s.l.T("document.net"), d.Net, s.regular)
	for _, t := range d.Taxes {
		s.sum(s.l.T("document.tax_on", "tax", t.Label(s.l), "amount", s.l.Money(t.Taxable, d.Currency)), t.Tax, s.regular)
	}
	s.sum(s.l.T("document.tax"), d.Tax, s.regular)
	s.sum(s.l.T("total.total"), d.Total, s.bold)
	for _, b := range d.Balances {
		s.sum(b.Name, b.Amount, s.regular)
	}
	s.y += 6
}

func (s *sheet) sum(name string, amount int64, f *face) {
	const split = right - 45
	y := s.y
	for _, line := range s.wrap(name, f, textSize, split-80-3) {
		y += lineHeight(textSize)
		s.textRight(split-3, y, split-80-3, line, f, textSize)
	}
	s.textRight(right, y, 45, s.l.Money(amount, s.document.Currency), f, textSize)
	s.y = y + 1.2
}

// note draws a note, which may run over several pages. One that is read from right to left begins at the right.
func (s *sheet) note(note string) {
	reversed := isRightToLeft(note)
	for _, line := range s.wrap(note, s.regular, textSize, right-margin) {
		s.hasRoom(lineHeight(textSize))
		s.y += lineHeight(textSize)
		x := margin
		if reversed {
			x = right - s.width(line, s.regular, textSize)
		}
		s.printLine(x, s.y, line, reversed, s.regular, textSize)
	}
	s.y += 3
}

// hasRoom begins a new page unless so much height, in millimetres, is free on this one. It reports whether it did.
func (s *sheet) hasRoom(height float64) bool {
	if s.y+height <= bottom {
		return false
	}
	s.pdf.AddPage()
	d := s.document
	if s.running == "" {
		s.running = s.wrap(d.Title+" "+d.Number+" · "+d.Seller.Name, s.regular, smallSize, right-margin)[0]
	}
	s.y = margin + lineHeight(smallSize)
	s.printText(margin, s.y, s.running, s.regular, smallSize)
	s.y += 3
	return true
}

// numberPages writes the page numbers. That comes last, when it is known how many pages there are.
func (s *sheet) numberPages() {
	pages := s.pdf.PageCount()
	for page := 1; page <= pages; page++ {
		s.pdf.SetPage(page)
		s.textRight(right, pageHeight-12, 60, s.l.T("document.page_of", "page", strconv.Itoa(page), "pages", strconv.Itoa(pages)), s.regular, smallSize)
	}
}
