package tiktok

import (
	"context"
	"maps"
	"slices"

	"github.com/tillwright/tillwright/ads"
)

// idsPerCall is how many identifiers a filter takes, and mostRows how many rows a page has at most.
const (
	idsPerCall = 100
	mostRows   = 1000
)

// page is one page of a list. TikTok counts pages from 1.
type page[T any] struct {
	List []T      `json:"list"`
	Info pageInfo `json:"page_info"`
}

type pageInfo struct {
	Page  int   `json:"page"`
	Pages int   `json:"total_page"`
	Rows  int64 `json:"total_number"`
}

// walk reads a list page by page and calls see with each, until see returns false or the list ends.
func walk[T any](ctx context.Context, d *Driver, c ads.Conn, path string, params fields, rows int, see func([]T) bool) error {
	params = maps.Clone(params)
	params["page_size"] = rows
	for number := 1; ; number++ {
		params["page"] = number
		var p page[T]
		if err := d.read(ctx, c, path, params, &p); err != nil {
			return err
		}
		if !see(p.List) || number >= p.Info.Pages {
			return nil
		}
	}
}

// all returns all rows of a list.
func all[T any](ctx context.Context, d *Driver, c ads.Conn, path string, params fields, rows int) ([]T, error) {
	var items []T
	err := walk(ctx, d, c, path, params, rows, func(page []T) bool {
		items = append(items, page...)
		return true
	})
	return items, err
}

// everyStatus is the filter for all states, that of deleted things too, which are left out without it.
const everyStatus = "STATUS_ALL"

// filtered returns the things of an ad account, in any state, that belong to one of the ids. The argument filter is the
// name of the list of ids, such as campaign_ids.
func filtered[T any](ctx context.Context, d *Driver, c ads.Conn, adAccount, path, filter string, ids []string) ([]T, error) {
	var items []T
	for chunk := range slices.Chunk(ids, idsPerCall) {
		found, err := all[T](ctx, d, c, path, fields{
			"advertiser_id": adAccount, "filtering": fields{filter: chunk, "primary_status": everyStatus},
		}, mostRows)
		if err != nil {
			return nil, err
		}
		items = append(items, found...)
	}
	return items, nil
}
