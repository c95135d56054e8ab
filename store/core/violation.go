package core

import "fmt"

// Violation names a stored row that breaks a promise which the code should keep.
type Violation struct {
	Promise string
	Account string `db:"account_id"`
	Object  string `db:"id"`
}

func (v Violation) String() string {
	return fmt.Sprintf("%s of account %s: %s", v.Object, v.Account, v.Promise)
}
