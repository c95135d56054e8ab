package handlers

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/gen/spec"
	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

// searchTypes are the types that can be searched, in their order, and searchScopes what a key needs to find each.
var searchTypes, searchScopes = sync.OnceValue(func() []api.SearchType { return readSearchTypes().Enum }),
	sync.OnceValue(func() map[api.SearchType][]string { return readSearchTypes().Scopes })

// searchTypeSchema is what the specification says of types.
type searchTypeSchema struct {
	Enum   []api.SearchType            `json:"enum"`
	Scopes map[api.SearchType][]string `json:"x-type-scopes"`
}

// readSearchTypes panics if the specification does not name the scopes of a type.
func readSearchTypes() searchTypeSchema {
	var document struct {
		Components struct {
			Schemas struct{ SearchType searchTypeSchema } `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(spec.JSON, &document); err != nil {
		panic(fmt.Sprintf("handlers: the API document: %v", err))
	}
	schema := document.Components.Schemas.SearchType
	for _, t := range schema.Enum {
		if len(schema.Scopes[t]) == 0 {
			panic("handlers: nothing says who may find " + t)
		}
	}
	return schema
}

// Search implements GET /search.
func (h *Handlers) Search(ctx context.Context, r api.SearchRequestObject) (api.SearchResponseObject, error) {
	in := store.Search{Q: r.Params.Q, Limit: 10}
	if r.Params.Limit != nil {
		in.Limit = int(*r.Params.Limit)
	}
	types := searchTypes()
	if r.Params.Types != nil {
		types = r.Params.Types
	}
	for _, t := range types {
		missing := lacks(ctx, searchScopes()[t])
		switch {
		case missing == "":
			in.Kinds = append(in.Kinds, core.Kind(t))
		case r.Params.Types != nil:
			return nil, &core.Error{
				Code: core.CodeForbidden, Param: missing,
				Message: fmt.Sprintf("An API key finds a %s with the scope %s, which this one lacks. Leave it out of types.", t, missing),
			}
		}
	}
	results, more, err := h.store.Search(ctx, account(ctx), in)
	if err != nil {
		return nil, err
	}
	return api.Search200JSONResponse(view.List("/v1/search", results, more, view.SearchResult)), nil
}

// lacks returns the first of some scopes that the calling key lacks, or "".
func lacks(ctx context.Context, scopes []string) string {
	for _, scope := range scopes {
		if !caller.Of(ctx).May(scope) {
			return scope
		}
	}
	return ""
}
