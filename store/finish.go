//go:build !wronganswer

package store

import "context"

// finish commits the change together with its answer: a crash before it leaves nothing, one after it replays.
func (r *request) finish(ctx context.Context, answer *Answer) error {
	if err := r.record(ctx, answer); err != nil {
		return err
	}
	return r.commit(ctx)
}
