package grant

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// anyBytes is the type of bytes of which nothing is known.
const anyBytes = "application/octet-stream"

// FileVersion is what a file's bytes are, were, or are going to be. A ready one never changes.
type FileVersion struct {
	AccountID       string     `db:"account_id"`
	ID              string     `db:"id"` // fver_
	FileID          string     `db:"file_id"`
	Version         int64      `db:"version"`
	Size            int64      `db:"size"`
	ContentType     string     `db:"content_type"`
	SHA256          *string    `db:"sha256"` // hex; of a pending version what was promised
	Status          FileStatus `db:"status"`
	UploadExpiresAt *core.Time `db:"upload_expires_at"` // of a pending one
	CreatedAt       core.Time  `db:"created_at"`
	Ready           *string    `db:"ready"`       // tells when it became ready, to be compared with the ids of grants
	TellBuyers      bool       `db:"tell_buyers"` // once it is ready
	UpdatedAt       core.Time  `db:"updated_at"`

	UploadURL string `db:"-"` // of a pending one
}

var fileVersionColumns = db.ColumnsOf[FileVersion]("file_versions")

var _ db.Linked = (*FileVersion)(nil)

// Link fills in the address of the upload, whenever a version is read: see db.Linked.
func (v *FileVersion) Link(d *db.DB) {
	if v.Status == FileStatusPending {
		v.UploadURL = uploadURL(d, v.AccountID, v.ID)
	}
}

// Key returns the name under which the bucket has the version's bytes. It consists of ids and a number alone.
func (v *FileVersion) Key() string { return bucketKey(v.AccountID, v.FileID, v.Version) }

func bucketKey(account, file string, version int64) string {
	return fmt.Sprintf("%s/%s/%d", account, file, version)
}

// NewVersion is what is said of bytes before they are sent.
type NewVersion struct {
	Size        int64
	ContentType string  // "" = to be found out
	SHA256      *string // hex; nil = any
	TellBuyers  bool    // by letters, once it is ready; nobody of the first
}

// ListFileVersions returns a page of the versions of a file, newest first, and whether there are more.
func (s *Store) ListFileVersions(ctx context.Context, account, ref string, p core.Page) ([]FileVersion, bool, error) {
	file, err := s.GetFile(ctx, account, ref)
	if err != nil {
		return nil, false, err
	}
	var f db.Filter
	f.OrderedIfSet("file_id", file.ID)
	return db.Page(ctx, s.db, fileVersionColumns, core.KindFileVersion, account, p, &f)
}

// GetFileVersion returns the version of a file with a number, 0 for the current one. Without such a version it is CodeMissing on
// `version`; one that is not ready is CodeInvalid on `status`.
func (s *Store) GetFileVersion(ctx context.Context, account, ref string, number int64) (*File, *FileVersion, error) {
	f, err := s.GetFile(ctx, account, ref)
	if err != nil {
		return nil, nil, err
	}
	if number == 0 {
		number = f.Version
	}
	v, err := db.Get[FileVersion](ctx, s.db, fileVersionColumns.SelectSQL+` WHERE account_id = ? AND file_id = ? AND version = ?`, account, f.ID, number)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("read file version: %w", err)
	case v == nil && f.IsPending():
		return nil, nil, core.Invalid("status", "This file has no bytes yet. Send a new version of it.")
	case v == nil:
		return nil, nil, core.Missing("version", "version", fmt.Sprint(number))
	case v.Status != FileStatusReady:
		return nil, nil, core.Invalid("status", "This version is not complete yet. Send its bytes, then complete the file.")
	}
	return f, v, nil
}

// CreateFileVersion makes a pending version with an upload for its bytes. One that was still being uploaded is given up.
func (s *Store) CreateFileVersion(ctx context.Context, account, ref string, in NewVersion) (*FileVersion, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*FileVersion, error) {
		f, err := s.lockFile(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		var p core.Problems
		if checkSize(&p, in.Size, s.limits); p.Err() != nil {
			return nil, p.Err()
		}
		if err := s.endUpload(ctx, u, f); err != nil {
			return nil, err
		}
		v, err := s.beginVersion(ctx, u, f, in)
		if err != nil {
			return nil, err
		}
		f.UpdatedAt = v.UpdatedAt
		v.Link(s.db)
		return v, u.Update(ctx, fileColumns, f)
	})
}

// beginVersion stores the next version of a file with its upload, and notes it in the file, which the caller stores. A pending file is
// going to be what this version is.
func (s *Store) beginVersion(ctx context.Context, u *db.Unit, f *File, in NewVersion) (*FileVersion, error) {
	if in.ContentType == "" {
		in.ContentType = anyBytes
	}
	now := s.Now()
	expiresAt := now.Add(uploadLifetime)
	f.LastVersion++
	v := &FileVersion{
		AccountID: f.AccountID, ID: core.NewID(core.KindFileVersion), FileID: f.ID, Version: f.LastVersion, Size: in.Size, ContentType: in.ContentType,
		SHA256: in.SHA256, TellBuyers: in.TellBuyers, Status: FileStatusPending, UploadExpiresAt: &expiresAt, CreatedAt: now, UpdatedAt: now,
	}
	f.UploadID, f.UploadExpiresAt = &v.ID, &expiresAt
	if f.IsPending() {
		f.Version, f.Size, f.ContentType, f.SHA256 = v.Version, v.Size, v.ContentType, v.SHA256
	}
	if err := s.takeRoom(ctx, u, f.AccountID, v.Size); err != nil {
		return nil, err
	}
	if err := u.Insert(ctx, fileVersionColumns, v); err != nil {
		return nil, err
	}
	return v, u.Insert(ctx, uploadColumns, &Upload{
		AccountID: v.AccountID, ID: v.ID, FileID: v.FileID, Version: v.Version, Size: v.Size, ExpiresAt: expiresAt,
	})
}

// endUpload gives up the version of a file that is being uploaded, if there is one. The caller stores the file.
func (s *Store) endUpload(ctx context.Context, u *db.Unit, f *File) error {
	if f.UploadID == nil {
		return nil
	}
	id := *f.UploadID
	f.UploadID, f.UploadExpiresAt, f.UploadURL = nil, nil, ""
	if _, err := u.Exec(ctx, `
		INSERT INTO file_removals (account_id, id, file_id, version, size, due_at)
		SELECT account_id, id, file_id, version, size, CAST(? AS bigint) FROM file_versions WHERE account_id = ? AND id = ?`,
		s.Now().Add(2*UploadLease), f.AccountID, id); err != nil {
		return fmt.Errorf("give up version: %w", err)
	}
	for _, query := range []string{
		`DELETE FROM uploads WHERE account_id = ? AND id = ?`,
		`DELETE FROM upload_parts WHERE account_id = ? AND upload_id = ?`,
		`DELETE FROM file_versions WHERE account_id = ? AND id = ?`,
	} {
		if _, err := u.Exec(ctx, query, f.AccountID, id); err != nil {
			return fmt.Errorf("give up version: %w", err)
		}
	}
	return nil
}

// takeRoom counts bytes of an account that are going to be stored. More than its quota is CodeInvalid on `size`.
func (s *Store) takeRoom(ctx context.Context, u *db.Unit, account string, size int64) error {
	if _, err := u.Exec(ctx, `INSERT INTO file_usage (account_id, bytes) VALUES (?, 0) ON CONFLICT (account_id) DO NOTHING`, account); err != nil {
		return fmt.Errorf("count bytes: %w", err)
	}
	quota := s.limits.Quota
	rows, err := u.Exec(ctx, `UPDATE file_usage SET bytes = bytes + ? WHERE account_id = ? AND (CAST(? AS bigint) = 0 OR bytes + ? <= ?)`, size, account, quota, size, quota)
	if err == nil && rows == 0 {
		return core.Invalid("size", fmt.Sprintf("The files of an account have %d bytes at most, those that were deleted within a day included. Delete some, or ask whoever runs this server for more.", quota))
	}
	return err
}
