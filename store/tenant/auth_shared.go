package tenant

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/lib/pq"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// sharedQuota counts in the database, exactly over all replicas. The statement that finds the key counts the request too.
// Requests that arrive while a statement is under way wait and go together in the next one. There is no timer and no cache, so
// that the statement that answers a request always begins after the request arrived.
type sharedQuota struct {
	store    *Store
	patience time.Duration // quotaPatience

	mu      sync.Mutex
	asking  bool // askAll is running
	waiting []*quotaCall
}

// quotaCall is one request that waits to be counted.
type quotaCall struct {
	hash    []byte
	address string
	done    chan struct{} // closed when grant and err are set
	grant   *Grant
	err     error // errNotCounted until there is a grant
}

var (
	errNotCounted = errors.New("request was not counted")
	errQuotaSlow  = errors.New("counting the request takes too long")
)

const (
	maxQuotaBatch = 256             // bounds one statement
	quotaPatience = 5 * time.Second // how long a request waits to be counted; a database that hangs may take longer
)

// count hands the request to the next batch and waits for its grant. It returns an UnavailableError when the database takes longer than
// quotaPatience or the client has gone. The other requests of the batch go on either way.
func (q *sharedQuota) count(ctx context.Context, tokenHash []byte, address string) (*Grant, error) {
	call := &quotaCall{hash: tokenHash, address: address, done: make(chan struct{}), err: errNotCounted}
	q.mu.Lock()
	q.waiting = append(q.waiting, call)
	first := !q.asking
	q.asking = true
	limit := q.patience
	q.mu.Unlock()
	if first {
		go q.askAll(context.WithoutCancel(ctx)) // no single client may cancel it for the others
	}
	patience := time.NewTimer(limit)
	defer patience.Stop()
	select {
	case <-call.done:
		return call.grant, call.err
	case <-ctx.Done():
		return nil, q.leave(call, ctx.Err())
	case <-patience.C:
		return nil, q.leave(call, errQuotaSlow)
	}
}

// leave takes out a call that will not wait any longer, and returns why as an UnavailableError. If it is in the batch that is
// being counted just now, it is counted, and nobody looks at the answer.
func (q *sharedQuota) leave(call *quotaCall, cause error) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = slices.DeleteFunc(q.waiting, func(other *quotaCall) bool { return other == call })
	return &core.UnavailableError{Cause: cause}
}

// askAll counts all requests that wait, batch after batch, until there are none. Only one runs at a time.
func (q *sharedQuota) askAll(ctx context.Context) {
	for {
		q.mu.Lock()
		if len(q.waiting) == 0 {
			q.waiting, q.asking = nil, false
			q.mu.Unlock()
			return
		}
		// A copy, because leave moves the others within the array when it takes one out.
		batch := slices.Clone(q.waiting[:min(len(q.waiting), maxQuotaBatch)])
		q.waiting = slices.Delete(q.waiting, 0, len(batch))
		q.mu.Unlock()
		q.ask(ctx, batch)
		runtime.Gosched() // lets those who were answered go on before the next statement is made
	}
}

// ask counts a batch and answers everyone in it, even if it panics. A panic here is our own mistake, and fails only the requests of this batch.
func (q *sharedQuota) ask(ctx context.Context, batch []*quotaCall) {
	var err error
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("count requests: panic: %v\n%s", reason, debug.Stack())
		}
		for _, call := range batch {
			if err != nil || call.grant != nil {
				call.err = err
			}
			close(call.done)
		}
	}()
	err = q.store.db.Retry(ctx, func() error { return q.askOnce(ctx, batch) })
}

// quotaRow is what the statements below return for each request of a batch.
type quotaRow struct {
	Ord     int                 `db:"ord"` // place in the batch, from 1
	Subject string              `db:"subject"`
	ID      *string             `db:"id"`
	Name    *string             `db:"name"`
	Account *string             `db:"account_id"`
	Scopes  core.JSON[[]string] `db:"scopes"`
	Expires *core.Time          `db:"expires_at"`
	Used    int                 `db:"used"` // by the whole batch
	Minute  int64               `db:"minute"`
	Now     int64               `db:"now"`
}

// quotaOneSQL finds the key of one request and counts the request, for the key or else for the address. The window only moves
// forward, because a statement may have waited for a lock until after the minute.
const quotaOneSQL = `
	WITH k AS (
		SELECT id, name, account_id, scopes, expires_at FROM api_keys
		WHERE token_hash = ? AND (expires_at IS NULL OR expires_at > extract(epoch FROM clock_timestamp()) * 1000000) AND ` + db.EnabledAccount + `
	), w AS (
		INSERT INTO rate_windows AS r (subject, minute, used)
		SELECT coalesce((SELECT id FROM k), ?), floor(extract(epoch FROM clock_timestamp()))::bigint / 60, 1
		ON CONFLICT (subject) DO UPDATE SET minute = greatest(r.minute, excluded.minute),
			used = 1 + CASE WHEN excluded.minute > r.minute THEN 0 ELSE r.used END
		RETURNING subject, minute, used
	)
	SELECT 1 AS ord, w.subject, k.id, k.name, k.account_id, k.scopes, k.expires_at, w.used, w.minute, floor(extract(epoch FROM clock_timestamp()))::bigint AS now
	FROM w LEFT JOIN k ON TRUE`

// quotaManySQL does the same for a batch. The subjects are sorted, or replicas would lock each other's rows crosswise. The arrays stand in
// sub-selects so that the planner does not see their lengths. Else it would plan each execution anew, which takes longer than the execution.
const quotaManySQL = `
	WITH q AS (
		SELECT k.id, k.name, k.account_id, k.scopes, k.expires_at, q.ord, coalesce(k.id, q.address) AS subject
		FROM unnest((SELECT ?::bytea[]), (SELECT ?::text[])) WITH ORDINALITY AS q (hash, address, ord)
		LEFT JOIN LATERAL (
			SELECT id, name, account_id, scopes, expires_at FROM api_keys
			WHERE token_hash = q.hash AND (expires_at IS NULL OR expires_at > extract(epoch FROM clock_timestamp()) * 1000000) AND ` + db.EnabledAccount + `
			LIMIT 1) AS k ON TRUE
	), w AS (
		INSERT INTO rate_windows AS r (subject, minute, used)
		SELECT subject, floor(extract(epoch FROM clock_timestamp()))::bigint / 60, count(*) FROM q GROUP BY subject ORDER BY subject
		ON CONFLICT (subject) DO UPDATE SET minute = greatest(r.minute, excluded.minute),
			used = excluded.used + CASE WHEN excluded.minute > r.minute THEN 0 ELSE r.used END
		RETURNING subject, minute, used
	)
	SELECT q.ord, q.subject, q.id, q.name, q.account_id, q.scopes, q.expires_at, w.used, w.minute, floor(extract(epoch FROM clock_timestamp()))::bigint AS now
	FROM q JOIN w ON w.subject = q.subject`

// askOnce counts a batch by one statement and sets the grant of each call. It may run again after an error that passes.
func (q *sharedQuota) askOnce(ctx context.Context, batch []*quotaCall) error {
	// Outside of any transaction: the count stands even if the request rolls back.
	ctx = db.First(ctx)
	if len(batch) == 1 {
		row, err := db.Get[quotaRow](ctx, q.store.db, quotaOneSQL, batch[0].hash, subject(batch[0].address))
		if err != nil {
			return err
		}
		batch[0].grant = row.grant(row.Used)
		return nil
	}
	hashes, subjects := make([][]byte, len(batch)), make([]string, len(batch))
	for i, call := range batch {
		hashes[i], subjects[i] = call.hash, subject(call.address)
	}
	rows, err := db.Select[quotaRow](ctx, q.store.db, quotaManySQL, pq.Array(hashes), pq.Array(subjects))
	if err != nil {
		return err
	}
	grantAll(batch, rows)
	return nil
}

// grantAll sets the grant of each call in the batch. A row has the count of its subject after the whole batch. That is what the
// subject's last call gets; the one before it gets one less, and so on.
func grantAll(batch []*quotaCall, rows []quotaRow) {
	slices.SortFunc(rows, func(a, b quotaRow) int { return cmp.Compare(b.Ord, a.Ord) })
	later := make(map[string]int, len(rows))
	for i := range rows {
		r := &rows[i]
		batch[r.Ord-1].grant = r.grant(r.Used - later[r.Subject])
		later[r.Subject]++
	}
}

func (r *quotaRow) grant(used int) *Grant {
	g := &Grant{Used: used, Limit: RateLimit, WindowEnd: (r.Minute + 1) * rateWindow, Now: r.Now}
	if r.ID != nil {
		g.KeyID, g.KeyName, g.Account, g.Scopes, g.ExpiresAt = *r.ID, *r.Name, *r.Account, r.Scopes.V, r.Expires
	}
	return g
}

// DeleteOldWindows deletes windows that ended more than five minutes ago, at most 10,000 of them, and returns how many. Nothing
// needs them any more, and without this the row of an address that came once would stay for ever. On SQLite there are none to
// delete.
func (s *Store) DeleteOldWindows(ctx context.Context) (int64, error) {
	if s.db.Engine == core.SQLite {
		return 0, nil
	}
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `
			DELETE FROM rate_windows WHERE `+s.db.InSelected("subject", `
				SELECT subject FROM rate_windows
				WHERE minute < floor(extract(epoch FROM clock_timestamp()))::bigint / 60 - 5 LIMIT 10000`+u.LockSkip()))
	})
}
