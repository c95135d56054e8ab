// Package migrations holds the schema of both engines, forward only. The two folders are twins: the same file
// names, tables and columns. What SQL cannot do are steps in Go: EmailKeys, Repair and Pictures. On PostgreSQL every statement stands alone and may be
// repeated, so that a migration that was cut short is simply run again. On SQLite a file is one transaction.
package migrations

import (
	"embed"
	"io/fs"
	"strconv"
	"strings"
)

//go:embed sqlite/*.sql postgres/*.sql
var files embed.FS

// EmailKeys is the number of the step that is written in Go, beside the files: emailKeys in store/internal/db.
const EmailKeys = 158

// Repair is the number of another such step: Repair in store/internal/db.
const Repair = 169

// Pictures is the number of a third: pictures in store/internal/db.
const Pictures = 195

// FS returns the migrations of an engine, "sqlite" or "postgres".
func FS(engine string) (fs.FS, error) { return fs.Sub(files, engine) }

// Latest returns the number of an engine's newest migration.
func Latest(engine string) (int64, error) {
	entries, err := files.ReadDir(engine)
	if err != nil {
		return 0, err
	}
	number, _, _ := strings.Cut(entries[len(entries)-1].Name(), "_")
	latest, err := strconv.ParseInt(number, 10, 64)
	return max(latest, EmailKeys, Repair, Pictures), err
}
