package core

import "fmt"

// Page is a stretch of a list, newest first unless it says otherwise. At most one of the positions is set; any id of the
// list's type is a position, whether its row exists or not.
type Page struct {
	Limit         int    // 1..100
	StartingAfter string // behind this id
	EndingBefore  string // in front of this id
	OldestFirst   bool   // only of lists that are made by page
}

// Ascends reports whether a page is found in the order in which its rows were made. One that ends at a position is found
// from there, in the other order than its list's.
func (p *Page) Ascends() bool { return p.OldestFirst != (p.EndingBefore != "") }

// Resolve puts the positions into their canonical form, or says of the first one that is no id of the kind.
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

// ListFilter is what every list can be filtered by.
type ListFilter struct {
	CreatedAfter  *Time  // inclusive
	CreatedBefore *Time  // exclusive
	Q             string // part of a name, in any case
	Metadata      map[string]string
}
