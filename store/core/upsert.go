package core

// Upsert is an object that is to be made, or to be changed if one with the account's own id is there. Refused is what was wrong with
// it before anybody looked for that; it is not written then.
type Upsert[T any] struct {
	ExternalID string
	Change     func(*T)
	Refused    *Error
}

// UpsertStatus says what became of an object that was to be made or changed.
type UpsertStatus string

// What becomes of an object that is to be made or changed.
const (
	UpsertCreated   UpsertStatus = "created"
	UpsertUpdated   UpsertStatus = "updated"
	UpsertUnchanged UpsertStatus = "unchanged"
	UpsertFailed    UpsertStatus = "failed"
)

// Upserted is what became of one of several objects. One that failed has Err instead of an ID.
type Upserted struct {
	Status     UpsertStatus
	ExternalID string
	ID         string
	Err        *Error
}
