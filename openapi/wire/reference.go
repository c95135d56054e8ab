package wire

// Reference is what the server writes where the SDK reads an Expandable: an id, a pointer to the object in its place, or
// nil for none. It is a plain value, because encoding/json checks and copies whatever a MarshalJSON returns, and a page
// holds dozens of references.
type Reference any

// RefTo returns an unexpanded reference.
func RefTo(id string) Reference { return id }

// RefTos returns unexpanded references in the order of ids; never nil, so that none reads as [].
func RefTos(ids []string) []Reference {
	refs := make([]Reference, len(ids))
	for i, id := range ids {
		refs[i] = id
	}
	return refs
}
