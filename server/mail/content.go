package mail

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
)

// content is what a letter says, whatever it looks like. It repeats nothing that a buyer has typed but their address: whoever types the address of
// somebody else does not write to them. A letter to the team of a seller names its buyers, and makes no links of that.
type content struct {
	id      string         // of its row, which is its Message-ID; empty for one that has none, or gets it later
	spoken  *locale.Locale // its language
	subject string
	opening []string // paragraphs
	article string   // Markdown that the seller wrote, empty for none
	shows   string   // the name of the product whose picture it has
	picture []byte   // a JPEG or PNG, nil for none
	facts   []string // lines
	sums    []sum
	items   []item
	actions []action
	closing []string // paragraphs
	leave   string   // address at which the reader ends letters like this one, empty for none
}

// speaks returns the language of a letter: that of its reader, nil if they chose none, or else the seller's.
func speaks(theirs *string, seller *tenant.Account) *locale.Locale {
	return cmp.Or(locale.Find(core.Deref(theirs)), locale.Find(seller.Locale), locale.English)
}

// action is something that the reader can do on a page. The button is what leads there where letters are shown as pages.
type action struct{ label, url, button string }

// sum is a line of what was bought, or of what that comes to. Its note says what follows, and is empty for nothing.
type sum struct {
	name, amount, note string
	isTotal            bool
}

// item is something that the reader has now. Its value is where it is if isLink, and else what it is, such as a licence key.
type item struct {
	name, value    string
	isLink, isFile bool // a file is a link that the reader downloads
}

// button returns the index of the item that the reader is to open first, which is the first file. It is -1 for none.
func (c content) button() int {
	return slices.IndexFunc(c.items, func(i item) bool { return i.isFile })
}

// text returns the content as plain text. No name in it, whoever wrote that, begins a line of its own.
func (c content) text() string {
	parts := lines(c.opening)
	if c.article != "" {
		parts = append(parts, strings.TrimSpace(c.article))
	}
	if len(c.facts) > 0 {
		parts = append(parts, strings.Join(lines(c.facts), "\n"))
	}
	if len(c.sums) > 0 {
		parts = append(parts, strings.Join(lines(c.sumLines()), "\n"))
	}
	for _, i := range c.items {
		parts = append(parts, strings.TrimRight(unbroken.Replace(i.name)+"\n"+unbroken.Replace(i.value), "\n"))
	}
	for _, a := range c.actions {
		parts = append(parts, unbroken.Replace(a.label)+"\n"+unbroken.Replace(a.url))
	}
	return strings.Join(append(parts, lines(c.closing)...), "\n\n") + "\n"
}

// sumLines returns the sums as lines of text.
func (c content) sumLines() (all []string) {
	for _, s := range c.sums {
		all = append(all, c.spoken.T("mail.sum", "name", s.name, "amount", s.amount))
		if s.note != "" {
			all = append(all, s.note)
		}
	}
	return all
}

// unbroken has a space for all that breaks a line, and leaves the rest as it is. A key or an address must be that which was meant.
var unbroken = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\v", " ", "\f", " ", "\u0085", " ", "\u2028", " ", "\u2029", " ")

// lines returns each text on one line.
func lines(texts []string) []string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = unbroken.Replace(text)
	}
	return all
}

// itemsOf returns what the reader has, as items.
func itemsOf(l *locale.Locale, deliveries []store.LetterDelivery) (items []item, hasFiles bool) {
	for _, d := range deliveries {
		name := oneLine(cmp.Or(core.Deref(d.Name), d.FileName, d.ProductName))
		switch {
		case d.FileURL != "":
			hasFiles = true
			items = append(items, item{name: l.T("download.file", "name", name), value: d.FileURL, isLink: true, isFile: true})
		case d.Key != nil:
			items = append(items, item{name: l.T("mail.key_for", "product", oneLine(d.ProductName)), value: *d.Key})
		case d.Type == "license_key":
			items = append(items, item{name: l.T("mail.key_for", "product", oneLine(d.ProductName)), value: l.T("license.waits")})
		case d.URL != nil:
			items = append(items, item{name: name, value: *d.URL, isLink: true})
		default:
			items = append(items, item{name: name})
		}
	}
	return items, hasFiles
}
