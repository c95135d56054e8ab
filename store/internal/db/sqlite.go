package db

import (
	"database/sql/driver"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/tillwright/tillwright/store/core"
	"modernc.org/sqlite"
)

// unicodeLower replaces SQLite's own lower(), which knows ASCII only: a search finds ÉMILE as émile on both engines.
// Functions belong to the driver, so it is registered once for the process.
var unicodeLower = sync.OnceValue(func() error {
	return sqlite.RegisterDeterministicScalarFunction("lower", 1, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		if text, ok := args[0].(string); ok {
			return strings.ToLower(text), nil
		}
		return args[0], nil
	})
})

// filterWords gives SQLite the function filter_words of its texts, as the triggers of filter_entries call it: a JSON array of words.
var filterWords = sync.OnceValue(func() error {
	return sqlite.RegisterDeterministicScalarFunction("filter_words", -1, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		var found []string
		for _, arg := range args {
			if text, ok := arg.(string); ok {
				found = append(found, core.Words(text)...)
			}
		}
		slices.Sort(found)
		encoded, err := json.Marshal(slices.Compact(found))
		return string(encoded), err
	})
})

// filterHas gives SQLite the function filter_has. It is 1 if its texts have all that its first argument asks for, a word and an address in each line,
// else 0.
var filterHas = sync.OnceValue(func() error {
	return sqlite.RegisterDeterministicScalarFunction("filter_has", -1, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		var text strings.Builder
		for _, arg := range args[1:] {
			if t, ok := arg.(string); ok {
				text.WriteString(t + " ")
			}
		}
		searched, asked := strings.ToLower(text.String()), args[0].(string)
		for line := range strings.Lines(asked) {
			word, address, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			if !(core.Asked{Word: word, Address: address}).In(searched) {
				return int64(0), nil
			}
		}
		return int64(1), nil
	})
})

// RegisterFunctions gives SQLite, in this process, the functions that queries and triggers call.
func RegisterFunctions() error { return errors.Join(unicodeLower(), filterWords(), filterHas()) }

// openSQLite opens a file for one writer and several readers. Readers cannot write, not even by mistake. Only an empty file can still be
// given what GiveSpaceBack needs: of any other, setting it would wait for whoever writes.
func openSQLite(o Options, isEmpty bool) (write, read *sqlx.DB, err error) {
	if err := RegisterFunctions(); err != nil {
		return nil, nil, err
	}
	first := "_txlock=immediate"
	if isEmpty {
		first += "&_pragma=auto_vacuum(incremental)"
	}
	writer, err := sqlx.Open(core.SQLite, sqliteDSN(o, first, "cache_size(-16000)"))
	if err != nil {
		return nil, nil, err
	}
	writer.SetMaxOpenConns(1)
	reader, err := sqlx.Open(core.SQLite, sqliteDSN(o, "_txlock=deferred", "query_only(true)", "cache_size(-2000)"))
	if err != nil {
		return nil, nil, err
	}
	reader.SetMaxOpenConns(sqliteReaders)
	reader.SetMaxIdleConns(sqliteReaders)
	reader.SetConnMaxIdleTime(time.Minute) // each holds the schema, more than a megabyte
	return writer, reader, nil
}

// sqliteReaders is how many reads of a file there may be at once. More than a small machine has cores gain nothing.
const sqliteReaders = 8

// sqliteDSN returns the address under which one pool of an embedded database opens its file. First are settings that come before all others, extra its
// own PRAGMAs. Cache sizes are in KB for each connection: those of the readers are small, because every commit empties them and there are many.
func sqliteDSN(o Options, first string, extra ...string) string {
	pragmas := append([]string{"busy_timeout(5000)", "journal_mode(wal)", "synchronous(normal)", "foreign_keys(true)", "temp_store(memory)"}, extra...) // see flusher
	return (&url.URL{
		Scheme:   "file",
		Opaque:   (&url.URL{Path: sqlitePath(o.URL)}).EscapedPath(),
		RawQuery: first + "&_pragma=" + strings.Join(pragmas, "&_pragma="),
	}).String()
}

// sqlitePath returns the file of a sqlite:// URL.
func sqlitePath(databaseURL string) string { return strings.TrimPrefix(databaseURL, core.SQLite+"://") }
