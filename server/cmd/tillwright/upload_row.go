package main

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/ads"
)

// longestRow is longer than any row, in bytes.
const longestRow = 1 << 20

var errLongRow = errors.New("it does not end within 1 MiB: is there a quote that is not closed?")

// bounded reads a file, and ends a row that does not end by itself: otherwise the rest of the file would be read into memory.
type bounded struct {
	io.Reader
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errLongRow
	}
	n, err := b.Reader.Read(p)
	b.left -= n
	return n, err
}

// column says which field of a user a value of a row belongs to.
type column struct {
	index int
	field func(*ads.User) *string
}

// userColumns are the columns that a header may name. Names and places are left out: the server hashes those itself, so they
// would leave this machine as they are.
var userColumns = map[string]func(*ads.User) *string{
	"email":        func(u *ads.User) *string { return &u.Email },
	"phone":        func(u *ads.User) *string { return &u.Phone },
	"email_sha256": func(u *ads.User) *string { return &u.EmailSHA256 },
	"phone_sha256": func(u *ads.User) *string { return &u.PhoneSHA256 },
}

// userRows reads the users of a CSV file one by one.
type userRows struct {
	Unused []string // columns that are not sent

	file    *bounded
	csv     *csv.Reader
	columns []column
	line    int // of the last row
}

// userRow is a user, or the reason why the row has none.
type userRow struct {
	line    int // of the file, from 1
	user    ads.User
	problem string
}

// readUsers reads the header. Columns are separated by commas, semicolons or tabs.
func readUsers(file io.Reader) (*userRows, error) {
	rows := &userRows{file: &bounded{file, longestRow}}
	buffer := bufio.NewReader(rows.file)
	if mark, _ := buffer.Peek(3); string(mark) == "\xef\xbb\xbf" { // spreadsheets put it there
		_, _ = buffer.Discard(3)
	}
	first, _ := buffer.Peek(buffer.Size())
	rows.csv = csv.NewReader(buffer)
	rows.csv.Comma, rows.csv.ReuseRecord = separator(string(first)), true
	header, err := rows.csv.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the file is empty")
	}
	if err != nil {
		return nil, fmt.Errorf("the header: %w", err)
	}
	return rows, rows.name(header)
}

// separator returns the sign that stands most often between the names of a header.
func separator(text string) rune {
	header, _, _ := strings.Cut(text, "\n")
	counts, quoted := map[rune]int{}, false
	for _, r := range header {
		if r == '"' {
			quoted = !quoted
		} else if !quoted {
			counts[r]++
		}
	}
	found := ','
	for _, r := range ";\t" {
		if counts[r] > counts[found] {
			found = r
		}
	}
	return found
}

// name finds out from the header which column is which.
func (r *userRows) name(header []string) error {
	var known []string
	for i, text := range header {
		name := strings.ToLower(strings.TrimSpace(text))
		field, ok := userColumns[name]
		switch {
		case !ok:
			r.Unused = append(r.Unused, strings.TrimSpace(text))
			continue
		case slices.Contains(known, name):
			return fmt.Errorf("the header has two columns %s", name)
		}
		known, r.columns = append(known, name), append(r.columns, column{i, field})
	}
	if len(known) == 0 {
		return errors.New("the first line must name the columns: email, phone, email_sha256 or phone_sha256, at least one of them")
	}
	return nil
}

// next returns the next row, or io.EOF. A row that cannot be read is returned too, with its problem, so that rows are always
// counted alike.
func (r *userRows) next() (userRow, error) {
	r.file.left = longestRow
	fields, err := r.csv.Read()
	var malformed *csv.ParseError
	switch {
	case errors.As(err, &malformed):
		r.line = malformed.StartLine
		return userRow{line: r.line, problem: describeRow(malformed)}, nil
	case errors.Is(err, io.EOF):
		return userRow{}, err
	case err != nil:
		return userRow{}, fmt.Errorf("the row after line %d: %w", r.line, err)
	}
	r.line, _ = r.csv.FieldPos(0)
	row := userRow{line: r.line}
	for _, c := range r.columns {
		*c.field(&row.user) = strings.TrimSpace(fields[c.index])
	}
	return row, nil
}

// describeRow says which lines were lost with a row: a stray quote takes others along.
func describeRow(e *csv.ParseError) string {
	switch {
	case e.Line > e.StartLine:
		return fmt.Sprintf("Lines %d to %d are read as one row, because of a quote: %s.", e.StartLine, e.Line, e.Err)
	case errors.Is(e.Err, csv.ErrFieldCount):
		return "The row has more or fewer columns than the header."
	}
	return fmt.Sprintf("The row cannot be read: %s.", e.Err)
}
