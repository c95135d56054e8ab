package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// DatabaseError turns the error of a statement into an *UnavailableError if the database is to blame for it. Any other error is
// returned as it is: that one is a mistake of ours. It must be called where the statement ran, because a network error by
// itself does not say whose connection it is about.
func DatabaseError(err error) error {
	if err == nil || !isUnavailable(err) || IsMarked(err) {
		return err
	}
	return &core.UnavailableError{Cause: err, Busy: errors.Is(err, errBusy)}
}

// writeError does what DatabaseError does for a write, and remembers that the database did not take it: see CheckReady.
func (d *DB) writeError(err error) error {
	err = DatabaseError(err)
	if IsMarked(err) {
		d.writeFailed.Store(true)
	}
	return err
}

// connectError turns whatever keeps us from connecting to the database into an *UnavailableError. A wrong password and an expired certificate are
// included: they are never the request's fault. Only a context that was cancelled stays as it is.
func connectError(what string, err error) error {
	if errors.Is(err, context.Canceled) || IsMarked(err) {
		return fmt.Errorf("%s: %w", what, err)
	}
	return &core.UnavailableError{Cause: fmt.Errorf("%s: %w", what, err), Busy: errors.Is(err, errBusy)}
}

// IsMarked reports whether an error is an *UnavailableError, so that the database is to blame for it.
func IsMarked(err error) bool {
	_, ok := errors.AsType[*core.UnavailableError](err)
	return ok
}

// unavailableStates are the SQLSTATEs by which PostgreSQL says that the database, and not the statement, is the reason why the
// statement was not carried out. A statement that lost against others for too long is among them. unavailableClasses are the
// first two characters of further ones.
var (
	unavailableStates = []string{
		SerializationFailure, deadlockDetected, lockNotAvailable, readOnlyTransaction,
		"25P03", "25P04", // a transaction that stood idle or open for too long was ended
		"57014", "57P01", "57P02", "57P03", "57P05", // cancelled by its time limit, stopping, crashed, starting, idle for too long
		"58000", "58030", // its system or its disk failed
	}
	unavailableClasses = []string{"08", "53"} // connections; disk, memory and connections used up
)

// unavailableResults are the primary result codes of SQLite that say the same.
var unavailableResults = []int{
	sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR,
	sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PROTOCOL,
}

// isUnavailable reports whether the database is to blame for the error of a statement.
func isUnavailable(err error) bool {
	if state := sqlState(err); state != "" {
		return slices.Contains(unavailableStates, state) || slices.Contains(unavailableClasses, state[:2])
	}
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return slices.Contains(unavailableResults, e.Code()&0xff)
	}
	var network net.Error
	return isBadConn(err) || errors.Is(err, errBusy) || errors.Is(err, errSlow) || errors.As(err, &network) ||
		errors.Is(err, sql.ErrTxDone) // the time of the request ran out, and its transaction with it
}

// connector makes connections, and turns errors of that into *UnavailableErrors.
type connector struct{ driver.Connector }

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, connectError("connect", err)
	}
	return conn, nil
}

// unclear sets Unclear in an *UnavailableError if something of the request may have been done all the same. Then a COMMIT was sent and its answer not
// heard, or a step had committed. Any other error is returned as it is.
func (r *request) unclear(err error) error {
	away, ok := errors.AsType[*core.UnavailableError](err)
	if !ok || !r.stepped && !isCommitUnknown(err) {
		return err
	}
	return &core.UnavailableError{Cause: away.Cause, Unclear: true}
}
