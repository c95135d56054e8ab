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

// Items returns Data.
func (l *List[T]) Items() []T { return l.Data }

// CursorList is the envelope of a list of ads, whose positions are cursors that the server makes.
type CursorList[T any] struct {
	// Object is always "list".
	Object string `json:"object"`
	Data   []T    `json:"data"`
	// HasMore tells that another page exists after the last item of Data.
	HasMore bool `json:"has_more"`
	// URL is the path of the list.
	URL string `json:"url"`
	// NextCursor is the position of the next page, nil at the end.
	NextCursor *string `json:"next_cursor"`
}

// Items returns Data.
func (l *CursorList[T]) Items() []T { return l.Data }

// Deleted confirms a delete. A reference to a deleted resource expands to it, too.
type Deleted struct {
	ID string `json:"id"`
	// Object is the type of the deleted resource, for example "product".
	Object string `json:"object"`
	// Deleted is always true.
	Deleted bool `json:"deleted"`
}
