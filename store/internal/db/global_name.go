package db

import (
	"context"
	"fmt"
)

// TakeGlobalName gives an object a name that is unique over all accounts, and reports false if the name is taken. A former name
// of a site does not count as taken: it goes to whoever asks for it.
func (u *Unit) TakeGlobalName(ctx context.Context, kind, name, account, objectID string) (bool, error) {
	rows, err := u.Exec(ctx, `
		INSERT INTO global_names (kind, name, account_id, object_id) VALUES (?, ?, ?, ?)
		ON CONFLICT (kind, name) DO NOTHING`, kind, name, account, objectID)
	if err != nil {
		return false, fmt.Errorf("take %s: %w", kind, err)
	}
	if rows == 0 {
		return false, nil
	}
	_, err = u.Exec(ctx, `DELETE FROM global_names WHERE kind = ? AND name = ?`, "former_"+kind, name)
	return true, err
}
