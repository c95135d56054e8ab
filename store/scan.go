package store

import (
	"database/sql"
	"fmt"
	"reflect"

	"github.com/jmoiron/sqlx"
)

// scanPage is room for the rows of an ordinary page, so that a list does not move its rows while it reads them.
const scanPage = 21

// scan reads at most limit rows and closes them. It does what sqlx's StructScan does, at a third of its cost for a
// list: that one allocates every nullable field before it reads it, and finds the fields anew for every row.
func scan[T any](s *Store, query string, rows *sqlx.Rows, limit int) ([]T, error) {
	defer func() { _ = rows.Close() }() // what is left of the rows does not matter
	plan, err := s.planOf(planKey{reflect.TypeFor[T](), query}, rows)
	if err != nil {
		return nil, err
	}
	var row T // every column overwrites its field
	targets := plan.targets(reflect.ValueOf(&row).Elem())
	found := make([]T, 0, min(limit, scanPage))
	for len(found) < limit && rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
		found = append(found, row)
	}
	return found, rows.Err()
}

// plan says which field of a row takes each column of a query, nil for a type that is one column itself. It is made
// once for a query.
type plan []column

type column struct {
	field int
	plain bool // a text, a number or a truth, absent or not, that a cell can take
}

type planKey struct {
	row   reflect.Type
	query string
}

func (s *Store) planOf(key planKey, rows *sqlx.Rows) (plan, error) {
	if known, ok := s.plans.get(key); ok {
		return known, nil
	}
	made, err := newPlan(key.row, rows)
	if err == nil {
		s.plans.put(key, made)
	}
	return made, err
}

func newPlan(row reflect.Type, rows *sqlx.Rows) (plan, error) {
	if row.Kind() != reflect.Struct || isScanner(row) {
		return nil, nil
	}
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	byName := map[string]int{}
	for i := range row.NumField() {
		byName[row.Field(i).Tag.Get("db")] = i
	}
	columns := make(plan, len(names))
	for i, name := range names {
		field, ok := byName[name]
		if !ok {
			return nil, fmt.Errorf("store: %s has no field for the column %s", row, name)
		}
		columns[i] = column{field, isPlain(row.Field(field).Type)}
	}
	return columns, nil
}

func isScanner(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[sql.Scanner]())
}

// isPlain reports whether a cell can take the field's values.
func isPlain(t reflect.Type) bool {
	if isScanner(t) {
		return false
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String, reflect.Int, reflect.Int64, reflect.Bool:
		return true
	default:
		return false
	}
}

// targets returns what to scan into for row.
func (p plan) targets(row reflect.Value) []any {
	if p == nil {
		return []any{row.Addr().Interface()}
	}
	targets, cells := make([]any, len(p)), make([]cell, len(p))
	for i, column := range p {
		field := row.Field(column.field)
		if column.plain {
			cells[i].field = field
			targets[i] = &cells[i]
		} else {
			targets[i] = field.Addr().Interface()
		}
	}
	return targets
}

// cell is a plain field as a target. database/sql itself goes a long way round for pointers and named types, which
// most fields are.
type cell struct{ field reflect.Value }

// Scan takes a value or NULL.
func (c *cell) Scan(src any) error {
	field := c.field
	if field.Kind() == reflect.Pointer {
		if src == nil {
			field.SetZero()
			return nil
		}
		pointed := reflect.New(field.Type().Elem())
		field.Set(pointed)
		field = pointed.Elem()
	}
	switch v := src.(type) {
	case string:
		if field.Kind() == reflect.String {
			field.SetString(v)
			return nil
		}
	case []byte:
		if field.Kind() == reflect.String {
			field.SetString(string(v))
			return nil
		}
	case int64:
		switch field.Kind() {
		case reflect.Int, reflect.Int64:
			field.SetInt(v)
			return nil
		case reflect.Bool: // SQLite has none of its own
			field.SetBool(v != 0)
			return nil
		}
	case bool:
		if field.Kind() == reflect.Bool {
			field.SetBool(v)
			return nil
		}
	}
	return fmt.Errorf("store: %T for a %s", src, field.Type())
}
