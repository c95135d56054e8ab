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
type plan []int

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
	if row.Kind() != reflect.Struct || reflect.PointerTo(row).Implements(reflect.TypeFor[sql.Scanner]()) {
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
	fields := make(plan, len(names))
	for i, name := range names {
		field, ok := byName[name]
		if !ok {
			return nil, fmt.Errorf("store: %s has no field for the column %s", row, name)
		}
		fields[i] = field
	}
	return fields, nil
}

// targets returns what to scan into for row.
func (p plan) targets(row reflect.Value) []any {
	if p == nil {
		return []any{row.Addr().Interface()}
	}
	targets, cells := make([]any, len(p)), make([]cell, len(p))
	for i, field := range p {
		target := row.Field(field)
		if _, ok := target.Addr().Interface().(sql.Scanner); ok || !isText(target.Type()) {
			targets[i] = target.Addr().Interface()
			continue
		}
		cells[i] = cell{target}
		targets[i] = &cells[i]
	}
	return targets
}

// isText reports whether a field is a text, absent or not, of whatever name: most fields are.
func isText(t reflect.Type) bool {
	return t.Kind() == reflect.String || t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.String
}

// cell is a text field as a target. database/sql itself goes a long way round for a *string or a named string.
type cell struct{ field reflect.Value }

// Scan takes a text or NULL.
func (c *cell) Scan(src any) error {
	var text string
	switch v := src.(type) {
	case nil:
		if c.field.Kind() != reflect.Pointer {
			return fmt.Errorf("NULL for a %s", c.field.Type())
		}
		c.field.SetZero()
		return nil
	case string:
		text = v
	case []byte:
		text = string(v)
	default:
		return fmt.Errorf("%T for a %s", src, c.field.Type())
	}
	if c.field.Kind() != reflect.Pointer {
		c.field.SetString(text)
		return nil
	}
	pointed := reflect.New(c.field.Type().Elem())
	pointed.Elem().SetString(text)
	c.field.Set(pointed)
	return nil
}
