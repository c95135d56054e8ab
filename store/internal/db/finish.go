//go:build !wronganswer

package db

import (
	"context"

	"github.com/tillwright/tillwright/store/core"
)

// finish commits what the request has changed together with its answer: if the server crashes before that nothing is left of
// it, and after that the answer is replayed.
func (r *request) finish(ctx context.Context, answer *core.Answer) error {
	if err := r.record(ctx, answer); err != nil {
		return err
	}
	return r.commit(ctx)
}
