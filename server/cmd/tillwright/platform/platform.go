// Package platform knows the files that other platforms hand out, and makes of their rows what an import takes.
package platform

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/store/core"
)

// Form is the form in which another platform hands out a kind of object.
type Form struct {
	Name   string
	Source string // where its columns are described

	kind    string
	needs   []string // without these columns a file is not of this form
	columns []column
	family  *family   // nil: each row is an object
	total   [2]string // a column and what it says in a row that is no object
}

// column says what becomes of columns of theirs: a field of the API, whose text read makes of the cells. Each of their columns may have one of
// several names, as in Handle|URL handle. In a field with a * each row of a family has a position of its own, counted among those of which something
// is read. A field that ends in + is a list to which each row adds.
type column struct {
	theirs []string
	field  string
	read   conversion // nil: the text as it is
}

// conversion makes of cells what the API takes, or says what is wrong with them. Nothing is not sent.
type conversion func(cells []string, currency string) (text, problem string)

// family says which rows are of one object.
type family struct {
	names  func(cell func(column string) string) []string // of a row, by which others call it their parent
	parent func(cell func(column string) string) string   // of a row, or nothing

	follows func(cell func(column string) string) bool // the object of the row above it; nil: none does
}

// Find returns the form in which a platform hands out a kind.
func Find(name, kind string) (*Form, error) {
	known := Of(kind)
	at := slices.IndexFunc(known, func(p *Form) bool { return p.Name == name })
	if at < 0 {
		var names []string
		for _, p := range known {
			names = append(names, p.Name)
		}
		return nil, fmt.Errorf("nothing is known of how %s hands out %s: --from takes %s. Else rename the columns of the file as the API's fields, and leave --from out", name, kind, strings.Join(names, ", "))
	}
	return known[at], nil
}

// Of returns the forms of a kind.
func Of(kind string) (known []*Form) {
	for i := range forms {
		if forms[i].kind == kind {
			known = append(known, &forms[i])
		}
	}
	return known
}

// Fields returns the fields of the API that the form fills, as its columns name them.
func (p *Form) Fields() []string {
	fields := make([]string, len(p.columns))
	for i := range p.columns {
		fields[i] = p.columns[i].field
	}
	return fields
}

// TakesMoney reports whether some column is an amount, of which no file says the currency.
func (p *Form) TakesMoney() bool {
	return slices.ContainsFunc(p.columns, func(c column) bool { return strings.HasSuffix(c.field, "amount") })
}

// Check returns an error for a file that is of another form.
func (p *Form) Check(header []string) error {
	var missing []string
	for _, name := range p.needs {
		if find(header, name) < 0 {
			first, _, _ := strings.Cut(name, "|")
			missing = append(missing, first)
		}
	}
	if missing == nil {
		return nil
	}
	return fmt.Errorf("these are not the %s of %s: there is no column %s. Its form is described at %s", p.kind, p.Name, strings.Join(missing, ", "), p.Source)
}

// LeftOut returns the columns of a header for which the API has no field.
func (p *Form) LeftOut(header []string) (left []string) {
	for _, name := range header {
		used := slices.ContainsFunc(p.columns, func(c column) bool {
			return slices.ContainsFunc(c.theirs, func(names string) bool { return slices.Contains(strings.Split(names, "|"), name) })
		})
		if !used && name != "" && !slices.Contains(left, name) {
			left = append(left, name)
		}
	}
	return left
}

// find returns where a header has the first column with one of some names, -1 for nowhere.
func find(header []string, names string) int {
	for name := range strings.SplitSeq(names, "|") {
		if at := slices.Index(header, name); at >= 0 {
			return at
		}
	}
	return -1
}

// cellOf returns what a row has in a column.
func cellOf(header, row []string) func(column string) string {
	return func(column string) string {
		if at := find(header, column); at >= 0 && at < len(row) {
			return strings.TrimSpace(row[at])
		}
		return ""
	}
}

// Row is an object as a row of the API's own columns.
type Row struct {
	Header, Cells []string
	problems      core.Problems
}

// Err returns what is wrong with the cells of which it was made, by their columns.
func (r *Row) Err() error { return r.problems.Err() }

// Translate makes of the rows of an object, of which the first is its own, a row with the API's columns.
func (p *Form) Translate(header []string, rows [][]string, currency string) (t Row) {
	positions := 0
	for i, row := range rows {
		before := len(t.Header)
		for _, c := range p.columns {
			many, list := strings.Contains(c.field, ".*."), strings.HasSuffix(c.field, "+")
			if i > 0 && !many && !list {
				continue
			}
			cell, texts := cellOf(header, row), make([]string, len(c.theirs))
			for n, name := range c.theirs {
				texts[n] = cell(name)
			}
			at, text, problem := c.text(texts, currency)
			switch column, _, _ := strings.Cut(c.theirs[at], "|"); {
			case problem != "" && !slices.Contains(t.problems[column], problem):
				t.problems.Add(column, problem)
			case problem == "" && text != "":
				t.add(strings.Replace(c.field, "*", strconv.Itoa(positions), 1), text)
			}
		}
		if slices.ContainsFunc(t.Header[before:], func(name string) bool { return strings.Contains(name, "."+strconv.Itoa(positions)+".") }) {
			positions++
		}
	}
	return t
}

// text returns what the API takes of cells, or what is wrong, and with which of them. No conversion sees a NUL, which some would leave out.
func (c *column) text(cells []string, currency string) (at int, text, problem string) {
	if at = slices.IndexFunc(cells, func(cell string) bool { return strings.Contains(cell, "\x00") }); at >= 0 {
		return at, "", `A string has a NUL character (\u0000).`
	}
	if c.read == nil {
		return 0, cells[0], ""
	}
	text, problem = c.read(cells, currency)
	return 0, text, problem
}

// add adds a cell, or the items of a list to those that are there.
func (r *Row) add(field, text string) {
	name, isList := strings.CutSuffix(field, "+")
	at := slices.Index(r.Header, name)
	switch {
	case at < 0:
		r.Header, r.Cells = append(r.Header, name), append(r.Cells, text)
	case isList:
		var items, more []string
		_, _ = json.Unmarshal([]byte(r.Cells[at]), &items), json.Unmarshal([]byte(text), &more) // we wrote them
		r.Cells[at] = listText(append(items, more...))
	}
}

// listText writes a list as the cell of a column that takes one.
func listText(items []string) string {
	if len(items) == 0 {
		return ""
	}
	text, _ := json.Marshal(items) // texts are always JSON
	return string(text)
}

// Families are the rows of a file that belong to others.
type Families struct {
	form     *Form
	children map[string][]child // by what they call their parent
	names    map[string]string  // of parents, to the first of their names
	parents  map[int]string     // of rows, by their number
}

// child is a row that belongs to another one, with its number.
type child struct {
	number int
	cells  []string
}

// ReadFamilies reads a whole file, row by row as a csv.Reader does.
func (p *Form) ReadFamilies(rows interface{ Read() ([]string, error) }, header []string) (*Families, error) {
	f := &Families{form: p, children: map[string][]child{}, names: map[string]string{}, parents: map[int]string{}}
	above := nothingAbove
	for number := 0; ; number++ {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return f, nil
		}
		if _, malformed := errors.AsType[*csv.ParseError](err); malformed {
			above = nothingAbove
			continue // it fails by itself
		}
		if err != nil {
			return nil, err
		}
		cell := cellOf(header, row)
		names, parent := p.family.names(cell), p.family.parent(cell)
		if p.family.follows != nil && p.family.follows(cell) {
			parent = above
		}
		for _, name := range names {
			if parent == "" && f.names[name] != "" { // a second row of the same
				parent = name
			}
		}
		if parent != "" {
			f.parents[number] = parent
			f.children[parent] = append(f.children[parent], child{number, row})
			continue
		}
		if p.family.follows != nil {
			above = rowName(number)
			f.names[above] = above
		}
		for _, name := range names {
			f.names[name] = names[0]
		}
	}
}

// nothingAbove is what a row belongs to that follows none.
const nothingAbove = "the row above it"

// rowName is how rows that follow it call a row.
func rowName(number int) string { return "row " + strconv.Itoa(number) }

// Of returns the rows of the object of which a row is the first, with that row. It returns none for a row that belongs to another one, by its number
// from 0, and an error if that one is not there.
func (f *Families) Of(number int, header, row []string) ([][]string, error) {
	if parent, isChild := f.parents[number]; isChild {
		if f.names[parent] == "" {
			return nil, core.Invalid("base", "The row belongs to "+parent+", which is not in the file.")
		}
		return nil, nil
	}
	var children []child
	names := f.form.family.names(cellOf(header, row))
	if f.form.family.follows != nil {
		names = append(names, rowName(number))
	}
	for _, name := range names {
		children = append(children, f.children[name]...)
	}
	slices.SortFunc(children, func(a, b child) int { return cmp.Compare(a.number, b.number) })
	rows := [][]string{row}
	for _, c := range children {
		rows = append(rows, c.cells)
	}
	return rows, nil
}

// HasFamilies reports whether several rows may be of one object.
func (p *Form) HasFamilies() bool { return p.family != nil }

// IsTotal reports whether a row is no object, but the sum of others.
func (p *Form) IsTotal(header, row []string) bool {
	return p.total[0] != "" && cellOf(header, row)(p.total[0]) == p.total[1]
}
