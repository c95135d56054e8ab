package core

import "fmt"

// Violation is a row that breaks a promise which the code keeps.
type Violation struct {
	Promise string
	Account string `db:"account_id"`
	Object  string `db:"id"`
}

func (v Violation) String() string {
	return fmt.Sprintf("%s of account %s: %s", v.Object, v.Account, v.Promise)
}
