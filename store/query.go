package store

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

// pool is a connection pool with its prepared statements, one per text.
type pool struct {
	db         *sqlx.DB
	prepares   bool
	statements cache[string, *sqlx.Stmt]
	readers    chan struct{} // reads under way
	over       *atomic.Bool  // of PostgreSQL's connections: once it holds they say nothing more
}

// newPool takes a pool that at most so many reads may use at once.
func newPool(db *sqlx.DB, prepares bool, readers int) *pool {
	return &pool{db: db, prepares: prepares, readers: make(chan struct{}, readers)}
}

// prepare returns the statement of a text, made now if need be; nil if it cannot be had. It takes a connection,
// so it must not be called while a transaction of this goroutine holds one.
func (p *pool) prepare(ctx context.Context, s *Store, query string) *sqlx.Stmt {
	if !p.prepares {
		return nil
	}
	if statement, ok := p.statements.get(query); ok {
		return statement
	}
	statement, err := p.db.PreparexContext(ctx, s.rebind(query))
	if err != nil {
		return nil // the query itself will say what is wrong
	}
	first, dropped := p.statements.put(query, statement)
	for _, stale := range dropped {
		time.AfterFunc(dropDelay, func() { _ = stale.Close() })
	}
	return first
}

// close lets go of the database once nothing is under way. PostgreSQL's connections hang up: they would deallocate each
// of their statements first, with a round trip for every one, which takes many seconds at a database that is busy or far
// away.
func (p *pool) close(ctx context.Context) error {
	if p.over != nil {
		for p.db.Stats().InUse > 0 && ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
		p.over.Store(true)
	}
	for _, statement := range p.statements.empty() {
		_ = statement.Close()
	}
	err := p.db.Close()
	if p.over != nil {
		return ctx.Err()
	}
	return err
}

// enter waits for a place among the readers, which database/sql would do without an end.
func (p *pool) enter(ctx context.Context) error {
	select {
	case p.readers <- struct{}{}:
		return nil
	default:
	}
	patience := time.NewTimer(queueTimeout)
	defer patience.Stop()
	select {
	case p.readers <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-patience.C:
		return errBusy
	}
}

func (p *pool) leave() { <-p.readers }

// get returns the first row, or nil if there is none.
func get[T any](ctx context.Context, s *Store, query string, args ...any) (*T, error) {
	rows, err := read[T](ctx, s, 1, query, args)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// selectAll returns all rows; none is an empty slice.
func selectAll[T any](ctx context.Context, s *Store, query string, args ...any) ([]T, error) {
	return read[T](ctx, s, math.MaxInt, query, args)
}

// read returns at most limit rows, from the open transaction if there is one, else from the read pool. Once it has a
// connection it is not cancelled with its request: it is short, an answer of PostgreSQL has a deadline
// (answerTimeout), and a context that can be cancelled costs goroutines.
func read[T any](ctx context.Context, s *Store, limit int, query string, args []any) ([]T, error) {
	u := openUnit(ctx)
	if u == nil {
		if err := s.read.enter(ctx); err != nil {
			return nil, databaseError(err)
		}
		defer s.read.leave()
	}
	rows, err := queryRows(context.WithoutCancel(ctx), s, u, query, args)
	if err != nil {
		return nil, s.readError(u, err)
	}
	found, err := scan[T](s, query, rows, limit)
	return found, s.readError(u, err)
}

// readError is databaseError. In a transaction it may have been a write that returns what it wrote.
func (s *Store) readError(u *unit, err error) error {
	if u != nil {
		return s.writeError(err)
	}
	return databaseError(err)
}

func queryRows(ctx context.Context, s *Store, u *unit, query string, args []any) (*sqlx.Rows, error) {
	if u != nil {
		if statement := u.statement(ctx, query); statement != nil {
			return statement.QueryxContext(ctx, args...)
		}
		return u.tx.QueryxContext(ctx, s.rebind(query), args...)
	}
	if statement := s.read.prepare(ctx, s, query); statement != nil {
		return statement.QueryxContext(ctx, args...)
	}
	return s.read.db.QueryxContext(ctx, s.rebind(query), args...)
}
