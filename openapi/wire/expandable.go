package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Expandable is a reference to another resource: its id, and the resource itself when the request asked for it with
// `expand`. A reference to a resource that was deleted expands to Deleted. The zero value is no reference: null.
type Expandable[T any] struct {
	// ID is set whether the reference is expanded or not.
	ID string
	// Object is nil unless the reference is expanded.
	Object *T
	// Deleted is set when the resource that the reference names no longer exists.
	Deleted *Deleted
}

// Ref is an Expandable of any type, as the loader of expansions sees it.
type Ref interface {
	// RefID returns the id, or "" when there is no reference.
	RefID() string
	// Fill sets the referenced object, a *T or a *Deleted, and panics on any other type.
	Fill(object any)
}

// RefTo returns an unexpanded reference.
func RefTo[T any](id string) Expandable[T] { return Expandable[T]{ID: id} }

// RefTos returns unexpanded references in the order of ids; never nil, so that none reads as [].
func RefTos[T any](ids []string) []Expandable[T] {
	refs := make([]Expandable[T], len(ids))
	for i, id := range ids {
		refs[i].ID = id
	}
	return refs
}

// RefID implements Ref.
func (e *Expandable[T]) RefID() string { return e.ID }

// Fill implements Ref.
func (e *Expandable[T]) Fill(object any) {
	switch o := object.(type) {
	case *T:
		e.Object = o
	case *Deleted:
		e.Deleted = o
	default:
		panic(fmt.Sprintf("wire: a reference to %T was filled with %T", *new(T), object))
	}
}

// MarshalJSON writes the object when there is one, else the id, else null.
func (e Expandable[T]) MarshalJSON() ([]byte, error) {
	switch {
	case e.Object != nil:
		return json.Marshal(e.Object)
	case e.Deleted != nil:
		return json.Marshal(e.Deleted)
	case e.ID == "":
		return []byte("null"), nil
	case isPlain(e.ID):
		return append(append(append(make([]byte, 0, len(e.ID)+2), '"'), e.ID...), '"'), nil
	}
	return json.Marshal(e.ID)
}

// isPlain reports whether s stands in JSON as it is. Every id does, and a page holds dozens of them.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// UnmarshalJSON reads an id, an object, a deleted object or null.
func (e *Expandable[T]) UnmarshalJSON(data []byte) error {
	*e = Expandable[T]{}
	data = bytes.TrimSpace(data)
	if len(data) == 0 || data[0] != '{' {
		return json.Unmarshal(data, &e.ID)
	}
	var deleted Deleted
	if err := json.Unmarshal(data, &deleted); err != nil {
		return err
	}
	e.ID = deleted.ID
	if deleted.Deleted {
		e.Deleted = &deleted
		return nil
	}
	e.Object = new(T)
	return json.Unmarshal(data, e.Object)
}
