package db

import (
	"context"
	"database/sql"
	"strings"

	"github.com/pressly/goose/v3"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/migrations"
)

// pictureOwner is a table whose rows have a picture. An account has its logo, a blog post its cover, and a product its cover, or else the first of
// its images.
type pictureOwner struct{ table, account, address string }

func pictureOwners(engine string) []pictureOwner {
	first := "images ->> 0"
	if engine == core.PostgreSQL {
		first = "CAST(images AS json) ->> 0"
	}
	return []pictureOwner{
		{"accounts", "id", "logo_url"},
		{"products", "account_id", "COALESCE(cover_url, " + first + ")"},
		{"blog_posts", "account_id", "cover_url"},
	}
}

// PictureOwners returns SQL that selects account_id, id and address of all that may have a picture. The address is null if it has none.
func PictureOwners(engine string) string {
	var parts []string
	for _, o := range pictureOwners(engine) {
		parts = append(parts, "SELECT "+o.account+" AS account_id, id, "+o.address+" AS address FROM "+o.table)
	}
	return strings.Join(parts, " UNION ALL ")
}

// pictures is the step migrations.Pictures: it finds the pictures that were named before there were any. Triggers do that from then on.
func pictures(engine string) *goose.Migration {
	up := &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
		return (&dataStep{engine: engine, conn: tx}).notePictures(ctx)
	}}
	if engine == core.PostgreSQL {
		up = &goose.GoFunc{RunDB: func(ctx context.Context, db *sql.DB) error {
			return (&dataStep{engine: engine, conn: db}).notePictures(ctx)
		}}
	}
	return goose.NewGoMigration(migrations.Pictures, up, nil)
}

// notePictures gives each address of a picture its row, and takes away rows that have no owner. It also takes away files that no row names, and
// corrects what is counted wrongly.
func (s *dataStep) notePictures(ctx context.Context) error {
	for _, o := range pictureOwners(s.engine) {
		if err := s.noteOwners(ctx, o); err != nil {
			return err
		}
	}
	var kept []string
	for _, o := range pictureOwners(s.engine) {
		kept = append(kept, `NOT EXISTS (SELECT 1 FROM `+o.table+` AS o WHERE o.`+o.account+` = pictures.account_id AND o.id = pictures.owner_id AND `+o.address+` IS NOT NULL)`)
	}
	for _, query := range []string{
		`DELETE FROM pictures WHERE ` + strings.Join(kept, " AND "),
		`DELETE FROM picture_files WHERE NOT EXISTS (SELECT 1 FROM pictures AS p WHERE p.account_id = picture_files.account_id AND p.name = picture_files.name)`,
		`UPDATE pictures SET name = NULL, sizes = '[]', bytes = 0, due_at = 0, attempts = 0 WHERE name IS NOT NULL
			AND NOT EXISTS (SELECT 1 FROM picture_files AS f WHERE f.account_id = pictures.account_id AND f.name = pictures.name)`,
		`INSERT INTO picture_usage (account_id) 
			SELECT account_id FROM (SELECT account_id FROM pictures WHERE name IS NOT NULL UNION SELECT account_id FROM picture_removed) AS k WHERE TRUE ON CONFLICT DO NOTHING`,
		// What a picture that comes meanwhile has changed is left as it is.
		`UPDATE picture_usage SET pictures = k.pictures, bytes = k.bytes FROM (
			SELECT u.account_id, u.pictures AS had, u.bytes AS held, count(p.account_id) AS pictures, CAST(COALESCE(SUM(p.bytes), 0) AS BIGINT) AS bytes
			FROM picture_usage u LEFT JOIN (
				SELECT account_id, bytes FROM pictures WHERE name IS NOT NULL UNION ALL SELECT account_id, bytes FROM picture_removed
			) AS p ON p.account_id = u.account_id GROUP BY u.account_id, u.pictures, u.bytes) AS k
		WHERE k.account_id = picture_usage.account_id AND picture_usage.pictures = k.had AND picture_usage.bytes = k.held AND (k.had <> k.pictures OR k.held <> k.bytes)`,
	} {
		if err := s.notePicture(ctx, query); err != nil {
			return err
		}
	}
	return nil
}

// ownerKey is a row of an owner.
type ownerKey struct {
	Account string `db:"account_id"`
	ID      string `db:"id"`
}

// noteOwners gives each address in a table its row, in slices. On PostgreSQL the owners of a slice are held until it is done, so that no address
// changes after it was read. The triggers see what changes then.
func (s *dataStep) noteOwners(ctx context.Context, o pictureOwner) error {
	hold := ""
	if s.engine == core.PostgreSQL {
		hold = " FOR SHARE"
	}
	key := "(" + o.account + ", id)"
	for after := (ownerKey{}); ; {
		last, err := selected[ownerKey](ctx, s, `
			SELECT account_id, id FROM (SELECT `+o.account+` AS account_id, id FROM `+o.table+` WHERE `+key+` > (?, ?) ORDER BY `+o.account+`, id LIMIT ?) AS slice
			ORDER BY account_id DESC, id DESC LIMIT 1`, after.Account, after.ID, stepBatch)
		if err != nil || len(last) == 0 {
			return err
		}
		err = s.notePicture(ctx, `
			INSERT INTO pictures (account_id, owner_id, address) SELECT account_id, id, address FROM (
				SELECT `+o.account+` AS account_id, id, `+o.address+` AS address FROM `+o.table+` WHERE `+key+` > (?, ?) AND `+key+` <= (?, ?)
				ORDER BY `+o.account+`, id`+hold+`) AS slice
			WHERE address IS NOT NULL
			ON CONFLICT (account_id, owner_id) DO UPDATE SET address = excluded.address, due_at = 0, attempts = 0, problem = NULL WHERE pictures.address <> excluded.address`,
			after.Account, after.ID, last[0].Account, last[0].ID)
		if err != nil {
			return err
		}
		after = last[0]
	}
}

// notePicture runs a statement, and counts what it has changed. On PostgreSQL one that lost against another transaction is run again.
func (s *dataStep) notePicture(ctx context.Context, query string, args ...any) error {
	var result sql.Result
	err := (&DB{Engine: s.engine}).Retry(ctx, func() (err error) {
		result, err = s.conn.ExecContext(ctx, s.rebind(query), args...)
		return err
	})
	if err != nil {
		return err
	}
	rows, err := result.RowsAffected()
	s.done.Pictures += int(rows)
	return err
}
