package ui

import (
	_ "embed" // for the sheet
	"html/template"
	"slices"
)

// The parts below are those of the dashboard. A page there is a list, one object, or a form, and each of these looks the same everywhere.

// Menu is what stands beside every page of somebody who is signed in.
type Menu struct {
	Account  string     // whose pages these are
	Person   string     // who is signed in
	Items    []MenuItem // in their order
	Accounts bool       // there are others to go to
}

// MenuItem leads to a part of the dashboard.
type MenuItem struct {
	Text, Address string
	Current       bool
}

// Link leads somewhere.
type Link struct {
	Text, Address string
	Primary       bool // the one thing that most people want here
	Danger        bool
}

// Cell is a value, with what it leads to. One of its forms is set; an empty one is a dash.
type Cell struct {
	Text    string
	Address string // to which the text leads, empty for none
	Badge   *Badge
	Time    *Moment
	Number  bool // stands at the end of its column
	Code    bool // is for programs
}

// Moment is a time as a person reads it.
type Moment struct{ Shown, Machine, Zone string }

// Table is rows of cells. The first cell of a row leads to what the row is about.
type Table struct {
	Label   string // what it is, for those who do not see it
	Columns []string
	Rows    [][]Cell
	Newer   string // address of the page before, empty for none
	Older   string
	Empty   *Empty // what stands there if it has no rows
}

// IsNumber reports whether figures stand in a column.
func (t *Table) IsNumber(column int) bool {
	return slices.ContainsFunc(t.Rows, func(row []Cell) bool { return row[column].Number })
}

// Empty says what is missing, and how to make one.
type Empty struct {
	Text   string
	Action *Link
	Curl   string // how a program does it, empty for none
}

// Control is one field of a form.
type Control struct {
	Kind           string // text (default), password, email, number, date, textarea, select, checkbox, checkboxes, hidden, file, secret
	Name, Label    string
	ID             string // its Name, if empty
	Hint, Value    string
	Problem        string
	Group          string // a heading over it
	Autocomplete   string
	InputMode      string
	Unit           string // that stands in the field, such as a currency
	Options        []Option
	Required       bool
	Optional       bool // says so in words
	Checked        bool
	Longest, Lines int
}

// Option is one of several that a control offers.
type Option struct {
	Value, Text, Hint string
	Chosen            bool
}

// Form is what somebody fills in.
type Form struct {
	Action   string // where it is sent, empty for the page's own address
	Submit   string
	Name     string // what the button is called for those who do not see what stands beside it, empty for Submit
	Danger   bool
	Upload   bool
	Get      bool // it only chooses what is shown
	Inline   bool // in a line
	Once     string
	Text     string // what will happen
	Cancel   string // address of the way back, empty for none
	Controls []Control
	Parts    []Part   // below the controls
	Buttons  []Button // beside Submit
	Above    bool     // Submit stands above the controls and stays in sight: the form is long
}

// Part is a group of a form's controls, with buttons that are about it.
type Part struct {
	ID       string // to which an address leads, empty for none
	Title    string
	Controls []Control
	Buttons  []Button
}

// Button sends its form too, and says what for.
type Button struct {
	Text, Name, Value string
	Danger            bool
}

// All returns all controls of the form.
func (f *Form) All() []*Control {
	var all []*Control
	for i := range f.Controls {
		all = append(all, &f.Controls[i])
	}
	for _, part := range f.Parts {
		for i := range part.Controls {
			all = append(all, &part.Controls[i])
		}
	}
	return all
}

// Term is a name with its value.
type Term struct {
	Name  string
	Value Cell
}

// Section is a part of a page about one object. What is not set is not shown.
type Section struct {
	Title  string
	Text   string
	Prose  template.HTML // that was made fit for any page
	Terms  []Term
	Links  []Link
	Chart  *Chart
	Filter *Form
	Table  *Table
	Form   *Form
	Forms  []Form // of one line each
	Code   string
	Inset  *Inset
}

// Inset is a page of its own that stands in this one. It runs no scripts, and is nobody's: its links open beside the page. The page needs frame-src in
// its policy.
type Inset struct{ Title, Address string }

// Page is what a page of the dashboard consists of.
type Page struct {
	Heading   string
	Up        *Link // what it is a part of
	Badge     *Badge
	Lead      string
	Notice    string    // what was just done
	NoticeBad bool      // it did not work
	Secrets   []Control // shown this once
	Actions   []Link
	Tabs      []MenuItem // the parts of it, as links
	Filter    *Form
	Table     *Table
	Form      *Form
	Stats     []Stat
	Steps     []Step
	Sections  []Section
}

// Stat is a figure.
type Stat struct{ Name, Figure, Change, Address string }

// Step is something to do before a shop sells.
type Step struct {
	Text, Address string
	Done          bool
}

//go:embed desk.css
var deskSheet string

// NewDesk returns pages of the dashboard, each made of a Page.
func NewDesk() (*Templates, error) {
	return New(files, nil, nil, []string{Desk})
}

// Desk is the name of the page that NewDesk has.
const Desk = "desk.html"

// DeskSheet returns the style sheet of the dashboard's pages, which Frame.Sheet names.
func DeskSheet() (*Asset, error) { return NewAsset("dashboard.css", []byte(sheet+deskSheet)) }
