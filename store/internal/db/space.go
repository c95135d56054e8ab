package db

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
)

// GiveSpaceBack makes the file of an embedded database smaller, and returns by how many pages. It gives back at most limit pages, of which nothing is
// in use any more. What will soon be used again stays. Nothing is given back while less than a quarter of the file is unused, or less than 64 MB. A
// file of a version before this could be done is never made smaller.
func (d *DB) GiveSpaceBack(ctx context.Context, limit int) (int64, error) {
	if d.Engine != core.SQLite {
		return 0, nil
	}
	type size struct {
		Pages  int64 `db:"page_count"`
		Unused int64 `db:"freelist_count"`
	}
	const sizeSQL = `SELECT page_count, freelist_count FROM pragma_page_count, pragma_freelist_count`
	before, err := Get[size](ctx, d, sizeSQL)
	if err != nil || before.Unused < leastUnused || before.Unused*4 < before.Pages {
		return 0, err
	}
	return Tx(ctx, d, func(ctx context.Context, u *Unit) (int64, error) {
		if _, err := u.Exec(ctx, fmt.Sprintf(`PRAGMA incremental_vacuum(%d)`, limit)); err != nil {
			return 0, err
		}
		after, err := Get[size](ctx, u, sizeSQL)
		if err != nil {
			return 0, err
		}
		return before.Pages - after.Pages, nil
	})
}

// leastUnused is how many pages of 4 KB have to be unused before any is given back.
const leastUnused = 64 << 20 / 4096
