package db

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/tillwright/tillwright/store/core"
)

// LeastSpace is how many bytes the disk of an embedded database must have free. That is far more than a request needs. It leaves room for the
// database's log, and time to notice that something, such as a backup, fills the disk.
const LeastSpace = 64 << 20

// CheckReady returns nil if requests can be served: the database answers, has the schema of this program, takes writes, and has
// room for more data. Otherwise the error says what is missing.
func (d *DB) CheckReady(ctx context.Context) error {
	if err := d.Ping(ctx); err != nil {
		return err
	}
	if err := d.CheckSchema(ctx); err != nil {
		return err
	}
	return d.checkWrites(ctx)
}

// checkWrites returns nil if the database takes writes. It only tries to write after a write of a request has failed.
func (d *DB) checkWrites(ctx context.Context) error {
	if err := d.checkDisk(ctx); err != nil {
		return err
	}
	if !d.writeFailed.Load() {
		return nil
	}
	if err := d.tryWrite(ctx); err != nil {
		return fmt.Errorf("try to write: %w", err)
	}
	d.writeFailed.Store(false)
	return nil
}

// checkDisk looks at what can be seen without writing: whether PostgreSQL is a standby, or the disk of an embedded database is
// nearly full.
func (d *DB) checkDisk(ctx context.Context) error {
	if d.Engine == core.PostgreSQL {
		standby, err := Get[bool](ctx, d, `SELECT pg_is_in_recovery()`)
		if err == nil && *standby {
			err = errors.New("the database is a standby, which is read-only")
		}
		return err
	}
	free, err := d.FreeSpace(filepath.Dir(sqlitePath(d.Options.URL)))
	if err == nil && free < LeastSpace {
		err = fmt.Errorf("the disk of the database has %d MiB left, less than %d", free>>20, LeastSpace>>20)
	}
	return err
}

// tryWrite writes more than a page and deletes it again. It is called after a write has failed. A server that is not ready gets no requests, so it
// has to find out by itself when the trouble is over.
func (d *DB) tryWrite(ctx context.Context) error {
	_, err := Tx(ctx, d, func(ctx context.Context, u *Unit) (any, error) {
		name := core.NewULID()
		_, err := u.Exec(ctx, `
			INSERT INTO idempotency_keys (account_id, key, fingerprint, token, effect, body, lease_until, expires_at) VALUES ('', ?, ?, '', '', ?, 0, 0)`,
			name, []byte{}, bytes.Repeat([]byte{0}, 64<<10))
		if err != nil {
			return nil, err
		}
		_, err = u.Exec(ctx, `DELETE FROM idempotency_keys WHERE account_id = '' AND key = ?`, name)
		return nil, err
	})
	return err
}
