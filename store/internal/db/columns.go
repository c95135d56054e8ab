package db

import (
	"context"
	"fmt"
	"reflect"
	"strings"
)

// Columns are the texts and fields of a row type, made once per type from its `db` tags. Rows are found by
// (account_id, id), or by id alone where the type has no account_id.
type Columns[T any] struct {
	Table     string
	SelectSQL string // SELECT a, b FROM table
	InsertSQL string
	rowSQL    string // , (?, ?): one more row to insert
	updateSQL string // every column but the key and created_at
	Inserted  []int  // fields, in the order of the placeholders
	updated   []int
	account   int // field of account_id, -1 if there is none
}

// ColumnsOf reads the fields of T; one without a tag, or with "-", is no column.
func ColumnsOf[T any](table string) *Columns[T] {
	c := &Columns[T]{Table: table, account: -1}
	var names, marks, sets []string
	id := -1
	row := reflect.TypeFor[T]()
	for i := range row.NumField() {
		name := row.Field(i).Tag.Get("db")
		if name == "" || name == "-" {
			continue
		}
		names, marks, c.Inserted = append(names, name), append(marks, "?"), append(c.Inserted, i)
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
	c.SelectSQL = "SELECT " + list + " FROM " + table
	c.InsertSQL = "INSERT INTO " + table + " (" + list + ") VALUES (" + strings.Join(marks, ", ") + ")"
	c.rowSQL = ", (" + strings.Join(marks, ", ") + ")"
	c.updateSQL = "UPDATE " + table + " SET " + strings.Join(sets, ", ") + " WHERE " + c.keyed()
	if c.account >= 0 {
		c.updated = append(c.updated, c.account)
	}
	c.updated = append(c.updated, id)
	return c
}

func (c *Columns[T]) keyed() string {
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

func (c *Columns[T]) insertion(row any) (string, string, []any) {
	return c.Table, c.InsertSQL, values(row.(*T), c.Inserted)
}

func (c *Columns[T]) replacement(row any) (string, string, []any) {
	return c.Table, c.updateSQL, values(row.(*T), c.updated)
}

// Values returns what InsertSQL takes for a row.
func (c *Columns[T]) Values(row *T) []any { return values(row, c.Inserted) }

func values(row any, fields []int) []any {
	v := reflect.ValueOf(row).Elem()
	values := make([]any, len(fields))
	for i, field := range fields {
		values[i] = v.Field(field).Interface()
	}
	return values
}

// Insert stores a new row, given as a pointer to the type of the columns.
func (u *Unit) Insert(ctx context.Context, c texts, row any) error {
	table, query, values := c.insertion(row)
	if _, err := u.Exec(ctx, query, values...); err != nil {
		return fmt.Errorf("insert into %s: %w", table, err)
	}
	return nil
}

// InsertAll stores new rows in one statement.
func InsertAll[T any](ctx context.Context, u *Unit, c *Columns[T], rows []T) error {
	if len(rows) == 0 {
		return nil
	}
	args := make([]any, 0, len(rows)*len(c.Inserted))
	for i := range rows {
		args = append(args, values(&rows[i], c.Inserted)...)
	}
	if _, err := u.Exec(ctx, c.InsertSQL+strings.Repeat(c.rowSQL, len(rows)-1), args...); err != nil {
		return fmt.Errorf("insert into %s: %w", c.Table, err)
	}
	return nil
}

// Update stores every column, but the key and created_at, of a row that exists.
func (u *Unit) Update(ctx context.Context, c texts, row any) error {
	table, query, values := c.replacement(row)
	rows, err := u.Exec(ctx, query, values...)
	if err == nil && rows != 1 {
		err = fmt.Errorf("%d rows", rows)
	}
	if err != nil {
		return fmt.Errorf("update %s: %w", table, err)
	}
	return nil
}

// ByID returns the account's rows among the ids, by id. One text serves any number of ids.
func ByID[T any](ctx context.Context, d *DB, c *Columns[T], account string, ids []string) (map[string]*T, error) {
	found := make(map[string]*T, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	condition, arg := d.In("id", ids)
	rows, err := Select[T](ctx, d, c.SelectSQL+" WHERE account_id = ? AND "+condition, account, arg)
	if err != nil {
		return nil, fmt.Errorf("read %s by id: %w", c.Table, err)
	}
	for i := range rows {
		found[c.IDOf(&rows[i])] = &rows[i]
	}
	return found, nil
}

// IDOf returns a row's id.
func (c *Columns[T]) IDOf(row *T) string {
	return reflect.ValueOf(row).Elem().Field(c.updated[len(c.updated)-1]).String()
}
