package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"github.com/tillwright/tillwright/store/core"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
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

// filterHas gives SQLite the function filter_has: 1 if its texts have all that its first argument asks for, a word and an address in a line, else 0.
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

// openPostgres opens the pool that serves both reads and writes. Once the returned flag is set, its connections send nothing
// more: see Pool.close.
func openPostgres(o Options) (*sqlx.DB, *atomic.Bool, error) {
	config, err := postgresConfig(o)
	if err != nil {
		return nil, nil, err
	}
	if o.Pooler == core.PoolerTransaction {
		config.BinaryParameters = true // unnamed statements do not survive such a pooler
	} else {
		config.Runtime["lock_timeout"] = "5s"
		config.Runtime["jit"] = "off" // compiling a short query takes longer than running it
		// Every statement has its index. But one that is prepared while its table is empty would go on reading the table as a
		// whole as it grows, until PostgreSQL analyses it: a minute in which webhooks take ten times as long.
		config.Runtime["enable_seqscan"] = "off"
		config.Runtime["idle_in_transaction_session_timeout"] = "15s"
		config.Runtime["statement_timeout"] = "12s"
		if o.Patient {
			delete(config.Runtime, "enable_seqscan")
			delete(config.Runtime, "statement_timeout")
		}
	}
	patience := AnswerTimeout
	if o.Patient {
		patience = 0
	}
	over := &atomic.Bool{}
	db, err := connectPostgres(config, dialer{patience: patience, over: over})
	if err != nil {
		return nil, nil, err
	}
	conns := o.MaxConns
	if conns == 0 {
		conns = 12
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	db.SetConnMaxLifetime(5 * time.Minute) // follows a failover
	return db, over, nil
}

// connectPostgres returns a pool whose connections are made by the dialer.
func connectPostgres(config pq.Config, d dialer) (*sqlx.DB, error) {
	c, err := pq.NewConnectorConfig(config)
	if err != nil {
		return nil, fmt.Errorf("store: database URL: %w", err)
	}
	c.Dialer(d)
	return sqlx.NewDb(sqlOpenDB(connector{c}), core.PostgreSQL), nil
}

// AnswerTimeout is how long a request waits for an answer of PostgreSQL. The database itself gives a statement up a little
// earlier.
const AnswerTimeout = 15 * time.Second

// dialer makes connections to PostgreSQL. If an answer does not arrive within patience the connection is given up; with 0 it
// waits for ever. A context could bound a query as well, but costs two goroutines each: a third of the time of a short query.
type dialer struct {
	net.Dialer
	patience time.Duration
	over     *atomic.Bool // once it is true the connections send nothing more; may be nil
}

func (d dialer) Dial(network, address string) (net.Conn, error) {
	return d.DialContext(context.Background(), network, address)
}

func (d dialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return d.DialContext(ctx, network, address)
}

func (d dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := d.Dialer.DialContext(ctx, network, address)
	if err != nil || d.patience == 0 && d.over == nil {
		return conn, err
	}
	return &impatientConn{Conn: conn, dialer: d}, nil
}

// impatientConn is a connection that waits for each answer no longer than its dialer has patience, and that sends nothing more
// once the dialer's flag over is set.
type impatientConn struct {
	net.Conn
	dialer dialer
}

// Write sends p, unless the connection is to send nothing more: then it returns net.ErrClosed.
func (c *impatientConn) Write(p []byte) (int, error) {
	if c.dialer.over != nil && c.dialer.over.Load() {
		return 0, net.ErrClosed
	}
	return c.Conn.Write(p)
}

// Read waits for an answer as long as the dialer has patience.
func (c *impatientConn) Read(p []byte) (int, error) {
	if c.dialer.patience > 0 {
		if err := c.SetReadDeadline(time.Now().Add(c.dialer.patience)); err != nil {
			return 0, err
		}
	}
	return c.Conn.Read(p)
}

// postgresConfig returns the settings of the database URL. What that leaves open is filled in: TLS is required unless the
// database is on this machine, and connecting takes at most five seconds.
func postgresConfig(o Options) (pq.Config, error) {
	config, err := pq.NewConfig(o.URL)
	if err != nil {
		return config, fmt.Errorf("store: database URL: %w", err)
	}
	if !strings.Contains(o.URL, "sslmode=") {
		config.SSLMode = pq.SSLModeRequire
		if isLoopback(config.Host) {
			config.SSLMode = pq.SSLModeDisable
		}
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 5 * time.Second
	}
	if config.Runtime == nil {
		config.Runtime = map[string]string{}
	}
	return config, nil
}

// isLoopback reports whether a host is this machine: a loopback address or the directory of a socket.
func isLoopback(host string) bool {
	if host == "" || host == "localhost" || strings.HasPrefix(host, "/") {
		return true
	}
	address, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && address.IsLoopback()
}

// Rebind returns the query with placeholders of the engine's form in the place of each ?.
func (d *DB) Rebind(query string) string {
	if d.Engine == core.SQLite {
		return query
	}
	return sqlx.Rebind(sqlx.DOLLAR, query)
}

// PlanAnew makes PostgreSQL plan each statement of the transaction when it runs, and look up row by row what it joins. A plan that it has kept from
// a time when the tables were empty would read them as a whole now that they are not; and so would a new one, if all that it knows of
// them is how few rows they had a moment ago. SQLite's plans do not depend on what is in the tables.
func (u *Unit) PlanAnew(ctx context.Context) error {
	if u.db.Engine == core.SQLite {
		return nil
	}
	_, err := Get[string](ctx, u, `
		SELECT set_config('plan_cache_mode', 'force_custom_plan', true) || set_config('enable_hashjoin', 'off', true) || set_config('enable_mergejoin', 'off', true)`)
	u.anew = err == nil
	return err
}

// PlanningAnew runs a read in a transaction with PlanAnew. On SQLite it just runs it.
func PlanningAnew[T any](ctx context.Context, d *DB, read func(context.Context) (T, error)) (T, error) {
	if d.Engine == core.SQLite {
		return read(ctx)
	}
	return Tx(ctx, d, func(ctx context.Context, u *Unit) (T, error) {
		if err := u.PlanAnew(ctx); err != nil {
			var none T
			return none, err
		}
		return read(ctx)
	})
}

// In returns a condition, and its one argument, that holds if the column has any of the values. It has one text for one value and
// one for any other number, so that its statement is prepared twice at most. PostgreSQL takes ten for what it does not know, and so
// would plan the statement of one value anew each time, which is longer than it runs.
func (d *DB) In(column string, values []string) (condition string, arg any) {
	if len(values) == 1 {
		return column + " = ?", values[0]
	}
	if d.Engine == core.SQLite {
		return column + " IN (SELECT value FROM json_each(?))", core.JSON[[]string]{V: values}
	}
	return column + " = ANY(?)", pq.Array(values)
}

// InSelected returns the condition that a column is among what a query selects. PostgreSQL looks up each, instead of thinking of
// another way to join them.
func (d *DB) InSelected(column, query string) string {
	if d.Engine == core.SQLite {
		return column + " IN (" + query + ")"
	}
	return column + " = ANY(ARRAY(" + query + "))"
}

// JSONRows returns SQL for a table with one column, value, that holds the elements of a JSON array. The array is one argument,
// so that there is one text for any number of rows.
func (d *DB) JSONRows() string {
	if d.Engine == core.SQLite {
		return "json_each(?)"
	}
	return "json_array_elements(CAST(? AS json))"
}

// JSONElements returns SQL for a table with one column, value, that holds the texts in the JSON array of a column.
func (d *DB) JSONElements(column string) string {
	if d.Engine == core.SQLite {
		return "json_each(" + column + ")"
	}
	return "json_array_elements_text(CAST(" + column + " AS json))"
}

// JSONMembers returns SQL for a table with two columns, key and value, that holds the members of the JSON object of a column.
func (d *DB) JSONMembers(column string) string {
	if d.Engine == core.SQLite {
		return "json_each(" + column + ")"
	}
	return "json_each_text(CAST(" + column + " AS json))"
}

// JSONText returns SQL for the text that a member has in the JSON object that an expression is the text of.
func (d *DB) JSONText(object, member string) string {
	if d.Engine == core.SQLite {
		return "(" + object + " ->> '" + member + "')"
	}
	return "(CAST(" + object + " AS json) ->> '" + member + "')"
}

// JSONNumber returns SQL for the whole number that a member has, as JSONText does for a text.
func (d *DB) JSONNumber(object, member string) string {
	return "CAST(" + d.JSONText(object, member) + " AS bigint)"
}

// JSONTable returns SQL for a table of the objects in a JSON array, which is one argument. It has a column for each of the
// members, which are given with their types, as in "amount bigint"; the types are text, bigint and boolean.
func (d *DB) JSONTable(members ...string) string {
	if d.Engine != core.SQLite {
		return "ROWS FROM (json_to_recordset(CAST(? AS json)) AS (" + strings.Join(members, ", ") + "))"
	}
	columns := make([]string, len(members))
	for i, member := range members {
		name, _, _ := strings.Cut(member, " ")
		columns[i] = "value ->> '" + name + "' AS " + name
	}
	return "(SELECT " + strings.Join(columns, ", ") + " FROM json_each(?))"
}

// ArrayHas returns the condition that the JSON array of a column contains a text, for which it has a placeholder.
func (d *DB) ArrayHas(column string) string {
	if d.Engine == core.SQLite {
		return "EXISTS (SELECT 1 FROM json_each(" + column + ") AS e WHERE e.value = ?)"
	}
	return column + "::jsonb @> to_jsonb(CAST(? AS text))"
}

// LookUp returns SQL that joins rows of a table to each row of what stands before it: those for which the condition holds, found for each row by
// itself. PostgreSQL would rather read an account as a whole if it takes it for one of usual size, or a table for as small as it was a moment
// ago, and keeps that plan. The condition may name columns of what stands before; another LookUp may follow, or a WHERE.
func (d *DB) LookUp(table, alias, condition string) string {
	if d.Engine == core.SQLite {
		return " CROSS JOIN " + table + " AS " + alias + " ON " + condition
	}
	return " CROSS JOIN LATERAL (SELECT * FROM " + table + " AS " + alias + " WHERE " + condition + " OFFSET 0) AS " + alias // OFFSET keeps it from being merged into the rest
}

const forUpdate = " FOR UPDATE"

// Lock returns the end of a SELECT that locks its rows until the transaction ends. On SQLite that is "": a transaction is the
// only writer there from its beginning.
func (u *Unit) Lock() string {
	if u.db.Engine == core.SQLite {
		return ""
	}
	return forUpdate
}

// LockSkip returns the end of a SELECT that locks its rows as Lock does, but leaves out those that another transaction has
// locked. It is for workers.
func (u *Unit) LockSkip() string {
	if u.db.Engine == core.SQLite {
		return ""
	}
	return " FOR UPDATE SKIP LOCKED"
}

// NowSQL returns an SQL expression for the database's own time, in microseconds. Leases go by it, because the clocks of
// replicas differ; for an embedded database it is the clock of this machine.
func (d *DB) NowSQL() string {
	if d.Engine == core.SQLite {
		return "CAST(unixepoch('subsec') * 1000000 AS INTEGER)"
	}
	// In a SELECT of its own it is asked once for the whole statement. Otherwise PostgreSQL would ask for every row, and could not look it up
	// in an index of leases.
	return "(SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint))"
}

// SQLSTATEs that the store acts upon.
const (
	SerializationFailure = "40001"
	deadlockDetected     = "40P01"
	lockNotAvailable     = "55P03"
	queryCanceled        = "57014"
	uniqueViolation      = "23505"
	cannotConnectNow     = "57P03"
	adminShutdown        = "57P01"
	readOnlyTransaction  = "25006"
	undefinedTable       = "42P01"
	duplicateTable       = "42P07"
	duplicateObject      = "42710"
)

// sqlState returns the SQLSTATE of an error of PostgreSQL, "" for any other error.
func sqlState(err error) string {
	if e := pq.As(err); e != nil {
		return string(e.Code)
	}
	return ""
}

// isRetryable reports whether a transaction that failed before its COMMIT may simply be run again. One that met a unique key is
// among them: it looked for the row before the other transaction had committed, and the second time it sees the row and says
// what is wrong.
func isRetryable(err error) bool {
	switch state := sqlState(err); state {
	case SerializationFailure, deadlockDetected, cannotConnectNow, adminShutdown, readOnlyTransaction, uniqueViolation:
		return true
	default:
		return strings.HasPrefix(state, "08") || errors.Is(err, driver.ErrBadConn) || errors.Is(err, ErrOvertaken)
	}
}

// IsUnique reports whether a statement failed because a row with the same unique key exists already.
func IsUnique(err error) bool {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || e.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY
	}
	return sqlState(err) == uniqueViolation
}

// existsAlready reports whether CREATE ... IF NOT EXISTS failed because another session created the same at that moment.
// PostgreSQL reports that in one of three ways.
func existsAlready(err error) bool {
	state := sqlState(err)
	return state == duplicateTable || state == duplicateObject || state == uniqueViolation
}

// isConnectionLost reports whether an error leaves open whether the statement was carried out.
func isConnectionLost(err error) bool {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()&0xff == sqlite3.SQLITE_IOERR // a commit that could not be flushed may be found when the file is next opened
	}
	var network net.Error
	state := sqlState(err)
	return errors.As(err, &network) || isBadConn(err) || state == adminShutdown || strings.HasPrefix(state, "08") ||
		errors.Is(err, context.DeadlineExceeded)
}

// sqlOpenDB opens a pool whose connections are made by c.
func sqlOpenDB(c driver.Connector) *sql.DB { return sql.OpenDB(c) }

// isBadConn reports whether an error means that the connection broke off or was closed.
func isBadConn(err error) bool {
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
