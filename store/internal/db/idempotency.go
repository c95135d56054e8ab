package db

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/tillwright/tillwright/store/core"
)

const (
	// claimLease is how long a request that went outside keeps its key before the same request, sent again, may take it over.
	// Every provider's time-out is shorter.
	claimLease = 60 * time.Second
	// KeyLifetime is how long an answer is replayed.
	KeyLifetime = 24 * time.Hour

	// largeAnswer is from how many bytes on an answer counts towards what an account keeps, if it is more than four times what was sent. Smaller ones are
	// not counted: an account's writes would wait for each other. Nor is what gives back what was sent, or an account could not send much.
	largeAnswer = 16 << 10
)

// MostKept is how many bytes of large answers an account may have kept at a time. What is answered without an API key is counted
// by itself, so that no stranger takes the account's own share.
const MostKept = 256 << 20

// Request runs one write request. All use cases that fn calls join one transaction, which commits together with the answer. A
// key, if there is one, is claimed first. If the request was answered before, that answer is returned instead, and replayed is
// true. It returns CodeKeyReused if the key was sent with another request, and CodeInProgress if a request with it is still
// running.
//
// What fn returns decides what is stored. An answer with a status below 300, or any answer with a Recorded error, is stored and
// replayed from then on. Anything else rolls the transaction back and frees the key. But once a step has committed, an error that is not Refused
// leaves the key taken. Fn may run several times. The context should not end with the client's connection.
//
// A turn is waited for once this process knows of no other request with the key, and before a transaction begins. It ends with the request.
func (d *DB) Request(ctx context.Context, key *core.Key, fn func(context.Context) (*core.Answer, error), turns ...func() (end func(), err error)) (answer *core.Answer, replayed bool, err error) {
	if key != nil {
		if !d.running.enter(key.Account, key.Key) {
			answer, err := d.answered(ctx, d, key) // the other request may only be replaying its answer
			return answer, answer != nil, err
		}
		defer d.running.leave(key.Account, key.Key)
	}
	for _, wait := range turns {
		end, err := wait()
		if err != nil {
			return nil, false, err
		}
		defer end()
	}
	r := &request{db: d, key: key, token: core.NewULID(), effect: core.NewULID()}
	defer r.abandon(ctx)
	ctx = context.WithValue(ctx, requestKey{}, r)
	err = d.Retry(ctx, func() error {
		answer, replayed, err = r.run(ctx, fn)
		return err
	})
	if err != nil && isCommitUnknown(err) && r.recorded(ctx, answer) {
		return answer, false, nil
	}
	if err != nil {
		err = r.unclear(err)
		r.settleClaim(ctx, err)
	}
	return answer, replayed, err
}

// run is one attempt at the request, from the claim of its key to the COMMIT. It returns the answer, and whether that is a
// stored one.
func (r *request) run(ctx context.Context, fn func(context.Context) (*core.Answer, error)) (*core.Answer, bool, error) {
	r.failed, r.depth = nil, 0
	r.forgetChanges()
	defer r.rollback()
	if _, err := r.open(ctx); err != nil {
		return nil, false, err
	}
	if r.key != nil && !r.held {
		if stored, err := r.claim(ctx); stored != nil || err != nil {
			return stored, stored != nil, err
		}
	}
	answer, err := fn(ctx)
	if r.failed != nil && (err == nil || core.OutcomeOf(err) == core.Recorded) {
		err = r.failed // the handler swallowed the error, but its transaction is lost
	}
	if err != nil && core.OutcomeOf(err) != core.Recorded {
		return answer, false, err
	}
	if err == nil && answer != nil && answer.Status >= 300 {
		return answer, false, r.release(ctx)
	}
	if err := r.record(ctx, answer); err != nil {
		return answer, false, err
	}
	return answer, false, r.commit(ctx)
}

// Effect returns a token for what this request does outside, from which the id of the intent's row is made. It is made when the key is claimed, and
// whoever takes the claim over gets the same one. So a request that is sent again finds its intent. Without a key it is the same during the request,
// and outside of any request it is new each time.
func (d *DB) Effect(ctx context.Context) string {
	if r := requestOf(ctx); r != nil && r.effect != "" {
		return r.effect
	}
	return core.NewULID()
}

// MayHaveBegun reports whether an earlier run may have stored something under Effect. It is false for a request that made its token itself, and
// of which no step has committed: nothing can be found then.
func (d *DB) MayHaveBegun(ctx context.Context) bool {
	r := requestOf(ctx)
	return r != nil && (r.inherited || r.stepped)
}

// HasKey reports whether the request can be sent again under an Idempotency-Key, and goes on then with what it began.
func HasKey(ctx context.Context) bool {
	r := requestOf(ctx)
	return r != nil && r.key != nil
}

// InProgress returns the refusal of a request while another one with its Idempotency-Key is running.
func InProgress() *core.Error {
	return &core.Error{Code: core.CodeInProgress, Param: "Idempotency-Key",
		Message: "A request with this Idempotency-Key is still running. Send the same request again in a second."}
}

// keyReused returns the refusal of a request whose Idempotency-Key belongs to another request.
func keyReused() *core.Error {
	message := "This Idempotency-Key was used for another request. Send a new key for a new request."
	return &core.Error{Code: core.CodeKeyReused, Param: "Idempotency-Key", Message: message,
		Fields: map[string][]string{"idempotency_key": {message}}}
}

// running is the set of Idempotency-Keys whose requests this process is executing.
type running struct {
	mu   sync.Mutex
	keys map[[2]string]bool
}

// enter adds a key. It returns false if the key is there already, because a request with it is running.
func (r *running) enter(account, key string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.keys == nil {
		r.keys = map[[2]string]bool{}
	}
	if r.keys[[2]string{account, key}] {
		return false
	}
	r.keys[[2]string{account, key}] = true
	return true
}

// leave removes a key when its request has ended.
func (r *running) leave(account, key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.keys, [2]string{account, key})
}

// storedKey is the row of an Idempotency-Key. Status is 0 as long as there is no answer.
type storedKey struct {
	Fingerprint []byte `db:"fingerprint"`
	Status      int    `db:"status"`
	Body        []byte `db:"body"`
}

// claim takes the key for this request and returns nil, or returns the stored answer. It takes a key over that is past its
// lifetime, or whose request did not answer within its lease and is the same one.
//
// The statement reads the account's clock as well, because nearly every use case needs it. That is only kept on SQLite, where
// nobody can move the clock before this transaction ends. The database's own clock, by which leases go, it reads on both.
func (r *request) claim(ctx context.Context) (*core.Answer, error) {
	d, k := r.db, r.key
	now, dbNow := d.Now(), d.NowSQL()
	taken, err := Get[struct {
		Effect string    `db:"effect"`
		Offset core.Time `db:"clock_offset"`
		Clock  core.Time `db:"db_now"`
	}](ctx, r.unit, `
		INSERT INTO idempotency_keys AS k (account_id, key, fingerprint, token, effect, lease_until, expires_at)
		VALUES (?, ?, ?, ?, ?, `+dbNow+` + ?, ?)
		ON CONFLICT (account_id, key) DO UPDATE SET token = excluded.token, lease_until = excluded.lease_until,
			fingerprint = excluded.fingerprint, status = 0, body = NULL, size = 0,
			effect = CASE WHEN k.expires_at < ? THEN excluded.effect ELSE k.effect END,
			expires_at = CASE WHEN k.expires_at < ? THEN excluded.expires_at ELSE k.expires_at END
		WHERE k.expires_at < ? OR (k.status = 0 AND k.lease_until < `+dbNow+` AND k.fingerprint = excluded.fingerprint)
		RETURNING effect, (SELECT a.clock_offset FROM accounts AS a WHERE a.id = account_id) AS clock_offset, `+dbNow+` AS db_now`,
		k.Account, k.Key, k.Fingerprint[:], r.token, r.effect, claimLease.Microseconds(), now.Add(KeyLifetime), now, now, now)
	switch {
	case sqlState(err) == lockNotAvailable:
		return nil, InProgress() // the other one has held its transaction open for long
	case err != nil:
		return nil, fmt.Errorf("claim key: %w", err)
	case taken != nil:
		r.inherited = r.inherited || taken.Effect != r.effect
		r.effect, r.claimed = taken.Effect, &clock{taken.Clock, time.Now()}
		if d.Engine == core.SQLite { // on PostgreSQL the clock may move while this transaction waits for a row
			r.unit.ahead = &ahead{k.Account, taken.Offset}
		}
		return nil, nil
	}
	return d.answered(ctx, r.unit, k)
}

// answered returns the stored answer of a key that is taken. It returns CodeKeyReused if the key belongs to another request,
// and CodeInProgress if that one is still running.
func (d *DB) answered(ctx context.Context, r Reader, k *core.Key) (*core.Answer, error) {
	stored, err := Get[storedKey](ctx, r, `
		SELECT fingerprint, status, body FROM idempotency_keys WHERE account_id = ? AND key = ? AND expires_at >= ?`, k.Account, k.Key, d.Now())
	switch {
	case err != nil:
		return nil, fmt.Errorf("read key: %w", err)
	case stored == nil:
		return nil, InProgress() // freed between the two statements, or being claimed anew
	case subtle.ConstantTimeCompare(stored.Fingerprint, k.Fingerprint[:]) == 0:
		return nil, keyReused()
	case stored.Status == 0:
		return nil, InProgress()
	}
	if err := d.flushed(); err != nil { // who gave the answer may still wait for that, or have been told that it failed
		return nil, err
	}
	body, err := d.Options.Sealer.Open(stored.Body, k.SealContext())
	if err != nil {
		return nil, err
	}
	return &core.Answer{Status: stored.Status, Body: body}, nil
}

// record stores the answer in the row of the key. If another request has taken the key over meanwhile it returns
// CodeInProgress, so that nothing of this one commits.
func (r *request) record(ctx context.Context, answer *core.Answer) error {
	if r.key == nil {
		return nil
	}
	if answer == nil {
		return errors.New("store: a request with a key ended without an answer")
	}
	u, err := r.open(ctx)
	if err != nil {
		return err
	}
	size := 0
	if len(answer.Body) >= largeAnswer && len(answer.Body) > 4*r.key.Sent {
		if size = len(answer.Body); !r.key.External { // what was done outside is there, and has to be answered
			if err := r.checkRoom(ctx, size); err != nil {
				return err
			}
		}
	}
	sealed := r.db.Options.Sealer.Seal(answer.Body, r.key.SealContext())
	return u.Later(ctx, Change{
		Table: "idempotency_keys",
		Query: `UPDATE idempotency_keys SET status = ?, body = ?, size = ?, keyless = ? WHERE account_id = ? AND key = ? AND token = ? AND status = 0`,
		Args:  []any{answer.Status, sealed, size, r.key.Keyless, r.key.Account, r.key.Key, r.token}, Rows: 1, Wrong: InProgress(),
	})
}

// checkRoom returns CodeRateLimit if so large an answer does not fit any more into what the account may have kept. Requests at the
// same moment do not see each other's.
func (r *request) checkRoom(ctx context.Context, size int) error {
	now := r.db.Now()
	kept, err := Get[struct {
		Bytes int64      `db:"bytes"`
		Until *core.Time `db:"until"`
	}](ctx, r.unit, `
		SELECT CAST(COALESCE(SUM(size), 0) AS bigint) AS bytes, MIN(expires_at) AS until FROM idempotency_keys
		WHERE account_id = ? AND keyless = ? AND expires_at >= ? AND size > 0`, r.key.Account, r.key.Keyless, now)
	if err != nil {
		return fmt.Errorf("count kept answers: %w", err)
	}
	if kept.Until == nil || kept.Bytes+int64(size) <= MostKept {
		return nil
	}
	return &core.Error{Code: core.CodeRateLimit, Param: "Idempotency-Key", After: max(kept.Until.Time().Sub(now.Time()), time.Second),
		Message: fmt.Sprintf("More than %d MiB of answers would be kept for Idempotency-Keys, each for a day. Nothing was changed: send it without the key, or expand nothing and send fewer items in one request.", MostKept>>20)}
}

// errNotRecorded says that a COMMIT did not take place. It undoes what recorded did to find that out.
var errNotRecorded = errors.New("store: the answer was not recorded")

// recorded reports whether a COMMIT took place whose outcome was not heard of, because the connection was lost. The COMMIT may
// still be under way: inserting the key ourselves waits for its end. If the database cannot be asked it reports false.
func (r *request) recorded(ctx context.Context, answer *core.Answer) bool {
	if r.key == nil || answer == nil {
		return false
	}
	ctx = Detached(ctx)
	k := r.key
	_, err := Tx(ctx, r.db, func(ctx context.Context, u *Unit) (any, error) {
		// If this row can be inserted, the COMMIT did not take place; errNotRecorded then takes the row away again.
		rows, err := u.Exec(ctx, `
			INSERT INTO idempotency_keys (account_id, key, fingerprint, token, effect, lease_until, expires_at) VALUES (?, ?, ?, ?, ?, 0, 0)
			ON CONFLICT (account_id, key) DO NOTHING`, k.Account, k.Key, k.Fingerprint[:], r.token, r.effect)
		if err != nil {
			return nil, err
		}
		status, err := Get[int](ctx, u.Locked(), `
			SELECT status FROM idempotency_keys WHERE account_id = ? AND key = ? AND token = ?`, k.Account, k.Key, r.token)
		if err == nil && (rows == 1 || status == nil || *status != answer.Status) {
			err = errNotRecorded
		}
		return nil, err
	})
	if err != nil && !errors.Is(err, errNotRecorded) {
		slog.WarnContext(ctx, "look whether a commit took place", "account", k.Account, "error", err)
	}
	return err == nil
}

// settleClaim decides what becomes of a claim that a step has committed, when the request ends without an answer. If the error
// refused the request the key is freed. Otherwise the claim stays, but its lease ends now, so that the same request sent again
// can take it over and find out. If settle fails, the claim waits for the end of its lease.
func (r *request) settleClaim(ctx context.Context, err error) {
	if !r.held {
		return
	}
	var failed error
	if core.OutcomeOf(err) == core.Refused {
		failed = r.release(ctx)
	} else {
		failed = r.alone(ctx, `UPDATE idempotency_keys SET lease_until = 0 WHERE account_id = ? AND key = ? AND token = ? AND status = 0`)
	}
	if failed != nil {
		slog.WarnContext(ctx, "an Idempotency-Key stays taken until its lease ends", "account", r.key.Account, "error", failed)
	}
}

// release frees a key whose claim a step has committed, after it has rolled back what came later. Without such a step there is
// nothing to free: rolling back undoes the claim.
func (r *request) release(ctx context.Context) error {
	if !r.held {
		return nil
	}
	r.rollback()
	return r.alone(ctx, `DELETE FROM idempotency_keys WHERE account_id = ? AND key = ? AND token = ? AND status = 0`)
}

// alone runs a statement on the row of our key in a transaction of its own. Then this request does not hold the key any more.
func (r *request) alone(ctx context.Context, query string) error {
	ctx = Detached(ctx)
	_, err := Tx(ctx, r.db, func(ctx context.Context, u *Unit) (int64, error) {
		return u.Exec(ctx, query, r.key.Account, r.key.Key, r.token)
	})
	r.held = false
	return err
}

// abandon rolls back a request that panics, lets others take over what it held at once, and panics on.
func (r *request) abandon(ctx context.Context) {
	if p := recover(); p != nil {
		r.rollback()
		r.settleClaim(ctx, fmt.Errorf("panic: %v", p))
		panic(p)
	}
}

// DeleteExpiredKeys deletes at most limit Idempotency-Keys that are past their lifetime and returns how many.
func (d *DB) DeleteExpiredKeys(ctx context.Context, limit int) (int64, error) {
	return Tx(ctx, d, func(ctx context.Context, u *Unit) (int64, error) {
		return u.ExecBatch(ctx, `DELETE FROM idempotency_keys`, `idempotency_keys WHERE expires_at < ? ORDER BY expires_at LIMIT ?`, d.Now(), limit)
	})
}
