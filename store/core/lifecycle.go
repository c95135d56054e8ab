package core

import (
	"fmt"
	"slices"
)

// Lifecycle is the table of a type's states: from each, the states that it may change to.
type Lifecycle[S ~string] map[S][]S

// Allows reports whether there is an arrow. Staying is always allowed.
func (l Lifecycle[S]) Allows(from, to S) bool {
	return from == to || slices.Contains(l[from], to)
}

// Check returns CodeInvalid on `status` unless there is an arrow.
func (l Lifecycle[S]) Check(object string, from, to S) error {
	if l.Allows(from, to) {
		return nil
	}
	return Invalid("status", fmt.Sprintf("This %s is %s and cannot become %s.", object, from, to))
}
