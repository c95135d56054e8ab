package wire

import (
	"bytes"
	"encoding/json"
)

// Expandable is a reference to another resource: its id, and the resource itself when the request asked for it with
// `expand`. A reference to a resource that was deleted expands to Deleted. The zero value is no reference: null.
type Expandable[T any] struct {
	// ID is set whether the reference is expanded or not.
	ID string
	// Object is nil unless the reference is expanded, and also when what it names was deleted: read it with Get.
	Object *T
	// Deleted is set when the resource that the reference names no longer exists.
	Deleted *Deleted
}

// Get returns the resource, and whether it is there: the request asked for it, and it still exists. Without it the value is
// the zero value of its type, so that reading its fields does no harm.
func (e Expandable[T]) Get() (object T, ok bool) {
	if e.Object == nil {
		return object, false
	}
	return *e.Object, true
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
	}
	return json.Marshal(e.ID)
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
