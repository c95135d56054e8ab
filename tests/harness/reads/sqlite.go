package reads

import (
	"encoding/binary"
	"fmt"
	"strings"

	"modernc.org/libc"
	sqlite "modernc.org/sqlite/lib"
)

// SQLite measures on a connection to a file. It calls the library itself, because database/sql knows nothing of the counters of a statement.
type SQLite struct {
	tls *libc.TLS
	db  uintptr
}

// NewSQLite opens the file of an address.
func NewSQLite(address string) (*SQLite, error) {
	s := &SQLite{tls: libc.NewTLS()}
	name, err := libc.CString(strings.TrimPrefix(address, "sqlite://"))
	if err != nil {
		return nil, err
	}
	defer libc.Xfree(s.tls, name)
	into := s.tls.Alloc(8)
	defer s.tls.Free(8)
	if code := sqlite.Xsqlite3_open_v2(s.tls, name, into, sqlite.SQLITE_OPEN_READWRITE, 0); code != sqlite.SQLITE_OK {
		return nil, fmt.Errorf("open %s: %d", address, code)
	}
	s.db = s.pointer(into)
	return s, nil
}

// Close closes the file.
func (s *SQLite) Close() error {
	defer s.tls.Close()
	if code := sqlite.Xsqlite3_close_v2(s.tls, s.db); code != sqlite.SQLITE_OK {
		return s.fault()
	}
	return nil
}

func (s *SQLite) fault() error {
	return fmt.Errorf("sqlite: %s", libc.GoString(sqlite.Xsqlite3_errmsg(s.tls, s.db)))
}

// pointer returns what stands where into points.
func (s *SQLite) pointer(into uintptr) uintptr {
	return uintptr(binary.NativeEndian.Uint64(libc.GoBytes(into, 8)))
}

// Runs implements Meter.
func (s *SQLite) Runs(string) bool { return true }

// Measure implements Meter.
func (s *SQLite) Measure(statement string, calls [][]any) (cost Cost, err error) {
	for _, args := range calls {
		if cost, err = s.measure(statement, args); err != nil || cost.Excessive("sqlite") {
			break
		}
	}
	return cost, err
}

func (s *SQLite) measure(statement string, args []any) (cost Cost, err error) {
	if _, err := s.run(`BEGIN`, nil, nil); err != nil {
		return cost, err
	}
	defer s.run(`ROLLBACK`, nil, nil)
	cost.Read, err = s.run(statement, args, func(uintptr) { cost.Rows++ })
	if err != nil {
		return cost, err
	}
	if !strings.HasPrefix(strings.TrimSpace(statement), "SELECT") {
		cost.Rows = max(cost.Rows, int(sqlite.Xsqlite3_changes(s.tls, s.db)))
	}
	if cost.Excessive("sqlite") {
		_, err = s.run(`EXPLAIN QUERY PLAN `+statement, args, func(row uintptr) {
			cost.Plan += libc.GoString(sqlite.Xsqlite3_column_text(s.tls, row, 3)) + "\n"
		})
	}
	return cost, err
}

// run runs a statement to its end, and returns how many steps it took. Each is called for every row.
func (s *SQLite) run(statement string, args []any, each func(row uintptr)) (steps int, err error) {
	text, err := libc.CString(statement)
	if err != nil {
		return 0, err
	}
	defer libc.Xfree(s.tls, text)
	into := s.tls.Alloc(8)
	defer s.tls.Free(8)
	if code := sqlite.Xsqlite3_prepare_v2(s.tls, s.db, text, -1, into, 0); code != sqlite.SQLITE_OK {
		return 0, s.fault()
	}
	prepared := s.pointer(into)
	defer sqlite.Xsqlite3_finalize(s.tls, prepared)
	for i, arg := range args {
		free, err := s.bind(prepared, int32(i+1), arg)
		if err != nil {
			return 0, err
		}
		defer free()
	}
	for {
		switch sqlite.Xsqlite3_step(s.tls, prepared) {
		case sqlite.SQLITE_ROW:
			if each != nil {
				each(prepared)
			}
		case sqlite.SQLITE_DONE:
			return int(sqlite.Xsqlite3_stmt_status(s.tls, prepared, sqlite.SQLITE_STMTSTATUS_VM_STEP, 0)), nil
		default:
			return 0, s.fault()
		}
	}
}

// bind gives a statement one of its arguments, which has to stay until the statement is over.
func (s *SQLite) bind(prepared uintptr, i int32, arg any) (free func(), err error) {
	var code int32
	free = func() {}
	switch v := arg.(type) {
	case nil:
		code = sqlite.Xsqlite3_bind_null(s.tls, prepared, i)
	case bool:
		var n int64
		if v {
			n = 1
		}
		code = sqlite.Xsqlite3_bind_int64(s.tls, prepared, i, n)
	case int64:
		code = sqlite.Xsqlite3_bind_int64(s.tls, prepared, i, v)
	case float64:
		code = sqlite.Xsqlite3_bind_double(s.tls, prepared, i, v)
	case string:
		text, err := libc.CString(v)
		if err != nil {
			return free, err
		}
		free = func() { libc.Xfree(s.tls, text) }
		code = sqlite.Xsqlite3_bind_text(s.tls, prepared, i, text, int32(len(v)), 0)
	case []byte:
		data, err := libc.CString(string(v))
		if err != nil {
			return free, err
		}
		free = func() { libc.Xfree(s.tls, data) }
		code = sqlite.Xsqlite3_bind_blob(s.tls, prepared, i, data, int32(len(v)), 0)
	default:
		return free, fmt.Errorf("bind %T", arg)
	}
	if code != sqlite.SQLITE_OK {
		return free, s.fault()
	}
	return free, nil
}
