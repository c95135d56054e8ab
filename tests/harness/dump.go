package harness

import (
	"bytes"
	"database/sql"
	"testing"
)

// Dump returns every column of every row of every table.
func (d *Database) Dump(t testing.TB) []byte {
	t.Helper()
	var all []byte
	for _, table := range d.Tables(t) {
		all = append(all, d.dump(t, table)...)
	}
	return all
}

func (d *Database) dump(t testing.TB, table string) (all []byte) {
	t.Helper()
	rows, err := d.Query("SELECT * FROM " + table)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	row, cells := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
	for i := range row {
		cells[i] = &row[i]
	}
	for rows.Next() {
		if err := rows.Scan(cells...); err != nil {
			t.Fatal(err)
		}
		values := make([][]byte, len(row))
		for i, cell := range row {
			values[i] = cell
		}
		all = append(append(all, bytes.Join(values, []byte("|"))...), '\n')
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
