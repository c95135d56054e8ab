package core

import "fmt"

// StaleTable is a table of PostgreSQL that has grown to twice its size since the database last looked at what is in it.
type StaleTable struct {
	Name    string `db:"name"`
	Pages   int64  `db:"pages"`   // how large it is now, of 8 KiB as a rule
	Allowed bool   `db:"allowed"` // whether the role of the program may have it analysed
}

// Advice says what to do about a table that the program may not analyse itself.
func (t StaleTable) Advice() string {
	return fmt.Sprintf("Table %s has grown to %d pages since PostgreSQL last analysed it, and this role may not have that done, so that statements may read too much. "+
		"Run `ANALYZE %s` as its owner, leave autovacuum on, make the role its owner, or from PostgreSQL 17 on `GRANT MAINTAIN ON %s` to the role.", t.Name, t.Pages, t.Name, t.Name)
}
