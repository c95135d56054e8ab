// Package reads measures how much of the database a statement reads, in an account that has many rows of everything.
package reads

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// fewCalls is how many calls of a statement a Log keeps: so many of the first ones and of the last ones.
const fewCalls = 3

// Log keeps which statements ran, with what they were given. It may be used by many goroutines.
type Log struct {
	mu     sync.Mutex
	closed bool
	calls  map[string][][]any
}

// Close keeps what there is, and nothing that comes after it.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
}

// Note keeps a call. It is a function for store.Options.Trace.
func (l *Log) Note(_ context.Context, statement string, args []any) {
	values := make([]any, len(args))
	for i, arg := range args {
		value, err := driver.DefaultParameterConverter.ConvertValue(arg)
		if err != nil {
			value = arg // the statement itself will say what is wrong
		}
		if data, ok := value.([]byte); ok {
			value = slices.Clone(data)
		}
		values[i] = value
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	if l.calls == nil {
		l.calls = map[string][][]any{}
	}
	calls := append(l.calls[statement], values)
	if len(calls) > 2*fewCalls {
		calls = slices.Delete(calls, fewCalls, fewCalls+1)
	}
	l.calls[statement] = calls
}

// Has reports whether a statement like this ran.
func (l *Log) Has(piece string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for text := range l.calls {
		if IsLike(text, piece) {
			return true
		}
	}
	return false
}

// IsLike reports whether a piece of text is part of a statement, however the words of both are set.
func IsLike(statement, piece string) bool {
	return strings.Contains(strings.Join(strings.Fields(statement), " "), piece)
}

// Statements returns the texts of all statements that ran and are about tables, sorted.
func (l *Log) Statements() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var texts []string
	for text := range l.calls {
		if strings.Contains(text, "pg_") || strings.Contains(text, "schema_migrations") || strings.Contains(text, "sqlite_") {
			continue // about the schema
		}
		if first, _, _ := strings.Cut(strings.TrimSpace(text), " "); slices.Contains([]string{"SELECT", "INSERT", "UPDATE", "DELETE", "WITH"}, strings.TrimSpace(first)) {
			texts = append(texts, text)
		}
	}
	slices.Sort(texts)
	return texts
}

// Calls returns what a statement was given, a list of arguments for each call that is kept.
func (l *Log) Calls(statement string) [][]any {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls[statement]
}

// Again returns a statement in the form in which it can run a second time. One that inserts leaves a row that exists already as it is.
func Again(statement string) string {
	if !strings.HasPrefix(strings.TrimSpace(statement), "INSERT") || strings.Contains(statement, "ON CONFLICT") {
		return statement
	}
	before, returning, found := strings.Cut(statement, "RETURNING")
	if strings.HasSuffix(before, ") AS d") { // SQLite takes an ON behind a table for a join's
		before += " WHERE TRUE"
	}
	if found {
		returning = "RETURNING" + returning
	}
	return before + " ON CONFLICT DO NOTHING " + returning
}

// Cost is what one run of a statement read to find its rows. It is in pages on PostgreSQL, and in steps of its machine on SQLite, which counts no
// pages.
type Cost struct {
	Read, Rows int
	Plan       string
}

// Excessive reports whether that is out of proportion. Five indexes of four levels and their tables are 25 pages a row. What is read beside the rows,
// to find out that there are none of a kind say, is free up to a limit. Whoever reads the rows of a whole account passes that limit.
func (c Cost) Excessive(engine string) bool {
	if engine == "sqlite" {
		return c.Read > 4_000+570*c.Rows
	}
	return c.Read > 140+25*c.Rows
}

// Meter runs statements as the program does, and takes back what they change.
type Meter interface {
	// Runs reports whether the program runs a statement in the way that is measured.
	Runs(statement string) bool
	// Measure returns what the first call of a statement that is out of proportion costs, or the last call if none is.
	Measure(statement string, calls [][]any) (Cost, error)
}

func (c Cost) String() string { return fmt.Sprintf("read %d for %d rows\n%s", c.Read, c.Rows, c.Plan) }
