package main

import (
	"cmp"
	"slices"
)

// maxNamed is how many wrong rows are listed.
const maxNamed = 100

// uploadCounts says what became of rows. Received is the sum of accepted, invalid and duplicates.
type uploadCounts struct {
	Received   int64      `json:"received"`
	Accepted   int64      `json:"accepted"`
	Invalid    int64      `json:"invalid"`
	Duplicates int64      `json:"duplicates"`
	Errors     []rowError `json:"errors"`  // the first 100
	Ignored    []string   `json:"ignored"` // columns that the network does not match people by
}

// rowError says what is wrong with a row, without repeating any of its values.
type rowError struct {
	Line    int    `json:"line"`
	Param   string `json:"param,omitempty"`
	Message string `json:"message"`
}

// refuse counts a row that is not sent.
func (c *uploadCounts) refuse(line int, param, message string) {
	c.Invalid++
	c.Errors = append(c.Errors, rowError{line, param, message})
}

func (c *uploadCounts) ignore(columns []string) {
	for _, column := range columns {
		if !slices.Contains(c.Ignored, column) {
			c.Ignored = append(c.Ignored, column)
		}
	}
}

// add adds the counts of later rows.
func (c *uploadCounts) add(later uploadCounts) {
	c.Received += later.Received
	c.Accepted += later.Accepted
	c.Invalid += later.Invalid
	c.Duplicates += later.Duplicates
	slices.SortStableFunc(later.Errors, func(a, b rowError) int { return cmp.Compare(a.Line, b.Line) })
	c.Errors = append(c.Errors, later.Errors[:min(len(later.Errors), maxNamed-len(c.Errors))]...)
	c.ignore(later.Ignored)
}
