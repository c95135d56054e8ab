package invoicepdf

import (
	"slices"
	"strconv"
	"strings"
)

// column is a column of the table of lines. The first one is as wide as the others leave room for.
type column struct {
	title string
	width float64
	cell  func(Line) string
}

// columns returns the columns that the document needs. There is one for discounts only if there are any.
func (s *sheet) columns() []column {
	amount := func(of func(Line) int64) func(Line) string {
		return func(l Line) string { return s.figure(of(l)) }
	}
	all := []column{
		{s.l.T("document.item"), 0, func(l Line) string { return l.Description }},
		{s.l.T("document.quantity"), 15, func(l Line) string { return strconv.FormatInt(l.Quantity, 10) }},
		{s.l.T("document.unit_price"), 23, amount(func(l Line) int64 { return l.Unit })},
	}
	if slices.ContainsFunc(s.document.Lines, func(l Line) bool { return l.Discount != 0 }) {
		all = append(all, column{s.l.T("total.discount"), 20, amount(func(l Line) int64 { return -l.Discount })})
	}
	all = append(all,
		column{s.l.T("document.net"), 23, amount(func(l Line) int64 { return l.Net })},
		column{s.l.T("document.rate"), 14, s.rate},
		column{s.l.T("document.tax"), 20, amount(func(l Line) int64 { return l.Tax })},
		column{s.l.T("total.total"), 25, amount(func(l Line) int64 { return l.Total })},
	)
	all[0].width = right - margin
	for _, c := range all[1:] {
		all[0].width -= c.width
	}
	return all
}

// figure writes an amount without its currency, which is in the head of the table.
func (s *sheet) figure(amount int64) string { return s.l.Figure(amount, s.document.Currency) }

func (s *sheet) rate(l Line) string {
	if l.RateBps == nil {
		return "–"
	}
	return s.l.Percent(*l.RateBps)
}

// table draws the lines of the document. Every page that the table reaches begins with its head.
func (s *sheet) table() {
	columns := s.columns()
	s.hasRoom(30)
	s.head(columns)
	for _, line := range s.document.Lines {
		s.row(columns, line)
	}
	s.y += 3
}

// head draws the head of the table: the currency, and the titles of the columns.
func (s *sheet) head(columns []column) {
	s.y = s.block(margin, s.y, right-margin, s.l.T("document.amounts_in", "currency", strings.ToUpper(s.document.Currency)), s.regular, smallSize) + 1.5
	s.rule(s.y)
	s.y += lineHeight(smallSize) + 0.5
	x := margin
	for i, c := range columns {
		if i == 0 {
			s.printText(x, s.y, c.title, s.bold, smallSize)
		} else {
			s.textRight(x+c.width, s.y, c.width-2, c.title, s.bold, smallSize)
		}
		x += c.width
	}
	s.y += 1.8
	s.rule(s.y)
}

// row draws one line of the document. A long description continues on the next page; a line of its text is never split.
func (s *sheet) row(columns []column, l Line) {
	height := lineHeight(smallSize)
	reversed := isRightToLeft(l.Description)
	for i, text := range s.wrap(columns[0].cell(l), s.regular, smallSize, columns[0].width-3) {
		if s.hasRoom(height + 2) {
			s.head(columns)
		}
		s.y += height
		s.printLine(margin, s.y, text, reversed, s.regular, smallSize)
		if i == 0 {
			s.figures(columns, l)
		}
	}
	s.y += 1.8
	s.rule(s.y)
}

func (s *sheet) figures(columns []column, l Line) {
	x := margin + columns[0].width
	for _, c := range columns[1:] {
		x += c.width
		s.textRight(x, s.y, c.width-2, c.cell(l), s.regular, smallSize)
	}
}
