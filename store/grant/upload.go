package grant

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

const (
	// uploadLifetime is how long a version may take from its row to its completion.
	uploadLifetime = 7 * 24 * time.Hour

	// PartSize is how many bytes are stored and noted at once. All parts of an upload have it but the last one, as some S3 servers demand.
	PartSize = 16 << 20
	// MaxParts is how many parts S3 takes for an object.
	MaxParts = 10_000

	// UploadLease is how long an upload belongs to its writer after the last sign of life.
	UploadLease = 90 * time.Second
)

// Upload says how far the bytes of a pending version have come. Its id is the version's.
type Upload struct {
	AccountID  string    `db:"account_id"`
	ID         string    `db:"id"`
	FileID     string    `db:"file_id"`
	Version    int64     `db:"version"`
	Size       int64     `db:"size"`
	Received   int64     `db:"received"`    // whole parts, which the bucket has
	Digest     []byte    `db:"digest"`      // state of the SHA-256 of them; nil before the first
	BucketRef  string    `db:"bucket_ref"`  // by what the bucket knows it; "" before the first byte
	Writer     string    `db:"writer"`      // who may store parts
	LeaseUntil core.Time `db:"lease_until"` // in the database's time
	ExpiresAt  core.Time `db:"expires_at"`
}

var uploadColumns = db.ColumnsOf[Upload]("uploads")

// Key returns the name under which the bucket has the bytes.
func (p *Upload) Key() string { return bucketKey(p.AccountID, p.FileID, p.Version) }

// Parts returns how many parts the bucket has.
func (p *Upload) Parts() int { return int((p.Received + PartSize - 1) / PartSize) }

const uploadContext = "upload\x00"

// uploadURL returns the address to which the bytes of a version are sent. It names the version and its account and carries a signature of
// both: whoever has it needs no key, and nobody can make another.
func uploadURL(d *db.DB, account, id string) string {
	named := id + "_" + strings.TrimPrefix(account, core.KindAccount.Prefix())
	return d.Options.PublicURL + "/uploads/" + named + "_" + core.TokenEncoding.EncodeToString(d.Options.Sealer.Sign(uploadContext+named))
}

// OpenUpload returns the upload that an address is of. A token that was not made here is CodeMissing, an upload that was completed,
// given up or is too old is CodeGone.
func (s *Store) OpenUpload(ctx context.Context, token string) (*Upload, error) {
	named, signature, ok := cutLast(token)
	signed, err := core.TokenEncoding.DecodeString(signature)
	if !ok || err != nil || core.TokenEncoding.EncodeToString(signed) != signature || !s.db.Options.Sealer.Signed(uploadContext+named, signed) {
		return nil, core.Missing("upload", "", "")
	}
	id, account, _ := cutLast(named)
	account = core.KindAccount.Prefix() + account
	found, err := db.Get[Upload](ctx, s.db, uploadColumns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, id)
	if err != nil {
		return nil, fmt.Errorf("read upload: %w", err)
	}
	if found == nil || found.ExpiresAt <= s.Now() {
		return nil, uploadGone()
	}
	return found, nil
}

func cutLast(s string) (before, after string, ok bool) {
	at := strings.LastIndexByte(s, '_')
	if at < 0 {
		return "", s, false
	}
	return s[:at], s[at+1:], true
}

func uploadGone() error {
	return &core.Error{Code: core.CodeGone, Message: "This upload is over: the file was completed or deleted, another version was begun, or seven days have passed."}
}

// uploadTaken returns the refusal of an upload that somebody else is sending.
func uploadTaken() error {
	return &core.Error{Code: core.CodeUploadConflict, After: 5 * time.Second,
		Message: "Another connection sends bytes of this file. Wait until it has ended, which takes a minute if it was cut off, then ask for `received`."}
}

// UploadElsewhere returns the refusal of an offset at which nothing can be added.
func UploadElsewhere(received int64) error {
	return &core.Error{Code: core.CodeUploadConflict, Message: fmt.Sprintf("Go on at offset %d, or start again without one.", received)}
}

// ClaimUpload makes the caller the writer of an upload, at an offset, and commits. It is CodeUploadConflict if there is another writer, or if the
// offset is neither 0 nor where the bytes end. It is CodeGone if the upload is over.
func (s *Store) ClaimUpload(ctx context.Context, p *Upload, offset int64) (*Upload, error) {
	return db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Upload, error) {
		return s.claimUpload(ctx, u, p.AccountID, p.ID, core.NewULID(), func(p *Upload) error {
			if offset != 0 && offset != p.Received {
				return UploadElsewhere(p.Received)
			}
			return nil
		})
	})
}

// claimUpload locks an upload that nobody else is sending, checks it, and makes writer its writer.
func (s *Store) claimUpload(ctx context.Context, u *db.Unit, account, id, writer string, check func(*Upload) error) (*Upload, error) {
	found, err := db.Get[Upload](ctx, u.Locked(), uploadColumns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, id)
	if err != nil {
		return nil, fmt.Errorf("lock upload: %w", err)
	}
	if found == nil || found.ExpiresAt <= s.Now() {
		return nil, uploadGone()
	}
	if err := check(found); err != nil {
		return nil, err
	}
	found.Writer = writer
	dbNow := s.db.NowSQL()
	rows, err := u.Exec(ctx, `UPDATE uploads SET writer = ?, lease_until = `+dbNow+` + ? WHERE account_id = ? AND id = ? AND (writer = ? OR lease_until < `+dbNow+`)`,
		writer, UploadLease.Microseconds(), account, id, writer)
	if err == nil && rows == 0 {
		err = uploadTaken()
	}
	return found, err
}

// BeginUpload notes by what the bucket knows an upload of which it has nothing yet, and commits. What was received before counts no more.
func (s *Store) BeginUpload(ctx context.Context, p *Upload, bucketRef string) error {
	_, err := db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		if err := s.holdUpload(ctx, u, p, `received = 0, digest = NULL, bucket_ref = ?, `, bucketRef); err != nil {
			return nil, err
		}
		_, err := u.Exec(ctx, `DELETE FROM upload_parts WHERE account_id = ? AND upload_id = ?`, p.AccountID, p.ID)
		return nil, err
	})
	if err == nil {
		p.Received, p.Digest, p.BucketRef = 0, nil, bucketRef
	}
	return err
}

// AddPart notes a part that the bucket has stored, with how many bytes there are now and the state of their hash, and commits.
func (s *Store) AddPart(ctx context.Context, p *Upload, number int, tag string, received int64, digest []byte) error {
	_, err := db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		if err := s.holdUpload(ctx, u, p, `received = ?, digest = ?, `, received, digest); err != nil {
			return nil, err
		}
		_, err := u.Exec(ctx, `INSERT INTO upload_parts (account_id, upload_id, number, tag) VALUES (?, ?, ?, ?)`, p.AccountID, p.ID, number, tag)
		return nil, err
	})
	if err == nil {
		p.Received, p.Digest = received, digest
	}
	return err
}

// HoldUpload prolongs the lease of an upload's writer, and commits. It is CodeUploadConflict if somebody else is the writer by now.
func (s *Store) HoldUpload(ctx context.Context, p *Upload) error {
	_, err := db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) { return nil, s.holdUpload(ctx, u, p, ``) })
	return err
}

// holdUpload sets columns of an upload and prolongs the lease of its writer, unless somebody else is that by now.
func (s *Store) holdUpload(ctx context.Context, u *db.Unit, p *Upload, set string, values ...any) error {
	rows, err := u.Exec(ctx, `UPDATE uploads SET `+set+`lease_until = `+s.db.NowSQL()+` + ? WHERE account_id = ? AND id = ? AND writer = ?`,
		append(values, UploadLease.Microseconds(), p.AccountID, p.ID, p.Writer)...)
	if err == nil && rows == 0 {
		err = uploadTaken()
	}
	return err
}

// LeaveUpload ends the lease of an upload's writer, and commits.
func (s *Store) LeaveUpload(ctx context.Context, p *Upload) error {
	_, err := db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `UPDATE uploads SET writer = '', lease_until = 0 WHERE account_id = ? AND id = ? AND writer = ?`, p.AccountID, p.ID, p.Writer)
	})
	return err
}

// PartTags returns by what the bucket knows the parts of an upload, in their order.
func (s *Store) PartTags(ctx context.Context, p *Upload) ([]string, error) {
	return db.Select[string](ctx, s.db, `SELECT tag FROM upload_parts WHERE account_id = ? AND upload_id = ? ORDER BY number`, p.AccountID, p.ID)
}
