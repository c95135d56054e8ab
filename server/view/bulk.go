package view

import (
	"maps"
	"slices"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store/core"
)

// BulkUpsert renders what became of the items of a bulk write.
func BulkUpsert(done []core.Upserted) api.BulkUpsert {
	counts := map[core.UpsertStatus]int64{}
	results := make([]api.BulkUpsertResult, len(done))
	for i, d := range done {
		counts[d.Status]++
		results[i] = api.BulkUpsertResult{
			Index: int64(i), Status: api.BulkUpsertResultStatus(d.Status), ExternalID: shown(d.ExternalID), ID: shown(d.ID), Error: bulkError(d.Err),
		}
	}
	return api.BulkUpsert{
		Object: "bulk_upsert", Created: counts[core.UpsertCreated], Updated: counts[core.UpsertUpdated], Unchanged: counts[core.UpsertUnchanged],
		Failed: counts[core.UpsertFailed], Results: results,
	}
}

// How much an error of an item has, so that the answer about a hundred of them stays below 1 MiB.
const (
	mostFields   = 10
	mostMessages = 2 // about one field
)

// bulkError renders why an item was not written: of its fields the first, by name.
func bulkError(e *core.Error) *api.BulkError {
	if e == nil {
		return nil
	}
	kind := "invalid_request_error"
	if e.Code == core.CodeInvalid {
		kind = "validation_error"
	}
	var fields map[string][]string
	for i, name := range slices.Sorted(maps.Keys(e.Fields)) {
		if i == 0 {
			fields = map[string][]string{}
		}
		if i == mostFields {
			break
		}
		fields[name] = e.Fields[name][:min(len(e.Fields[name]), mostMessages)]
	}
	return &api.BulkError{Type: api.BulkErrorType(kind), Code: string(e.Code), Message: e.Message, Param: shown(e.Param), Errors: fields}
}

// upserts reads the items of a bulk write. Refused are those that do not match what they should be, by their places.
func upserts[T, B any](items []B, refused map[int]*core.Error, read func(*B) core.Upsert[T]) []core.Upsert[T] {
	out := make([]core.Upsert[T], len(items))
	for i := range items {
		out[i] = read(&items[i])
		out[i].Refused = refused[i]
	}
	return out
}
