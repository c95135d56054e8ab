// Package db is the engine under the rooms of the store: the connections of both databases, the transaction (Unit), prepared
// statements, rows, pages, idempotency, leases, slugs, locks and migrations. Only what lies below store may import it, so
// that nobody else ever sees a transaction.
package db

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/tillwright/tillwright/store/core"
)

// Options are what Open needs. store.Options says what each is for.
type Options struct {
	URL         string
	Pooler      string
	Sealer      *core.Sealer
	PublicURL   string
	Now         func() time.Time
	TestClock   bool
	MaxConns    int
	Synchronous string
	Exclusive   bool
	Patient     bool
}

// DB is one database, safe for concurrent use.
type DB struct {
	Engine  string // core.SQLite or core.PostgreSQL
	Options Options
	Write   *Pool
	Read    *Pool

	// FreeSpace returns how many bytes the disk of a directory has left. Tests replace it.
	FreeSpace func(dir string) (int64, error)

	lock        *os.File // held while Exclusive
	running     running
	plans       cache[planKey, *plan]
	writeFailed atomic.Bool // the database refused a write for a reason of its own; CheckReady finds out whether it still does
}

// Open connects lazily and does not migrate.
func Open(ctx context.Context, o Options) (*DB, error) {
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
	d := &DB{Engine: engine, Options: o, FreeSpace: freeSpace}
	connect := d.connectSQLite
	if engine == core.PostgreSQL {
		connect = d.connectPostgres
	}
	if err := connect(ctx); err != nil {
		return nil, errors.Join(err, d.Close(ctx))
	}
	return d, nil
}

func (d *DB) connectPostgres(context.Context) error {
	pool, over, err := openPostgres(d.Options)
	if err != nil {
		return err
	}
	d.Write = newPool(pool, d.Options.Pooler != core.PoolerTransaction, pool.Stats().MaxOpenConnections)
	d.Write.over, d.Read = over, d.Write
	return nil
}

func (d *DB) connectSQLite(ctx context.Context) error {
	if err := d.claimFile(d.Path()); err != nil {
		return err
	}
	write, read, err := openSQLite(d.Options)
	if err != nil {
		return err
	}
	d.Write, d.Read = newPool(write, true, 1), newPool(read, true, sqliteReaders)
	// Readers cannot create the file, so the writer goes first.
	if err := d.Write.DB.PingContext(ctx); err != nil {
		return fmt.Errorf("open %s: %w", d.Path(), err)
	}
	return nil
}

// claimFile makes the database's file, for its owner's eyes only, and takes its lock if this process serves it. The
// lock stands beside the file itself, wherever links to it may be.
func (d *DB) claimFile(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	if !d.Options.Exclusive {
		return nil
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return err
	}
	d.lock, err = lockFile(path + ".lock")
	return err
}

// Path returns the file of an embedded database.
func (d *DB) Path() string { return sqlitePath(d.Options.URL) }

// Now returns the store's time.
func (d *DB) Now() core.Time { return core.TimeOf(d.Options.Now()) }

// Ping reports whether the database answers.
func (d *DB) Ping(ctx context.Context) error { return d.Read.DB.PingContext(ctx) }

// Close lets go of the database.
func (d *DB) Close(ctx context.Context) error {
	var errs []error
	if d.Write != nil {
		errs = append(errs, d.Write.close(ctx))
	}
	if d.Read != nil && d.Read != d.Write {
		errs = append(errs, d.Read.close(ctx))
	}
	if d.lock != nil {
		errs = append(errs, d.lock.Close())
	}
	return errors.Join(errs...)
}
