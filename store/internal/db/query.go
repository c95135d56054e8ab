package db

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
)

const (
	// queueTimeout is how long a read waits for a connection when all are busy.
	queueTimeout = 5 * time.Second
	// dropDelay is how long a statement that was dropped may still be in use.
	dropDelay = time.Minute
)

var errBusy = errors.New("store: every connection to the database is busy")

// Pool is a connection pool with its prepared statements, one per text.
type Pool struct {
	DB         *sqlx.DB
	prepares   bool
	statements cache[string, *sqlx.Stmt]
	Readers    chan struct{} // reads under way
	over       *atomic.Bool  // of PostgreSQL's connections: once it holds they say nothing more
}

// newPool takes a pool that at most so many reads may use at once.
func newPool(db *sqlx.DB, prepares bool, readers int) *Pool {
	return &Pool{DB: db, prepares: prepares, Readers: make(chan struct{}, readers)}
}

// prepare returns the statement of a text, made now if need be; nil if it cannot be had. It takes a connection,
// so it must not be called while a transaction of this goroutine holds one.
func (p *Pool) prepare(ctx context.Context, d *DB, query string) *sqlx.Stmt {
	if !p.prepares {
		return nil
	}
	if statement, ok := p.statements.get(query); ok {
		return statement
	}
	statement, err := p.DB.PreparexContext(ctx, d.Rebind(query))
	if err != nil {
		return nil // the query itself will say what is wrong
	}
	first, dropped := p.statements.put(query, statement)
	for _, stale := range dropped {
		time.AfterFunc(dropDelay, func() { _ = stale.Close() })
	}
	return first
}

// Texts returns the texts of the prepared statements.
func (p *Pool) Texts() []string { return p.statements.keys() }

// close lets go of the database once nothing is under way. PostgreSQL's connections hang up: they would deallocate each
// of their statements first, with a round trip for every one, which takes many seconds at a database that is busy or far
// away.
func (p *Pool) close(ctx context.Context) error {
	if p.over != nil {
		for p.DB.Stats().InUse > 0 && ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
		p.over.Store(true)
	}
	for _, statement := range p.statements.empty() {
		_ = statement.Close()
	}
	err := p.DB.Close()
	if p.over != nil {
		return ctx.Err()
	}
	return err
}

// Enter waits for a place among the readers, which database/sql would do without an end.
func (p *Pool) Enter(ctx context.Context) error {
	select {
	case p.Readers <- struct{}{}:
		return nil
	default:
	}
	patience := time.NewTimer(queueTimeout)
	defer patience.Stop()
	select {
	case p.Readers <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-patience.C:
		return errBusy
	}
}

// Leave gives the place among the readers back.
func (p *Pool) Leave() { <-p.Readers }

// Get returns the first row, or nil if there is none.
func Get[T any](ctx context.Context, d *DB, query string, args ...any) (*T, error) {
	rows, err := read[T](ctx, d, 1, query, args)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// Select returns all rows; none is an empty slice.
func Select[T any](ctx context.Context, d *DB, query string, args ...any) ([]T, error) {
	return read[T](ctx, d, math.MaxInt, query, args)
}

// read returns at most limit rows, from the open transaction if there is one, else from the read pool. Once it has a
// connection it is not cancelled with its request: it is short, an answer of PostgreSQL has a deadline
// (AnswerTimeout), and a context that can be cancelled costs goroutines.
func read[T any](ctx context.Context, d *DB, limit int, query string, args []any) ([]T, error) {
	u := UnitOf(ctx)
	if u == nil {
		if err := d.Read.Enter(ctx); err != nil {
			return nil, DatabaseError(err)
		}
		defer d.Read.Leave()
	}
	rows, err := queryRows(context.WithoutCancel(ctx), d, u, query, args)
	if err != nil {
		return nil, d.readError(u, err)
	}
	found, err := scan[T](d, query, rows, limit)
	return found, d.readError(u, err)
}

// readError is databaseError. In a transaction it may have been a write that returns what it wrote.
func (d *DB) readError(u *Unit, err error) error {
	if u != nil {
		return d.writeError(err)
	}
	return DatabaseError(err)
}

func queryRows(ctx context.Context, d *DB, u *Unit, query string, args []any) (*sqlx.Rows, error) {
	if u != nil {
		if statement := u.statement(ctx, query); statement != nil {
			return statement.QueryxContext(ctx, args...)
		}
		return u.tx.QueryxContext(ctx, d.Rebind(query), args...)
	}
	if statement := d.Read.prepare(ctx, d, query); statement != nil {
		return statement.QueryxContext(ctx, args...)
	}
	return d.Read.DB.QueryxContext(ctx, d.Rebind(query), args...)
}
