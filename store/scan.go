package store

import (
	"database/sql"
	"fmt"
	"reflect"

	"github.com/jmoiron/sqlx"
)

// scanPage is room for the rows of an ordinary page, so that a list does not move its rows while it reads them.
const scanPage = 21

// plan says which field of a row type takes each column of a query. It is made once for a query.
type plan []int

type planKey struct {
	row   reflect.Type
	query string
}

// scan reads at most limit rows and closes them. It does what sqlx's StructScan does, which would allocate every
// nullable field of every row before it reads it: a third of the allocations of a list.
func scan[T any](s *Store, query string, rows *sqlx.Rows, limit int) ([]T, error) {
	defer func() { _ = rows.Close() }() // an error that matters is in rows.Err
	fields, err := s.planOf(planKey{reflect.TypeFor[T](), query}, rows)
	if err != nil {
		return nil, err
	}
	found := make([]T, 0, min(limit, scanPage))
	targets := make([]any, max(1, len(fields)))
	for len(found) < limit && rows.Next() {
		found = append(found, *new(T))
		row := &found[len(found)-1]
		if fields == nil {
			targets[0] = row
		} else {
			fields.point(reflect.ValueOf(row).Elem(), targets)
		}
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
	}
	return found, rows.Err()
}

// point sets the targets to the fields of a row.
func (p plan) point(row reflect.Value, targets []any) {
	for i, field := range p {
		targets[i] = row.Field(field).Addr().Interface()
	}
}

// planOf returns the plan of a query, nil for a type that is one column itself.
func (s *Store) planOf(key planKey, rows *sqlx.Rows) (plan, error) {
	if known, ok := s.plans.Load(key); ok {
		return known.(plan), nil
	}
	made, err := newPlan(key.row, rows)
	if err == nil {
		s.plans.Store(key, made)
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
