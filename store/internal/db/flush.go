package db

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/tillwright/tillwright/store/core"
)

// flusher makes the commits of an embedded database outlive the machine, those of many transactions at once. SQLite itself would flush
// its log within each commit, while all other writers wait. So it is told not to (synchronous=NORMAL), and the next transaction begins at once.
// Whoever has committed waits here, before anybody is told, for a flush that began after the commit. The log is flushed as a whole. What follows from
// a transaction that is not flushed yet, such as sending its event, begins with a commit of its own. That commit waits for both.
//
// Who only reads may see what is not flushed yet.
type flusher struct {
	path  string // of the log
	flush func(*os.File) error
	log   *os.File // nil before the first flush

	turn   sync.Mutex // who holds it flushes
	mu     sync.Mutex
	next   *flush // the one that has not begun, nil if nobody waits for one
	failed error  // of the first flush that failed: the system may have forgotten what it could not write, so no later one proves anything
}

// flush is one flush of the log, for all who wait for it.
type flush struct {
	done chan struct{}
	err  error
}

// wait returns once all that has been committed is on the disk. After an error nobody knows what is, and all later calls
// return it too.
func (f *flusher) wait() error {
	f.mu.Lock()
	if mine := f.next; mine != nil {
		f.mu.Unlock()
		<-mine.done
		return mine.err
	}
	mine := &flush{done: make(chan struct{})}
	f.next = mine
	f.mu.Unlock()

	f.turn.Lock() // which ends when the flush before has
	f.mu.Lock()
	f.next = nil // who commits from now on is too late for this one
	f.mu.Unlock()
	if f.failed == nil {
		f.failed = f.run()
	}
	mine.err = f.failed
	f.turn.Unlock()
	close(mine.done)
	return mine.err
}

// run flushes the log. The file stays open, because the system reports a failed write to those who had the file open before it. It tells others only
// if nobody has been told. SQLite flushes too, so it may be told instead, and it keeps errors of its checkpoints to itself. SQLite deletes the log
// when the last connection is closed, and makes another.
func (f *flusher) run() error {
	now, err := os.Stat(f.path)
	if err == nil && (f.log == nil || !isFile(f.log, now)) {
		err = errors.Join(f.close(), f.open())
	}
	if err == nil {
		err = f.flush(f.log)
	}
	if err != nil {
		return &core.UnavailableError{Cause: fmt.Errorf("flush the database's log: %w", err), Unclear: true}
	}
	return nil
}

func (f *flusher) open() (err error) {
	f.log, err = os.OpenFile(f.path, os.O_RDWR, 0)
	return err
}

func (f *flusher) close() error {
	if f.log == nil {
		return nil
	}
	err := f.log.Close()
	f.log = nil
	return err
}

// isFile reports whether an open file is the one that was looked at.
func isFile(open *os.File, info os.FileInfo) bool {
	is, err := open.Stat()
	return err == nil && os.SameFile(is, info)
}

// flushed waits until all that has been committed outlives the machine. PostgreSQL sees to that in the commit.
func (d *DB) flushed() error {
	if d.flusher == nil {
		return nil
	}
	return d.writeError(d.flusher.wait())
}
