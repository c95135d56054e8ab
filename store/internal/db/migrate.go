package db

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/pressly/goose/v3"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/migrations"
)

// SchemaError says that the database has another version of the schema than this program needs.
type SchemaError struct{ Have, Want int64 }

// Error says what to do about it.
func (e *SchemaError) Error() string {
	if e.Have > e.Want {
		return fmt.Sprintf("the database has schema %d, newer than %d of this program: install the newer tillwright", e.Have, e.Want)
	}
	return fmt.Sprintf("the database has schema %d, older than %d of this program: run `tillwright migrate`", e.Have, e.Want)
}

// VersionTable is the table in which the applied migrations are noted.
const VersionTable = "schema_migrations"

// Migrate brings the schema up to date. If several replicas call it together, one does it and the others wait. A schema that is
// newer than this program is left as it is, and is a *SchemaError. Then tables that have grown are analysed.
func (d *DB) Migrate(ctx context.Context) error {
	migrate := d.migratePostgres
	if d.Engine == core.SQLite {
		migrate = func(ctx context.Context) error { return d.migrate(ctx, d.Write.DB, goose.DialectSQLite3) }
	}
	if err := migrate(ctx); err != nil {
		return err
	}
	if err := errors.Join(d.flushed(), d.CheckSchema(ctx)); err != nil {
		return err
	}
	_, _, err := d.Analyze(ctx) // a database that was restored has no statistics, a new index of an expression neither
	return err
}

// migratePostgres migrates PostgreSQL while it holds the lock of the schema. Before, it builds the indexes anew that an earlier run was interrupted at.
func (d *DB) migratePostgres(ctx context.Context) error {
	return d.underSchemaLock(ctx, func(db *sqlx.DB) error {
		if err := rebuildIndexes(ctx, db); err != nil {
			return err
		}
		return d.migrate(ctx, db, goose.DialectPostgres)
	})
}

// underSchemaLock calls fn with a pool of its own for PostgreSQL, while it holds the lock of the schema.
func (d *DB) underSchemaLock(ctx context.Context, fn func(*sqlx.DB) error) error {
	// Migrations have a pool of their own: building an index may take longer than requests are allowed to wait for a lock.
	config, err := postgresConfig(d.Options)
	if err != nil {
		return err
	}
	config.BinaryParameters = d.Options.Pooler == core.PoolerTransaction
	if !config.BinaryParameters {
		config.Runtime["synchronous_commit"] = "off" // dozens of commits; unlock waits for all of them
	}
	db, err := connectPostgres(config, dialer{})
	if err != nil {
		return err
	}
	defer db.Close()
	unlock, err := LockSchema(ctx, db)
	if err != nil {
		return fmt.Errorf("lock schema: %w", err)
	}
	return errors.Join(fn(db), unlock())
}

// migrate applies the migrations that are still missing.
func (d *DB) migrate(ctx context.Context, db *sqlx.DB, dialect goose.Dialect) error {
	files, err := migrations.FS(d.Engine)
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(dialect, db.DB, files, goose.WithTableName(VersionTable), goose.WithDisableGlobalRegistry(true), goose.WithGoMigrations(emailKeys(d.Engine), repairs(d.Engine), pictures(d.Engine)))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// CheckSchema returns nil if the schema is the one of this program, else a *SchemaError.
func (d *DB) CheckSchema(ctx context.Context) error {
	want, err := migrations.Latest(d.Engine)
	if err != nil {
		return err
	}
	have, err := d.schemaVersion(ctx)
	if err != nil {
		return fmt.Errorf("read schema version: %w", err)
	}
	if have != want {
		return &SchemaError{Have: have, Want: want}
	}
	return nil
}

// schemaVersion returns the number of the last migration that was applied, 0 for an empty database.
func (d *DB) schemaVersion(ctx context.Context) (int64, error) {
	find := `SELECT count(*) FROM sqlite_master WHERE name = ?`
	if d.Engine == core.PostgreSQL {
		find = `SELECT count(*) FROM pg_class WHERE oid = to_regclass(?)`
	}
	tables, err := Get[int](ctx, d, find, VersionTable)
	if err != nil || *tables == 0 {
		return 0, err
	}
	version, err := Get[int64](ctx, d, `SELECT max(version_id) FROM schema_migrations`)
	if err != nil {
		return 0, err
	}
	return *version, nil
}

const (
	schemaLease = 60 * time.Second
	schemaPoll  = 100 * time.Millisecond
	unlockTime  = 5 * time.Second
)

// LockSchema waits for the lock under which one replica migrates, and returns the function that gives it back. The lock is a
// row with a lease and not an advisory lock, so that it works behind a pooler. The lease is renewed until unlock, and ends by
// itself if the process dies.
func LockSchema(ctx context.Context, db *sqlx.DB) (unlock func() error, err error) {
	holder := core.NewULID()
	for {
		taken, err := takeSchemaLock(ctx, db, holder)
		if err != nil {
			return nil, err
		}
		if taken {
			break
		}
		select {
		case <-time.After(schemaPoll):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	renewing, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-time.After(schemaLease / 3):
				_, _ = takeSchemaLock(renewing, db, holder) // a failed renewal is tried again before the lease ends
			case <-renewing.Done():
				return
			}
		}
	}()
	return func() error {
		stop()
		<-done
		return releaseSchemaLock(ctx, db, holder)
	}, nil
}

// releaseSchemaLock deletes the row of the lock, in a transaction that waits until everything that was committed before is
// durable. It does so although ctx has ended: otherwise the other replicas would wait for the lease of one that was told to
// stop.
func releaseSchemaLock(ctx context.Context, db *sqlx.DB, holder string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unlockTime)
	defer cancel()
	tx, err := db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, `SET LOCAL synchronous_commit = on`); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM schema_lock WHERE name = 'migrate' AND holder = $1`, holder); err != nil {
		return err
	}
	return tx.Commit()
}

// takeSchemaLock takes the lock for the holder or renews it, and reports whether the holder has it.
func takeSchemaLock(ctx context.Context, db *sqlx.DB, holder string) (bool, error) {
	_, err := db.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS schema_lock (name TEXT NOT NULL PRIMARY KEY, holder TEXT NOT NULL, lease_until BIGINT NOT NULL)`)
	if err != nil && !existsAlready(err) {
		return false, err
	}
	// The row is taken if there is none, if it is ours, or if the lease of its holder is over.
	result, err := db.ExecContext(ctx, `
		INSERT INTO schema_lock AS l (name, holder, lease_until)
		VALUES ('migrate', $1, CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint) + $2)
		ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, lease_until = excluded.lease_until
		WHERE l.holder = excluded.holder OR l.lease_until < excluded.lease_until - $2`, holder, schemaLease.Microseconds())
	if err != nil {
		if sqlState(err) == undefinedTable || IsUnique(err) {
			return false, nil
		}
		return false, err
	}
	rows, err := result.RowsAffected()
	return rows == 1, err
}
