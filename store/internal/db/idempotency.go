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
	// claimLease is how long a request that went outside keeps its key before another may take it over.
	// Every provider's time-out is shorter.
	claimLease = 60 * time.Second
	// KeyLifetime is how long an answer is replayed.
	KeyLifetime = 24 * time.Hour
)

// Request runs one write request: fn's use cases join one transaction, which commits together with the answer.
// A key, if there is one, is claimed first; its stored answer is returned instead when the request was answered
// before (replayed). It returns CodeKeyReused if the key belongs to another request and CodeInProgress if that
// request is still running.
//
// What fn returns decides: an answer of status 2xx, or any answer with a Recorded error, is stored; anything else
// rolls back and frees the key, except that after a step only a Refused error does. fn may run several times.
// The context should not end with the client's connection.
func (d *DB) Request(ctx context.Context, key *core.Key, fn func(context.Context) (*core.Answer, error)) (answer *core.Answer, replayed bool, err error) {
	if key != nil {
		if !d.running.enter(key.Account, key.Key) {
			answer, err := d.answered(ctx, key) // the other one may be a replay itself
			return answer, answer != nil, err
		}
		defer d.running.leave(key.Account, key.Key)
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
		r.settle(ctx, err)
	}
	return answer, replayed, err
}

// run is one attempt, from claim to COMMIT.
func (r *request) run(ctx context.Context, fn func(context.Context) (*core.Answer, error)) (*core.Answer, bool, error) {
	r.failed, r.depth = nil, 0
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
		err = r.failed // the handler dropped it
	}
	if err != nil && core.OutcomeOf(err) != core.Recorded {
		return answer, false, err
	}
	if err == nil && answer != nil && answer.Status >= 300 {
		return answer, false, r.release(ctx)
	}
	return answer, false, r.finish(ctx, answer)
}

// Effect returns the token of this request's effect outside, from which the intent row's id is made. It is minted
// with the claim and kept by whoever takes the claim over.
func (d *DB) Effect(ctx context.Context) string {
	if r := requestOf(ctx); r != nil && r.effect != "" {
		return r.effect
	}
	return core.NewULID()
}

// InProgress is the refusal of a request while another one with its Idempotency-Key is running.
func InProgress() *core.Error {
	return &core.Error{Code: core.CodeInProgress, Param: "Idempotency-Key",
		Message: "A request with this Idempotency-Key is still running. Send the same request again in a second."}
}

func keyReused() *core.Error {
	message := "This Idempotency-Key was used for another request. Send a new key for a new request."
	return &core.Error{Code: core.CodeKeyReused, Param: "Idempotency-Key", Message: message,
		Fields: map[string][]string{"idempotency_key": {message}}}
}

// running is the set of the Idempotency-Keys that this process is executing.
type running struct {
	mu   sync.Mutex
	keys map[[2]string]bool
}

// enter returns false if the key is being executed already.
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

func (r *running) leave(account, key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.keys, [2]string{account, key})
}

type storedKey struct {
	Fingerprint []byte `db:"fingerprint"`
	Status      int    `db:"status"`
	Body        []byte `db:"body"`
}

// claim takes the key, or returns its stored answer. It brings the account's clock along, which nearly every use case
// reads, where nobody can move that before this transaction ends.
func (r *request) claim(ctx context.Context) (*core.Answer, error) {
	d, k := r.db, r.key
	now, dbNow := d.Now(), d.NowSQL()
	taken, err := Get[struct {
		Effect string    `db:"effect"`
		Offset core.Time `db:"clock_offset"`
	}](ctx, d, `
		INSERT INTO idempotency_keys AS k (account_id, key, fingerprint, token, effect, lease_until, expires_at)
		VALUES (?, ?, ?, ?, ?, `+dbNow+` + ?, ?)
		ON CONFLICT (account_id, key) DO UPDATE SET token = excluded.token, lease_until = excluded.lease_until,
			fingerprint = excluded.fingerprint, status = 0, body = NULL,
			effect = CASE WHEN k.expires_at < ? THEN excluded.effect ELSE k.effect END,
			expires_at = CASE WHEN k.expires_at < ? THEN excluded.expires_at ELSE k.expires_at END
		WHERE k.expires_at < ? OR (k.status = 0 AND k.lease_until < `+dbNow+` AND k.fingerprint = excluded.fingerprint)
		RETURNING effect, (SELECT a.clock_offset FROM accounts AS a WHERE a.id = account_id) AS clock_offset`,
		k.Account, k.Key, k.Fingerprint[:], r.token, r.effect, claimLease.Microseconds(), now.Add(KeyLifetime), now, now, now)
	switch {
	case sqlState(err) == lockNotAvailable:
		return nil, InProgress() // the other one has held its transaction open for long
	case err != nil:
		return nil, fmt.Errorf("claim key: %w", err)
	case taken != nil:
		r.effect = taken.Effect
		if d.Engine == core.SQLite { // on PostgreSQL the clock may move while this transaction waits for a row
			r.unit.ahead = &ahead{k.Account, taken.Offset}
		}
		return nil, nil
	}
	return d.answered(ctx, k)
}

// answered returns the stored answer of a key that is taken. It returns CodeKeyReused if the key belongs to another
// request and CodeInProgress if that one is still running.
func (d *DB) answered(ctx context.Context, k *core.Key) (*core.Answer, error) {
	stored, err := Get[storedKey](ctx, d, `
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
	body, err := d.Options.Sealer.Open(stored.Body, k.SealContext())
	if err != nil {
		return nil, err
	}
	return &core.Answer{Status: stored.Status, Body: body}, nil
}

// record stores the answer under our token. If the claim was taken over meanwhile, nothing may commit.
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
	sealed := r.db.Options.Sealer.Seal(answer.Body, r.key.SealContext())
	rows, err := u.Exec(ctx, `
		UPDATE idempotency_keys SET status = ?, body = ? WHERE account_id = ? AND key = ? AND token = ? AND status = 0`,
		answer.Status, sealed, r.key.Account, r.key.Key, r.token)
	if err != nil {
		return fmt.Errorf("record answer: %w", err)
	}
	if rows == 0 {
		return InProgress()
	}
	return nil
}

// errNotRecorded rolls back the look-up of a COMMIT that did not take place.
var errNotRecorded = errors.New("store: the answer was not recorded")

// recorded finds out whether a COMMIT of which nothing was heard took place. It may still be under way: taking the
// key ourselves waits for its end.
func (r *request) recorded(ctx context.Context, answer *core.Answer) bool {
	if r.key == nil || answer == nil {
		return false
	}
	ctx = Detached(ctx)
	k := r.key
	_, err := Tx(ctx, r.db, func(ctx context.Context, u *Unit) (any, error) {
		rows, err := u.Exec(ctx, `
			INSERT INTO idempotency_keys (account_id, key, fingerprint, token, effect, lease_until, expires_at) VALUES (?, ?, ?, ?, ?, 0, 0)
			ON CONFLICT (account_id, key) DO NOTHING`, k.Account, k.Key, k.Fingerprint[:], r.token, r.effect)
		if err != nil {
			return nil, err
		}
		status, err := Get[int](ctx, r.db, `
			SELECT status FROM idempotency_keys WHERE account_id = ? AND key = ? AND token = ?`+u.Lock(), k.Account, k.Key, r.token)
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

// settle decides, after a request that was not answered, what becomes of a claim that a step has committed.
// If this fails, the claim waits out its lease.
func (r *request) settle(ctx context.Context, err error) {
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

// release frees the key.
func (r *request) release(ctx context.Context) error {
	if !r.held {
		return nil
	}
	r.rollback()
	return r.alone(ctx, `DELETE FROM idempotency_keys WHERE account_id = ? AND key = ? AND token = ? AND status = 0`)
}

// alone runs a statement on our claim in a transaction of its own.
func (r *request) alone(ctx context.Context, query string) error {
	ctx = Detached(ctx)
	_, err := Tx(ctx, r.db, func(ctx context.Context, u *Unit) (int64, error) {
		return u.Exec(ctx, query, r.key.Account, r.key.Key, r.token)
	})
	r.held = false
	return err
}

// abandon is for a request that panics: what it held may be taken over at once.
func (r *request) abandon(ctx context.Context) {
	if p := recover(); p != nil {
		r.rollback()
		r.settle(ctx, fmt.Errorf("panic: %v", p))
		panic(p)
	}
}

// DeleteExpiredKeys deletes at most limit Idempotency-Keys that are past their lifetime and returns how many.
func (d *DB) DeleteExpiredKeys(ctx context.Context, limit int) (int64, error) {
	return Tx(ctx, d, func(ctx context.Context, u *Unit) (int64, error) {
		return u.Exec(ctx, `
			DELETE FROM idempotency_keys WHERE (account_id, key) IN (
				SELECT account_id, key FROM idempotency_keys WHERE expires_at < ? LIMIT ?`+u.LockSkip()+`) AND expires_at < ?`,
			d.Now(), limit, d.Now())
	})
}
