package advert

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"math"
	"strings"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Page says which page of a list of ads is wanted, newest first. There are two ways to say it; Cursor wins over Page.
type Page struct {
	Limit  int    // 1..100
	Cursor string // NextCursor of the page before
	Page   int    // 1-based; 0 = 1
}

// List is one page of a list. NextCursor leads to the next page and is empty on the last one. Whoever follows the
// cursors gets every row that was there at the beginning exactly once.
type List[T any] struct {
	Items      []T
	HasMore    bool
	NextCursor string
}

// cursorSum is how many bytes of a hash stand before the row's id in a cursor.
const cursorSum = 9

// CursorBehind returns the cursor that continues behind a row of the list that the filters describe. Its hash ties it to
// these filters.
func CursorBehind(row, filters string) string {
	sum := sha256.Sum256([]byte(row + "\x00" + filters))
	return base64.RawURLEncoding.EncodeToString(append(sum[:cursorSum], row...))
}

// OpenCursor returns the id of the row that a cursor continues behind. If CursorBehind did not make it for these filters,
// the error is CodeBadRequest on cursor.
func OpenCursor(cursor, filters string) (string, error) {
	text, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err == nil && len(text) > cursorSum {
		row := string(text[cursorSum:])
		if strings.Trim(row, core.IDAlphabet+"_u") == "" && subtle.ConstantTimeCompare([]byte(CursorBehind(row, filters)), []byte(cursor)) == 1 {
			return row, nil
		}
	}
	return "", &core.Error{Code: core.CodeBadRequest, Param: "cursor",
		Message: "Send next_cursor of the previous page as it was, with the filters that it was asked for with."}
}

// listPage returns a page of an account's rows in a table. The conditions of the list are in f. The filters describe the same in words, so that a
// cursor is only taken by the list that it was made for.
func listPage[T any](ctx context.Context, s *Store, c *db.Columns[T], account string, p Page, f *db.Filter, filters ...string) (*List[T], error) {
	described := strings.Join(append([]string{c.Table, account}, filters...), "\x00")
	where, args := f.SQL()
	query, args := c.SelectSQL+" WHERE account_id = ?"+where, append([]any{account}, args...)
	offset := min(max(p.Page-1, 0), math.MaxInt32) * p.Limit
	if p.Cursor != "" {
		row, err := OpenCursor(p.Cursor, described)
		if err != nil {
			return nil, err
		}
		query, args, offset = query+" AND id < ?", append(args, row), 0
	}
	rows, err := db.Select[T](db.Abortable(ctx), s.db, query+" ORDER BY account_id DESC, id DESC LIMIT ? + 1 OFFSET ?", append(args, p.Limit, offset)...)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", c.Table, err)
	}
	list := &List[T]{}
	list.Items, list.HasMore = db.PageOf(core.Page{Limit: p.Limit}, rows)
	if list.HasMore {
		list.NextCursor = CursorBehind(c.IDOf(&list.Items[p.Limit-1]), described)
	}
	return list, nil
}
