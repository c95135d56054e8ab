// Package store is the domain and its SQL: types, rules, use cases, and the transactions around them. An exported
// method is atomic; inside Request it joins the request's transaction, elsewhere it commits by itself.
package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"github.com/tillwright/tillwright/store/core"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// The poolers that may stand between the store and PostgreSQL.
const (
	PoolerNone        = "none"
	PoolerTransaction = "transaction" // PgBouncer in transaction mode: no session state, no prepared statements
)

// Options are what Open needs. URL and Sealer are required.
type Options struct {
	URL         string                                   // sqlite:///path/file.db | postgres://...
	Pooler      string                                   // PoolerNone (default) | PoolerTransaction
	Sealer      *core.Sealer                             // for secrets and stored answers
	Render      func(kind string, v any) ([]byte, error) // the `data` of an event, pure; required to emit one
	PublicURL   string                                   // where buyers reach this server; checkout pages are below it
	Now         func() time.Time                         // nil = time.Now
	TestClock   bool                                     // accounts have clocks of their own, which AdvanceClock moves: in development
	MaxConns    int                                      // PostgreSQL, default 12
	Synchronous string                                   // SQLite: "full" (default) | "normal"
	Exclusive   bool                                     // SQLite: this process serves the file; a second one that asks is refused
	Patient     bool                                     // statements of PostgreSQL take as long as they need, and closing a minute, which no server wants

	LivePayments bool // new accounts are paid through Stripe, and none may choose the test provider
}

// Store is one database, safe for concurrent use.
type Store struct {
	// OnEvent, if set before the first request, is called after a transaction that stored deliveries has committed, once
	// for each endpoint.
	OnEvent func(e PendingEndpoint, deliveries int)

	engine  string
	options Options
	write   *pool
	read    *pool
	lock    *os.File // held while Exclusive
	running running
	quota   quota
	keyUses keyUses
	plans   cache[planKey, *plan]

	writeFailed atomic.Bool // the database refused a write for a reason of its own; CheckReady finds out whether it still does
	freeSpace   func(dir string) (int64, error)
}

// Open connects lazily and does not migrate.
func Open(ctx context.Context, o Options) (*Store, error) {
	engine, err := core.EngineOf(o.URL)
	if err != nil {
		return nil, err
	}
	if o.Sealer == nil {
		return nil, errors.New("store: Options.Sealer is required")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Store{engine: engine, options: o, freeSpace: freeSpace}
	if engine == core.PostgreSQL {
		return s, s.connectPostgres()
	}
	if err := s.connectSQLite(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Store) connectPostgres() error {
	db, over, err := openPostgres(s.options)
	if err != nil {
		return err
	}
	s.write = newPool(db, s.options.Pooler != PoolerTransaction, db.Stats().MaxOpenConnections)
	s.write.over, s.read = over, s.write
	s.quota = &sharedQuota{store: s}
	return nil
}

func (s *Store) connectSQLite(ctx context.Context) error {
	if err := s.claimFile(sqlitePath(s.options.URL)); err != nil {
		return err
	}
	write, read, err := openSQLite(s.options)
	if err != nil {
		return err
	}
	s.write, s.read = newPool(write, true, 1), newPool(read, true, sqliteReaders)
	local := &localQuota{store: s}
	s.quota = local
	// Readers cannot create the file, so the writer goes first.
	if err := s.write.db.PingContext(ctx); err != nil {
		return fmt.Errorf("open %s: %w", sqlitePath(s.options.URL), err)
	}
	if s.options.Exclusive {
		local.keep(sqlitePath(s.options.URL) + "-quota")
		return s.endLeases(ctx)
	}
	return nil
}

// endLeases lets what a process that died was doing be taken over at once: requests with an Idempotency-Key,
// deliveries, payments, refunds, and writes at ad networks. Only the one process that serves an embedded database may call it.
func (s *Store) endLeases(ctx context.Context) error {
	for table, underWay := range map[string]string{
		"idempotency_keys": "status = 0", "webhook_claims": "TRUE", "ad_actions": "state IN ('begun', 'unknown')",
		"payments": "status IN ('pending', 'requires_action')", "refunds": "status = 'pending'",
	} {
		tables, err := get[int](ctx, s, `SELECT count(*) FROM sqlite_master WHERE name = ?`, table)
		if err != nil {
			return err
		}
		if *tables == 0 {
			continue
		}
		if _, err = tx(ctx, s, func(ctx context.Context, u *unit) (int64, error) {
			return u.exec(ctx, `UPDATE `+table+` SET lease_until = 0 WHERE `+underWay)
		}); err != nil {
			return err
		}
	}
	return nil
}

// claimFile makes the database's file, for its owner's eyes only, and takes its lock if this process serves it. The
// lock stands beside the file itself, wherever links to it may be.
func (s *Store) claimFile(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	if !s.options.Exclusive {
		return nil
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return err
	}
	s.lock, err = lockFile(path + ".lock")
	return err
}

// Engine returns SQLite or PostgreSQL.
func (s *Store) Engine() string { return s.engine }

// Writers is how many transactions of one background job can write at once to some purpose.
func (s *Store) Writers() int {
	if s.engine == core.SQLite {
		return 1
	}
	return 2
}

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error { return s.read.db.PingContext(ctx) }

// closeTime is how long Close takes at most, of a store that is not Patient.
const closeTime = 5 * time.Second

// Close writes what is batched and lets go of the database, within five seconds: one that does not answer is left.
func (s *Store) Close() error {
	patience := closeTime
	if s.options.Patient {
		patience = time.Minute
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	closed := make(chan error, 1)
	go func() { closed <- s.close(ctx) }() // no context ends a statement that is under way
	select {
	case err := <-closed:
		return err
	case <-ctx.Done():
		return errors.New("store: the database did not answer within " + patience.String() + " when it was closed")
	}
}

func (s *Store) close(ctx context.Context) error {
	var errs []error
	if local, ok := s.quota.(*localQuota); ok {
		errs = append(errs, local.end())
	}
	if s.write != nil {
		errs = append(errs, s.FlushKeyUse(ctx), s.write.close(ctx))
	}
	if s.read != nil && s.read != s.write {
		errs = append(errs, s.read.close(ctx))
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Close())
	}
	return errors.Join(errs...)
}

// Now returns the store's time.
func (s *Store) Now() core.Time { return core.TimeOf(s.options.Now()) }

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

func sqlOpenDB(c driver.Connector) *sql.DB { return sql.OpenDB(c) }

func isBadConn(err error) bool {
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
