package db

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
)

// Invariant is a promise about what is stored, and the query that finds the rows which break it.
type Invariant struct{ Promise, Query string }

// CheckAll checks the promises one after the other, and calls checked for each of them with the rows that break it, also if
// there are none. Args are the arguments of every query.
func (d *DB) CheckAll(ctx context.Context, promised []Invariant, checked func(string, []core.Violation), args ...any) error {
	for _, i := range promised {
		if err := ctx.Err(); err != nil {
			return err
		}
		broken, err := Select[core.Violation](ctx, d, i.Query, args...)
		if err != nil {
			return fmt.Errorf("check that %s: %w", i.Promise, err)
		}
		for j := range broken {
			broken[j].Promise = i.Promise
		}
		checked(i.Promise, broken)
	}
	return nil
}
