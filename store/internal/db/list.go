package db

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/store/core"
)

// Filter collects the conditions of a list, with their arguments. The zero value lets every row through.
type Filter struct {
	conditions []condition
	moments    []moment
	made       Moment // what is said of created_at
	words      int    // how many q asks for
	missing    error  // what the list refers to and is not there
	refused    error  // why there is no such list
}

// condition is one condition on a row of a list, and how an index leads to the rows for which it holds.
type condition struct {
	text string
	args []any
	lead lead

	// Of leadListed and leadSpread: the column of another table that holds the ids, and the condition on that table's rows.
	table, column, where string
	leading              []any // of leadSpread: the arguments of that condition, which is another than text

	cut     int        // of leadSpread: how many rows of that table are read at most, 0 = all
	ordered *condition // of leadSpread: an index that leads to a part of what it leads to, in the order of the ids
}

// led returns the arguments of the condition on the rows of the other table.
func (c *condition) led() []any {
	if c.lead == leadSpread {
		return c.leading
	}
	return c.args
}

// lead is how an index leads to the rows for which a condition holds.
type lead int

const (
	leadNone    lead = iota
	leadOrdered      // it has (account_id, the condition's column, id): in the order of their ids
	leadListed       // another table's has (account_id, a column, their ids)
	leadSpread       // another table's has (account_id, a column): in no order of their ids
	leadFew          // it holds for few rows, and an index of (account_id, its column) leads to them
	leadRange        // it has (account_id, the condition's column): in no order of their ids
)

// And adds a condition that no index serves, with its arguments: rows are examined for it.
func (f *Filter) And(text string, args ...any) {
	f.conditions = append(f.conditions, condition{text: text, args: args})
}

// OrderedIfSet adds "column = value" unless the value is empty. There is an index of (account_id, column, id).
func (f *Filter) OrderedIfSet(column, value string) {
	if value != "" {
		f.Ordered(column, value)
	}
}

// Ordered adds "column = value". There is an index of (account_id, column, id).
func (f *Filter) Ordered(column string, value any) {
	f.conditions = append(f.conditions, condition{text: column + " = ?", args: []any{value}, lead: leadOrdered})
}

// OrderedOfIfSet adds "owner = of AND column = value" unless the value is empty. There is an index of (account_id, owner, column, id).
func (f *Filter) OrderedOfIfSet(owner, of, column, value string) {
	if value != "" {
		f.conditions = append(f.conditions, condition{text: owner + " = ? AND " + column + " = ?", args: []any{of, value}, lead: leadOrdered})
	}
}

// FewIfSet adds "column = value" unless the value is empty. Few rows have the same, and there is an index of (account_id, column).
func (f *Filter) FewIfSet(column, value string) {
	if value != "" {
		f.Few(column, value)
	}
}

// Few adds "column = value". Few rows have the same, and there is an index of (account_id, column).
func (f *Filter) Few(column string, value any) {
	f.conditions = append(f.conditions, condition{text: column + " = ?", args: []any{value}, lead: leadFew})
}

// Between adds that a column is at least from, and before or equal to to, as end says: "<" or "<="; nil is no bound. There is an index
// of (account_id, column, id).
func Between[T ~int64](f *Filter, column string, from *T, end string, to *T) {
	var texts []string
	var args []any
	if from != nil {
		texts, args = append(texts, column+" >= ?"), append(args, *from)
	}
	if to != nil {
		texts, args = append(texts, column+" "+end+" ?"), append(args, *to)
	}
	if texts != nil {
		f.conditions = append(f.conditions, condition{text: strings.Join(texts, " AND "), args: args, lead: leadRange})
	}
}

// IDNamed returns the id of the object that a parameter of the list refers to, and "" if the parameter is empty. Named reads the object. If it
// fails, because there is no such object say, Page fails with the same error. It is for lists of Page alone: SQL knows nothing of that error.
func IDNamed[T any](ctx context.Context, r Reader, f *Filter, named func(ctx context.Context, r Reader, account, ref, param string) (*T, error), account, ref, param string) string {
	if ref == "" || f.missing != nil {
		return ""
	}
	row, err := named(ctx, r, account, ref, param)
	if err != nil {
		f.missing = err
		return ""
	}
	return reflect.ValueOf(row).Elem().FieldByName("ID").Interface().(string)
}

// Among adds that the row's id is one of a few.
func (f *Filter) Among(d *DB, ids []string) {
	text, arg := d.In("id", ids)
	f.conditions = append(f.conditions, condition{text: text, args: []any{arg}, lead: leadFew})
}

// Listed adds that another table names the row's id in a column, in a row of the same account for which a condition holds. There is
// an index of (account_id, what the condition compares, column). Own is the table of the list.
func (f *Filter) Listed(own, table, column, where string, args ...any) {
	f.conditions = append(f.conditions, condition{
		text: "EXISTS (SELECT 1 FROM " + table + " WHERE " + table + ".account_id = " + own + ".account_id AND " + table + "." + column + " = " + own + ".id AND " + where + ")",
		args: args, lead: leadListed, table: table, column: column, where: where,
	})
}

// SQL returns all conditions, each with AND before it, and their arguments.
func (f *Filter) SQL() (string, []any) {
	var text strings.Builder
	var args []any
	for _, c := range f.conditions {
		text.WriteString(" AND " + c.text)
		args = append(args, c.args...)
	}
	return text.String(), args
}

// List adds the conditions that all lists have, of the list of a kind that stands in a table. Searched are the columns of which
// filter_entries has the words.
func (f *Filter) List(d *DB, table string, k core.Kind, l core.ListFilter, searched ...string) {
	f.Within(cmp.Or(f.made, Moment{Column: "created_at"}), l.CreatedAfter, l.CreatedBefore)
	for _, key := range slices.Sorted(maps.Keys(l.Metadata)) {
		f.Entry(table, "metadata."+key, l.Metadata[key])
	}
	if l.Q != "" {
		f.search(d, table, k, l.Q, searched)
	}
}

// Page returns one page of an account's rows, and whether there are more beyond it. A position that is no id of the kind is
// CodeBadRequest. It walks along an index in the order of the ids, so a page costs the same wherever it is. It examines no more rows than
// d.Options.MostExamined. A page that would need more is CodeBadRequest (walk.go), unless it is Exhaustive or Partial. One row more than the limit is
// read to see whether there are more. The SQL says LIMIT ? + 0, because SQLite would compile the statement anew for every value of a bare LIMIT ?.
func Page[T any](ctx context.Context, d *DB, c *Columns[T], k core.Kind, account string, p core.Page, f *Filter) ([]T, bool, error) {
	if f.missing != nil {
		return nil, false, f.missing
	}
	if err := p.Resolve(k); err != nil {
		return nil, false, err
	}
	if f.refused != nil {
		return nil, false, f.refused
	}
	if len(f.conditions) > 0 {
		ctx = Abortable(ctx)
	}
	w := &walk[T]{d: d, words: f.words, columns: c, kind: k, account: account, ascends: p.Ascends(), exhaustive: p.Exhaustive && !p.Ascends(), partial: p.Partial && !p.Ascends()}
	stretches, err := w.stretches(ctx, p, f)
	if err != nil {
		return nil, false, fmt.Errorf("list %s: %w", c.Table, err)
	}
	var rows []T
	var left bool
	for _, s := range stretches {
		if missing := p.Limit + 1 - len(rows); missing > 0 {
			found, err := w.gather(ctx, s, missing)
			if w.partial && IsBound(err) {
				left = true
				found, err = w.some(ctx, s, found, missing)
			}
			if err != nil {
				return nil, false, fmt.Errorf("list %s: %w", c.Table, err)
			}
			rows = append(rows, found...)
		}
	}
	rows, more := PageOf(p, rows)
	return rows, more || left, nil
}

// PageOf returns the page of rows that were read for it, and whether there are more. The rows are in the order of p.Ascends, with one row more than
// the limit if there are more.
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
