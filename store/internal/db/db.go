// Package db is the engine under the rooms of the store. It has the connections of both databases, the transaction (Unit), prepared statements, rows,
// pages, idempotency, leases, slugs, locks and migrations. Only what lies below store may import it, so that nobody else ever sees a transaction.
package db

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
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
	SitesHost   string
	Now         func() time.Time
	TestClock   bool
	MaxConns    int
	Synchronous string
	Exclusive   bool
	Patient     bool
	Trace       func(ctx context.Context, statement string, args []any)
	Waited      func(ctx context.Context, account string, turns int)
	Whose       func(context.Context) string
	Waits       func(context.Context) (over func(holds bool))

	MostExamined int // how many rows a list examines for a page at most, MostExamined if it is 0
}

// DB gives access to one database. It is safe for concurrent use.
type DB struct {
	Engine  string // core.SQLite or core.PostgreSQL
	Options Options
	Write   *Pool
	Read    *Pool

	// FreeSpace returns how many bytes the disk of a directory has left. Tests replace it.
	FreeSpace func(dir string) (int64, error)

	flusher     *flusher // of an embedded database whose commits outlive the machine
	lock        *os.File // the lock of an embedded database, held as long as it is open, if Options.Exclusive
	running     running
	plans       cache[planKey, *scanPlan]
	looks       looks
	writeFailed atomic.Bool // the database refused a write for a reason of its own; CheckReady finds out whether it still does
}

// Open returns a DB, and does not migrate. PostgreSQL is connected to when it is first used; the file of an embedded database
// is opened at once, and made if it is missing.
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

// connectPostgres makes the one pool of PostgreSQL, which serves reads and writes. It does not connect yet.
func (d *DB) connectPostgres(context.Context) error {
	pool, over, err := openPostgres(d.Options)
	if err != nil {
		return err
	}
	conns := pool.Stats().MaxOpenConnections
	d.Write = newPool(pool, d.Options.Pooler != core.PoolerTransaction, conns, conns)
	d.Write.over, d.Read = over, d.Write
	d.Write.gate.waited, d.Write.gate.waits = d.Options.Waited, d.Options.Waits
	return nil
}

// connectSQLite opens the file of an embedded database, with one pool to write and one to read.
func (d *DB) connectSQLite(ctx context.Context) error {
	if err := d.claimFile(d.Path()); err != nil {
		return err
	}
	info, err := os.Stat(d.Path())
	if err != nil {
		return err
	}
	write, read, err := openSQLite(d.Options, info.Size() == 0)
	if err != nil {
		return err
	}
	// A reader of an embedded database computes here, and its pages are checked and copied. So an account in company leaves half of the processors to
	// others. It has two at least, so that one read that takes long does not stop its others.
	d.Write, d.Read = newPool(write, true, 1, 1), newPool(read, true, sqliteReaders, max(2, runtime.GOMAXPROCS(0)/2))
	d.Write.gate.waited, d.Read.gate.waited = d.Options.Waited, d.Options.Waited
	d.Write.gate.waits, d.Read.gate.waits = d.Options.Waits, d.Options.Waits
	if d.Options.Synchronous != "normal" {
		path, err := filepath.EvalSymlinks(d.Path()) // the log stands beside the file itself
		if err != nil {
			return err
		}
		d.flusher = &flusher{path: path + "-wal", flush: flushFile}
	}
	// Readers cannot create the file, so the writer goes first.
	if err := d.Write.DB.PingContext(ctx); err != nil {
		return fmt.Errorf("open %s: %w", d.Path(), err)
	}
	return nil
}

// claimFile makes the file of an embedded database if it is missing, readable by its owner alone. If this process is to serve
// it exclusively, it takes a lock, or returns an error if another process holds it. The lock file stands beside the database
// file itself, wherever symbolic links to that may be.
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

// Path returns the path of an embedded database's file.
func (d *DB) Path() string { return sqlitePath(d.Options.URL) }

// Now returns the store's time.
func (d *DB) Now() core.Time { return core.TimeOf(d.Options.Now()) }

// Ping returns nil if the database answers.
func (d *DB) Ping(ctx context.Context) error { return d.Read.DB.PingContext(ctx) }

// Close closes the pools and gives the lock of an embedded database back.
func (d *DB) Close(ctx context.Context) error {
	var errs []error
	if d.Write != nil {
		errs = append(errs, d.Write.close(ctx))
	}
	if d.Read != nil && d.Read != d.Write {
		errs = append(errs, d.Read.close(ctx))
	}
	if d.flusher != nil {
		d.flusher.turn.Lock()
		errs = append(errs, d.flusher.close())
		d.flusher.turn.Unlock()
	}
	if d.lock != nil {
		errs = append(errs, d.lock.Close())
	}
	return errors.Join(errs...)
}

// Writers returns how many transactions a background job should run at a time. SQLite has one writer, so more would only wait.
func (d *DB) Writers() int {
	if d.Engine == core.SQLite {
		return 1
	}
	return 2
}
