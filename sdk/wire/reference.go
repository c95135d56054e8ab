package wire

// Reference is a reference as the server writes it; the SDK reads it as an Expandable. It is an id, a pointer to the object in
// its place, or nil for none. It is a plain value to save time: encoding/json checks and copies whatever a MarshalJSON returns,
// and a page has dozens of references.
type Reference any

// RefTo returns an unexpanded reference.
func RefTo(id string) Reference { return id }

// RefTos returns unexpanded references in the order of ids. The result is never nil, so that an empty one is rendered as [].
func RefTos(ids []string) []Reference {
	refs := make([]Reference, len(ids))
	for i, id := range ids {
		refs[i] = id
	}
	return refs
}
