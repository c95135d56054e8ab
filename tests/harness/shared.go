package harness

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"testing"

	"github.com/tillwright/tillwright/tests/harness/database"
)

// SharedServers has a server on each engine for those tests of a package that need accounts of their own and no more. Each is booted when the first
// test asks for it. A database, its server and their connections cost more than most tests.
//
// Such a test may not look at what other accounts have, nor move the clock. What it leaves behind is checked at the end, for all tests together.
type SharedServers struct {
	options []Option
	life    lasting
	mu      sync.Mutex
	servers map[string]*Server
}

// NewSharedServers returns servers that are started with these options.
func NewSharedServers(options ...Option) *SharedServers {
	return &SharedServers{options: options, servers: map[string]*Server{}}
}

// Server returns the server on an engine. Each test has to ask by itself.
func (s *SharedServers) Server(t testing.TB, engine string) *Server {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		if p := recover(); p != nil { // the next test tries again
			t.Fatalf("no server for many tests: %v\n%s", p, debug.Stack())
		}
	}()
	if s.servers[engine] == nil {
		s.servers[engine] = Boot(&s.life, database.URL(&s.life, engine), append(slices.Clone(s.options), func(s *Server) { s.shared = true })...)
	}
	return s.servers[engine]
}

// End ends the servers, and reports whether all went well. TestMain calls it after the tests.
func (s *SharedServers) End() (ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.servers)
	return s.life.end()
}

// lasting is what lasts longer than the test that asked for it. Of what tests are it has only what is below.
type lasting struct {
	testing.TB

	mu       sync.Mutex
	ctx      context.Context
	stop     context.CancelFunc
	cleanups []func()
	failed   bool
}

// end does what was left for the end, the last first, and reports whether nothing failed.
func (l *lasting) end() (ok bool) {
	_ = l.Context()
	l.stop()
	for {
		l.mu.Lock()
		last := len(l.cleanups) - 1
		if last < 0 {
			l.ctx = nil
			l.mu.Unlock()
			return !l.failed
		}
		cleanup := l.cleanups[last]
		l.cleanups = l.cleanups[:last]
		l.mu.Unlock()
		cleanup()
	}
}

// Context ends before what was left for the end begins.
func (l *lasting) Context() context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx == nil {
		l.ctx, l.stop = context.WithCancel(context.Background())
	}
	return l.ctx
}

// Cleanup leaves something for the end.
func (l *lasting) Cleanup(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cleanups = append(l.cleanups, f)
}

// TempDir makes a folder that is removed at the end.
func (l *lasting) TempDir() string {
	dir, err := os.MkdirTemp("", "tillwright-shared-")
	if err != nil {
		l.Fatal(err)
	}
	l.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			l.Error(err)
		}
	})
	return dir
}

// Helper does nothing.
func (l *lasting) Helper() {}

// Error says what is wrong, which End reports.
func (l *lasting) Error(args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = true
	fmt.Println(append([]any{"shared by many tests:"}, args...)...)
}

// Errorf is Error of a text.
func (l *lasting) Errorf(format string, args ...any) { l.Error(fmt.Sprintf(format, args...)) }

// Fatal panics: no test can go on without what it shares with the others.
func (l *lasting) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

// Fatalf is Fatal of a text.
func (l *lasting) Fatalf(format string, args ...any) { l.Fatal(fmt.Sprintf(format, args...)) }
