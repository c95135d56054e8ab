// Package invoicepdf writes invoices and receipts as PDF documents. It needs nothing that the machine would have to have: its fonts
// are part of the program. They are for Latin, Greek, Cyrillic, Armenian, Georgian, Hebrew, Arabic, Thai, Devanagari, Bengali, Tamil
// and CJK scripts.
package invoicepdf

import (
	"cmp"
	"time"

	"github.com/tillwright/tillwright/server/locale"
)

// Document is what a PDF says. Texts may have any length and line breaks in them. What is empty, nil or zero is not shown. All
// amounts are in the minor unit of Currency.
type Document struct {
	Language string // a tag, such as de; English if the program does not speak it
	Title    string // Invoice, Receipt
	Number   string
	Logo     []byte    // a PNG of 8 bits a channel, above the title; nil for none
	Status   string    // as people read it: Paid, Due
	IssuedAt time.Time // in the zone whose day is printed
	Facts    []Fact    // beside the date of issue: the due date, the order, the period
	Seller   Party
	Buyer    Party
	Currency string // lower-case ISO 4217
	Memo     string // above the lines
	Lines    []Line
	Subtotal int64
	Discount int64
	Net      int64
	Taxes    []Tax
	Tax      int64
	Total    int64
	Balances []Balance // below the total: what is paid, refunded, due
	Notes    []string  // at the end
}

// Fact is a line beside the title, such as the due date.
type Fact struct{ Name, Value string }

// Balance is an amount below the total.
type Balance struct {
	Name   string
	Amount int64
}

// Party is the seller or the buyer.
type Party struct {
	Name    string
	Address []string
	Email   string
	TaxID   string
}

// Line is a row of the table. Net and Tax add up to Total.
type Line struct {
	Description string
	Quantity    int64
	Unit        int64 // price of one
	Discount    int64
	Net         int64
	RateBps     *int64 // hundredths of a percent; nil if the line is not taxed
	Tax         int64
	Total       int64
}

// Tax is the tax on all lines with the same rate. An inclusive tax is part of the prices.
type Tax struct {
	Name      string
	RateBps   int64
	Taxable   int64
	Tax       int64
	Inclusive bool
}

// Date writes a day as the documents do, such as "2 January 2026", in the zone of t.
func Date(t time.Time) string { return t.Format("2 January 2006") }

// Label returns the name of the tax with its rate.
func (t Tax) Label(l *locale.Locale) string {
	name := cmp.Or(t.Name, l.T("document.tax")) + " " + l.Percent(t.RateBps)
	if t.Inclusive {
		return l.T("document.included", "tax", name)
	}
	return name
}

// spoken returns the language of the document. English names currencies by their codes.
func (d *Document) spoken() *locale.Locale {
	if l := locale.Find(d.Language); l != nil && l != locale.English {
		return l
	}
	return locale.EnglishCodes
}
