package store

import (
	"context"
	"fmt"
	"github.com/tillwright/tillwright/store/core"
)

// invariant is a promise about what is stored, and the query that finds the rows which break it.
type invariant struct{ promise, query string }

func (s *Store) checkAll(ctx context.Context, promised []invariant, checked func(string, []core.Violation), args ...any) error {
	for _, i := range promised {
		if err := ctx.Err(); err != nil {
			return err
		}
		broken, err := selectAll[core.Violation](ctx, s, i.query, args...)
		if err != nil {
			return fmt.Errorf("check that %s: %w", i.promise, err)
		}
		for j := range broken {
			broken[j].Promise = i.promise
		}
		checked(i.promise, broken)
	}
	return nil
}
