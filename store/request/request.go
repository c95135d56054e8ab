package request

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Keep is how long requests are kept.
const Keep = 7 * 24 * time.Hour

// Most is how many requests of an account are kept; an account may have trimAfter more for a while.
const Most = 50_000

// trimAfter is how many rows are written for an account before those beyond Most are looked for: that reads as many entries of an index.
const trimAfter = 5_000

// trimBatch is how many rows one transaction deletes at most, so that nobody has to wait for it.
const trimBatch = 500

// Request is one request of a program.
type Request struct {
	AccountID string        `db:"account_id"`
	ID        string        `db:"id"` // that its answer has in X-Request-Id
	KeyID     string        `db:"key_id"`
	Method    string        `db:"method"`
	Path      string        `db:"path"` // without a query
	Operation string        `db:"operation"`
	Status    int           `db:"status"`
	Class     int           `db:"class"` // the first digit of Status
	Address   string        `db:"address"`
	Duration  time.Duration `db:"-"`
	Micros    int64         `db:"duration"`
	Error     *string       `db:"error"` // the envelope, nil if it did not fail
	CreatedAt core.Time     `db:"created_at"`
}

var columns = db.ColumnsOf[Request]("requests")

// ListRequests are the filters of a list. An empty one does not filter.
type ListRequests struct {
	core.Page
	Class     int
	Key       string
	Operation string
	Path      string
	ID        string
}

// ListRequests returns a page of an account's requests, newest first, and whether there is more. Of filters that together would need too many rows to be
// examined it returns what was found so far, and that there is more.
func (s *Store) ListRequests(ctx context.Context, account string, in ListRequests) ([]Request, bool, error) {
	var f db.Filter
	if in.Class != 0 {
		f.Ordered("class", in.Class)
	}
	f.OrderedIfSet("key_id", in.Key)
	f.OrderedIfSet("operation", in.Operation)
	f.OrderedIfSet("path", in.Path)
	if in.ID != "" {
		f.Among(s.db, []string{in.ID})
	}
	in.Partial = true
	return db.Page(ctx, s.db, columns, core.KindRequest, account, in.Page, &f)
}

// GetRequest returns a request, or CodeMissing.
func (s *Store) GetRequest(ctx context.Context, account, id string) (*Request, error) {
	r, err := db.Get[Request](ctx, s.db, columns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, id)
	if err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	if r == nil {
		return nil, core.Missing("request", "id", id)
	}
	return r, nil
}

// CountDropped returns how many requests of an account were not kept since a moment, to the hour.
func (s *Store) CountDropped(ctx context.Context, account string, since core.Time) (int64, error) {
	n, err := db.Get[int64](ctx, s.db, `SELECT COALESCE(SUM(dropped), 0) FROM request_gaps WHERE account_id = ? AND hour >= ?`, account, since)
	if err != nil || n == nil {
		return 0, err
	}
	return *n, nil
}

// Write stores requests, and how many of each account were dropped meanwhile.
func (s *Store) Write(ctx context.Context, requests []Request, dropped map[string]int64) error {
	for i := range requests {
		requests[i].Class, requests[i].Micros = requests[i].Status/100, requests[i].Duration.Microseconds()
	}
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		hour := core.TimeOf(s.Now().Time().Truncate(time.Hour))
		for _, account := range slices.Sorted(maps.Keys(dropped)) { // in one order, or replicas would lock crosswise
			if _, err := u.Exec(ctx, `
				INSERT INTO request_gaps (account_id, hour, dropped) VALUES (?, ?, ?)
				ON CONFLICT (account_id, hour) DO UPDATE SET dropped = request_gaps.dropped + excluded.dropped`, account, hour, dropped[account]); err != nil {
				return nil, fmt.Errorf("count dropped requests: %w", err)
			}
		}
		for _, size := range []int{64, 8, 1} { // few statements, whose plans are kept
			for len(requests) >= size {
				if err := db.InsertAll(ctx, u, columns, requests[:size]); err != nil {
					return nil, fmt.Errorf("insert requests: %w", err)
				}
				requests = requests[size:]
			}
		}
		return nil, nil
	})
	return err
}

// Trimmer knows for which accounts so much was written that they may have too many rows. An account of which it has not heard may: what was
// written before the program started is not known.
type Trimmer struct{ written map[string]int }

// Note counts what was written.
func (t *Trimmer) Note(requests []Request) {
	if t.written == nil {
		t.written = map[string]int{}
	}
	for i := range requests {
		account := requests[i].AccountID
		if _, known := t.written[account]; !known {
			t.written[account] = trimAfter
		}
		t.written[account]++
	}
}

// Trim deletes the oldest requests of such accounts, as many as are beyond Most.
func (s *Store) Trim(ctx context.Context, t *Trimmer) error {
	for account, n := range t.written {
		if n < trimAfter {
			continue
		}
		t.written[account] = 0
		for deleted := int64(trimBatch); deleted == trimBatch; {
			var err error
			if deleted, err = db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
				return u.Exec(ctx, `
					DELETE FROM requests WHERE account_id = ? AND id IN (
						SELECT id FROM requests WHERE account_id = ? ORDER BY id DESC LIMIT ? OFFSET ?)`, account, account, trimBatch, Most)
			}); err != nil {
				return fmt.Errorf("trim requests: %w", err)
			}
		}
	}
	return nil
}

// DeleteOld deletes at most limit requests that are older than Keep, of all accounts, and as many counts of dropped ones. It returns how many of both.
func (s *Store) DeleteOld(ctx context.Context, limit int) (int64, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		before := s.Now().Add(-Keep)
		gaps, err := u.ExecBatch(ctx, `DELETE FROM request_gaps`, `request_gaps WHERE hour < ? ORDER BY hour LIMIT ?`, before, limit)
		if err != nil {
			return 0, fmt.Errorf("delete old counts of dropped requests: %w", err)
		}
		requests, err := u.ExecBatch(ctx, `DELETE FROM requests`, `requests WHERE created_at < ? ORDER BY created_at LIMIT ?`, before, limit)
		return gaps + requests, err
	})
}
