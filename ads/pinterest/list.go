package pinterest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/tillwright/tillwright/ads"
)

// pageSize is the largest page, and idsPerCall how many identifiers go into one address: the network takes 250, but
// addresses have their limits, too.
const (
	pageSize   = "250"
	idsPerCall = 100
)

// every is the filter for all states but drafts that were thrown away: without one, archived things are left out.
func every() url.Values {
	return url.Values{"entity_statuses": {"ACTIVE", "PAUSED", "ARCHIVED", "DRAFT"}}
}

// newestFirst is the order in which something made lately is found soon.
func newestFirst(query url.Values) url.Values {
	query.Set("order", "DESCENDING")
	return query
}

// page is a stretch of a list.
type page[T any] struct {
	Items    []T    `json:"items"`
	Bookmark string `json:"bookmark"`
}

var errNoProgress = errors.New("the same bookmark came twice")

// walk gives each page of a list to see until that returns false.
func walk[T any](ctx context.Context, d *Driver, c ads.Conn, path string, query url.Values, see func([]T) bool) error {
	query = maps.Clone(query)
	if query == nil {
		query = url.Values{}
	}
	query.Set("page_size", pageSize)
	for {
		var p page[T]
		if err := d.read(ctx, c, path, query, &p); err != nil {
			return err
		}
		if !see(p.Items) || p.Bookmark == "" {
			return nil
		}
		if p.Bookmark == query.Get("bookmark") {
			return failure(c, request{method: http.MethodGet, path: path}, ads.ErrUnavailable, errNoProgress)
		}
		query.Set("bookmark", p.Bookmark)
	}
}

// all returns a whole list.
func all[T any](ctx context.Context, d *Driver, c ads.Conn, path string, query url.Values) ([]T, error) {
	var items []T
	err := walk(ctx, d, c, path, query, func(page []T) bool {
		items = append(items, page...)
		return true
	})
	return items, err
}

// filtered returns the things of an ad account whose filter, such as campaign_ids, is one of ids, in any state.
func filtered[T any](ctx context.Context, d *Driver, c ads.Conn, path, filter string, ids []string) ([]T, error) {
	var items []T
	for chunk := range slices.Chunk(ids, idsPerCall) {
		query := every()
		query[filter] = chunk
		found, err := all[T](ctx, d, c, path, query)
		if err != nil {
			return nil, err
		}
		items = append(items, found...)
	}
	return items, nil
}

// outcome is what became of one item of a batch.
type outcome[T any] struct {
	Data       *T         `json:"data"`
	Exceptions exceptions `json:"exceptions"`
}

// exceptions are a list with campaigns and ad groups, and a single object with ads.
type exceptions []problem

// UnmarshalJSON reads both.
func (e *exceptions) UnmarshalJSON(text []byte) error {
	var several []problem
	if json.Unmarshal(text, &several) == nil {
		*e = several
		return nil
	}
	var one problem
	if err := json.Unmarshal(text, &one); err != nil {
		return err
	}
	*e = exceptions{one}
	return nil
}

// err returns why the item was refused, or nil.
func (o outcome[T]) err(c ads.Conn) error {
	if len(o.Exceptions) == 0 {
		return nil
	}
	return o.Exceptions[0].rejected(c, http.StatusOK)
}

// batch writes up to 30 items and returns what became of each. It is ErrIndeterminate if the answer does not say so.
func batch[T any](ctx context.Context, d *Driver, c ads.Conn, method, path string, items []any) ([]outcome[T], error) {
	var answer struct {
		Items []outcome[T] `json:"items"`
	}
	r := request{method: method, path: path, body: items}
	if err := d.write(ctx, c, r, &answer); err != nil {
		return nil, err
	}
	for _, o := range answer.Items {
		if o.Data == nil && len(o.Exceptions) == 0 {
			return nil, failure(c, r, ads.ErrIndeterminate, errors.New("an item has no outcome"))
		}
	}
	if len(answer.Items) != len(items) {
		return nil, failure(c, r, ads.ErrIndeterminate, fmt.Errorf("%d outcomes for %d items", len(answer.Items), len(items)))
	}
	return answer.Items, nil
}

// one writes a single item.
func one[T any](ctx context.Context, d *Driver, c ads.Conn, method, path string, item any) (*T, error) {
	outcomes, err := batch[T](ctx, d, c, method, path, []any{item})
	if err != nil {
		return nil, err
	}
	return outcomes[0].Data, outcomes[0].err(c)
}
