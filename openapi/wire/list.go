// Package wire holds the few Go types that the specification binds by x-go-type, so that the server and the SDK share
// them. It imports the standard library only.
package wire

// List is the envelope of every list.
type List[T any] struct {
	// Object is always "list".
	Object string `json:"object"`
	Data   []T    `json:"data"`
	// HasMore tells that another page exists after the last item of Data.
	HasMore bool `json:"has_more"`
	// URL is the path of the list.
	URL string `json:"url"`
}

// Deleted confirms a delete. A reference to a deleted resource expands to it, too.
type Deleted struct {
	ID string `json:"id"`
	// Object is the type of the deleted resource, for example "product".
	Object string `json:"object"`
	// Deleted is always true.
	Deleted bool `json:"deleted"`
}
