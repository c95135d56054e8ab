package view

import (
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

// bulkError renders why an item was not written.
func bulkError(e *core.Error) *api.BulkError {
	if e == nil {
		return nil
	}
	kind := "invalid_request_error"
	if e.Code == core.CodeInvalid {
		kind = "validation_error"
	}
	return &api.BulkError{Type: api.BulkErrorType(kind), Code: string(e.Code), Message: e.Message, Param: shown(e.Param), Errors: e.Fields}
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
