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

// every returns the filter for all states but that of discarded drafts. Without a filter, archived things are left out.
func every() url.Values {
	return url.Values{"entity_statuses": {"ACTIVE", "PAUSED", "ARCHIVED", "DRAFT"}}
}

// newestFirst adds to a query that the newest things come first, so that what was made lately is found soon.
func newestFirst(query url.Values) url.Values {
	query.Set("order", "DESCENDING")
	return query
}

// page is one page of a list. Without a bookmark it is the last one.
type page[T any] struct {
	Items    []T    `json:"items"`
	Bookmark string `json:"bookmark"`
}

var errNoProgress = errors.New("the same bookmark came twice")

// walk reads a list page by page and calls see with each, until see returns false or the list ends. A network that gives
// the same bookmark twice is ErrUnavailable.
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

// all returns all items of a list.
func all[T any](ctx context.Context, d *Driver, c ads.Conn, path string, query url.Values) ([]T, error) {
	var items []T
	err := walk(ctx, d, c, path, query, func(page []T) bool {
		items = append(items, page...)
		return true
	})
	return items, err
}

// filtered returns the things of an ad account, in any state, that belong to one of the ids. The argument filter is the
// name of the parameter for the ids, such as campaign_ids.
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

// outcome is the network's answer for one item of a batch: the item, or why it was refused.
type outcome[T any] struct {
	Data       *T         `json:"data"`
	Exceptions exceptions `json:"exceptions"`
}

// exceptions are why an item was refused. The network writes them as a list for campaigns and ad groups, and as a single
// object for ads.
type exceptions []problem

// UnmarshalJSON reads both forms.
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

// err returns why the item was refused, or nil if it was not.
func (o outcome[T]) err(c ads.Conn) error {
	if len(o.Exceptions) == 0 {
		return nil
	}
	return o.Exceptions[0].rejected(c, http.StatusOK)
}

// batch writes up to 30 items and returns an outcome for each, in their order. If the answer does not have one for each,
// the error is ErrIndeterminate.
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

// one writes a single item and returns it as the network has it then.
func one[T any](ctx context.Context, d *Driver, c ads.Conn, method, path string, item any) (*T, error) {
	outcomes, err := batch[T](ctx, d, c, method, path, []any{item})
	if err != nil {
		return nil, err
	}
	return outcomes[0].Data, outcomes[0].err(c)
}
