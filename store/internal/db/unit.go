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

// Unit is one open transaction. It belongs to one goroutine.
type Unit struct {
	db      *DB
	tx      *sqlx.Tx
	account string // of whose share of the connections it has one

	request *request // whose transaction it is

	after []func() // run once the transaction has committed
	unmet []string // query texts to prepare after the commit: preparing takes a connection, and this goroutine holds one
	ahead *ahead   // the account's clock, once BusinessNow has read it

	before []func(context.Context) error // run just before the commit
	kept   map[reflect.Type]any          // what Kept returned, by type

	waiting     []Change // what Later was given and Send has not made yet
	waitingArgs int      // how many arguments they have
	broken      error    // of the first that could not be made as it should: nothing may commit

	anew bool // see PlanAnew
}

// request is one write request, or one use case outside of any request. It holds what their transactions share.
type request struct {
	db     *DB
	key    *core.Key
	token  string // written with the claim: once another request has taken it over, ours does not match any more
	effect string

	inherited bool            // effect is that of an earlier request, whose claim this one took over
	claimed   *clock          // when the key was claimed, nil if there is none
	held      bool            // a step has committed the claim
	stepped   bool            // a step has committed
	unit      *Unit           // the open transaction, nil before the first and after a step
	depth     int             // use cases under way, one inside the other
	failed    error           // a use case failed: nothing of this run may commit
	leased    map[string]bool // actions at work on outside, by id; kept when the request is run again

	look            func(context.Context) error // see Watch; nil once it was called
	watched         bool                        // by Watch
	looked, changed bool                        // look was called; a row was changed
}

// clock is a moment by the database's own time, and by this process.
type clock struct {
	database core.Time
	at       time.Time
}

// requestKey is the key under which a context holds the *request.
type requestKey struct{}

// requestOf returns the request of a context, nil if there is none.
func requestOf(ctx context.Context) *request {
	r, _ := ctx.Value(requestKey{}).(*request)
	return r
}

// unitOf returns the open transaction of a request or a use case, nil if none is open.
func unitOf(ctx context.Context) *Unit {
	if r := requestOf(ctx); r != nil {
		return r.unit
	}
	return nil
}

// NoteLeased notes that this request is at work on an action outside. If its last COMMIT is lost against another transaction
// the request is run again, and then must not wait for itself: see IsLeased.
func (u *Unit) NoteLeased(action string) {
	r := u.request
	if r.leased == nil {
		r.leased = map[string]bool{}
	}
	r.leased[action] = true
}

// IsLeased reports whether this request is at work on an action already.
func (u *Unit) IsLeased(action string) bool { return u.request.leased[action] }

// InTx reports whether a transaction is open. Then nothing outside may be called.
func InTx(ctx context.Context) bool { return unitOf(ctx) != nil }

// Detached returns a context that belongs to no request, so that what runs under it commits by itself. The request must have
// ended its transaction before: that would hold its rows, and all of an embedded database, against what runs here.
func Detached(ctx context.Context) context.Context {
	return context.WithValue(ctx, requestKey{}, (*request)(nil))
}

type firstKey struct{}

// First returns a detached context for what all requests wait for. It waits only until any connection is free, however many came before it. Only one
// at a time may do so: many would keep everybody else waiting.
func First(ctx context.Context) context.Context {
	return context.WithValue(Detached(ctx), firstKey{}, true)
}

// Tx runs a use case in a transaction: in that of the request if there is one, else in one of its own. An error undoes the
// whole transaction, other use cases of the request included, and comes with the zero value, because nothing is stored. The
// exception is an error whose outcome is Recorded: what was stored commits, and the error comes with the value that fn
// returned.
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

// Step runs a use case and commits at once, together with the claim of the request's key. It is for what has to be stored
// before something outside is called. Outside of a request it is Tx. It must not be called inside another use case, nor in a
// request whose key says that it has no effect outside.
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
	if commitErr := r.commit(ctx); commitErr != nil { // also after a Recorded error, which is stored
		r.failed = commitErr
		return zero, commitErr
	}
	r.held, r.stepped = r.key != nil, true
	return v, err
}

// Leave ends the transaction of a request that is about to ask something outside, and commits the claim of its key. That is for
// questions alone: before a request changes something outside, a step has to commit the intent.
func (d *DB) Leave(ctx context.Context) error {
	if requestOf(ctx) == nil {
		return nil
	}
	_, err := Step(ctx, d, func(context.Context, *Unit) (any, error) { return nil, nil })
	return err
}

// join runs a use case in the request's transaction, which it opens if need be. An error that is not Recorded is kept in
// r.failed, so that nothing of this run commits, even if the handler swallows the error.
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
		gate, account := r.db.Write.gate, r.db.whose(ctx)
		if err := gate.enter(ctx, account, 0); err != nil {
			return nil, connectError("begin", err)
		}
		begun := r.db.waits(ctx) // for whoever writes the file from outside, on SQLite, which is then held
		tx, err := r.db.Write.DB.BeginTxx(ctx, nil)
		begun(r.db.Engine == core.SQLite)
		gate.begin()
		if err != nil {
			gate.leave(account)
			return nil, r.db.writeError(connectError("begin", err))
		}
		r.unit = &Unit{db: r.db, tx: tx, account: account, request: r}
	}
	return r.unit, nil
}

// commit runs the calls of BeforeCommit, commits the open transaction, and then runs the calls of AfterCommit. Without an open
// transaction it does nothing. A call of BeforeCommit may add another, and is given the request, so that a use case that it runs
// joins the transaction.
func (r *request) commit(ctx context.Context) error {
	u := r.unit
	if u == nil {
		return nil
	}
	inside := context.WithValue(ctx, requestKey{}, r)
	for i := 0; i < len(u.before); i++ {
		if err := u.before[i](inside); err != nil {
			return err
		}
	}
	if r.failed != nil { // a use case of such a call, whatever the call made of it
		return r.failed
	}
	if err := u.Send(inside); err != nil {
		return err
	}
	r.unit = nil
	defer r.db.waits(ctx)(false) // for the disk, on any engine
	err := u.tx.Commit()
	r.db.Write.gate.leave(u.account)
	if err != nil {
		return r.db.writeError(&commitError{cause: err})
	}
	if err := r.db.flushed(); err != nil {
		return err
	}
	u.committed(ctx)
	return nil
}

// committed does what had to wait for the commit: it prepares the statements that were missing, and makes the calls of
// AfterCommit.
func (u *Unit) committed(ctx context.Context) {
	for _, query := range u.unmet {
		u.db.Write.prepare(ctx, u.db, query)
	}
	for _, call := range u.after {
		call()
	}
}

// rollback undoes the open transaction, if there is one.
func (r *request) rollback() {
	if r.unit != nil {
		_ = r.unit.tx.Rollback() // the connection is dropped if even this fails
		r.db.Write.gate.leave(r.unit.account)
		r.unit = nil
	}
}

// commitError says that a COMMIT failed. If the connection was lost on the way, nobody knows whether it took place.
type commitError struct{ cause error }

func (e *commitError) Error() string { return "commit: " + e.cause.Error() }
func (e *commitError) Unwrap() error { return e.cause }

// isCommitUnknown reports whether an error is a COMMIT of which nobody knows whether it took place.
func isCommitUnknown(err error) bool {
	var e *commitError
	return errors.As(err, &e) && isConnectionLost(e.cause)
}

// ErrOvertaken ends a transaction that would have to lock rows out of their order, because these rows came while it waited for
// others. It is run again from the start.
var ErrOvertaken = errors.New("store: overtaken by another transaction")

// MaxRetries is how often a transaction is run again after it lost against another one.
const MaxRetries = 3

// Retry runs a transaction. It runs it again, up to MaxRetries times and after a short random pause, if it lost against another one or its connection
// broke. One that was overtaken each time is an *UnavailableError. A COMMIT with an unknown outcome is not run again. What run does outside must bear
// repetition.
func (d *DB) Retry(ctx context.Context, run func() error) error {
	for attempt := 0; ; attempt++ {
		err := run()
		if attempt == MaxRetries && errors.Is(err, ErrOvertaken) {
			return &core.UnavailableError{Cause: err, Busy: true}
		}
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

// AfterCommit has call called once the transaction has committed, and never if it does not.
func (u *Unit) AfterCommit(call func()) { u.after = append(u.after, call) }

// BeforeCommit has call called at the end of the transaction, when nothing else is left to be done in it but what such calls
// add. An error of call undoes everything.
func (u *Unit) BeforeCommit(call func(context.Context) error) { u.before = append(u.before, call) }

// Kept returns a value of type T that lives as long as the transaction. It is the zero value the first time, and the same pointer from then on. A
// room keeps what it has read or collected during a transaction in a type of its own.
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

// statement returns the prepared statement of a query text for this transaction. It returns nil if there is none yet, and has
// it prepared after the commit.
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
	if err := u.beforeChange(ctx); err != nil {
		return 0, err
	}
	if err := u.Send(ctx); err != nil {
		return 0, err
	}
	u.db.trace(ctx, u, query, args)
	defer u.db.asks(ctx)()
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
	rows, err := result.RowsAffected()
	u.noteChange(rows)
	return rows, err
}

// query runs a query as it is, whatever waits to be sent.
func (u *Unit) query(ctx context.Context, query string, args []any) (*sqlx.Rows, error) {
	if statement := u.statement(ctx, query); statement != nil {
		return statement.QueryxContext(ctx, args...)
	}
	return u.tx.QueryxContext(ctx, u.db.Rebind(query), args...)
}
