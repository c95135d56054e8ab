package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Page is a stretch of a list, newest first unless it says otherwise. At most one of the positions is set; any id of the
// list's type is a position, whether its row exists or not.
type Page struct {
	Limit         int    // 1..100
	StartingAfter string // behind this id
	EndingBefore  string // in front of this id
	OldestFirst   bool   // only of lists that are made by page
}

// ascends reports whether a page is found in the order in which its rows were made. One that ends at a position is found
// from there, in the other order than its list's.
func (p *Page) ascends() bool { return p.OldestFirst != (p.EndingBefore != "") }

// resolve puts the positions into their canonical form, or says of the first one that is no id of the kind.
func (p *Page) resolve(k Kind) error {
	if err := resolvePosition(k, "starting_after", &p.StartingAfter); err != nil {
		return err
	}
	if err := resolvePosition(k, "ending_before", &p.EndingBefore); err != nil {
		return err
	}
	if p.StartingAfter != "" && p.EndingBefore != "" {
		return &Error{Code: CodeBadRequest, Param: "ending_before", Message: "Send starting_after or ending_before, not both."}
	}
	return nil
}

func resolvePosition(k Kind, name string, position *string) error {
	if *position == "" {
		return nil
	}
	id, ok := ParseID(k, *position)
	if !ok {
		return &Error{Code: CodeBadRequest, Param: name, Message: fmt.Sprintf("%s must be the id of an item of this list, like %s01k0000000000000000000000a.", name, k.Prefix())}
	}
	*position = id
	return nil
}

// ListFilter is what every list can be filtered by.
type ListFilter struct {
	CreatedAfter  *Time  // inclusive
	CreatedBefore *Time  // exclusive
	Q             string // part of a name, in any case
	Metadata      map[string]string
}

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
func (f *filter) list(s *Store, l ListFilter, searched ...string) {
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
func page[T any](ctx context.Context, s *Store, c *columns[T], k Kind, account string, p Page, f *filter) ([]T, bool, error) {
	if err := p.resolve(k); err != nil {
		return nil, false, err
	}
	query := c.selectSQL + " WHERE account_id = ?" + f.where.String()
	args := append([]any{account}, f.args...)
	beyond, order := " AND id < ?", " ORDER BY account_id DESC, id DESC LIMIT ? + 1"
	if p.ascends() {
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
func pageOf[T any](p Page, rows []T) ([]T, bool) {
	more := len(rows) > p.Limit
	if more {
		rows = rows[:p.Limit]
	}
	if p.EndingBefore != "" {
		slices.Reverse(rows)
	}
	return rows, more
}
