package db

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"

	"github.com/lib/pq"
	"github.com/tillwright/tillwright/store/core"
)

// Change is a statement that changes rows of one table, and that nobody waits for. How many it will change is known before, or does not matter. It
// names all its values, reads no other table that the transaction changes, and returns no rows.
type Change struct {
	Table string
	Query string
	Args  []any
	Rows  int64 // so many, or it is an error; AnyRows are never one
	Wrong error // that error; nil: one that says how many rows there were
}

// AnyRows are as many rows as there happen to be.
const AnyRows = -1

// maxWaiting is how many arguments the changes that are sent together may have. PostgreSQL takes 65,535.
const maxWaiting = 5000

// Later makes a change before the next statement of the transaction that could see it, or that locks or changes rows. It is made before the commit at
// the latest. An error of it is returned by whatever comes then, and undoes the transaction. PostgreSQL is sent all changes that wait in one
// statement. So those who wait for our rows do not wait for a round trip for each change. SQLite, which is no way off, makes them at once.
func (u *Unit) Later(ctx context.Context, c Change) error {
	if err := u.beforeChange(ctx); err != nil {
		return err
	}
	if u.db.Engine == core.SQLite {
		rows, err := u.Exec(ctx, c.Query, c.Args...)
		if err != nil {
			err = fmt.Errorf("change %s: %w", c.Table, err)
		} else {
			err = c.check(rows)
		}
		u.broken = err
		return err
	}
	// In one statement none sees what another changes, and of two changes of one row the second would be lost.
	same := func(waiting Change) bool { return waiting.Table == c.Table }
	if slices.ContainsFunc(u.waiting, same) || u.waitingArgs+len(c.Args) > maxWaiting {
		if err := u.Send(ctx); err != nil {
			return err
		}
	}
	u.noteChange(c.Rows)
	u.db.trace(ctx, u, c.Query, c.Args)
	for i, arg := range c.Args { // as it is now: what it points to may be another when the change is sent
		value, err := driver.DefaultParameterConverter.ConvertValue(arg)
		if err != nil {
			return fmt.Errorf("change %s: argument %d: %w", c.Table, i+1, err)
		}
		c.Args[i] = value
	}
	u.waiting, u.waitingArgs = append(u.waiting, c), u.waitingArgs+len(c.Args)
	return nil
}

// Triggered reports whether a text names a table that triggers write to: pictures, picture_files and picture_removed are some. A change of any table may
// change these.
func Triggered(text string) bool {
	return strings.Contains(text, "filter_entries") || strings.Contains(text, "picture")
}

// couldSee reports whether a query has to come after the changes that wait. It has to if it does more than read. It also has to if its text has the
// name of one of their tables, or of one that is Triggered. A text that has it by chance, in another name or as a value, costs a way to the database
// and nothing else. None that reads a table lacks it, because there are no views: a test looks for those, and for what triggers write.
func (u *Unit) couldSee(query string) bool {
	if len(u.waiting) == 0 {
		return false
	}
	named := func(c Change) bool { return strings.Contains(query, c.Table) }
	return !isRead(query) || strings.Contains(query, forUpdate) || Triggered(query) || slices.ContainsFunc(u.waiting, named)
}

// isRead reports whether a query does nothing but read, and lock what it has read.
func isRead(query string) bool { return strings.HasPrefix(strings.TrimSpace(query), "SELECT") }

// Send makes the changes that wait, in their order. Once one could not be made, it returns that error each time. So the commit fails even if whoever
// was told of it first did not mind.
func (u *Unit) Send(ctx context.Context) error {
	if u.broken == nil && len(u.waiting) > 0 {
		u.broken = u.send(ctx)
	}
	return u.broken
}

func (u *Unit) send(ctx context.Context) error {
	waiting := u.waiting
	u.waiting, u.waitingArgs = nil, 0
	var query, counts, tables []string
	var args []any
	for i, c := range waiting {
		query = append(query, fmt.Sprintf("c%d AS (%s RETURNING 1)", i, c.Query))
		counts = append(counts, fmt.Sprintf("(SELECT count(*) FROM c%d)", i)) // PostgreSQL makes the changes as it comes to count them
		tables, args = append(tables, c.Table), append(args, c.Args...)
	}
	rows, err := u.counts(context.WithoutCancel(ctx), "WITH "+strings.Join(query, ", ")+" SELECT ARRAY["+strings.Join(counts, ", ")+"]", args)
	if err != nil {
		return fmt.Errorf("change %s: %w", strings.Join(tables, ", "), u.db.writeError(err))
	}
	for i, c := range waiting {
		if err := c.check(rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// Sent returns err, or makes the changes that wait: for who has to know now whether one violates a unique key.
func (u *Unit) Sent(ctx context.Context, err error) error {
	if err != nil {
		return err
	}
	return u.Send(ctx)
}

// counts runs a query that returns one row, with an array of numbers.
func (u *Unit) counts(ctx context.Context, query string, args []any) (counts pq.Int64Array, err error) {
	defer u.db.asks(ctx)()
	rows, err := u.query(ctx, query, args)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := rows.Scan(&counts); err != nil {
			return nil, err
		}
	}
	return counts, rows.Err()
}

// check returns an error unless the change was of so many rows as it should be.
func (c Change) check(rows int64) error {
	switch {
	case rows == c.Rows, c.Rows == AnyRows:
		return nil
	case c.Wrong != nil:
		return c.Wrong
	}
	return fmt.Errorf("change %s: %d rows instead of %d", c.Table, rows, c.Rows)
}
