package grant

import (
	"context"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// GetOpenedFile returns a file that an active grant opens, with the version of it that the grant has. A grant that is not active is CodeInvalid on `status`, a
// file that it does not open CodeMissing on `file`.
func (s *Store) GetOpenedFile(ctx context.Context, account, ref, file string) (*Grant, *File, *FileVersion, error) {
	g, err := s.GetGrant(ctx, account, ref)
	if err != nil {
		return nil, nil, nil, err
	}
	if status := g.StatusNow(); status != StatusActive {
		return nil, nil, nil, core.Invalid("status", fmt.Sprintf("Only an active grant opens files, and this one is %s.", status))
	}
	d, err := s.opens(ctx, g, file)
	if err != nil {
		return nil, nil, nil, err
	}
	if d == nil {
		return nil, nil, nil, core.Missing("file", "file", file)
	}
	f, v, err := s.GetFileVersion(ctx, account, file, core.Deref(d.Version))
	return g, f, v, err
}

// File returns what the grant opens of a file by itself, nil if it has the file in an experience alone. The link of a file sends this one first.
func (g *Grant) File(id string) *Deliverable {
	at := slices.IndexFunc(g.Deliverables, func(d Deliverable) bool { return d.FileID != nil && *d.FileID == id })
	if at < 0 {
		return nil
	}
	return &g.Deliverables[at]
}

// opens returns what a grant opens that is a file, nil if it does not open it. The file is of the product itself, or of an experience that the
// product delivers.
func (s *Store) opens(ctx context.Context, g *Grant, file string) (*Deliverable, error) {
	if d := g.File(file); d != nil {
		return d, nil
	}
	var experiences []string
	for _, d := range g.Deliverables {
		if d.ExperienceID != nil {
			experiences = append(experiences, *d.ExperienceID)
		}
	}
	if len(experiences) == 0 {
		return nil, nil
	}
	condition, arg := s.db.In("x.experience_id", experiences)
	found, err := db.Get[struct {
		Version   int64 `db:"version"`
		Downloads int64 `db:"downloads"`
	}](ctx, s.db, `
		SELECT f.version, COALESCE(n.downloads, 0) AS downloads FROM experience_files x
		JOIN experiences e ON e.account_id = x.account_id AND e.id = x.experience_id
		JOIN files f ON f.account_id = x.account_id AND f.id = x.file_id
		LEFT JOIN grant_downloads n ON n.account_id = f.account_id AND n.grant_id = ? AND n.file_id = f.id
		WHERE x.account_id = ? AND x.file_id = ? AND `+condition+` AND e.status || '' = 'published' LIMIT 1`, g.ID, g.AccountID, file, arg)
	if err != nil || found == nil {
		return nil, err
	}
	return &Deliverable{Type: "file", FileID: &file, Version: &found.Version, DownloadsCount: &found.Downloads, DownloadLimit: g.DownloadLimit}, nil
}

// Download checks that a buyer may have a version of a file now. From its first byte it counts as a download: then CodeForbidden says that the limit is used
// up. A grant that does not open the file any more is CodeGone.
func (s *Store) Download(ctx context.Context, account, grant, file string, version int64, first bool) error {
	g, err := s.GetGrant(ctx, account, grant)
	if err != nil {
		return err
	}
	d, err := s.opens(ctx, g, file)
	if err != nil {
		return err
	}
	if g.StatusNow() != StatusActive || d == nil {
		return &core.Error{Code: core.CodeGone, Message: "The grant does not open this file any more."}
	}
	if !first && *d.DownloadsCount > 0 { // without a first byte there is nothing to go on with
		return nil
	}
	_, err = db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) { return nil, s.count(ctx, u, g, d, version) })
	return err
}

// count counts a download of a version by a grant and of the file, unless there were as many as the limit allows.
func (s *Store) count(ctx context.Context, u *db.Unit, g *Grant, d *Deliverable, version int64) error {
	if _, err := u.Exec(ctx, `
		INSERT INTO grant_downloads (account_id, grant_id, file_id, downloads) VALUES (?, ?, ?, 0) ON CONFLICT (account_id, grant_id, file_id) DO NOTHING`,
		g.AccountID, g.ID, *d.FileID); err != nil {
		return fmt.Errorf("count download: %w", err)
	}
	limit := core.Deref(d.DownloadLimit)
	rows, err := u.Exec(ctx, `
		UPDATE grant_downloads SET downloads = downloads + 1, version = CASE WHEN version > CAST(? AS bigint) THEN version ELSE CAST(? AS bigint) END
		WHERE account_id = ? AND grant_id = ? AND file_id = ? AND (CAST(? AS bigint) = 0 OR downloads < ?)`, version, version, g.AccountID, g.ID, *d.FileID, limit, limit)
	switch {
	case err != nil:
		return fmt.Errorf("count download: %w", err)
	case rows == 0:
		return &core.Error{Code: core.CodeForbidden, Message: fmt.Sprintf("This file was downloaded %d times, which is as often as it may be.", limit)}
	}
	_, err = u.Exec(ctx, `UPDATE files SET downloads_count = downloads_count + 1 WHERE account_id = ? AND id = ?`, g.AccountID, *d.FileID)
	return err
}

// Downloads are those of a file by a grant.
type Downloads struct {
	FileID  string `db:"file_id"`
	Count   int64  `db:"downloads"`
	Version *int64 `db:"version"` // the newest that was downloaded, nil if that was not noted
}

// DownloadsBy returns the downloads by a grant, by the ids of the files.
func (s *Store) DownloadsBy(ctx context.Context, account, grant string) (map[string]Downloads, error) {
	rows, err := db.Select[Downloads](ctx, s.db, `SELECT file_id, downloads, version FROM grant_downloads WHERE account_id = ? AND grant_id = ?`, account, grant)
	if err != nil {
		return nil, fmt.Errorf("read downloads of a grant: %w", err)
	}
	byFile := make(map[string]Downloads, len(rows))
	for _, row := range rows {
		byFile[row.FileID] = row
	}
	return byFile, nil
}
