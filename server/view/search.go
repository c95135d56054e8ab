package view

import (
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store"
)

// SearchResult renders an object that was found.
func SearchResult(r *store.SearchResult) api.SearchResult {
	return api.SearchResult{Object: "search_result", Type: api.SearchType(r.Kind), ID: r.ID, Title: r.Title, Subtitle: r.Subtitle}
}
