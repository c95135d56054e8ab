package core

import (
	"errors"
	"strings"
)

// The two database engines.
const (
	SQLite     = "sqlite"
	PostgreSQL = "postgres"
)

// EngineOf returns the engine of a database URL, by its scheme.
func EngineOf(databaseURL string) (string, error) {
	scheme, rest, ok := strings.Cut(databaseURL, "://")
	switch {
	case ok && rest != "" && scheme == SQLite:
		return SQLite, nil
	case ok && (scheme == PostgreSQL || scheme == "postgresql"):
		return PostgreSQL, nil
	}
	return "", errors.New("store: a database URL is sqlite:///path/file.db or postgres://user@host/database")
}

// The poolers that may stand between the store and PostgreSQL.
const (
	PoolerNone        = "none"
	PoolerTransaction = "transaction" // PgBouncer in transaction mode: no session state, no prepared statements
)

// PlannedAnew ends the text of a statement, where somebody traces them, whose plan PostgreSQL makes for each call and by nested loops alone. It does
// so whatever it has kept and whatever else its connection is set to. The ending is a comment.
const PlannedAnew = " /* planned anew */"
