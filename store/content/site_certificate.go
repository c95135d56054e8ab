package content

import (
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// CertificateFile is something that is kept to get and show the certificates of sites' domains. They belong to the server, not
// to one account.
type CertificateFile struct {
	Path       string    `db:"path"`
	Sealed     []byte    `db:"sealed"`
	ModifiedAt core.Time `db:"modified_at"`

	Text []byte `db:"-"` // opened
}

// certificateContext returns the context in which the file at a path is sealed.
func certificateContext(path string) string { return "site certificate\x00" + path }

// PutCertificateFile stores a text at a path, in the place of the one that is there.
func (s *Store) PutCertificateFile(ctx context.Context, path string, text []byte) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `INSERT INTO site_certificate_files (path, sealed, modified_at) VALUES (?, ?, ?)
			ON CONFLICT (path) DO UPDATE SET sealed = excluded.sealed, modified_at = excluded.modified_at`,
			path, s.db.Options.Sealer.Seal(text, certificateContext(path)), s.Now())
	})
	if err != nil {
		return fmt.Errorf("put certificate file: %w", err)
	}
	return nil
}

// GetCertificateFile returns what is at a path, nil if there is nothing. What none of our keys opens counts as nothing, because
// another one can be obtained.
func (s *Store) GetCertificateFile(ctx context.Context, path string) (*CertificateFile, error) {
	f, err := db.Get[CertificateFile](ctx, s.db, `SELECT path, sealed, modified_at FROM site_certificate_files WHERE path = ?`, path)
	if err != nil || f == nil {
		return nil, err
	}
	text, err := s.db.Options.Sealer.Open(f.Sealed, certificateContext(path))
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // as the comment says
	}
	f.Text = text
	return f, nil
}

// CertificatePaths returns the paths below a folder, in their order.
func (s *Store) CertificatePaths(ctx context.Context, folder string) ([]string, error) {
	return db.Select[string](ctx, s.db, `SELECT path FROM site_certificate_files WHERE path > ? AND path < ? ORDER BY path`, folder+"/", folder+"0")
}

// DeleteCertificateFiles deletes what is at a path and below it.
func (s *Store) DeleteCertificateFiles(ctx context.Context, path string) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `DELETE FROM site_certificate_files WHERE path = ? OR path > ? AND path < ?`, path, path+"/", path+"0")
	})
	if err != nil {
		return fmt.Errorf("delete certificate files: %w", err)
	}
	return nil
}

// LockCertificate gives the lock of a name to its owner for a time, if nobody else holds it, and commits. It reports whether it
// did. The lock of somebody who was killed is free once its time is over.
func (s *Store) LockCertificate(ctx context.Context, name, owner string, lease time.Duration) (bool, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (bool, error) {
		rows, err := u.Exec(ctx, `INSERT INTO site_certificate_locks (name, owner, lease_until) VALUES (?, ?, `+s.db.NowSQL()+` + ?)
			ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, lease_until = excluded.lease_until
			WHERE site_certificate_locks.lease_until < `+s.db.NowSQL(), name, owner, lease.Microseconds())
		return rows == 1, err
	})
}

// UnlockCertificate gives back the lock of a name, if its owner still has it.
func (s *Store) UnlockCertificate(ctx context.Context, name, owner string) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `DELETE FROM site_certificate_locks WHERE name = ? AND owner = ?`, name, owner)
	})
	return err
}
