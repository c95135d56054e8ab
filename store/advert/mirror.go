package advert

import (
	"context"
	"database/sql/driver"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// mirror describes a table that follows what a network says. It has its columns, and what becomes of a stored row when the network tells of it again.
type mirror[T any] struct {
	*db.Columns[T]
	key    string            // unique, beside the primary key
	keep   []string          // columns that are never replaced
	takes  map[string]string // expressions for columns that are not simply replaced; t is the row that is there
	guards string            // condition for a row to be replaced, "" = always
}

// mirrorOf returns the mirror of a table. The columns that name a row, and those in keep, are not replaced when the row
// is told of again.
func mirrorOf[T any](table, key string, keep ...string) *mirror[T] {
	return &mirror[T]{Columns: db.ColumnsOf[T](table), key: key, keep: append(keep, "account_id", "id", "created_at")}
}

// upsert inserts rows of one account, or replaces the stored ones with the same key, in one statement. updated_at
// changes only where another column did. No two of the rows may have the same key.
func (m *mirror[T]) upsert(ctx context.Context, s *Store, u *db.Unit, rows []T) error {
	if len(rows) == 0 {
		return nil
	}
	arrays := make([][]any, len(rows))
	for i := range rows {
		values, err := m.row(&rows[i])
		if err != nil {
			return fmt.Errorf("mirror %s: %w", m.Table, err)
		}
		arrays[i] = values
	}
	if _, err := u.Exec(ctx, m.upsertSQL(s), core.JSONOf(arrays)); err != nil {
		return fmt.Errorf("mirror %s: %w", m.Table, err)
	}
	return nil
}

// upsertSQL returns the statement of upsert. It reads the rows from one JSON parameter, so that the text is the same for
// any number of rows.
func (m *mirror[T]) upsertSQL(s *Store) string {
	var names, reads, sets, old, fresh []string
	for place, field := range m.Inserted {
		column := reflect.TypeFor[T]().Field(field)
		name := column.Tag.Get("db")
		names, reads = append(names, name), append(reads, readElement(place, column.Type))
		if slices.Contains(m.keep, name) || name == "updated_at" {
			continue
		}
		value, special := m.takes[name]
		if !special {
			value = "excluded." + name
		}
		sets = append(sets, name+" = "+value)
		if name != "synced_at" {
			old, fresh = append(old, "t."+name), append(fresh, value)
		}
	}
	sets = append(sets, `updated_at = CASE WHEN (`+strings.Join(old, ", ")+`) IS DISTINCT FROM (`+strings.Join(fresh, ", ")+
		`) THEN excluded.updated_at ELSE t.updated_at END`)
	return `INSERT INTO ` + m.Table + ` AS t (` + strings.Join(names, ", ") + `)
		SELECT ` + strings.Join(reads, ", ") + ` FROM ` + s.db.JSONRows() + ` WHERE TRUE
		ON CONFLICT (` + m.key + `) DO UPDATE SET ` + strings.Join(sets, ", ") + m.guards
}

// readElement returns the SQL expression that reads the element at a place of the JSON array `value`, as the type that
// its column needs.
func readElement(place int, t reflect.Type) string {
	element := "value ->> " + strconv.Itoa(place)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Int || t.Kind() == reflect.Int64 {
		return "CAST(" + element + " AS BIGINT)"
	}
	return element
}

// row returns the values of a row's columns, in the order of Inserted and in a form that JSON can hold.
func (m *mirror[T]) row(row *T) ([]any, error) {
	fields := reflect.ValueOf(row).Elem()
	elements := make([]any, len(m.Inserted))
	for place, field := range m.Inserted {
		element, err := elementOf(fields.Field(field))
		if err != nil {
			return nil, err
		}
		elements[place] = element
	}
	return elements, nil
}

// elementOf returns the value of one column. It removes NULs from text, which PostgreSQL cannot store and a network may
// send.
func elementOf(v reflect.Value) (any, error) {
	if valuer, ok := v.Interface().(driver.Valuer); ok {
		return valuer.Value() // JSON text, where a NUL is escaped
	}
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil, nil
		}
		v = v.Elem()
	}
	if v.Kind() == reflect.String {
		return strings.ReplaceAll(v.String(), "\x00", ""), nil
	}
	return v.Int(), nil
}
