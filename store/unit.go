package store

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jmoiron/sqlx"
)

// unit is one open transaction.
type unit struct {
	store *Store
	tx    *sqlx.Tx
	after []func() // run once the transaction has committed
	unmet []string // texts to prepare then: preparing takes a connection, and this goroutine holds one
	ahead *ahead   // what businessNow has read
	known *Account // what seller has read

	events      []Event                  // emitted, and stored with the commit
	deliveries  map[string][]newDelivery // of these, by account
	subscribers map[string][]subscriber  // by account, once an event was emitted
}

// request is one write request, or one use case outside of any: what its transactions share.
type request struct {
	store   *Store
	key     *Key
	token   string // fences the claim against whoever takes it over
	effect  string
	held    bool            // a step has committed the claim
	stepped bool            // a step has committed
	unit    *unit           // the open transaction, nil before the first and after a step
	depth   int             // use cases under way, one inside the other
	failed  error           // a use case failed: nothing of this run may commit
	leased  map[string]bool // actions at work on outside, by id; kept when the request is run again
}

type requestKey struct{}

func requestOf(ctx context.Context) *request {
	r, _ := ctx.Value(requestKey{}).(*request)
	return r
}

func openUnit(ctx context.Context) *unit {
	if r := requestOf(ctx); r != nil {
		return r.unit
	}
	return nil
}

// InTx reports whether a transaction is open: then nothing outside may be called.
func InTx(ctx context.Context) bool { return openUnit(ctx) != nil }

// tx runs a use case. It joins the request's transaction, or makes one of its own. An error dooms the whole
// transaction, unless its outcome is Recorded: then nothing comes with the error, for nothing of it is stored.
func tx[T any](ctx context.Context, s *Store, fn func(context.Context, *unit) (T, error)) (T, error) {
	if r := requestOf(ctx); r != nil {
		return join(ctx, r, fn)
	}
	var v T
	var answer error
	err := s.retry(ctx, func() error {
		r := &request{store: s}
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

// step runs a use case that commits at once, the claim of the request's key with it: before a call to the outside.
func step[T any](ctx context.Context, s *Store, fn func(context.Context, *unit) (T, error)) (T, error) {
	r := requestOf(ctx)
	if r == nil {
		return tx(ctx, s, fn)
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
func (s *Store) Leave(ctx context.Context) error {
	if requestOf(ctx) == nil {
		return nil
	}
	_, err := step(ctx, s, func(context.Context, *unit) (any, error) { return nil, nil })
	return err
}

func join[T any](ctx context.Context, r *request, fn func(context.Context, *unit) (T, error)) (T, error) {
	u, err := r.open(ctx)
	if err != nil {
		var zero T
		r.failed = err
		return zero, err
	}
	r.depth++
	defer func() { r.depth-- }()
	v, err := fn(ctx, u)
	if err != nil && OutcomeOf(err) != Recorded && r.failed == nil {
		r.failed = err
	}
	if err != nil && r.failed != nil {
		var zero T
		return zero, err
	}
	return v, err
}

// open returns the request's transaction, begun now if there is none.
func (r *request) open(ctx context.Context) (*unit, error) {
	if r.failed != nil {
		return nil, r.failed
	}
	if r.unit == nil {
		tx, err := r.store.write.db.BeginTxx(ctx, nil)
		if err != nil {
			return nil, r.store.writeError(connectError("begin", err))
		}
		r.unit = &unit{store: r.store, tx: tx}
	}
	return r.unit, nil
}

// commit stores the events of the open transaction, if there is one, commits it, and then makes its after-commit calls.
func (r *request) commit(ctx context.Context) error {
	u := r.unit
	if u == nil {
		return nil
	}
	if err := u.storeEvents(ctx); err != nil {
		return err
	}
	r.unit = nil
	if err := u.tx.Commit(); err != nil {
		return r.store.writeError(&commitError{cause: err})
	}
	u.committed(ctx)
	return nil
}

func (u *unit) committed(ctx context.Context) {
	for _, query := range u.unmet {
		u.store.write.prepare(ctx, u.store, query)
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

// maxRetries is how often a transaction is run again after it lost against another one.
const maxRetries = 3

// retry runs a transaction again while the database asks for it. Its effects outside must bear repetition.
func (s *Store) retry(ctx context.Context, run func() error) error {
	for attempt := 0; ; attempt++ {
		err := run()
		if err == nil || attempt == maxRetries || !isRetryable(err) || isCommitUnknown(err) {
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

// afterCommit makes a call once the transaction has committed; never if it does not.
func (u *unit) afterCommit(call func()) { u.after = append(u.after, call) }

// statement returns the prepared statement of a text for this transaction, nil if it must run unprepared.
func (u *unit) statement(ctx context.Context, query string) *sqlx.Stmt {
	if statement, ok := u.store.write.statements.get(query); ok {
		return u.tx.StmtxContext(ctx, statement)
	}
	if u.store.write.prepares {
		u.unmet = append(u.unmet, query)
	}
	return nil
}

// exec runs a statement and returns the number of rows that it affected.
func (u *unit) exec(ctx context.Context, query string, args ...any) (int64, error) {
	ctx = context.WithoutCancel(ctx) // as read does
	var result sql.Result
	var err error
	if statement := u.statement(ctx, query); statement != nil {
		result, err = statement.ExecContext(ctx, args...)
	} else {
		result, err = u.tx.ExecContext(ctx, u.store.rebind(query), args...)
	}
	if err != nil {
		return 0, u.store.writeError(err)
	}
	return result.RowsAffected()
}
