package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/lib/pq"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

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

// isRetryable reports whether a transaction that failed before its COMMIT may simply be run again. One that met a unique key is among them: it had
// looked for the row before the other transaction committed. The second time it sees the row and says what is wrong.
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

// isBadConn reports whether an error means that the connection broke off or was closed.
func isBadConn(err error) bool {
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
