//go:build wrong

package server

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/tillwright/tillwright/store/core"
)

// once is wrong on purpose if WRONG_ON_PURPOSE is answer. It looks for an answer, commits what is asked for, and stores the answer in another
// transaction. So a crash in between makes the same request do everything again. It waits in between, so that a kill at random meets that.
// tests/fault must see it; no release is built with this tag.
func (s *Server) once(ctx context.Context, key *core.Key, do func(context.Context) (*core.Answer, error), turn ...func() (func(), error)) (answer *core.Answer, replayed bool, err error) {
	if os.Getenv("WRONG_ON_PURPOSE") != "answer" {
		return s.store.Request(ctx, key, do, turn...)
	}
	errUnanswered := errors.New("there is no answer yet")
	answer, replayed, err = s.store.Request(ctx, key, func(context.Context) (*core.Answer, error) { return nil, errUnanswered })
	if !errors.Is(err, errUnanswered) {
		return answer, replayed, err
	}
	if answer, _, err = s.store.Request(ctx, nil, do, turn...); err != nil || key == nil || answer.Status >= 300 {
		return answer, false, err
	}
	time.Sleep(100 * time.Millisecond)
	return s.store.Request(ctx, key, func(context.Context) (*core.Answer, error) { return answer, nil })
}
