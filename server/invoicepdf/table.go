package invoicepdf

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/store/core"
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
		{"Description", 0, func(l Line) string { return l.Description }},
		{"Quantity", 15, func(l Line) string { return strconv.FormatInt(l.Quantity, 10) }},
		{"Unit price", 23, amount(func(l Line) int64 { return l.Unit })},
	}
	if slices.ContainsFunc(s.document.Lines, func(l Line) bool { return l.Discount != 0 }) {
		all = append(all, column{"Discount", 20, amount(func(l Line) int64 { return -l.Discount })})
	}
	all = append(all,
		column{"Net", 23, amount(func(l Line) int64 { return l.Net })},
		column{"Rate", 14, rate},
		column{"Tax", 20, amount(func(l Line) int64 { return l.Tax })},
		column{"Total", 25, amount(func(l Line) int64 { return l.Total })},
	)
	all[0].width = right - margin
	for _, c := range all[1:] {
		all[0].width -= c.width
	}
	return all
}

// figure writes an amount without its currency, which is in the head of the table.
func (s *sheet) figure(amount int64) string {
	_, figure, _ := strings.Cut(core.FormatAmount(amount, s.document.Currency), "\u00a0")
	return figure
}

func rate(l Line) string {
	if l.RateBps == nil {
		return "–"
	}
	return Percent(*l.RateBps)
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
	s.y = s.block(margin, s.y, right-margin, "Amounts in "+strings.ToUpper(s.document.Currency), s.regular, smallSize) + 1.5
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
