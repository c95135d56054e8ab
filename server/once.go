//go:build !wrong

package server

import (
	"context"

	"github.com/tillwright/tillwright/store/core"
)

// once does what a request asks for in one transaction with its answer. After a crash before the commit nothing of it is left. After a later one
// the answer is replayed. Replayed is true if there was an answer already.
func (s *Server) once(ctx context.Context, key *core.Key, do func(context.Context) (*core.Answer, error), turn ...func() (func(), error)) (answer *core.Answer, replayed bool, err error) {
	return s.store.Request(ctx, key, do, turn...)
}
