package db

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"reflect"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/tillwright/tillwright/store/core"
)

// Unit is one open transaction.
type Unit struct {
	db    *DB
	tx    *sqlx.Tx
	after []func() // run once the transaction has committed
	unmet []string // texts to prepare then: preparing takes a connection, and this goroutine holds one
	ahead *ahead   // what businessNow has read

	before []func(context.Context) error // run just before the commit
	kept   map[reflect.Type]any          // what kept returned
}

// request is one write request, or one use case outside of any: what its transactions share.
type request struct {
	db      *DB
	key     *core.Key
	token   string // fences the claim against whoever takes it over
	effect  string
	held    bool            // a step has committed the claim
	stepped bool            // a step has committed
	unit    *Unit           // the open transaction, nil before the first and after a step
	depth   int             // use cases under way, one inside the other
	failed  error           // a use case failed: nothing of this run may commit
	leased  map[string]bool // actions at work on outside, by id; kept when the request is run again
}

type requestKey struct{}

func requestOf(ctx context.Context) *request {
	r, _ := ctx.Value(requestKey{}).(*request)
	return r
}

// UnitOf returns the open transaction of a request or a use case, nil outside of any.
func UnitOf(ctx context.Context) *Unit {
	if r := requestOf(ctx); r != nil {
		return r.unit
	}
	return nil
}

// NoteLeased notes that this request is at work on an action outside. When its last COMMIT is lost against another
// transaction the request is run again, and must not wait for itself.
func NoteLeased(ctx context.Context, action string) {
	r := requestOf(ctx)
	if r.leased == nil {
		r.leased = map[string]bool{}
	}
	r.leased[action] = true
}

// IsLeased reports whether this request is at work on an action already.
func IsLeased(ctx context.Context, action string) bool { return requestOf(ctx).leased[action] }

// InTx reports whether a transaction is open: then nothing outside may be called.
func InTx(ctx context.Context) bool { return UnitOf(ctx) != nil }

// Detached returns a context outside of any request: what runs under it commits by itself. A request has to have left
// its transaction before, which would hold the rows, and an embedded database whole.
func Detached(ctx context.Context) context.Context {
	return context.WithValue(ctx, requestKey{}, (*request)(nil))
}

// Tx runs a use case. It joins the request's transaction, or makes one of its own. An error dooms the whole
// transaction, unless its outcome is Recorded: then nothing comes with the error, for nothing of it is stored.
func Tx[T any](ctx context.Context, d *DB, fn func(context.Context, *Unit) (T, error)) (T, error) {
	if r := requestOf(ctx); r != nil {
		return join(ctx, r, fn)
	}
	var v T
	var answer error
	err := d.Retry(ctx, func() error {
		r := &request{db: d}
		defer r.rollback()
		if v, answer = join(context.WithValue(ctx, requestKey{}, r), r, fn); r.failed != nil {
			return r.failed
		}
		return r.commit(ctx)
	})
	if err != nil {
		var zero T
		return zero, err
	}
	return v, answer
}

// Step runs a use case that commits at once, the claim of the request's key with it: before a call to the outside.
func Step[T any](ctx context.Context, d *DB, fn func(context.Context, *Unit) (T, error)) (T, error) {
	r := requestOf(ctx)
	if r == nil {
		return Tx(ctx, d, fn)
	}
	var zero T
	if r.depth > 0 {
		return zero, errors.New("store: a step inside a use case would commit half of it")
	}
	if r.key != nil && !r.key.External {
		return zero, errors.New("store: a step in an operation that declares no external effect")
	}
	v, err := join(ctx, r, fn)
	if r.failed != nil {
		return zero, r.failed
	}
	if commitErr := r.commit(ctx); commitErr != nil {
		r.failed = commitErr
		return zero, commitErr
	}
	r.held, r.stepped = r.key != nil, true
	return v, err
}

// Leave ends the transaction of a request that is about to ask the outside something, and commits the claim of its key.
// It is for questions: what a request does outside needs an intent, which its step commits.
func (d *DB) Leave(ctx context.Context) error {
	if requestOf(ctx) == nil {
		return nil
	}
	_, err := Step(ctx, d, func(context.Context, *Unit) (any, error) { return nil, nil })
	return err
}

func join[T any](ctx context.Context, r *request, fn func(context.Context, *Unit) (T, error)) (T, error) {
	u, err := r.open(ctx)
	if err != nil {
		var zero T
		r.failed = err
		return zero, err
	}
	r.depth++
	defer func() { r.depth-- }()
	v, err := fn(ctx, u)
	if err != nil && core.OutcomeOf(err) != core.Recorded && r.failed == nil {
		r.failed = err
	}
	if err != nil && r.failed != nil {
		var zero T
		return zero, err
	}
	return v, err
}

// open returns the request's transaction, begun now if there is none.
func (r *request) open(ctx context.Context) (*Unit, error) {
	if r.failed != nil {
		return nil, r.failed
	}
	if r.unit == nil {
		tx, err := r.db.Write.DB.BeginTxx(ctx, nil)
		if err != nil {
			return nil, r.db.writeError(connectError("begin", err))
		}
		r.unit = &Unit{db: r.db, tx: tx}
	}
	return r.unit, nil
}

// commit makes the last calls of the open transaction, if there is one, commits it, and then makes the calls after it.
func (r *request) commit(ctx context.Context) error {
	u := r.unit
	if u == nil {
		return nil
	}
	for _, call := range u.before {
		if err := call(ctx); err != nil {
			return err
		}
	}
	r.unit = nil
	if err := u.tx.Commit(); err != nil {
		return r.db.writeError(&commitError{cause: err})
	}
	u.committed(ctx)
	return nil
}

func (u *Unit) committed(ctx context.Context) {
	for _, query := range u.unmet {
		u.db.Write.prepare(ctx, u.db, query)
	}
	for _, call := range u.after {
		call()
	}
}

func (r *request) rollback() {
	if r.unit != nil {
		_ = r.unit.tx.Rollback() // the connection is dropped if even this fails
		r.unit = nil
	}
}

// commitError is a COMMIT that failed. If the connection was lost, nobody knows whether it took place.
type commitError struct{ cause error }

func (e *commitError) Error() string { return "commit: " + e.cause.Error() }
func (e *commitError) Unwrap() error { return e.cause }

func isCommitUnknown(err error) bool {
	var e *commitError
	return errors.As(err, &e) && isConnectionLost(e.cause)
}

// ErrOvertaken runs a transaction again that would have to lock rows out of their order: they came while it waited.
var ErrOvertaken = errors.New("store: overtaken by another transaction")

// MaxRetries is how often a transaction is run again after it lost against another one.
const MaxRetries = 3

// Retry runs a transaction again while the database asks for it. Its effects outside must bear repetition.
func (d *DB) Retry(ctx context.Context, run func() error) error {
	for attempt := 0; ; attempt++ {
		err := run()
		if err == nil || attempt == MaxRetries || !isRetryable(err) || isCommitUnknown(err) {
			return err
		}
		pause := time.Duration(1+rand.IntN(10<<attempt)) * time.Millisecond
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}

// AfterCommit makes a call once the transaction has committed; never if it does not.
func (u *Unit) AfterCommit(call func()) { u.after = append(u.after, call) }

// BeforeCommit makes a call at the end of the transaction, when nothing else is left to be done; its error undoes all.
func (u *Unit) BeforeCommit(call func(context.Context) error) { u.before = append(u.before, call) }

// Kept returns what a room keeps of its own until the transaction ends: the zero value at first, then always the same one.
func Kept[T any](u *Unit) *T {
	t := reflect.TypeFor[T]()
	if known, ok := u.kept[t]; ok {
		return known.(*T)
	}
	if u.kept == nil {
		u.kept = map[reflect.Type]any{}
	}
	made := new(T)
	u.kept[t] = made
	return made
}

// statement returns the prepared statement of a text for this transaction, nil if it must run unprepared.
func (u *Unit) statement(ctx context.Context, query string) *sqlx.Stmt {
	if statement, ok := u.db.Write.statements.get(query); ok {
		return u.tx.StmtxContext(ctx, statement)
	}
	if u.db.Write.prepares {
		u.unmet = append(u.unmet, query)
	}
	return nil
}

// Exec runs a statement and returns the number of rows that it affected.
func (u *Unit) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	ctx = context.WithoutCancel(ctx) // as read does
	var result sql.Result
	var err error
	if statement := u.statement(ctx, query); statement != nil {
		result, err = statement.ExecContext(ctx, args...)
	} else {
		result, err = u.tx.ExecContext(ctx, u.db.Rebind(query), args...)
	}
	if err != nil {
		return 0, u.db.writeError(err)
	}
	return result.RowsAffected()
}
