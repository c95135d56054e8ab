package store

import (
	"context"
	"fmt"
	"reflect"
	"strings"
)

// columns are the texts and fields of a row type, made once per type from its `db` tags. Rows are found by
// (account_id, id), or by id alone where the type has no account_id.
type columns[T any] struct {
	table     string
	selectSQL string // SELECT a, b FROM table
	insertSQL string
	rowSQL    string // , (?, ?): one more row to insert
	updateSQL string // every column but the key and created_at
	inserted  []int  // fields, in the order of the placeholders
	updated   []int
	account   int // field of account_id, -1 if there is none
}

// columnsOf reads the fields of T; one without a tag, or with "-", is no column.
func columnsOf[T any](table string) *columns[T] {
	c := &columns[T]{table: table, account: -1}
	var names, marks, sets []string
	id := -1
	row := reflect.TypeFor[T]()
	for i := range row.NumField() {
		name := row.Field(i).Tag.Get("db")
		if name == "" || name == "-" {
			continue
		}
		names, marks, c.inserted = append(names, name), append(marks, "?"), append(c.inserted, i)
		switch name {
		case "account_id":
			c.account = i
		case "id":
			id = i
		case "created_at":
		default:
			sets, c.updated = append(sets, name+" = ?"), append(c.updated, i)
		}
	}
	list := strings.Join(names, ", ")
	c.selectSQL = "SELECT " + list + " FROM " + table
	c.insertSQL = "INSERT INTO " + table + " (" + list + ") VALUES (" + strings.Join(marks, ", ") + ")"
	c.rowSQL = ", (" + strings.Join(marks, ", ") + ")"
	c.updateSQL = "UPDATE " + table + " SET " + strings.Join(sets, ", ") + " WHERE " + c.keyed()
	if c.account >= 0 {
		c.updated = append(c.updated, c.account)
	}
	c.updated = append(c.updated, id)
	return c
}

func (c *columns[T]) keyed() string {
	if c.account >= 0 {
		return "account_id = ? AND id = ?"
	}
	return "id = ?"
}

// texts is columns[T] without its T, which methods of unit cannot have.
type texts interface {
	insertion(row any) (table, query string, values []any)
	replacement(row any) (table, query string, values []any)
}

func (c *columns[T]) insertion(row any) (string, string, []any) {
	return c.table, c.insertSQL, values(row.(*T), c.inserted)
}

func (c *columns[T]) replacement(row any) (string, string, []any) {
	return c.table, c.updateSQL, values(row.(*T), c.updated)
}

func values(row any, fields []int) []any {
	v := reflect.ValueOf(row).Elem()
	values := make([]any, len(fields))
	for i, field := range fields {
		values[i] = v.Field(field).Interface()
	}
	return values
}

// insert stores a new row, given as a pointer to the type of the columns.
func (u *unit) insert(ctx context.Context, c texts, row any) error {
	table, query, values := c.insertion(row)
	if _, err := u.exec(ctx, query, values...); err != nil {
		return fmt.Errorf("insert into %s: %w", table, err)
	}
	return nil
}

// insertAll stores new rows in one statement.
func insertAll[T any](ctx context.Context, u *unit, c *columns[T], rows []T) error {
	if len(rows) == 0 {
		return nil
	}
	args := make([]any, 0, len(rows)*len(c.inserted))
	for i := range rows {
		args = append(args, values(&rows[i], c.inserted)...)
	}
	if _, err := u.exec(ctx, c.insertSQL+strings.Repeat(c.rowSQL, len(rows)-1), args...); err != nil {
		return fmt.Errorf("insert into %s: %w", c.table, err)
	}
	return nil
}

// update stores every column, but the key and created_at, of a row that exists.
func (u *unit) update(ctx context.Context, c texts, row any) error {
	table, query, values := c.replacement(row)
	rows, err := u.exec(ctx, query, values...)
	if err == nil && rows != 1 {
		err = fmt.Errorf("%d rows", rows)
	}
	if err != nil {
		return fmt.Errorf("update %s: %w", table, err)
	}
	return nil
}

// byID returns the account's rows among the ids, by id. One text serves any number of ids.
func byID[T any](ctx context.Context, s *Store, c *columns[T], account string, ids []string) (map[string]*T, error) {
	found := make(map[string]*T, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	condition, arg := s.in("id", ids)
	rows, err := selectAll[T](ctx, s, c.selectSQL+" WHERE account_id = ? AND "+condition, account, arg)
	if err != nil {
		return nil, fmt.Errorf("read %s by id: %w", c.table, err)
	}
	for i := range rows {
		found[c.idOf(&rows[i])] = &rows[i]
	}
	return found, nil
}

// idOf returns a row's id.
func (c *columns[T]) idOf(row *T) string {
	return reflect.ValueOf(row).Elem().Field(c.updated[len(c.updated)-1]).String()
}
