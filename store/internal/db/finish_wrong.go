//go:build wronganswer

package db

import (
	"context"
	"errors"

	"github.com/tillwright/tillwright/store/core"
)

// finish is wrong on purpose. It commits the change and stores the answer in a second transaction, so that a crash in
// between makes the retry do everything again. tests/fault must see that; no release is built with this tag.
func (r *request) finish(ctx context.Context, answer *core.Answer) error {
	if r.key == nil || answer == nil {
		return r.commit(ctx)
	}
	u, err := r.open(ctx)
	if err != nil {
		return err
	}
	_, err = u.Exec(ctx, `DELETE FROM idempotency_keys WHERE account_id = ? AND key = ? AND token = ?`, r.key.Account, r.key.Key, r.token)
	if err := errors.Join(err, r.commit(ctx)); err != nil {
		return err
	}
	if _, err := r.open(ctx); err != nil {
		return err
	}
	if _, err := r.claim(ctx); err != nil {
		return err
	}
	return errors.Join(r.record(ctx, answer), r.commit(ctx))
}
