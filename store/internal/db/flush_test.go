package db

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
)

func logFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shop.db-wal")
	require.NoError(t, os.WriteFile(path, []byte("a commit"), 0o600))
	return path
}

func TestFlusher_OneFlushServesAllWhoWait(t *testing.T) {
	t.Parallel()
	var flushes atomic.Int64
	begun, end := make(chan int64, 10), make(chan struct{})
	f := &flusher{path: logFile(t), flush: func(*os.File) error {
		begun <- flushes.Add(1)
		<-end
		return nil
	}}
	var group sync.WaitGroup
	var told atomic.Int64
	commit := func() {
		group.Go(func() {
			if f.wait() == nil {
				told.Add(1)
			}
		})
	}
	commit()
	<-begun
	for range 20 { // while the first is under way, which may have missed them
		commit()
	}
	require.Never(t, func() bool { return told.Load() > 0 }, 50*time.Millisecond, time.Millisecond, "somebody was told before the flush had ended")
	end <- struct{}{}
	<-begun
	require.EqualValues(t, 1, told.Load(), "only the first is on the disk")
	end <- struct{}{}
	close(end) // for one that came as late as that
	group.Wait()
	require.EqualValues(t, 21, told.Load())
	require.LessOrEqual(t, flushes.Load(), int64(3))
}

func TestFlusher_TrustsNothingAfterAFailure(t *testing.T) {
	t.Parallel()
	fails := errors.New("the disk is broken")
	f := &flusher{path: logFile(t), flush: func(*os.File) error { return fails }}
	err := f.wait()
	away, ok := errors.AsType[*core.UnavailableError](err)
	require.True(t, ok, "%v", err)
	require.True(t, away.Unclear, "%v", err)
	f.flush = func(*os.File) error { return nil } // the system has forgotten what it could not write
	require.ErrorIs(t, f.wait(), fails)
}

func TestFlusher_MissesNoLog(t *testing.T) {
	t.Parallel()
	f := &flusher{path: filepath.Join(t.TempDir(), "gone-wal"), flush: flushFile}
	require.ErrorIs(t, f.wait(), os.ErrNotExist)
}

func TestTx_TellsNobodyBeforeItIsFlushed(t *testing.T) {
	t.Parallel()
	sealer, err := core.NewSealer(make([]byte, 32))
	require.NoError(t, err)
	real := filepath.Join(t.TempDir(), "shop.db")
	link := filepath.Join(t.TempDir(), "link.db")
	require.NoError(t, os.WriteFile(real, nil, 0o600))
	require.NoError(t, os.Symlink(real, link))
	d, err := Open(t.Context(), Options{URL: "sqlite://" + link, Sealer: sealer})
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close(context.Background())) }()

	var did []string
	write := func(statement string) error {
		did = nil
		_, err := Tx(t.Context(), d, func(ctx context.Context, u *Unit) (int64, error) {
			u.AfterCommit(func() { did = append(did, "told") })
			return u.Exec(ctx, statement)
		})
		return err
	}
	d.flusher.flush = func(log *os.File) error {
		info, err := log.Stat()
		require.NoError(t, err)
		require.NotZero(t, info.Size(), "%s is not the log", log.Name())
		did = append(did, "flushed")
		return flushFile(log)
	}
	require.NoError(t, write(`CREATE TABLE t (a INTEGER)`))
	require.Equal(t, []string{"flushed", "told"}, did)

	d.flusher.flush = func(*os.File) error { return errors.New("the disk is broken") }
	away, ok := errors.AsType[*core.UnavailableError](write(`INSERT INTO t VALUES (1)`))
	require.True(t, ok)
	require.True(t, away.Unclear)
	require.Empty(t, did)
	require.Error(t, d.checkWrites(t.Context()), "it says that it is ready")
}

// asked is a database that is asked the same request again and again.
func asked(t *testing.T) (d *DB, ask func() (replayed bool, err error)) {
	t.Helper()
	sealer, err := core.NewSealer(make([]byte, 32))
	require.NoError(t, err)
	d, err = Open(t.Context(), Options{URL: "sqlite://" + filepath.Join(t.TempDir(), "shop.db"), Sealer: sealer})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close(context.Background()) })
	for _, statement := range []string{
		`CREATE TABLE accounts (id TEXT, clock_offset INTEGER)`,
		`CREATE TABLE idempotency_keys (account_id TEXT, key TEXT, fingerprint BLOB, token TEXT, effect TEXT, lease_until INTEGER, expires_at INTEGER,
			status INTEGER NOT NULL DEFAULT 0, body BLOB, size INTEGER NOT NULL DEFAULT 0, keyless INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (account_id, key))`,
		`INSERT INTO accounts VALUES ('acct', 0)`,
	} {
		_, err := Tx(t.Context(), d, func(ctx context.Context, u *Unit) (int64, error) { return u.Exec(ctx, statement) })
		require.NoError(t, err)
	}
	return d, func() (bool, error) {
		_, replayed, err := d.Request(context.Background(), &core.Key{Account: "acct", Key: "k"}, func(context.Context) (*core.Answer, error) {
			return &core.Answer{Status: 200, Body: []byte(`{}`)}, nil
		})
		return replayed, err
	}
}

func TestRequest_IsNotReplayedBeforeItIsFlushed(t *testing.T) {
	t.Parallel()
	d, ask := asked(t)
	begun, end := make(chan struct{}, 10), make(chan struct{})
	release := sync.OnceFunc(func() { close(end) })
	t.Cleanup(release)
	d.flusher.flush = func(*os.File) error {
		begun <- struct{}{}
		<-end
		return nil
	}
	var told atomic.Int64
	var group sync.WaitGroup
	send := func() {
		group.Go(func() {
			if _, err := ask(); err == nil {
				told.Add(1)
			}
		})
	}
	send()
	<-begun
	send()
	require.Never(t, func() bool { return told.Load() > 0 }, 100*time.Millisecond, time.Millisecond, "somebody was told before the flush had ended")
	release()
	group.Wait()
	require.EqualValues(t, 2, told.Load())
}

func TestRequest_IsNotReplayedAfterItsFlushHasFailed(t *testing.T) {
	t.Parallel()
	d, ask := asked(t)
	d.flusher.flush = func(*os.File) error { return errors.New("the disk is broken") }
	for range 2 {
		replayed, err := ask()
		require.Error(t, err)
		require.False(t, replayed)
	}
}

func TestFlusher_KeepsTheLogOpenUntilItIsAnother(t *testing.T) {
	t.Parallel()
	var seen []*os.File
	f := &flusher{path: logFile(t), flush: func(log *os.File) error {
		seen = append(seen, log)
		return nil
	}}
	require.NoError(t, f.wait())
	require.NoError(t, f.wait())
	require.NoError(t, os.Remove(f.path))
	require.NoError(t, os.WriteFile(f.path, []byte("another log"), 0o600))
	require.NoError(t, f.wait())
	require.Same(t, seen[0], seen[1])
	require.NotSame(t, seen[1], seen[2])
	require.NoError(t, f.close())
}
