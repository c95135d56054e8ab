package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tillwright/tillwright/store/core"
)

// csvRows reads the rows of a CSV, and keeps the text of the last one. Of a row that cannot be read there is nothing else.
type csvRows struct {
	*csv.Reader
	file *bounded
	raw  bytes.Buffer // what was read of the file and belongs to no row so far
	text []byte       // of the last row
	at   int          // the line in which it begins
	done int          // how many lines are read with it
}

func newCSVRows(file *bounded) *csvRows {
	rows := &csvRows{file: file}
	buffer := bufio.NewReader(io.TeeReader(decoded(file), &rows.raw))
	first, _ := buffer.Peek(buffer.Size())
	rows.Reader = csv.NewReader(buffer)
	rows.Comma = separator(string(first))
	return rows
}

// Read returns the next row, or io.EOF.
func (c *csvRows) Read() ([]string, error) {
	c.file.left = longestRow
	before := c.InputOffset()
	cells, err := c.Reader.Read()
	whole := c.raw.Next(int(c.InputOffset() - before))
	c.text = bytes.TrimLeft(whole, "\r\n") // empty lines before a row are of none
	c.at = c.done + 1 + bytes.Count(whole[:len(whole)-len(c.text)], []byte("\n"))
	c.done += bytes.Count(whole, []byte("\n"))
	if _, malformed := errors.AsType[*csv.ParseError](err); err == nil || malformed || errors.Is(err, io.EOF) {
		return cells, err
	}
	return nil, fmt.Errorf("the row in line %d: %w", c.at, err)
}

// brokenRow is what is left of a row that cannot be read. Each of its lines is a row that fails, so that none of them is lost.
type brokenRow struct {
	text    []byte // of the lines that are left
	at      int    // the number of the first of them
	problem error
}

// next returns the next of its lines that is not empty. One that has none left has no problem either.
func (b *brokenRow) next(comma rune, columns int) (row importRow, ok bool) {
	for len(b.text) > 0 {
		line, rest, _ := bytes.Cut(b.text, []byte("\n"))
		at := b.at
		b.text, b.at = rest, at+1
		if line = bytes.TrimRight(line, "\r"); len(line) > 0 {
			return importRow{cells: [][]string{splitLine(string(line), comma, columns)}, at: at, problem: b.problem}, true
		}
	}
	return importRow{}, false
}

// splitLine splits a line of a row that cannot be read, as well as it can. Quotes that hide a separator are left as they are.
func splitLine(line string, comma rune, columns int) []string {
	lazy := csv.NewReader(strings.NewReader(line))
	lazy.Comma, lazy.LazyQuotes, lazy.FieldsPerRecord = comma, true, -1
	cells, err := lazy.Read()
	if plain := strings.Split(line, string(comma)); err != nil || len(cells) != columns && len(plain) == columns {
		return plain
	}
	return cells
}

// nextCells returns the next line of a CSV that is an object, with those that belong to it. Its cells are nil if it has a problem.
func (r *importRows) nextCells() (row importRow, cells []string, err error) {
	for {
		if r.broken != nil {
			if row, ok := r.broken.next(r.csv.Comma, len(r.header)); ok {
				return row, nil, nil
			}
			r.broken = nil
		}
		cells, err = r.csv.Read()
		number := r.number
		r.number++
		row := importRow{cells: [][]string{cells}, at: r.csv.at}
		if malformed, ok := errors.AsType[*csv.ParseError](err); ok {
			row.problem = core.Invalid("base", describeRow(malformed))
			if errors.Is(err, csv.ErrFieldCount) {
				return row, nil, nil
			}
			r.broken = &brokenRow{text: r.csv.text, at: r.csv.at, problem: row.problem}
			continue
		}
		if err != nil {
			return importRow{}, nil, err
		}
		if r.platform == nil {
			return row, cells, nil
		}
		if r.platform.IsTotal(r.header, cells) {
			continue
		}
		if r.families == nil {
			return row, cells, nil
		}
		if family, err := r.families.Of(number, r.header, cells); err != nil {
			row.problem = err
			return row, nil, nil
		} else if family != nil {
			row.cells = family
			return row, cells, nil
		}
	}
}
