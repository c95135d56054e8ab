package db

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/tillwright/tillwright/store/core"
)

const (
	// queueTimeout is how long a read waits for a connection when all are busy.
	queueTimeout = 5 * time.Second
	// dropDelay is how long a statement stays open after the cache has dropped it, because it may still be in use.
	dropDelay = time.Minute
)

// errBusy says that a read found no free connection within queueTimeout.
var errBusy = errors.New("store: every connection to the database is busy")

// Pool is a connection pool with its prepared statements, one for each query text.
type Pool struct {
	DB         *sqlx.DB
	prepares   bool
	statements cache[string, *sqlx.Stmt]
	Readers    chan struct{} // one element for each read under way; its capacity is how many there may be
	over       *atomic.Bool  // PostgreSQL only: once it is true the connections send nothing more
}

// newPool returns a Pool that at most so many reads use at once.
func newPool(db *sqlx.DB, prepares bool, readers int) *Pool {
	return &Pool{DB: db, prepares: prepares, Readers: make(chan struct{}, readers)}
}

// prepare returns the prepared statement of a query text, and prepares it if it is not there yet. It returns nil if the pool
// does not prepare statements or the text cannot be prepared. It takes a connection, so it must not be called while this
// goroutine has an open transaction.
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

// forget has every statement prepared anew, and so planned anew, when it is next used.
func (p *Pool) forget() {
	for _, stale := range p.statements.empty() {
		time.AfterFunc(dropDelay, func() { _ = stale.Close() })
	}
}

// Texts returns the texts of the statements that are prepared.
func (p *Pool) Texts() []string { return p.statements.keys() }

// close closes the connections. Those to PostgreSQL just hang up, once no query is under way or ctx has ended: otherwise they
// would deallocate each of their statements first, with a round trip for every one, which takes many seconds if the database is
// busy or far away.
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

// Enter waits until there are fewer reads than the pool allows, and counts one. If that takes longer than queueTimeout it
// returns an error; database/sql would wait without an end. After nil the caller must call Leave.
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

// Leave says that a read which has called Enter is over.
func (p *Pool) Leave() { <-p.Readers }

// Reader is where a query runs. A *Unit is its open transaction. A *DB is the open transaction of the context if there is one, and
// the read pool otherwise: a use case that only reads does not know whether it is part of a bigger one.
type Reader interface {
	at(ctx context.Context) (*DB, *Unit)
}

func (d *DB) at(ctx context.Context) (*DB, *Unit) { return d, UnitOf(ctx) }

func (u *Unit) at(context.Context) (*DB, *Unit) { return u.db, u }

// Get returns the first row of a query, nil if there is none.
func Get[T any](ctx context.Context, r Reader, query string, args ...any) (*T, error) {
	rows, err := read[T](ctx, r, 1, query, args)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// Select returns all rows of a query, an empty slice if there are none.
func Select[T any](ctx context.Context, r Reader, query string, args ...any) ([]T, error) {
	return read[T](ctx, r, math.MaxInt, query, args)
}

// read returns at most limit rows, from an open transaction if r is one, else from the read pool. Once it has a
// connection it is not cancelled with its request: it is short, an answer of PostgreSQL has a deadline
// (AnswerTimeout), and a context that can be cancelled costs goroutines.
func read[T any](ctx context.Context, r Reader, limit int, query string, args []any) ([]T, error) {
	d, u := r.at(ctx)
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
	defer func() { _ = rows.Close() }() // should a scan panic
	found, err := scan[T](d, query, rows, limit)
	if left := rows.Close(); u != nil && err == nil { // what is left of the rows matters in a transaction alone, which it may have ended
		err = left
	}
	if err != nil {
		return nil, d.readError(u, err)
	}
	return found, nil
}

// readError marks the error of a query as DatabaseError does. In a transaction the query may have been a write that returns
// rows, so there it is treated as writeError does.
func (d *DB) readError(u *Unit, err error) error {
	if u != nil {
		return d.writeError(err)
	}
	return DatabaseError(err)
}

// trace tells whoever wants to know it that a statement is about to run, in the transaction u or outside of any if u is nil.
func (d *DB) trace(u *Unit, statement string, args []any) {
	if d.Options.Trace == nil {
		return
	}
	if u != nil && u.anew {
		statement += core.PlannedAnew
	}
	d.Options.Trace(statement, args)
}

// queryRows runs a query in the transaction u, or outside of any if u is nil, with a prepared statement if there is one.
func queryRows(ctx context.Context, d *DB, u *Unit, query string, args []any) (*sqlx.Rows, error) {
	if u != nil {
		if !isRead(query) {
			if err := u.beforeChange(ctx); err != nil {
				return nil, err
			}
			u.noteChange(1)
		}
		if u.couldSee(query) {
			if err := u.Send(ctx); err != nil {
				return nil, err
			}
		}
		d.trace(u, query, args)
		return u.query(ctx, query, args)
	}
	d.trace(nil, query, args)
	if statement := d.Read.prepare(ctx, d, query); statement != nil {
		return statement.QueryxContext(ctx, args...)
	}
	return d.Read.DB.QueryxContext(ctx, d.Rebind(query), args...)
}
