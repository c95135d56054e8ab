package core

import "fmt"

// Page says which part of a list is wanted, newest first unless OldestFirst. At most one of the two positions is set. Any id of
// the list's type is a position, whether its row exists or not.
type Page struct {
	Limit         int    // 1..100
	StartingAfter string // behind this id
	EndingBefore  string // in front of this id
	OldestFirst   bool   // only of lists that are made by page
	Exhaustive    bool   // however many rows have to be examined, for a file that is newest first
	Partial       bool   // newest first: what is among the rows that may be examined, instead of a refusal, and that there are more
}

// Turn goes to another page.
func (p *Page) Turn(to Page) { *p = to }

// Ascends reports whether the rows of the page are read oldest first. A page that ends at a position is read from there, in the
// order opposite to its list's, and turned around afterwards.
func (p *Page) Ascends() bool { return p.OldestFirst != (p.EndingBefore != "") }

// Resolve puts the positions into their canonical form. A position that is no id of the kind, or two positions, are
// CodeBadRequest.
func (p *Page) Resolve(k Kind) error {
	if err := resolvePosition(k, "starting_after", &p.StartingAfter); err != nil {
		return err
	}
	if err := resolvePosition(k, "ending_before", &p.EndingBefore); err != nil {
		return err
	}
	if p.StartingAfter != "" && p.EndingBefore != "" {
		return &Error{Code: CodeBadRequest, Param: "ending_before", Message: "Send starting_after or ending_before, not both."}
	}
	return nil
}

// resolvePosition puts one position into its canonical form; "" is none. Name is its parameter, for the error.
func resolvePosition(k Kind, name string, position *string) error {
	if *position == "" {
		return nil
	}
	id, ok := ParseID(k, *position)
	if !ok {
		return &Error{Code: CodeBadRequest, Param: name, Message: fmt.Sprintf("%s must be the id of an item of this list, like %s01k0000000000000000000000a.", name, k.Prefix())}
	}
	*position = id
	return nil
}

// ListFilter holds the filters that every list has.
type ListFilter struct {
	CreatedAfter  *Time  // inclusive
	CreatedBefore *Time  // exclusive
	Q             string // words, in any case and each from its beginning, or an id
	Metadata      map[string]string
}
