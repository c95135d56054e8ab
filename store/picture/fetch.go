package picture

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// pauses are how long a picture waits after each attempt that failed for a while. After one more it is given up.
var pauses = []time.Duration{time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour}

// Lease is how long a picture is left to whoever claimed it.
const Lease = 2 * time.Minute

// An account keeps at most so many pictures, of so many bytes together.
const (
	mostPictures = 5000
	mostBytes    = 1 << 30
)

// Waiting returns the accounts in which a picture is to be fetched now. It costs two looks at an index for each account.
func (s *Store) Waiting(ctx context.Context) ([]string, error) {
	return db.PlanningAnew(ctx, s.db, func(ctx context.Context) ([]string, error) {
		return db.Select[string](ctx, s.db, `
			WITH RECURSIVE waiting (account_id) AS (
				SELECT min(account_id) FROM pictures WHERE due_at <= ?
				UNION ALL
				SELECT (SELECT min(p.account_id) FROM pictures AS p WHERE p.due_at <= ? AND p.account_id > waiting.account_id)
				FROM waiting WHERE account_id IS NOT NULL
			) SELECT account_id FROM waiting WHERE account_id IS NOT NULL`, s.db.Now(), s.db.Now())
	})
}

// Claim returns a picture of an account that is to be fetched now, by this caller alone, who tells Keep or Fail what became of it within Lease. The one that
// waits longest comes first. It is nil if there is none, or if the one that was next is given up.
func (s *Store) Claim(ctx context.Context, account string) (*Picture, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Picture, error) {
		p, err := db.Get[Picture](ctx, u, selectPicture+` WHERE account_id = ? AND due_at <= ? ORDER BY due_at, owner_id LIMIT 1`+u.LockSkip(), account, s.db.Now())
		if err != nil || p == nil {
			return nil, err
		}
		if p.Attempts > int64(len(pauses)) {
			return nil, s.end(ctx, u, p, nil, "This server stopped each time that it fetched the picture.")
		}
		kept, err := db.Get[usage](ctx, u, `SELECT count(*) AS pictures, CAST(COALESCE(sum(bytes), 0) AS BIGINT) AS bytes FROM pictures WHERE account_id = ? AND name IS NOT NULL`, account)
		if err != nil {
			return nil, err
		}
		if kept.Pictures >= mostPictures || kept.Bytes >= mostBytes {
			return nil, s.end(ctx, u, p, nil, fmt.Sprintf("The account has as many pictures as are kept: %d, or %d MB.", mostPictures, mostBytes>>20))
		}
		claimed := *p
		claimed.Attempts, claimed.DueAt = p.Attempts+1, new(s.db.Now().Add(Lease))
		_, err = u.Exec(ctx, `UPDATE pictures SET due_at = ?, attempts = ? WHERE account_id = ? AND owner_id = ?`, claimed.DueAt, claimed.Attempts, account, p.OwnerID)
		return &claimed, err
	})
}

// usage is what an account keeps.
type usage struct {
	Pictures int64 `db:"pictures"`
	Bytes    int64 `db:"bytes"`
}

// Made is what was made of a picture: its files by their size, such as 640.jpg.
type Made struct {
	Kind  string
	Sizes []Size
	Files map[string][]byte
}

// Keep stores what was made of a picture that was claimed, and reports whether it did: it does not if the picture has gone, has another address, or was
// claimed by somebody else meanwhile.
func (s *Store) Keep(ctx context.Context, claimed *Picture, made *Made) (bool, error) {
	name, bytes := strings.ToLower(rand.Text()), 0
	for _, content := range made.Files {
		bytes += len(content)
	}
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (bool, error) {
		rows, err := u.Exec(ctx, `
			UPDATE pictures SET due_at = NULL, problem = NULL, name = ?, kind = ?, sizes = ?, bytes = ?
			WHERE account_id = ? AND owner_id = ? AND address = ? AND due_at = ? AND attempts = ?`,
			name, made.Kind, core.JSONOf(made.Sizes), bytes, claimed.AccountID, claimed.OwnerID, claimed.Address, claimed.DueAt, claimed.Attempts)
		if err != nil || rows == 0 {
			return false, err
		}
		for size, content := range made.Files {
			if _, err := u.Exec(ctx, `INSERT INTO picture_files (account_id, name, size, content) VALUES (?, ?, ?, ?)`, claimed.AccountID, name, size, content); err != nil {
				return false, err
			}
		}
		return true, nil
	})
}

// Fail notes why a picture that was claimed cannot be had. If it may be had later, it is tried again, after longer and longer. If it has gone, or was
// claimed by somebody else meanwhile, nothing is noted.
func (s *Store) Fail(ctx context.Context, claimed *Picture, problem string, isFinal bool) error {
	var again *core.Time
	if tried := int(claimed.Attempts); !isFinal && tried <= len(pauses) {
		again = new(s.db.Now().Add(pauses[tried-1]))
	}
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		return nil, s.end(ctx, u, claimed, again, problem)
	})
	return err
}

// end notes a problem of a picture that is still as it was read. It is due again then, or never.
func (s *Store) end(ctx context.Context, u *db.Unit, p *Picture, again *core.Time, problem string) error {
	_, err := u.Exec(ctx, `
		UPDATE pictures SET due_at = ?, problem = ? WHERE account_id = ? AND owner_id = ? AND address = ? AND due_at = ? AND attempts = ?`,
		again, problem, p.AccountID, p.OwnerID, p.Address, p.DueAt, p.Attempts)
	return err
}
