//go:build !wronganswer

package db

import (
	"context"

	"github.com/tillwright/tillwright/store/core"
)

// finish commits the change together with its answer: a crash before it leaves nothing, one after it replays.
func (r *request) finish(ctx context.Context, answer *core.Answer) error {
	if err := r.record(ctx, answer); err != nil {
		return err
	}
	return r.commit(ctx)
}
