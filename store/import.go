package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tillwright/tillwright/store/activity"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Import says how far a file is imported, and what became of its rows. ID names the file by what it holds.
type Import struct {
	AccountID  string    `db:"account_id"`
	ID         string    `db:"id"`
	Rows       int64     `db:"row_count"`
	ErrorBytes int64     `db:"error_bytes"` // how long the file of the failed rows was
	Created    int64     `db:"created"`
	Updated    int64     `db:"updated"`
	Unchanged  int64     `db:"unchanged"`
	Failed     int64     `db:"failed"`
	CreatedAt  core.Time `db:"created_at"`
	UpdatedAt  core.Time `db:"updated_at"`
}

var importColumns = db.ColumnsOf[Import]("imports")

// GetImport returns how far a file is imported; nothing of it is if it was never begun. An account that does not exist is CodeMissing.
func (s *Store) GetImport(ctx context.Context, account, id string) (*Import, error) {
	if _, err := s.Tenant.GetAccount(ctx, account); err != nil {
		return nil, err
	}
	i, err := db.Get[Import](ctx, s.db, importColumns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, id)
	if err != nil {
		return nil, fmt.Errorf("read import: %w", err)
	}
	if i == nil {
		i = &Import{AccountID: account, ID: id}
	}
	return i, nil
}

// errTried undoes what was done to see what would come of it.
var errTried = errors.New("store: undone, because it was a trial")

// ImportRows runs rows, whose use cases join one transaction, and stores in it how far the file is imported then, as rows returns it. An error
// of rows undoes all of them. A trial is undone too, and is none. Rows may run again: it must begin anew with what it was given.
func (s *Store) ImportRows(ctx context.Context, trial bool, rows func(ctx context.Context) (*Import, error)) (*Import, error) {
	var done *Import
	stored, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Import, error) {
		i, err := rows(ctx)
		if err != nil {
			return nil, err
		}
		if done = i; trial {
			return nil, errTried
		}
		return i, s.saveImport(ctx, u, i)
	})
	if errors.Is(err, errTried) {
		return done, nil
	}
	return stored, err
}

// saveImport stores how far a file is imported.
func (s *Store) saveImport(ctx context.Context, u *db.Unit, i *Import) error {
	isNew := i.CreatedAt == 0
	if i.UpdatedAt = s.Now(); !isNew {
		return u.Update(ctx, importColumns, i)
	}
	i.CreatedAt = i.UpdatedAt
	if err := u.Insert(ctx, importColumns, i); err != nil {
		return err
	}
	kind, _, _ := strings.Cut(i.ID, ":")
	return s.Activity.Note(ctx, u, activity.Activity{AccountID: i.AccountID, Operation: "import", TargetObject: kind})
}
