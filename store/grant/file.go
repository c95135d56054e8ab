package grant

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// DefaultFileSize is how many bytes a file has at most, unless it is set otherwise.
const DefaultFileSize = 10 << 30

// keptAfterDelete is how long the bytes of a deleted file stay in the bucket, for a backup of the database that still names them.
const keptAfterDelete = 24 * time.Hour

// FileStatus says whether the bytes of a file, or of a version, are there.
type FileStatus string

// The states of a file and of a version.
const (
	FileStatusPending FileStatus = "pending"
	FileStatusReady   FileStatus = "ready"
)

// File is a file to be sold. Its bytes are those of its version. Of a pending file, Size to Version say what the upload is going to be.
type File struct {
	AccountID       string        `db:"account_id"`
	ID              string        `db:"id"`
	Name            string        `db:"name"` // never a path
	Size            int64         `db:"size"`
	ContentType     string        `db:"content_type"`
	SHA256          *string       `db:"sha256"` // hex; of a pending file what was promised
	Version         int64         `db:"version"`
	LastVersion     int64         `db:"last_version"` // the highest number that was ever given
	Status          FileStatus    `db:"status"`
	UploadID        *string       `db:"upload_id"` // the version that is being uploaded
	UploadExpiresAt *core.Time    `db:"upload_expires_at"`
	DownloadsCount  int64         `db:"downloads_count"` // of buyers
	Metadata        core.Metadata `db:"metadata"`
	CreatedAt       core.Time     `db:"created_at"`
	UpdatedAt       core.Time     `db:"updated_at"`

	UploadURL string `db:"-"` // of UploadID
}

var fileColumns = db.ColumnsOf[File]("files")

var _ db.Linked = (*File)(nil)

// Link fills in the address of the upload, whenever a file is read: see db.Linked.
func (f *File) Link(d *db.DB) {
	if f.UploadID != nil {
		f.UploadURL = uploadURL(d, f.AccountID, *f.UploadID)
	}
}

// IsPending reports whether the file has no bytes yet.
func (f *File) IsPending() bool { return f.Status == FileStatusPending }

// check returns CodeInvalid, with every field at fault, for a file that cannot be stored.
func (f *File) check(l Limits) error {
	var p core.Problems
	p.Check(isFileName(f.Name), "name", "Send a name of 1 to 255 characters, without slashes, backslashes and control characters, and neither . nor ..")
	checkSize(&p, f.Size, l)
	f.Metadata.Check(&p)
	return p.Err()
}

func checkSize(p *core.Problems, size int64, l Limits) {
	p.Check(1 <= size && size <= l.FileSize, "size", fmt.Sprintf("A file has 1 to %d bytes.", l.FileSize))
}

// isFileName reports whether a file may be saved under this name. No part of a path may be, nor what a terminal or a header would take for
// something else.
func isFileName(name string) bool {
	length := utf8.RuneCountInString(name)
	return utf8.ValidString(name) && 1 <= length && length <= 255 && strings.TrimSpace(name) != "" && name != "." && name != ".." &&
		!strings.ContainsFunc(name, func(r rune) bool { return r == '/' || r == '\\' || unicode.IsControl(r) || isSeparator(r) })
}

// isSeparator reports whether a character ends a line or turns the direction of a text, by which a name could hide how it ends.
func isSeparator(r rune) bool {
	return r == '\u2028' || r == '\u2029' || '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069'
}

// ListFiles holds the filters of a list of files. An empty one does not filter.
type ListFiles struct {
	core.Page
	core.ListFilter
	Status FileStatus
}

// NewFile is a file to be made, and what is said of its bytes.
type NewFile struct {
	Name     string
	Metadata core.Metadata
	NewVersion
}

// GetFile returns a file, or CodeMissing.
func (s *Store) GetFile(ctx context.Context, account, ref string) (*File, error) {
	return findFile(ctx, s.db, account, ref)
}

// FilesByID returns those of the account's files with these ids that exist, by id.
func (s *Store) FilesByID(ctx context.Context, account string, ids []string) (map[string]*File, error) {
	return db.ByID(ctx, s.db, fileColumns, account, ids)
}

// ListFiles returns a page of files, newest first, and whether there are more.
func (s *Store) ListFiles(ctx context.Context, account string, in ListFiles) ([]File, bool, error) {
	var f db.Filter
	f.OrderedIfSet("status", string(in.Status))
	f.List(s.db, "files", core.KindFile, in.ListFilter, "name")
	return db.Page(ctx, s.db, fileColumns, core.KindFile, account, in.Page, &f)
}

// CreateFile makes a pending file with an upload for its bytes. A size that the server, or what the account has room for, does not allow
// is CodeInvalid.
func (s *Store) CreateFile(ctx context.Context, account string, in NewFile) (*File, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*File, error) {
		now := s.Now()
		f := &File{
			AccountID: account, ID: core.NewID(core.KindFile), Name: in.Name, Status: FileStatusPending, Size: in.Size,
			Metadata: in.Metadata, CreatedAt: now, UpdatedAt: now,
		}
		if err := f.check(s.limits); err != nil {
			return nil, err
		}
		if _, err := s.beginVersion(ctx, u, f, in.NewVersion); err != nil {
			return nil, err
		}
		f.Link(s.db)
		return f, u.Insert(ctx, fileColumns, f)
	})
}

// UpdateFile locks the file, applies change and stores it. Change may change the name and the metadata.
func (s *Store) UpdateFile(ctx context.Context, account, ref string, change func(*File)) (*File, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*File, error) {
		f, err := s.lockFile(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		before := *f
		change(f)
		if err := f.check(Limits{FileSize: f.Size}); err != nil || core.SameJSON(before, *f) {
			return f, err
		}
		f.UpdatedAt = s.Now()
		return f, u.Update(ctx, fileColumns, f)
	})
}

// DeleteFile deletes a file with its versions and returns it. Its bytes are removed a day later. One that an active product delivers is
// CodeInvalid on base, and so is one that an experience has which is not archived.
func (s *Store) DeleteFile(ctx context.Context, account, ref string) (*File, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*File, error) {
		f, err := s.lockFile(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		if err := s.checkUnnamed(ctx, u, f); err != nil {
			return nil, err
		}
		if err := s.endUpload(ctx, u, f); err != nil {
			return nil, err
		}
		if _, err := u.Exec(ctx, `
			INSERT INTO file_removals (account_id, id, file_id, version, size, due_at)
			SELECT account_id, id, file_id, version, size, CAST(? AS bigint) FROM file_versions WHERE account_id = ? AND file_id = ?`,
			s.Now().Add(keptAfterDelete), account, f.ID); err != nil {
			return nil, fmt.Errorf("delete file: %w", err)
		}
		for _, query := range []string{
			`DELETE FROM file_versions WHERE account_id = ? AND file_id = ?`,
			`DELETE FROM file_notices WHERE account_id = ? AND file_id = ?`,
			`DELETE FROM files WHERE account_id = ? AND id = ?`,
		} {
			if _, err := u.Exec(ctx, query, account, f.ID); err != nil {
				return nil, fmt.Errorf("delete file: %w", err)
			}
		}
		return f, nil
	})
}

// checkUnnamed returns CodeInvalid on base for a locked file that an active product delivers, or that an experience has which is not archived.
func (s *Store) checkUnnamed(ctx context.Context, u *db.Unit, f *File) error {
	product, err := u.DeliveredBy(ctx, f.AccountID, "file", f.ID)
	if err == nil && product != "" {
		err = core.Invalid("base", fmt.Sprintf("Product %s is active and delivers this file. Take it off its deliverables first.", product))
	}
	if err != nil {
		return err
	}
	experience, err := db.Get[string](ctx, u, `
		SELECT e.id FROM experience_files x CROSS JOIN experiences e -- in this order, without statistics too
		WHERE x.account_id = ? AND x.file_id = ? AND e.account_id = x.account_id AND e.id = x.experience_id AND e.status <> 'archived' LIMIT 1`, f.AccountID, f.ID)
	if err != nil {
		return fmt.Errorf("look for an experience with a file: %w", err)
	}
	if experience != nil {
		return core.Invalid("base", fmt.Sprintf("Experience %s has this file. Take it out of its content, or archive it, first.", *experience))
	}
	return nil
}

// lockFile does what GetFile does, and locks the row until the transaction ends.
func (s *Store) lockFile(ctx context.Context, u *db.Unit, account, ref string) (*File, error) {
	return findFile(ctx, u.Locked(), account, ref)
}

// findFile returns a file, or CodeMissing.
func findFile(ctx context.Context, r db.Reader, account, ref string) (*File, error) {
	id, ok := core.ParseID(core.KindFile, ref)
	if !ok {
		return nil, core.Missing("file", "", ref)
	}
	f, err := db.Get[File](ctx, r, fileColumns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, id)
	if err == nil && f == nil {
		err = core.Missing("file", "", ref)
	}
	return f, err
}
