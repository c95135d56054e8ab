package db

import (
	"context"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"github.com/tillwright/tillwright/store/core"
)

// Rebind returns the query with placeholders of the engine's form in the place of each ?.
func (d *DB) Rebind(query string) string {
	if d.Engine == core.SQLite {
		return query
	}
	return sqlx.Rebind(sqlx.DOLLAR, query)
}

// PlanAnew makes PostgreSQL plan each statement of the transaction when it runs, and look up row by row what it joins. A plan that it has kept from a
// time when the tables were empty would read them as a whole now. So would a new plan, if all that PostgreSQL knows of the tables is how few rows
// they had a moment ago. SQLite's plans do not depend on what is in the tables.
func (u *Unit) PlanAnew(ctx context.Context) error {
	if u.db.Engine == core.SQLite {
		return nil
	}
	_, err := Get[string](ctx, u, `
		SELECT set_config('plan_cache_mode', 'force_custom_plan', true) || set_config('enable_hashjoin', 'off', true) || set_config('enable_mergejoin', 'off', true)`)
	u.anew = err == nil
	return err
}

// PlanningAnew runs a read in a transaction with PlanAnew. On SQLite it just runs it.
func PlanningAnew[T any](ctx context.Context, d *DB, read func(context.Context, Reader) (T, error)) (T, error) {
	if d.Engine == core.SQLite {
		return read(ctx, d)
	}
	return Tx(ctx, d, func(ctx context.Context, u *Unit) (T, error) {
		if err := u.PlanAnew(ctx); err != nil {
			var none T
			return none, err
		}
		return read(ctx, u)
	})
}

// In returns a condition, and its one argument, that holds if the column has any of the values. It has one text for one value and
// one for any other number, so that its statement is prepared twice at most. PostgreSQL assumes ten values where it does not know how many there are.
// So it would plan the statement of one value anew each time, which takes longer than to run it.
func (d *DB) In(column string, values []string) (condition string, arg any) {
	if len(values) == 1 {
		return column + " = ?", values[0]
	}
	if d.Engine == core.SQLite {
		return column + " IN (SELECT value FROM json_each(?))", core.JSON[[]string]{V: values}
	}
	return column + " = ANY(?)", pq.Array(values)
}

// InSelected returns the condition that a column is among what a query selects. PostgreSQL runs the query once and looks up each, instead of
// thinking of another way to join them. With IN it may run a query with LockSkip again for each row. Such a query passes over what the statement has
// changed, and so exceeds its LIMIT.
func (d *DB) InSelected(column, query string) string {
	if d.Engine == core.SQLite {
		return column + " IN (" + query + ")"
	}
	return column + " = ANY(ARRAY(" + query + "))"
}

// ExecBatch runs a change, which is given up to its WHERE, of the rows that RowSelected means. It returns the number of rows.
func (u *Unit) ExecBatch(ctx context.Context, change, from string, args ...any) (int64, error) {
	if err := u.PlanAnew(ctx); err != nil {
		return 0, err
	}
	return u.Exec(ctx, change+" WHERE "+u.RowSelected(from), args...)
}

// row names what tells a row from all others of its table. PostgreSQL goes to it at once, whatever it knows of the table.
func (u *Unit) row() string {
	if u.db.Engine == core.SQLite {
		return "rowid"
	}
	return "ctid"
}

// RowSelected returns the condition that a row is one of those that a query finds. The query is given from its FROM on. It has an ORDER BY, whose
// index PostgreSQL takes for it, and a LIMIT, which holds. Rows that another transaction has locked are left out.
func (u *Unit) RowSelected(from string) string {
	return u.db.InSelected(u.row(), "SELECT "+u.row()+" FROM "+from+u.LockSkip())
}

// RowAmong returns the condition that a row is one of those that some queries find. Each query finds one row at most, and is given from its FROM on.
// So PostgreSQL looks up each by its key, whatever it knows of the table. Rows that another transaction has locked are left out.
func (u *Unit) RowAmong(froms ...string) string {
	var queries []string
	for _, from := range froms {
		queries = append(queries, "(SELECT "+u.row()+" FROM "+from+u.LockSkip()+")")
	}
	list := strings.Join(queries, ", ")
	if u.db.Engine == core.PostgreSQL {
		return u.row() + " = ANY(ARRAY[" + list + "])"
	}
	return u.row() + " IN (" + list + ")"
}

// JSONRows returns SQL for a table with one column, value, that holds the elements of a JSON array. The array is one argument,
// so that there is one text for any number of rows. PostgreSQL takes jsonb apart once, and json again for each value that is read.
func (d *DB) JSONRows() string {
	if d.Engine == core.SQLite {
		return "json_each(?)"
	}
	return "jsonb_array_elements(CAST(? AS jsonb))"
}

// JSONElements returns SQL for a table with one column, value, that holds the texts in the JSON array of a column.
func (d *DB) JSONElements(column string) string {
	if d.Engine == core.SQLite {
		return "json_each(" + column + ")"
	}
	return "json_array_elements_text(CAST(" + column + " AS json))"
}

// JSONMembers returns SQL for a table with two columns, key and value, that holds the members of the JSON object of a column.
func (d *DB) JSONMembers(column string) string {
	if d.Engine == core.SQLite {
		return "json_each(" + column + ")"
	}
	return "json_each_text(CAST(" + column + " AS json))"
}

// JSONText returns SQL for the text that a member has in the JSON object that an expression is the text of.
func (d *DB) JSONText(object, member string) string {
	if d.Engine == core.SQLite {
		return "(" + object + " ->> '" + member + "')"
	}
	return "(CAST(" + object + " AS json) ->> '" + member + "')"
}

// JSONNumber returns SQL for the whole number that a member has, as JSONText does for a text.
func (d *DB) JSONNumber(object, member string) string {
	return "CAST(" + d.JSONText(object, member) + " AS bigint)"
}

// JSONTable returns SQL for a table of the objects in a JSON array, which is one argument. It has a column for each of the members. These are given
// with their types, as in "amount bigint"; the types are text, bigint and boolean.
func (d *DB) JSONTable(members ...string) string {
	if d.Engine != core.SQLite {
		return "ROWS FROM (json_to_recordset(CAST(? AS json)) AS (" + strings.Join(members, ", ") + "))"
	}
	columns := make([]string, len(members))
	for i, member := range members {
		name, _, _ := strings.Cut(member, " ")
		columns[i] = "value ->> '" + name + "' AS " + name
	}
	return "(SELECT " + strings.Join(columns, ", ") + " FROM json_each(?))"
}

// ArrayHas returns the condition that the JSON array of a column contains a text, for which it has a placeholder.
func (d *DB) ArrayHas(column string) string {
	if d.Engine == core.SQLite {
		return "EXISTS (SELECT 1 FROM json_each(" + column + ") AS e WHERE e.value = ?)"
	}
	return column + "::jsonb @> to_jsonb(CAST(? AS text))"
}

// LookUp returns SQL that joins rows of a table to each row of what stands before it. It joins those for which the condition holds, and finds them
// for each row by itself. Otherwise PostgreSQL may read an account as a whole, and keep that plan. It does so if it takes the account for one of
// usual size, or the table for as small as it was a moment ago. The condition may name columns of what stands before; another LookUp may follow, or a
// WHERE.
func (d *DB) LookUp(table, alias, condition string) string {
	if d.Engine == core.SQLite {
		return " CROSS JOIN " + table + " AS " + alias + " ON " + condition
	}
	return " CROSS JOIN LATERAL (SELECT * FROM " + table + " AS " + alias + " WHERE " + condition + " OFFSET 0) AS " + alias // OFFSET keeps it from being merged into the rest
}

const forUpdate = " FOR UPDATE"

// Lock returns the end of a SELECT that locks its rows until the transaction ends. On SQLite that is "": a transaction is the
// only writer there from its beginning.
func (u *Unit) Lock() string {
	if u.db.Engine == core.SQLite {
		return ""
	}
	return forUpdate
}

// LockSkip returns the end of a SELECT that locks its rows as Lock does, but leaves out those that another transaction has
// locked. It is for workers.
func (u *Unit) LockSkip() string {
	if u.db.Engine == core.SQLite {
		return ""
	}
	return " FOR UPDATE SKIP LOCKED"
}

// NowSQL returns an SQL expression for the database's own time, in microseconds. Leases go by it, because the clocks of
// replicas differ; for an embedded database it is the clock of this machine.
func (d *DB) NowSQL() string {
	if d.Engine == core.SQLite {
		return "CAST(unixepoch('subsec') * 1000000 AS INTEGER)"
	}
	// In a SELECT of its own it is asked once for the whole statement. Otherwise PostgreSQL would ask for every row, and could not look it up
	// in an index of leases.
	return "(SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint))"
}
