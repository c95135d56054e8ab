package grant

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Removal is a version whose bytes are to be removed from the bucket, because nothing names them any more.
type Removal struct {
	AccountID string    `db:"account_id"`
	ID        string    `db:"id"` // of the version
	FileID    string    `db:"file_id"`
	Version   int64     `db:"version"`
	Size      int64     `db:"size"`
	DueAt     core.Time `db:"due_at"`
}

// Key returns the name under which the bucket has the bytes.
func (r *Removal) Key() string { return bucketKey(r.AccountID, r.FileID, r.Version) }

// DropExpiredUploads gives up at most limit uploads, of any account, that were not completed in time, and returns how many. Their bytes become
// due for removal.
func (s *Store) DropExpiredUploads(ctx context.Context, limit int) (int64, error) {
	due, err := db.Select[core.Due](ctx, s.db, `SELECT account_id, file_id AS id FROM uploads WHERE expires_at < ? ORDER BY expires_at LIMIT ?`, s.Now(), limit)
	if err != nil {
		return 0, fmt.Errorf("find expired uploads: %w", err)
	}
	var dropped int64
	for _, d := range due {
		n, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) { return s.dropExpired(ctx, u, d.AccountID, d.ID) })
		if err != nil {
			return dropped, err
		}
		dropped += n
	}
	return dropped, nil
}

// dropExpired gives up the upload of a file if it is still too old. A writer that is at work has lost it then.
func (s *Store) dropExpired(ctx context.Context, u *db.Unit, account, file string) (int64, error) {
	f, err := db.Get[File](ctx, u.Locked(), fileColumns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, file)
	if err != nil || f == nil || f.UploadExpiresAt == nil || *f.UploadExpiresAt > s.Now() {
		return 0, err
	}
	if err := s.endUpload(ctx, u, f); err != nil {
		return 0, err
	}
	f.UpdatedAt = s.Now()
	return 1, u.Update(ctx, fileColumns, f)
}

// DueRemovals returns at most limit removals, of any account, whose time has come.
func (s *Store) DueRemovals(ctx context.Context, limit int) ([]Removal, error) {
	return db.Select[Removal](ctx, s.db, `SELECT account_id, id, file_id, version, size, due_at FROM file_removals WHERE due_at < ? ORDER BY due_at LIMIT ?`, s.Now(), limit)
}

// FinishRemoval notes that the bucket has the bytes no more, and gives the account their room back. Again it does nothing.
func (s *Store) FinishRemoval(ctx context.Context, r *Removal) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		rows, err := u.Exec(ctx, `DELETE FROM file_removals WHERE account_id = ? AND id = ?`, r.AccountID, r.ID)
		if err == nil && rows == 1 {
			_, err = u.Exec(ctx, `UPDATE file_usage SET bytes = bytes - ? WHERE account_id = ?`, r.Size, r.AccountID)
		}
		return nil, err
	})
	return err
}
