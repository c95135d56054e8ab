// Package view turns what is stored into what is sent, and back where a body becomes a change. Its functions are pure.
package view

import (
	"github.com/oapi-codegen/nullable"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/openapi/wire"
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

func at(t core.Time) wire.Time { return wire.Time(t.String()) }

func atOrNull(t *core.Time) *wire.Time {
	if t == nil {
		return nil
	}
	return new(at(*t))
}

// stored reads a timestamp that the specification has already checked.
func stored(t *wire.Time) *core.Time {
	if t == nil {
		return nil
	}
	return new(core.TimeOf(t.Time()))
}

// value is what an optional field says, or the zero value.
func value[T any](p *T) T {
	if p == nil {
		return *new(T)
	}
	return *p
}

// list is a slice that reads as [] when it is empty.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// object is a map that reads as {} when it is empty.
func object[T any](m map[string]T) map[string]T {
	if m == nil {
		return map[string]T{}
	}
	return m
}

// set changes a field that a PATCH names.
func set[T any](field *T, sent *T) {
	if sent != nil {
		*field = *sent
	}
}

// setAs is set for a field of another type with the same values, such as an enum.
func setAs[T, S ~string](field *T, sent *S) {
	if sent != nil {
		*field = T(*sent)
	}
}

// setOrClear changes a field that a PATCH names, to nothing if it says null.
func setOrClear[T any](field **T, sent nullable.Nullable[T]) {
	switch {
	case sent.IsNull():
		*field = nil
	case sent.IsSpecified():
		*field = new(sent.MustGet())
	}
}

// setOrClearAs is setOrClear for a field of another type with the same values.
func setOrClearAs[T, S ~string](field **T, sent nullable.Nullable[S]) {
	switch {
	case sent.IsNull():
		*field = nil
	case sent.IsSpecified():
		*field = new(T(sent.MustGet()))
	}
}

// sent is the value that a PATCH gives to a field, nil for null.
func sent[T any](n nullable.Nullable[T]) *T {
	if n.IsNull() || !n.IsSpecified() {
		return nil
	}
	return new(n.MustGet())
}

// enum converts between two types of one set of values, absent or not.
func enum[T, S ~string](s *S) *T {
	if s == nil {
		return nil
	}
	return new(T(*s))
}

// metadata reads the metadata of a new object.
func metadata(sent *api.Metadata) core.Metadata { return core.NewMetadata(value(sent)) }

// setMetadata merges what a PATCH says per key.
func setMetadata(m *core.Metadata, sent *api.MetadataUpdate) {
	if sent != nil {
		*m = m.Merge(*sent)
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

// shown is a text that reads as null when it is empty.
func shown(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// ref is a reference that may be absent.
func ref(id *string) wire.Reference {
	if id == nil {
		return nil
	}
	return *id
}
