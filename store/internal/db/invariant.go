package db

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
)

// Invariant is a promise about what is stored, and the query that finds the rows which break it.
type Invariant struct{ Promise, Query string }

// CheckAll tells of each promise which rows break it.
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
