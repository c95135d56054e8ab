package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"github.com/tillwright/tillwright/store/core"
	"path/filepath"
)

// leastSpace is what the disk of an embedded database must have free, in bytes: room for its log and for a backup to be
// noticed in time, far above what a request needs.
const leastSpace = 64 << 20

// CheckReady returns nil if requests can be served: the database answers, has the schema of this program, takes writes, and
// has room for more.
func (s *Store) CheckReady(ctx context.Context) error {
	if err := s.Ping(ctx); err != nil {
		return err
	}
	if err := s.CheckSchema(ctx); err != nil {
		return err
	}
	return s.checkWrites(ctx)
}

func (s *Store) checkWrites(ctx context.Context) error {
	if err := s.checkDisk(ctx); err != nil {
		return err
	}
	if !s.writeFailed.Load() {
		return nil
	}
	if err := s.tryWrite(ctx); err != nil {
		return fmt.Errorf("try to write: %w", err)
	}
	s.writeFailed.Store(false)
	return nil
}

// checkDisk looks at what can be seen without writing: a standby, and a full disk where the database is a file of this machine.
func (s *Store) checkDisk(ctx context.Context) error {
	if s.engine == core.PostgreSQL {
		standby, err := get[bool](ctx, s, `SELECT pg_is_in_recovery()`)
		if err == nil && *standby {
			err = errors.New("the database is a standby, which is read-only")
		}
		return err
	}
	free, err := s.freeSpace(filepath.Dir(sqlitePath(s.options.URL)))
	if err == nil && free < leastSpace {
		err = fmt.Errorf("the disk of the database has %d MiB left, less than %d", free>>20, leastSpace>>20)
	}
	return err
}

// tryWrite writes more than a page and takes it away again, after a write has failed: no request comes to a server that is
// not ready, so it must find out by itself when it is over.
func (s *Store) tryWrite(ctx context.Context) error {
	_, err := tx(ctx, s, func(ctx context.Context, u *unit) (any, error) {
		name := core.NewULID()
		_, err := u.exec(ctx, `
			INSERT INTO idempotency_keys (account_id, key, fingerprint, token, effect, body, lease_until, expires_at) VALUES ('', ?, ?, '', '', ?, 0, 0)`,
			name, []byte{}, bytes.Repeat([]byte{0}, 64<<10))
		if err != nil {
			return nil, err
		}
		_, err = u.exec(ctx, `DELETE FROM idempotency_keys WHERE account_id = '' AND key = ?`, name)
		return nil, err
	})
	return err
}
