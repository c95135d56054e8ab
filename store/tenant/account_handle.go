package tenant

import (
	"context"
	"fmt"
	"strings"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// nameHandle is the kind of a handle in global_names.
const nameHandle = "handle"

// GetAccountByHandle returns the account that has a handle, or CodeMissing.
func (s *Store) GetAccountByHandle(ctx context.Context, handle string) (*Account, error) {
	id, err := db.Get[string](ctx, s.db, `SELECT account_id FROM global_names WHERE kind = ? AND name = ?`, nameHandle, handle)
	if err != nil {
		return nil, fmt.Errorf("look for a handle: %w", err)
	}
	if id == nil {
		return nil, core.Missing("account", "", handle)
	}
	return s.GetAccount(ctx, *id)
}

// takeFreeHandle takes a handle made from the account's name, and returns it. If another account has it, a number is added.
func (s *Store) takeFreeHandle(ctx context.Context, u *db.Unit, a *Account) (string, error) {
	base := db.Slugify(a.Name, core.KindAccount)
	base = strings.Trim(base[:min(50, len(base))], "-")
	if len(base) < 3 {
		base += "-shop"
	}
	for handle := base; ; {
		taken, err := u.TakeGlobalName(ctx, nameHandle, handle, a.ID, a.ID)
		if err != nil || taken {
			return handle, err
		}
		number, err := db.FreeNumber(func(number int) (bool, error) { return s.handleTaken(ctx, u, db.Numbered(base, number)) })
		if err != nil {
			return "", fmt.Errorf("find a free handle: %w", err)
		}
		handle = db.Numbered(base, number)
	}
}

func (s *Store) handleTaken(ctx context.Context, u *db.Unit, handle string) (bool, error) {
	row, err := db.Get[int](ctx, u, `SELECT 1 FROM global_names WHERE kind = ? AND name = ?`, nameHandle, handle)
	return row != nil, err
}

// exchangeHandle gives the account its new handle and frees the former one.
func (s *Store) exchangeHandle(ctx context.Context, u *db.Unit, a *Account, former string) error {
	if _, err := u.Exec(ctx, `DELETE FROM global_names WHERE kind = ? AND name = ? AND account_id = ?`, nameHandle, former, a.ID); err != nil {
		return fmt.Errorf("drop handle: %w", err)
	}
	taken, err := u.TakeGlobalName(ctx, nameHandle, a.Handle, a.ID, a.ID)
	if err == nil && !taken {
		err = core.Invalid("handle", "Another account has this handle. Choose another one.")
	}
	return err
}
