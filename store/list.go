package store

import (
	"context"
	"fmt"
	"github.com/tillwright/tillwright/store/core"
	"maps"
	"slices"
	"strings"
)

// filter collects the conditions of a list. The zero value lets everything through.
type filter struct {
	where strings.Builder
	args  []any
}

// and adds a condition with its arguments.
func (f *filter) and(condition string, args ...any) {
	f.where.WriteString(" AND ")
	f.where.WriteString(condition)
	f.args = append(f.args, args...)
}

// is adds "column = value" unless the value is empty.
func (f *filter) is(column, value string) {
	if value != "" {
		f.and(column+" = ?", value)
	}
}

// has adds the condition that a column's JSON array contains a text.
func (f *filter) has(s *Store, column, value string) {
	f.and(s.arrayHas(column), value)
}

// list adds a ListFilter; q is looked for within the given columns, but is all of an id: every id contains its prefix.
func (f *filter) list(s *Store, l core.ListFilter, searched ...string) {
	if l.CreatedAfter != nil {
		f.and("created_at >= ?", *l.CreatedAfter)
	}
	if l.CreatedBefore != nil {
		f.and("created_at < ?", *l.CreatedBefore)
	}
	for _, key := range slices.Sorted(maps.Keys(l.Metadata)) {
		f.and(s.metadataIs(), key, l.Metadata[key])
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
	f.and("("+strings.Join(either, " OR ")+")", args...)
}

// contains returns the LIKE pattern of a part of a text, in lower case.
func contains(part string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(strings.ToLower(part)) + "%"
}

// page returns one page of an account's rows and whether there are more in its direction. It walks the primary
// key, so a page costs the same wherever it is. The one row more is asked for in SQL: SQLite would compile a
// statement anew for every value of a bare LIMIT ?.
func page[T any](ctx context.Context, s *Store, c *columns[T], k core.Kind, account string, p core.Page, f *filter) ([]T, bool, error) {
	if err := p.Resolve(k); err != nil {
		return nil, false, err
	}
	query := c.selectSQL + " WHERE account_id = ?" + f.where.String()
	args := append([]any{account}, f.args...)
	beyond, order := " AND id < ?", " ORDER BY account_id DESC, id DESC LIMIT ? + 1"
	if p.Ascends() {
		beyond, order = " AND id > ?", " ORDER BY account_id, id LIMIT ? + 1"
	}
	if position := p.StartingAfter + p.EndingBefore; position != "" {
		query, args = query+beyond, append(args, position)
	}
	rows, err := selectAll[T](ctx, s, query+order, append(args, p.Limit)...)
	if err != nil {
		return nil, false, fmt.Errorf("list %s: %w", c.table, err)
	}
	rows, more := pageOf(p, rows)
	return rows, more, nil
}

// pageOf makes a page of rows in the order in which they were found, and says whether there are more.
func pageOf[T any](p core.Page, rows []T) ([]T, bool) {
	more := len(rows) > p.Limit
	if more {
		rows = rows[:p.Limit]
	}
	if p.EndingBefore != "" {
		slices.Reverse(rows)
	}
	return rows, more
}
