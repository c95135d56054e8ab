package grant

import (
	"context"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/internal/db"
)

// ReadyVersions returns at most limit versions that are ready, of any account. They follow one in the order of accounts and ids;
// nil is before the first.
func (s *Store) ReadyVersions(ctx context.Context, after *FileVersion, limit int) ([]FileVersion, error) {
	if after == nil {
		after = &FileVersion{}
	}
	return db.Select[FileVersion](ctx, s.db, fileVersionColumns.SelectSQL+`
		WHERE (account_id, id) > (?, ?) AND status = 'ready' ORDER BY account_id, id LIMIT ?`, after.AccountID, after.ID, limit)
}

// NamedBytes returns what the bucket may have of files of an account, by key. The value is whether the bytes may still be coming, or are to be
// removed: then they need not be whole.
func (s *Store) NamedBytes(ctx context.Context, account string, files []string) (map[string]bool, error) {
	slices.Sort(files)
	condition, arg := s.db.In("file_id", slices.Compact(files))
	rows, err := db.Select[struct {
		FileID     string `db:"file_id"`
		Version    int64  `db:"version"`
		Unfinished bool   `db:"unfinished"`
	}](ctx, s.db, `
		SELECT file_id, version, status = 'pending' AS unfinished FROM file_versions WHERE account_id = ? AND `+condition+`
		UNION ALL SELECT file_id, version, TRUE FROM file_removals WHERE account_id = ? AND `+condition, account, arg, account, arg)
	if err != nil {
		return nil, fmt.Errorf("find whose bytes these are: %w", err)
	}
	named := map[string]bool{}
	for _, row := range rows {
		named[bucketKey(account, row.FileID, row.Version)] = row.Unfinished
	}
	return named, nil
}
