package picture

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// pauses are how long a picture waits after each attempt that failed for a while. After one more it is given up.
var pauses = []time.Duration{time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour}

// Lease is how long a picture is left to whoever claimed it.
const Lease = 2 * time.Minute

// putOffAtOnce is how many pictures of a silent server are put off together.
const putOffAtOnce = 1000

// Bounds are what an account may have of pictures.
type Bounds struct {
	Pictures, Bytes int64 // that it keeps
	Fetches         int64 // in a day
}

// Usual are the bounds of an account. A shop as large as they allow is fetched in a day.
var Usual = Bounds{Pictures: 5000, Bytes: 1 << 30, Fetches: 5000}

// usage is what an account has of them. What was removed is taken off Pictures and Bytes by the next claim.
type usage struct {
	Pictures int64 `db:"pictures"`
	Bytes    int64 `db:"bytes"`
	Day      int64 `db:"day"`
	Fetches  int64 `db:"fetches"`
}

// keptPictures and keptBytes are what an account keeps, of which the row of usage is u.
const (
	keptPictures = `(u.pictures - (SELECT count(*) FROM picture_removed AS r WHERE r.account_id = u.account_id))`
	keptBytes    = `(u.bytes - (SELECT CAST(COALESCE(SUM(r.bytes), 0) AS BIGINT) FROM picture_removed AS r WHERE r.account_id = u.account_id))`
)

// today is the number of the day, counted from 1970.
func (s *Store) today() int64 { return s.db.Now().Time().Unix() / int64(core.Day/time.Second) }

// Held returns why no picture of an account is fetched now, as a sentence for the seller: "" if they are.
func (s *Store) Held(ctx context.Context, account string) (string, error) {
	u, err := db.Get[usage](ctx, s.db, `SELECT `+keptPictures+` AS pictures, `+keptBytes+` AS bytes, day, fetches FROM picture_usage AS u WHERE account_id = ?`, account)
	switch {
	case err != nil || u == nil:
		return "", err
	case u.Pictures >= s.bounds.Pictures || u.Bytes >= s.bounds.Bytes:
		return fmt.Sprintf("As many pictures are kept for the account as may be: %d, or %d MB. It is fetched once some are removed.", s.bounds.Pictures, s.bounds.Bytes>>20), nil
	case u.Day == s.today() && u.Fetches >= s.bounds.Fetches:
		return fmt.Sprintf("%d pictures of the account were fetched today. It is fetched tomorrow.", s.bounds.Fetches), nil
	}
	return "", nil
}

// Waiting returns the accounts in which a picture is to be fetched now, unless they are disabled, or have what they may. It costs some looks at indexes for
// each account of which a picture is to be fetched some time, however many are. The order is that of the index, since that of the primary key would lead
// through all that were fetched.
func (s *Store) Waiting(ctx context.Context) ([]string, error) {
	return db.PlanningAnew(ctx, s.db, func(ctx context.Context, r db.Reader) ([]string, error) {
		return db.Select[string](ctx, r, `
			WITH RECURSIVE waiting (id) AS (
				SELECT (SELECT account_id FROM pictures WHERE due_at IS NOT NULL ORDER BY account_id, due_at, owner_id LIMIT 1)
				UNION ALL
				SELECT (SELECT p.account_id FROM pictures AS p WHERE p.due_at IS NOT NULL AND p.account_id > waiting.id ORDER BY p.account_id, p.due_at, p.owner_id LIMIT 1)
				FROM waiting WHERE id IS NOT NULL
			) SELECT id FROM waiting WHERE id IS NOT NULL
				AND EXISTS (SELECT 1 FROM pictures AS p WHERE p.account_id = waiting.id AND p.due_at <= ?)
				AND NOT EXISTS (SELECT 1 FROM accounts AS a WHERE a.id = waiting.id AND a.disabled_at IS NOT NULL)
				AND NOT EXISTS (SELECT 1 FROM picture_usage AS u WHERE u.account_id = waiting.id AND (`+keptPictures+` >= ? OR `+keptBytes+` >= ? OR u.day = ? AND u.fetches >= ?))`,
			s.db.Now(), s.bounds.Pictures, s.bounds.Bytes, s.today(), s.bounds.Fetches)
	})
}

// Claim returns a picture of an account that is to be fetched now, by this caller alone. The caller tells Keep or Fail what became of it within
// Lease. The one that waits longest comes first. It is nil if there is none, or if the one that was next is given up. The same goes if the
// account is disabled or has what it may.
func (s *Store) Claim(ctx context.Context, account string) (*Picture, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Picture, error) {
		// As NOT EXISTS the question about the account would be a join, for which PostgreSQL reads and sorts all that is due.
		p, err := db.Get[Picture](ctx, u, selectPicture+`
			WHERE account_id = ? AND due_at <= ? AND (SELECT a.disabled_at FROM accounts AS a WHERE a.id = ?) IS NULL ORDER BY due_at, owner_id LIMIT 1`+u.LockSkip(),
			account, s.db.Now(), account)
		if err != nil || p == nil {
			return nil, err
		}
		if p.Attempts > int64(len(pauses)) {
			return nil, s.end(ctx, u, p, nil, "This server stopped each time that it fetched the picture.")
		}
		if err := settle(ctx, u, account); err != nil {
			return nil, err
		}
		counted, err := u.Exec(ctx, `
			INSERT INTO picture_usage AS u (account_id, day, fetches) VALUES (?, ?, 1)
			ON CONFLICT (account_id) DO UPDATE SET day = excluded.day, fetches = CASE WHEN u.day = excluded.day THEN u.fetches + 1 ELSE 1 END
			WHERE u.pictures < ? AND u.bytes < ? AND (u.day <> excluded.day OR u.fetches < ?)`,
			account, s.today(), s.bounds.Pictures, s.bounds.Bytes, s.bounds.Fetches)
		if err != nil || counted == 0 {
			return nil, err
		}
		claimed := *p
		claimed.Attempts, claimed.DueAt = p.Attempts+1, new(s.db.Now().Add(Lease))
		_, err = u.Exec(ctx, `UPDATE pictures SET due_at = ?, attempts = ? WHERE account_id = ? AND owner_id = ?`, claimed.DueAt, claimed.Attempts, account, p.OwnerID)
		return &claimed, err
	})
}

// settle takes off an account's usage what it has removed. The row of usage is locked before what was removed: so no two settle it at once.
func settle(ctx context.Context, u *db.Unit, account string) error {
	if _, err := db.Get[string](ctx, u.Locked(), `SELECT account_id FROM picture_usage WHERE account_id = ?`, account); err != nil {
		return err
	}
	removed, err := db.Select[int64](ctx, u, `DELETE FROM picture_removed WHERE account_id = ? RETURNING bytes`, account)
	if err != nil || len(removed) == 0 {
		return err
	}
	var bytes int64
	for _, one := range removed {
		bytes += one
	}
	_, err = u.Exec(ctx, `UPDATE picture_usage SET pictures = pictures - ?, bytes = bytes - ? WHERE account_id = ?`, len(removed), bytes, account)
	return err
}

// Made is what was made of a picture: its files by their size, such as 640.jpg.
type Made struct {
	Kind  string
	Sizes []Size
	Files map[string][]byte
}

// former is what was kept of a picture.
type former struct {
	Name  *string `db:"name"`
	Bytes int64   `db:"bytes"`
}

// Keep stores what was made of a picture that was claimed in the place of what was kept before, and reports whether it did. It does not if the
// picture has gone, has another address, or was claimed by somebody else meanwhile.
func (s *Store) Keep(ctx context.Context, claimed *Picture, made *Made) (bool, error) {
	name, bytes := strings.ToLower(rand.Text()), 0
	for _, content := range made.Files {
		bytes += len(content)
	}
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (bool, error) {
		was, err := db.Get[former](ctx, u.Locked(), `SELECT name, bytes FROM pictures WHERE account_id = ? AND owner_id = ? AND address = ? AND due_at = ? AND attempts = ?`,
			claimed.AccountID, claimed.OwnerID, claimed.Address, claimed.DueAt, claimed.Attempts)
		if err != nil || was == nil {
			return false, err
		}
		more := 0
		if was.Name == nil {
			more = 1
		}
		for _, change := range []struct {
			text string
			args []any
		}{
			{`UPDATE pictures SET due_at = NULL, problem = NULL, name = ?, kind = ?, sizes = ?, bytes = ? WHERE account_id = ? AND owner_id = ?`,
				[]any{name, made.Kind, core.JSONOf(made.Sizes), bytes, claimed.AccountID, claimed.OwnerID}},
			{`DELETE FROM picture_files WHERE account_id = ? AND name = ?`, []any{claimed.AccountID, core.Deref(was.Name)}},
			{`UPDATE picture_usage SET pictures = pictures + ?, bytes = bytes + ? WHERE account_id = ?`, []any{more, int64(bytes) - was.Bytes, claimed.AccountID}},
		} {
			if _, err := u.Exec(ctx, change.text, change.args...); err != nil {
				return false, err
			}
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

// Renew leaves a picture that was claimed for another Lease to whoever claimed it, and reports whether it did. It does not if the picture has
// gone, has another address, or was claimed by somebody else meanwhile.
func (s *Store) Renew(ctx context.Context, claimed *Picture) (bool, error) {
	due := s.db.Now().Add(Lease)
	renewed, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `UPDATE pictures SET due_at = ? WHERE account_id = ? AND owner_id = ? AND address = ? AND due_at = ? AND attempts = ?`,
			due, claimed.AccountID, claimed.OwnerID, claimed.Address, claimed.DueAt, claimed.Attempts)
	})
	if err != nil || renewed == 0 {
		return false, err
	}
	claimed.DueAt = &due
	return true, nil
}

// GiveBack leaves a picture that was claimed, and was not asked for to the end, to whoever claims it next. Neither an attempt nor a fetch of the account
// counts.
func (s *Store) GiveBack(ctx context.Context, claimed *Picture) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		given, err := s.giveBack(ctx, u, claimed, s.db.Now(), claimed.Problem)
		if err != nil || !given {
			return nil, err
		}
		_, err = u.Exec(ctx, `UPDATE picture_usage SET fetches = fetches - 1 WHERE account_id = ? AND day = ? AND fetches > 0`, claimed.AccountID, s.today())
		return nil, err
	})
	return err
}

// PutOff leaves a picture that was claimed for so long, because its server was silent. It does the same with those of the account's next pictures
// whose addresses begin like its own, with server. An attempt does not count, a fetch does: so an account has only so many of these, too. Of the
// others nothing counts.
func (s *Store) PutOff(ctx context.Context, claimed *Picture, server string, wait time.Duration, problem string) error {
	due := s.db.Now().Add(wait)
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		if given, err := s.giveBack(ctx, u, claimed, due, &problem); err != nil || !given {
			return nil, err
		}
		_, err := u.Exec(ctx, `UPDATE pictures SET due_at = ?, problem = ? WHERE account_id = ? AND `+s.db.InSelected("owner_id", `
			SELECT owner_id FROM (
				SELECT owner_id, address FROM pictures WHERE account_id = ? AND due_at <= ? ORDER BY due_at, owner_id LIMIT ?`+u.LockSkip()+`
			) AS following WHERE substr(address, 1, ?) = ?`),
			due, problem, claimed.AccountID, claimed.AccountID, s.db.Now(), putOffAtOnce, utf8.RuneCountInString(server), server)
		return nil, err
	})
	return err
}

// giveBack leaves a picture that is still claimed until it is due, without the attempt, and reports whether it did.
func (s *Store) giveBack(ctx context.Context, u *db.Unit, claimed *Picture, due core.Time, problem *string) (bool, error) {
	given, err := u.Exec(ctx, `
		UPDATE pictures SET due_at = ?, attempts = attempts - 1, problem = ? WHERE account_id = ? AND owner_id = ? AND address = ? AND due_at = ? AND attempts = ?`,
		due, problem, claimed.AccountID, claimed.OwnerID, claimed.Address, claimed.DueAt, claimed.Attempts)
	return given > 0, err
}

// end notes a problem of a picture that is still as it was read. It is due again then, or never.
func (s *Store) end(ctx context.Context, u *db.Unit, p *Picture, again *core.Time, problem string) error {
	_, err := u.Exec(ctx, `
		UPDATE pictures SET due_at = ?, problem = ? WHERE account_id = ? AND owner_id = ? AND address = ? AND due_at = ? AND attempts = ?`,
		again, problem, p.AccountID, p.OwnerID, p.Address, p.DueAt, p.Attempts)
	return err
}
