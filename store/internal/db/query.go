package db

import (
	"context"
	"errors"
	"math"
	"strings"
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

// Pool is a connection pool with its prepared statements, one for each query text.
type Pool struct {
	DB         *sqlx.DB
	prepares   bool
	statements cache[string, *sqlx.Stmt]
	gate       *gate        // of reads, and of transactions
	over       *atomic.Bool // PostgreSQL only: once it is true the connections send nothing more
}

// newPool returns a Pool that has so many connections, of which an account may use so many.
func newPool(db *sqlx.DB, prepares bool, connections, each int) *Pool {
	return &Pool{DB: db, prepares: prepares, gate: newGate(connections, each)}
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

// close closes the connections. Those to PostgreSQL just hang up, once no query is under way or ctx has ended. Otherwise they would deallocate each
// of their statements first, with a round trip for every one. That takes many seconds if the database is busy or far away.
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

// Size returns how many reads or transactions may use the pool at once.
func (p *Pool) Size() int { return p.gate.size }

// Waiting returns how many wait for the pool.
func (p *Pool) Waiting() int {
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	many := 0
	for _, of := range p.gate.waiting {
		many += len(of)
	}
	return many
}

// Enter waits until a read of an account may use the pool, and counts it. If that takes longer than queueTimeout it returns an error;
// database/sql would wait without an end, and know no accounts. After nil the caller must call Leave.
func (p *Pool) Enter(ctx context.Context, account string) error {
	return p.gate.enter(ctx, account, queueTimeout)
}

// Leave says that a read of an account which has called Enter is over.
func (p *Pool) Leave(account string) { p.gate.leave(account) }

// whose returns the account for which something is done, everyone for what all requests wait for, and "" if there is none. There is none before a
// caller is known, for a worker, and for what belongs to no request, which others may wait for.
func (d *DB) whose(ctx context.Context) string {
	switch {
	case isDetached(ctx):
		if ctx.Value(firstKey{}) != nil {
			return everyone
		}
		return ""
	case d.Options.Whose == nil:
		return ""
	}
	return d.Options.Whose(ctx)
}

// isDetached reports whether what is done belongs to no request: see Detached.
func isDetached(ctx context.Context) bool {
	r, is := ctx.Value(requestKey{}).(*request)
	return is && r == nil
}

// waits says that whoever asks waits for the disk, or for a database beside this process, until over is called. That is called with true if the asker
// holds what other accounts need.
func (d *DB) waits(ctx context.Context) (over func(holds bool)) {
	if d.Options.Waits == nil || isDetached(ctx) { // which others may wait for
		return func(bool) {}
	}
	return d.Options.Waits(ctx)
}

// asks is waits for a statement, which an embedded database computes in this process.
func (d *DB) asks(ctx context.Context) (over func()) {
	if d.Engine == core.SQLite {
		return func() {}
	}
	end := d.waits(ctx)
	return func() { end(false) }
}

// Reader is where a query runs. A *Unit is its open transaction. A *DB is the open transaction of the request if there is one, and
// the read pool otherwise. It is for what is asked from outside of store: a use case passes on its *Unit, or the Reader that it was given.
// What locks or changes rows is given the *Unit, or Unit.Locked, because a *DB refuses it. It does not refuse a change within a WITH, which is a
// transaction by itself.
type Reader interface {
	// place returns the database, and the transaction in which a query runs here, nil if in none.
	place(ctx context.Context) (*DB, *Unit)
	// at returns the query as it runs here, and in which transaction, nil if in none.
	at(ctx context.Context, query string) (d *DB, u *Unit, text string, err error)
}

// errNotOpen says that rows would be locked or changed for nobody.
var errNotOpen = errors.New("store: rows are locked and changed in an open transaction alone, which is given as a Unit")

// place finds the transaction of a request in the context, as Tx does, and no other read does.
func (d *DB) place(ctx context.Context) (*DB, *Unit) { return d, unitOf(ctx) }

func (d *DB) at(ctx context.Context, query string) (*DB, *Unit, string, error) {
	if changes(query) || strings.Contains(query, forUpdate) {
		return nil, nil, "", errNotOpen
	}
	d, u := d.place(ctx)
	return d, u, query, nil
}

func (u *Unit) place(context.Context) (*DB, *Unit) { return u.db, u }

func (u *Unit) at(_ context.Context, query string) (*DB, *Unit, string, error) {
	return u.db, u, query, nil
}

// Locked returns where a SELECT runs that locks its rows until the transaction ends, as one does that ends in Lock.
func (u *Unit) Locked() Reader { return locked{u} }

// UnitAt returns the transaction in which queries of a Reader run, nil if in none.
func UnitAt(ctx context.Context, r Reader) *Unit {
	_, u := r.place(ctx)
	return u
}

// Unlocked returns where a query runs that locks nothing, in the same transaction as those of r.
func Unlocked(r Reader) Reader {
	if l, is := r.(locked); is {
		return l.unit
	}
	return r
}

type locked struct{ unit *Unit }

func (l locked) place(context.Context) (*DB, *Unit) { return l.unit.db, l.unit }

func (l locked) at(_ context.Context, query string) (*DB, *Unit, string, error) {
	if l.unit == nil || l.unit.request.unit != l.unit {
		return nil, nil, "", errNotOpen
	}
	return l.unit.db, l.unit, query + l.unit.Lock(), nil
}

// changes reports whether a query that returns rows changes them, too.
func changes(query string) bool {
	switch verb, _, _ := strings.Cut(strings.TrimSpace(query), " "); verb {
	case "INSERT", "UPDATE", "DELETE":
		return true
	}
	return false
}

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

// read returns at most limit rows, from an open transaction if r is one, else from the read pool.
func read[T any](ctx context.Context, r Reader, limit int, query string, args []any) ([]T, error) {
	d, u, query, err := r.at(ctx, query)
	if err != nil {
		return nil, err
	}
	if u == nil {
		account := d.whose(ctx)
		if err := d.Read.Enter(ctx, account); err != nil {
			return nil, DatabaseError(err)
		}
		defer d.Read.Leave(account)
	}
	during, end := d.lifetime(ctx)
	defer end()
	found, err := readRows[T](during, d, u, limit, query, args)
	if err != nil && during.Err() != nil {
		return nil, d.readError(u, ended(ctx))
	}
	return found, d.readError(u, err)
}

func readRows[T any](ctx context.Context, d *DB, u *Unit, limit int, query string, args []any) ([]T, error) {
	rows, err := queryRows(ctx, d, u, query, args)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // should a scan panic
	found, err := scan[T](d, query, rows, limit)
	if left := rows.Close(); u != nil && err == nil { // what is left of the rows matters in a transaction alone, which it may have ended
		err = left
	}
	if err != nil {
		return nil, err
	}
	return found, nil
}

// readTime is how long a read may take that Abortable is for.
const readTime = 12 * time.Second

// errSlow says that a read has taken readTime.
var errSlow = errors.New("store: the database took too long to answer")

type abortableKey struct{}

// Abortable returns a context under which a read is interrupted when its caller has gone, and when it has taken readTime. It is for reads
// that may examine many rows, such as those of a list with filters. All others read what they return, and are not cancelled with their request. On
// PostgreSQL they have a deadline (AnswerTimeout). A context that can be cancelled costs goroutines, as much as a short read. SQLite's driver
// interrupts what looks for the first row, and between two others: what a list examines between these is bounded.
func Abortable(ctx context.Context) context.Context {
	return context.WithValue(ctx, abortableKey{}, true)
}

// lifetime returns the context of a read, and what ends it.
func (d *DB) lifetime(ctx context.Context) (context.Context, context.CancelFunc) {
	switch {
	case ctx.Value(abortableKey{}) == nil:
		return context.WithoutCancel(ctx), func() {}
	case d.Options.Patient:
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, readTime)
}

// ended returns why a read was interrupted.
func ended(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return context.Canceled
	}
	return errSlow
}

// readError marks the error of a query as DatabaseError does. In a transaction the query may have been a write that returns
// rows, so there it is treated as writeError does.
func (d *DB) readError(u *Unit, err error) error {
	if u != nil {
		return d.writeError(err)
	}
	return DatabaseError(err)
}

// trace tells whoever wants to know it that a statement is about to run. It runs in the transaction u, or outside of any if u is nil.
func (d *DB) trace(ctx context.Context, u *Unit, statement string, args []any) {
	if d.Options.Trace == nil {
		return
	}
	if u != nil && u.anew {
		statement += core.PlannedAnew
	}
	d.Options.Trace(ctx, statement, args)
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
		d.trace(ctx, u, query, args)
		defer d.asks(ctx)()
		return u.query(ctx, query, args)
	}
	d.trace(ctx, nil, query, args)
	defer d.asks(ctx)()
	if statement := d.Read.prepare(ctx, d, query); statement != nil {
		return statement.QueryxContext(ctx, args...)
	}
	return d.Read.DB.QueryxContext(ctx, d.Rebind(query), args...)
}
