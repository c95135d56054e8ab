package harness

import (
	"sync/atomic"
	"testing"
	"time"
)

// Clock is the machine's clock, which a test can set ahead or stop.
type Clock struct {
	ahead   atomic.Int64
	stopped atomic.Pointer[time.Time]
}

// Now returns the time on the clock.
func (c *Clock) Now() time.Time {
	if at := c.stopped.Load(); at != nil {
		return *at
	}
	return time.Now().Add(time.Duration(c.ahead.Load()))
}

// StopAt makes the clock show a moment from now on.
func (c *Clock) StopAt(at time.Time) { c.stopped.Store(&at) }

// SetAhead makes the clock show a time that is so far from now.
func (c *Clock) SetAhead(d time.Duration) { c.ahead.Store(int64(d)) }

// AwaitEarlyMinute returns when at least twenty seconds of the clock's minute are left: the quota's windows are the
// clock's minutes, and a test that fills one must not run over its end.
func AwaitEarlyMinute(t testing.TB) {
	t.Helper()
	if s := time.Now().Second(); s >= 40 {
		time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)))
	}
}
