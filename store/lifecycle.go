package store

import (
	"fmt"
	"slices"
)

// lifecycle is the table of a type's states: from each, the states that it may change to.
type lifecycle[S ~string] map[S][]S

// allows reports whether there is an arrow. Staying is always allowed.
func (l lifecycle[S]) allows(from, to S) bool {
	return from == to || slices.Contains(l[from], to)
}

// check returns CodeInvalid on `status` unless there is an arrow.
func (l lifecycle[S]) check(object string, from, to S) error {
	if l.allows(from, to) {
		return nil
	}
	return Invalid("status", fmt.Sprintf("This %s is %s and cannot become %s.", object, from, to))
}
