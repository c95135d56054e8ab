package grant

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Completing returns the refusal of a request while a file is being completed.
func Completing() error {
	return &core.Error{Code: core.CodeInProgress, After: 5 * time.Second,
		Message: "The bytes of this file are still being put together. Complete it again in some seconds; nothing has to be sent anew."}
}

// ClaimComplete makes the request the writer of the upload of a file, for it to be completed, and commits. The same request sent again takes
// it over. The upload is nil if nothing is being uploaded: then the file is as it shall be. Bytes that are missing are CodeInvalid on `size`,
// a file that somebody completes already is CodeInProgress.
func (s *Store) ClaimComplete(ctx context.Context, account, ref string) (*File, *FileVersion, *Upload, error) {
	type claim struct {
		file    *File
		version *FileVersion
		upload  *Upload
	}
	c, err := db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (claim, error) {
		f, err := s.lockFile(ctx, u, account, ref)
		if err != nil {
			return claim{}, err
		}
		if f.UploadID == nil && f.IsPending() {
			return claim{}, core.Invalid("status", "It is too late to complete this upload: it was begun more than seven days ago. Send a new version of the file.")
		}
		if f.UploadID == nil {
			return claim{file: f}, nil
		}
		v, err := db.Get[FileVersion](ctx, u, fileVersionColumns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, *f.UploadID)
		if err != nil || v == nil {
			return claim{}, fmt.Errorf("read pending version: %w", err)
		}
		upload, err := s.claimUpload(ctx, u, account, v.ID, s.db.Effect(ctx), func(p *Upload) error {
			if p.Received < p.Size {
				return core.Invalid("size", fmt.Sprintf("%d of %d bytes have arrived. Send the rest to the upload's URL with ?offset=%d.", p.Received, p.Size, p.Received))
			}
			return nil
		})
		return claim{f, v, upload}, completing(err)
	})
	return c.file, c.version, c.upload, err
}

// completing returns an error, or the refusal that says it in the words of who completes if somebody else is the upload's writer.
func completing(err error) error {
	if e, ok := errors.AsType[*core.Error](err); ok && e.Code == core.CodeUploadConflict {
		return Completing()
	}
	return err
}

// FinishComplete makes a version ready whose bytes the bucket has, and moves its file to it, and has customers told if that was
// asked for. It is CodeInProgress if somebody else is the
// upload's writer by now.
func (s *Store) FinishComplete(ctx context.Context, v *FileVersion, p *Upload, sha256, contentType string) (*File, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*File, error) {
		f, err := s.lockFile(ctx, u, v.AccountID, v.FileID)
		if err != nil {
			return nil, err
		}
		if err := s.holdUpload(ctx, u, p, ``); err != nil {
			return nil, completing(err)
		}
		v.SHA256, v.ContentType, v.Status, v.UploadExpiresAt, v.Ready, v.UpdatedAt = &sha256, contentType, FileStatusReady, nil, new(core.NewULID()), s.Now()
		if err := u.Update(ctx, fileVersionColumns, v); err != nil {
			return nil, err
		}
		if err := s.noteReady(ctx, u, v, f.IsPending()); err != nil {
			return nil, err
		}
		f.Version, f.Size, f.ContentType, f.SHA256, f.Status = v.Version, v.Size, v.ContentType, v.SHA256, FileStatusReady
		f.UploadID, f.UploadExpiresAt, f.UploadURL, f.UpdatedAt = nil, nil, "", v.UpdatedAt
		if err := u.Update(ctx, fileColumns, f); err != nil {
			return nil, err
		}
		for _, query := range []string{
			`DELETE FROM upload_parts WHERE account_id = ? AND upload_id = ?`,
			`DELETE FROM uploads WHERE account_id = ? AND id = ?`,
		} {
			if _, err := u.Exec(ctx, query, v.AccountID, v.ID); err != nil {
				return nil, fmt.Errorf("end upload: %w", err)
			}
		}
		return f, nil
	})
}
