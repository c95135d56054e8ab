package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/server/cmd/tillwright/platform"
)

// importRow is a row of a file, or the reason why it cannot be used.
type importRow struct {
	body    importBody
	cells   [][]string // of a CSV, as they came: one line, or those of a family
	line    []byte     // of JSON, as it came
	at      int        // the line of the file in which it begins, from 1
	problem error
}

// importRows reads the rows of a file one by one.
type importRows struct {
	fields   *importFields
	platform *platform.Form     // nil: the columns are the API's
	currency string             // of its amounts
	families *platform.Families // of a platform that has some
	number   int                // of the row of a CSV that comes next

	file   *bounded
	csv    *csvRows // nil if the file has lines of JSON
	broken *brokenRow
	header []string

	lines *bufio.Reader // of JSON
	line  int           // the number of the last one
	read  int64         // bytes of them
}

// reasonColumn is the column that a file of failed rows has besides. It is not read.
const reasonColumn = "error"

func isJSONL(path string) bool {
	return strings.HasSuffix(path, ".jsonl") || strings.HasSuffix(path, ".ndjson")
}

// readImport reads the header of a CSV, or the names in all lines of JSON, and refuses one that the API does not have.
func readImport(file io.ReadSeeker, path string, kind importKind, form importForm) (*importRows, error) {
	fields, err := readImportFields(kind)
	if err != nil {
		return nil, err
	}
	rows := &importRows{fields: fields, platform: form.platform, currency: form.currency, file: &bounded{file, longestRow}}
	if isJSONL(path) {
		if form.platform != nil {
			return nil, fmt.Errorf("what %s hands out is a CSV", form.platform.Name)
		}
		rows.lines = bufio.NewReader(decoded(rows.file))
		if err := rows.checkNames(); err != nil {
			return nil, err
		}
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		rows.file.left, rows.line, rows.read = longestRow, 0, 0
		rows.lines.Reset(decoded(rows.file))
		return rows, nil
	}
	if err := rows.open(); err != nil || rows.platform == nil || !rows.platform.HasFamilies() {
		return rows, err
	}
	if rows.families, err = rows.platform.ReadFamilies(rows.csv, rows.header); err != nil {
		return nil, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	rows.file.left = longestRow
	return rows, rows.open()
}

// open reads the header of a CSV, and refuses one that is of no use.
func (r *importRows) open() (err error) {
	r.csv = newCSVRows(r.file)
	if r.header, err = r.csv.Read(); errors.Is(err, io.EOF) {
		return errors.New("the file is empty")
	} else if err != nil {
		return fmt.Errorf("the header: %w", err)
	}
	for i, name := range r.header {
		r.header[i] = strings.TrimSpace(name)
	}
	if r.platform != nil {
		return r.platform.Check(r.header)
	}
	for i, name := range r.header {
		if slices.Contains(r.header[:i], name) {
			return fmt.Errorf("the header has two columns %s", name)
		}
		if err := r.fields.check(name); err != nil {
			return err
		}
	}
	return nil
}

// checkNames reads all lines of JSON, for names that the API does not have.
func (r *importRows) checkNames() error {
	for {
		line, err := r.nextLine()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(line, &object) != nil {
			continue // it fails as a row
		}
		for _, name := range slices.Sorted(maps.Keys(object)) {
			if err := r.fields.check(name); err != nil {
				return fmt.Errorf("line %d: %w", r.line, err)
			}
		}
	}
}

// offset returns how much of the file was read.
func (r *importRows) offset() int64 {
	if r.csv != nil {
		return r.csv.InputOffset()
	}
	return r.read
}

// batch returns the next rows, none at the end.
func (r *importRows) batch(most int) (batch []importRow, err error) {
	for len(batch) < most {
		row, err := r.next()
		if errors.Is(err, io.EOF) {
			return batch, nil
		}
		if err != nil {
			return nil, err
		}
		batch = append(batch, row)
	}
	return batch, nil
}

// next returns the next row, or io.EOF.
func (r *importRows) next() (importRow, error) {
	if r.csv == nil {
		line, err := r.nextLine()
		if err != nil {
			return importRow{}, err
		}
		row := importRow{line: line, at: r.line}
		row.body, row.problem = r.fields.bodiesOfLine(line)
		return row, nil
	}
	row, cells, err := r.nextCells()
	if err != nil || row.problem != nil {
		return row, err
	}
	header := r.header
	if r.platform != nil {
		t := r.platform.Translate(r.header, row.cells, r.currency)
		if row.problem = t.Err(); row.problem != nil {
			return row, nil
		}
		header, cells = t.Header, t.Cells
	}
	object, err := r.fields.object(header, cells)
	if err != nil {
		row.problem = err
		return row, nil
	}
	row.body, row.problem = r.fields.bodies(object)
	row.body.foreign = r.platform != nil
	return row, nil
}

// nextLine returns the next line that is not empty, without its end, or io.EOF.
func (r *importRows) nextLine() ([]byte, error) {
	for {
		r.file.left = longestRow
		line, err := r.lines.ReadBytes('\n')
		r.line++
		r.read += int64(len(line))
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("line %d: %w", r.line, err)
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// failed returns a row with the reason why it failed, as it is written to the file of such rows. The first one comes after the
// header.
func (r *importRows) failed(row importRow, reason string, first bool) ([]byte, error) {
	if r.csv == nil {
		return failedLine(row.line, reason), nil
	}
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	w.Comma = r.csv.Comma
	at := slices.Index(r.header, reasonColumn)
	if first {
		header := r.header
		if at < 0 {
			header = append(slices.Clone(header), reasonColumn)
		}
		_ = w.Write(header) // a buffer takes everything
	}
	for _, line := range row.cells {
		cells := slices.Clone(line)
		for len(cells) < len(r.header) {
			cells = append(cells, "")
		}
		if at < 0 || len(cells) > len(r.header) { // of a longer row nobody knows which cell is the reason
			cells = append(cells, reason)
		} else {
			cells[at] = reason
		}
		_ = w.Write(cells)
	}
	w.Flush()
	return text.Bytes(), w.Error()
}
