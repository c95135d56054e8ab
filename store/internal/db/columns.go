package db

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Columns holds the SQL texts of a row type and the fields that go with them. It is made once for each type, from its `db`
// tags. Rows are found by (account_id, id), or by id alone if the type has no account_id.
type Columns[T any] struct {
	Table        string
	SelectSQL    string // SELECT a, b FROM table
	ReturningSQL string // RETURNING a, b: the end of a change whose rows are read as they are then
	InsertSQL    string
	rowSQL       string // ", (?, ?)": what InsertSQL needs for each further row
	updateSQL    string // sets every column but the key and created_at
	replaceSQL   string // sets the same to what a conflicting INSERT has: a = excluded.a, b = excluded.b
	Inserted     []int  // indexes of the fields, in the order of the placeholders of InsertSQL
	updated      []int
	account      int // index of the field of account_id, -1 if there is none
}

// ColumnsOf returns the columns of T in a table. A field without a db tag, or with the tag "-", is no column. T has a field for
// id.
func ColumnsOf[T any](table string) *Columns[T] {
	c := &Columns[T]{Table: table, account: -1}
	var names, marks, sets, replaced []string
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
			replaced = append(replaced, name+" = excluded."+name)
		}
	}
	list := strings.Join(names, ", ")
	c.SelectSQL = "SELECT " + list + " FROM " + table
	c.ReturningSQL = "RETURNING " + list
	c.InsertSQL = "INSERT INTO " + table + " (" + list + ") VALUES (" + strings.Join(marks, ", ") + ")"
	c.rowSQL = ", (" + strings.Join(marks, ", ") + ")"
	c.updateSQL = "UPDATE " + table + " SET " + strings.Join(sets, ", ") + " WHERE " + c.keyed()
	c.replaceSQL = strings.Join(replaced, ", ")
	if c.account >= 0 {
		c.updated = append(c.updated, c.account)
	}
	c.updated = append(c.updated, id)
	return c
}

// Selecting returns columns that are read from what these expressions say.
func (c *Columns[T]) Selecting(expressions ...string) *Columns[T] {
	other := *c
	other.SelectSQL = "SELECT " + strings.Join(expressions, ", ") + " FROM " + c.Table
	return &other
}

// SelectWith returns SelectSQL with further expressions, each with a name.
func (c *Columns[T]) SelectWith(more ...string) string {
	list, _ := strings.CutSuffix(c.SelectSQL, " FROM "+c.Table)
	return list + ", " + strings.Join(more, ", ") + " FROM " + c.Table
}

// keyed returns the condition that finds a row by its key.
func (c *Columns[T]) keyed() string {
	if c.account >= 0 {
		return "account_id = ? AND id = ?"
	}
	return "id = ?"
}

// texts is what Columns[T] offers to methods of Unit, which cannot have a type parameter T. Row is a *T in both methods.
type texts interface {
	insertion(row any) (table, query string, values []any)
	replacement(row any) (table, query string, values []any)
}

// insertion returns the table, and the statement that inserts a row with its arguments.
func (c *Columns[T]) insertion(row any) (string, string, []any) {
	return c.Table, c.InsertSQL, values(row.(*T), c.Inserted)
}

// replacement returns the table, and the statement that updates a row with its arguments.
func (c *Columns[T]) replacement(row any) (string, string, []any) {
	return c.Table, c.updateSQL, values(row.(*T), c.updated)
}

// Values returns the arguments of InsertSQL for a row.
func (c *Columns[T]) Values(row *T) []any { return values(row, c.Inserted) }

// values returns the fields with these indexes of a row, which is a pointer to a struct.
func values(row any, fields []int) []any {
	v := reflect.ValueOf(row).Elem()
	values := make([]any, len(fields))
	for i, field := range fields {
		values[i] = v.Field(field).Interface()
	}
	return values
}

// Insert stores a new row, as Later does. Row is a pointer to the row type of the columns.
func (u *Unit) Insert(ctx context.Context, c texts, row any) error {
	table, query, values := c.insertion(row)
	return u.Later(ctx, Change{Table: table, Query: query, Args: values, Rows: 1})
}

// InsertAll stores new rows, as Later does: in one statement, or in several if they are too many for one.
func InsertAll[T any](ctx context.Context, u *Unit, c *Columns[T], rows []T) error {
	return storeAll(ctx, u, c, rows, "")
}

// PutAll does what InsertAll does, and stores rows that exist with all their columns but the key and created_at.
func PutAll[T any](ctx context.Context, u *Unit, c *Columns[T], rows []T) error {
	return storeAll(ctx, u, c, rows, " ON CONFLICT (account_id, id) DO UPDATE SET "+c.replaceSQL)
}

func storeAll[T any](ctx context.Context, u *Unit, c *Columns[T], rows []T, conflict string) error {
	for some := range slices.Chunk(rows, max(maxWaiting/len(c.Inserted), 1)) {
		args := make([]any, 0, len(some)*len(c.Inserted))
		for i := range some {
			args = append(args, values(&some[i], c.Inserted)...)
		}
		query := c.InsertSQL + strings.Repeat(c.rowSQL, len(some)-1) + conflict
		if err := u.Later(ctx, Change{Table: c.Table, Query: query, Args: args, Rows: int64(len(some))}); err != nil {
			return err
		}
	}
	return nil
}

// Update stores an existing row, all columns but the key and created_at, as Later does. Row is a pointer to the row type of the columns.
// It is an error if there is no such row.
func (u *Unit) Update(ctx context.Context, c texts, row any) error {
	table, query, values := c.replacement(row)
	return u.Later(ctx, Change{Table: table, Query: query, Args: values, Rows: 1})
}

// ByID returns those of the account's rows with these ids that exist, by id. The query has one text for any number of ids.
func ByID[T any](ctx context.Context, r Reader, c *Columns[T], account string, ids []string) (map[string]*T, error) {
	found := make(map[string]*T, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	d, _ := r.place(ctx)
	condition, arg := d.In("id", ids)
	rows, err := Select[T](ctx, r, c.SelectSQL+" WHERE account_id = ? AND "+condition, account, arg)
	if err != nil {
		return nil, fmt.Errorf("read %s by id: %w", c.Table, err)
	}
	for i := range rows {
		found[c.IDOf(&rows[i])] = &rows[i]
	}
	return found, nil
}

// IDOf returns the id of a row.
func (c *Columns[T]) IDOf(row *T) string {
	return reflect.ValueOf(row).Elem().Field(c.updated[len(c.updated)-1]).String()
}
