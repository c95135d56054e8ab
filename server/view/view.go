// Package view turns what is stored into what is sent, and the bodies and queries of requests into what the store takes. Its
// functions are pure.
package view

import (
	"github.com/oapi-codegen/nullable"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/sdk/wire"
	"github.com/tillwright/tillwright/store/core"
)

// List renders a page of the list at url.
func List[R, W any](url string, rows []R, more bool, render func(*R) W) wire.List[W] {
	data := make([]W, len(rows))
	for i := range rows {
		data[i] = render(&rows[i])
	}
	return wire.List[W]{Object: "list", Data: data, HasMore: more, URL: url}
}

// Deleted confirms a delete.
func Deleted(object, id string) wire.Deleted {
	return wire.Deleted{ID: id, Object: object, Deleted: true}
}

// Filter reads the query parameters that all lists share.
func Filter(after, before *wire.Time, q *string, metadata map[string]string) core.ListFilter {
	return core.ListFilter{CreatedAfter: stored(after), CreatedBefore: stored(before), Q: value(q), Metadata: metadata}
}

// Page reads the position in a list. The specification bounds limit; 20 is its default.
func Page(limit *int64, startingAfter, endingBefore *string) core.Page {
	p := core.Page{Limit: 20, StartingAfter: value(startingAfter), EndingBefore: value(endingBefore)}
	if limit != nil {
		p.Limit = int(*limit)
	}
	return p
}

// SortedPage reads the position in a list that may begin with its oldest item.
func SortedPage(limit *int64, startingAfter, endingBefore, sort *string) core.Page {
	p := Page(limit, startingAfter, endingBefore)
	p.OldestFirst = value(sort) == "created_at"
	return p
}

// at renders a moment.
func at(t core.Time) wire.Time { return wire.Time(t.String()) }

// atOrNull renders a moment that may be absent.
func atOrNull(t *core.Time) *wire.Time {
	if t == nil {
		return nil
	}
	return new(at(*t))
}

// stored reads a timestamp, which has already been checked against the specification; nil for none.
func stored(t *wire.Time) *core.Time {
	if t == nil {
		return nil
	}
	return new(core.TimeOf(t.Time()))
}

// value returns what an optional field says, the zero value if it is absent.
func value[T any](p *T) T {
	if p == nil {
		return *new(T)
	}
	return *p
}

// list returns a slice that is never nil, so that an empty one is rendered as [] and not as null.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// object returns a map that is never nil, so that an empty one is rendered as {} and not as null.
func object[T any](m map[string]T) map[string]T {
	if m == nil {
		return map[string]T{}
	}
	return m
}

// set changes a field that a PATCH names, and leaves it otherwise.
func set[T any](field *T, sent *T) {
	if sent != nil {
		*field = *sent
	}
}

// setAs does the same as set for a field of another type with the same values, such as an enum.
func setAs[T, S ~string](field *T, sent *S) {
	if sent != nil {
		*field = T(*sent)
	}
}

// setOrClear changes a field that a PATCH names. Null removes its value.
func setOrClear[T any](field **T, sent nullable.Nullable[T]) {
	switch {
	case sent.IsNull():
		*field = nil
	case sent.IsSpecified():
		*field = new(sent.MustGet())
	}
}

// setOrClearAs does the same as setOrClear for a field of another type with the same values.
func setOrClearAs[T, S ~string](field **T, sent nullable.Nullable[S]) {
	switch {
	case sent.IsNull():
		*field = nil
	case sent.IsSpecified():
		*field = new(T(sent.MustGet()))
	}
}

// sent returns the value that a PATCH gives to a field, nil for null and for a field that it does not name.
func sent[T any](n nullable.Nullable[T]) *T {
	if n.IsNull() || !n.IsSpecified() {
		return nil
	}
	return new(n.MustGet())
}

// enum converts an optional value between two types that have the same values.
func enum[T, S ~string](s *S) *T {
	if s == nil {
		return nil
	}
	return new(T(*s))
}

// metadata reads the metadata of a new object, which was validated. Merging nothing into it sorts its keys.
func metadata(sent *api.Metadata) core.Metadata { return core.Metadata(value(sent)).Merge(nil) }

// setMetadata merges the metadata that a PATCH names into what there is, key by key. Null removes all of it.
func setMetadata(m *core.Metadata, sent nullable.Nullable[api.MetadataUpdate]) {
	switch {
	case sent.IsNull():
		*m = core.NewMetadata(nil)
	case sent.IsSpecified():
		*m = m.Merge(sent.MustGet())
	}
}

// mapped converts every element; the result is never nil.
func mapped[T, S any](s []S, convert func(S) T) []T {
	out := make([]T, len(s))
	for i := range s {
		out[i] = convert(s[i])
	}
	return out
}

// shown returns a text, nil for an empty one, which reads as null.
func shown(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// ref returns a reference by id, null if there is none.
func ref(id *string) wire.Reference {
	if id == nil {
		return nil
	}
	return *id
}
