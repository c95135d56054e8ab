package db

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/store/core"
)

// Filter collects the conditions of a list, with their arguments. The zero value lets every row through.
type Filter struct {
	Where strings.Builder
	Args  []any
}

// And adds a condition with its arguments.
func (f *Filter) And(condition string, args ...any) {
	f.Where.WriteString(" AND ")
	f.Where.WriteString(condition)
	f.Args = append(f.Args, args...)
}

// Is adds "column = value" unless the value is empty.
func (f *Filter) Is(column, value string) {
	if value != "" {
		f.And(column+" = ?", value)
	}
}

// Has adds the condition that a column's JSON array contains a text.
func (f *Filter) Has(d *DB, column, value string) {
	f.And(d.ArrayHas(column), value)
}

// List adds the conditions of a ListFilter. Q is looked for in the given columns, as a part of their text in any case; but an
// id has to be equal to it, because every id contains its prefix.
func (f *Filter) List(d *DB, l core.ListFilter, searched ...string) {
	if l.CreatedAfter != nil {
		f.And("created_at >= ?", *l.CreatedAfter)
	}
	if l.CreatedBefore != nil {
		f.And("created_at < ?", *l.CreatedBefore)
	}
	for _, key := range slices.Sorted(maps.Keys(l.Metadata)) {
		f.And(d.metadataIs(), key, l.Metadata[key])
	}
	if l.Q == "" || len(searched) == 0 {
		return
	}
	var either []string
	var args []any
	for _, column := range searched {
		if column == "id" {
			either = append(either, "id = ?")
			args = append(args, l.Q)
			continue
		}
		either = append(either, "LOWER("+column+`) LIKE ? ESCAPE '\'`)
		args = append(args, contains(l.Q))
	}
	f.And("("+strings.Join(either, " OR ")+")", args...)
}

// contains returns the pattern for LIKE that finds a part of a text, in lower case and with \ as the escape character.
func contains(part string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(strings.ToLower(part)) + "%"
}

// Page returns one page of an account's rows, and whether there are more beyond it. A position that is no id of the kind is
// CodeBadRequest. It walks along the primary key, so a page costs the same wherever it is. One row more than the limit is read
// to see whether there are more; the sum stands in SQL, because SQLite would compile the statement anew for every value of a
// bare LIMIT ?.
func Page[T any](ctx context.Context, d *DB, c *Columns[T], k core.Kind, account string, p core.Page, f *Filter) ([]T, bool, error) {
	if err := p.Resolve(k); err != nil {
		return nil, false, err
	}
	query := c.SelectSQL + " WHERE account_id = ?" + f.Where.String()
	args := append([]any{account}, f.Args...)
	beyond, order := " AND id < ?", " ORDER BY account_id DESC, id DESC LIMIT ? + 1"
	if p.Ascends() {
		beyond, order = " AND id > ?", " ORDER BY account_id, id LIMIT ? + 1"
	}
	// Resolve has made sure that at most one of them is set.
	if position := p.StartingAfter + p.EndingBefore; position != "" {
		query, args = query+beyond, append(args, position)
	}
	rows, err := Select[T](ctx, d, query+order, append(args, p.Limit)...)
	if err != nil {
		return nil, false, fmt.Errorf("list %s: %w", c.Table, err)
	}
	rows, more := PageOf(p, rows)
	return rows, more, nil
}

// PageOf returns the page of rows that were read for it in the order of p.Ascends, with one row more than the limit if there
// are more, and whether there are.
func PageOf[T any](p core.Page, rows []T) ([]T, bool) {
	more := len(rows) > p.Limit
	if more {
		rows = rows[:p.Limit]
	}
	if p.EndingBefore != "" {
		slices.Reverse(rows)
	}
	return rows, more
}
