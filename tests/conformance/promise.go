package conformance

import (
	"slices"
	"strings"
)

// Promise is a sentence of the contract, with what holds a server to it.
type Promise struct {
	Name     string
	Groups   []string // what it is about, besides
	Sentence string
	writes   bool // it makes or changes something, or would if the promise is broken
	second   bool // it takes a second account

	check func(t T, s, other *Subject) // nil for what every answer is held to
}

// Promises are all that a running server is held to. Those of every answer come first.
var promises = []*Promise{
	{Name: "request-id", Groups: []string{"answers", "envelope"}, Sentence: "Every response carries an x-request-id header of its own, req_ and 26 characters."},
	{Name: "nosniff", Groups: []string{"answers"}, Sentence: "Every response has X-Content-Type-Options: nosniff."},
	{Name: "json", Groups: []string{"answers"}, Sentence: "All request and response bodies are JSON."},
	{Name: "rate-headers", Groups: []string{"answers", "rate"}, Sentence: "RateLimit, RateLimit-Policy and X-RateLimit-Reset are on every response; Retry-After is on a 429."},
	{Name: "envelope", Groups: []string{"answers"}, Sentence: "Every failed response has one JSON envelope: a single error object with type, code and message; a 422 has errors."},
	{Name: "deprecation", Groups: []string{"answers"}, Sentence: "While an operation is deprecated, every response from it carries the headers Deprecation, Sunset and Link, and no other one does."},
	{Name: "document", Groups: []string{"answers"}, Sentence: "Every answer has a status and a body that the OpenAPI document lists for its operation."},

	{Name: "reads", Sentence: "Whatever can be read is answered 200 with the object that the document shows.", check: alone(Answers)},
	{Name: "authentication", Sentence: "A missing, malformed, deleted or revoked token yields 401 with code authentication_required.", check: alone(NeedsAKey)},
	{Name: "routes", Groups: []string{"envelope"}, Sentence: "An unknown route is 404 resource_missing, and 401 without a key.", check: alone(HasNoUnknownRoute)},
	{Name: "methods", Groups: []string{"envelope"}, Sentence: "A wrong method is 405 method_not_allowed, and Allow names the operations of the path.", check: alone(RefusesOtherMethods)},
	{Name: "missing", Groups: []string{"isolation"}, Sentence: "A resource that does not belong to the account yields 404 resource_missing.", check: alone(HidesWhatIsNotThere)},
	{Name: "quota", Groups: []string{"rate"}, Sentence: "The quota is per credential: each request takes one from what RateLimit says is left, and is refused once nothing is.", check: alone(CountsRequests)},
	{Name: "unknown-parameters", Groups: []string{"input"}, Sentence: "An unknown query parameter is 400 bad_request, and param names it.", check: alone(RefusesAnUnknownParameter)},
	{Name: "parameters", Groups: []string{"input"}, Sentence: "A query parameter that is empty or no text is 400 bad_request, and param names it.", check: alone(RefusesWhatIsEmptyOrNoText)},
	{Name: "positions", Groups: []string{"input", "pages"}, Sentence: "A limit outside of 1 to 100 and a malformed position are 400 bad_request, and param names them.", check: alone(ChecksPositions)},
	{Name: "lists", Groups: []string{"pages"}, Sentence: "A list has object list, data, has_more and its url; lists with cursors have next_cursor, null at the end.", check: alone(HasItsEnvelope)},
	{Name: "walks", Groups: []string{"pages"}, Sentence: "starting_after takes the id of the last item of the previous page; has_more is true when another page exists.", check: alone(WalksPages)},
	{Name: "expand", Sentence: "A related resource appears as its id unless expand requests it, in which case the full object is inlined; an unknown name is 400.", check: alone(ExpandsWhatItNames)},

	{Name: "unknown-fields", Groups: []string{"input", "bodies"}, Sentence: "An unknown field in a body is 400 bad_request, and param names it.", writes: true, check: alone(RefusesAnUnknownField)},
	{Name: "strict-json", Groups: []string{"input", "bodies"}, Sentence: "A body that is no strict JSON object is 400 bad_request.", writes: true, check: alone(TakesStrictJSON)},
	{Name: "required-fields", Groups: []string{"input", "bodies"}, Sentence: "A required parameter that is missing is 400 parameter_missing, and param names it; a body in a wrapper is one.", writes: true, check: alone(ReportsWhatIsMissingFirst)},
	{Name: "null", Groups: []string{"input", "bodies"}, Sentence: "null in a field that is not nullable is 400 bad_request, and param names it.", writes: true, check: alone(TakesNullOnlyWhereItIsNullable)},
	{Name: "metadata", Groups: []string{"input", "bodies"}, Sentence: "metadata have at most 50 keys of 40 characters, with values of 500; more is 422 validation_failed.", writes: true, check: alone(LimitsMetadata)},
	{Name: "size", Groups: []string{"input", "bodies"}, Sentence: "A body over 1 MiB is 413 request_too_large.", writes: true, check: alone(LimitsTheSize)},
	{Name: "content-type", Groups: []string{"input", "bodies"}, Sentence: "Another content type than JSON is 415 unsupported_media_type.", writes: true, check: alone(TakesJSONAlone)},
	{Name: "idempotency-key", Groups: []string{"idempotency"}, Sentence: "An Idempotency-Key is a string of at most 255 characters; another one is 400 bad_request.", writes: true, check: alone(ChecksIdempotencyKeys)},
	{Name: "replay", Groups: []string{"idempotency"}, Sentence: "A repeat with the same key replays the first response instead of creating a second resource; another request under it is 422 idempotency_key_reused.", writes: true, check: alone(ReplaysWhatItMade)},
	{Name: "key-after-refusal", Groups: []string{"idempotency"}, Sentence: "A refused request frees its Idempotency-Key.", writes: true, check: alone(FreesAKeyAfterARefusal)},
	{Name: "thirty-callers", Groups: []string{"idempotency"}, Sentence: "Of many callers with one Idempotency-Key at a time, one makes the resource and all have its answer.", writes: true, check: alone(MakesOneThingForThirty)},
	{Name: "order", Groups: []string{"pages"}, Sentence: "Lists are newest first, and oldest first with sort=created_at.", check: alone(BeginsWithItsOldestWhenAsked)},
	{Name: "delivery", Sentence: "Each delivery is an HTTP POST with a JSON body, signed by the Base64 encoding of the HMAC-SHA256 of the raw body; test events have test: true.", writes: true, check: alone(DeliversWebhooks)},
	{Name: "key-scope", Groups: []string{"idempotency", "isolation"}, Sentence: "An Idempotency-Key is scoped to the account.", writes: true, second: true, check: KeepsKeysOfAccountsApart},
	{Name: "isolation", Sentence: "Requests are scoped to the authenticated account: another account's id is answered as one that does not exist.", writes: true, second: true, check: HidesOtherAccounts},
	{Name: "foreign-rows", Groups: []string{"isolation"}, Sentence: "A list shows the account's own resources alone.", writes: true, second: true, check: ListsNothingForeign},
}

func alone(check func(T, *Subject)) func(T, *Subject, *Subject) {
	return func(t T, s, _ *Subject) { check(t, s) }
}

// about reports whether a promise has a name, or is about it.
func (p *Promise) about(name string) bool { return p.Name == name || slices.Contains(p.Groups, name) }

// Resource returns what an operation is called by in a choice of resources: that of its scope, and the beginning of its path.
func (o *Operation) resources() []string {
	path := strings.Split(strings.TrimPrefix(strings.TrimPrefix(o.Path, "/public"), "/v1"), "/")
	scope, _, _ := strings.Cut(o.Scope, ":")
	return []string{path[1], scope}
}
