package store

import (
	"context"
	"math"
	"sync"

	"github.com/jmoiron/sqlx"
)

// maxStatements bounds the prepared statements of a pool. Texts met after that run unprepared.
const maxStatements = 500

// pool is a connection pool with its prepared statements, one per text.
type pool struct {
	db         *sqlx.DB
	prepares   bool
	mu         sync.RWMutex
	statements map[string]*sqlx.Stmt
}

func newPool(db *sqlx.DB, prepares bool) *pool {
	return &pool{db: db, prepares: prepares, statements: map[string]*sqlx.Stmt{}}
}

// cached returns the statement of a text, nil if there is none.
func (p *pool) cached(query string) *sqlx.Stmt {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.statements[query]
}

// prepare returns the statement of a text, made now if need be; nil if it cannot be had. It takes a connection,
// so it must not be called while a transaction of this goroutine holds one.
func (p *pool) prepare(ctx context.Context, s *Store, query string) *sqlx.Stmt {
	if !p.prepares {
		return nil
	}
	if statement := p.cached(query); statement != nil {
		return statement
	}
	p.mu.RLock()
	full := len(p.statements) >= maxStatements
	p.mu.RUnlock()
	if full {
		return nil
	}
	statement, err := p.db.PreparexContext(ctx, s.rebind(query))
	if err != nil {
		return nil // the query itself will say what is wrong
	}
	first, kept := p.keep(query, statement)
	if !kept {
		// Not under the lock: closing waits for the statement's connection, which may be inside a transaction that
		// waits for a row of another one, which waits for the lock.
		_ = statement.Close()
	}
	return first
}

// keep remembers the statement of a text, unless there is one already: the first is returned.
func (p *pool) keep(query string, statement *sqlx.Stmt) (first *sqlx.Stmt, kept bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if first := p.statements[query]; first != nil {
		return first, false
	}
	p.statements[query] = statement
	return statement, true
}

func (p *pool) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, statement := range p.statements {
		_ = statement.Close()
	}
	p.statements = map[string]*sqlx.Stmt{}
	return p.db.Close()
}

// get returns the first row, or nil if there is none.
func get[T any](ctx context.Context, s *Store, query string, args ...any) (*T, error) {
	rows, err := queryRows(ctx, s, query, args)
	if err != nil {
		return nil, err
	}
	all, err := scan[T](s, query, rows, 1)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

// selectAll returns all rows; none is an empty slice.
func selectAll[T any](ctx context.Context, s *Store, query string, args ...any) ([]T, error) {
	rows, err := queryRows(ctx, s, query, args)
	if err != nil {
		return nil, err
	}
	return scan[T](s, query, rows, math.MaxInt)
}

// queryRows runs a query in the open transaction, if there is one, else on the read pool. It is not cancelled with
// its request: it is short, its answer has a deadline (answerTimeout), and a context that can be cancelled costs
// goroutines.
func queryRows(ctx context.Context, s *Store, query string, args []any) (*sqlx.Rows, error) {
	u := openUnit(ctx)
	ctx = context.WithoutCancel(ctx)
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
