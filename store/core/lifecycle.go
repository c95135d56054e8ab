package core

import (
	"fmt"
	"slices"
)

// Lifecycle lists, for each state of a type, the states that may follow it.
type Lifecycle[S ~string] map[S][]S

// Allows reports whether the state to may follow from. A state may always stay as it is.
func (l Lifecycle[S]) Allows(from, to S) bool {
	return from == to || slices.Contains(l[from], to)
}

// Check returns CodeInvalid on status unless the state to may follow from. Object is what the message calls it.
func (l Lifecycle[S]) Check(object string, from, to S) error {
	if l.Allows(from, to) {
		return nil
	}
	return Invalid("status", fmt.Sprintf("This %s is %s and cannot become %s.", object, from, to))
}
