package harness

import (
	"sync/atomic"
	"testing"
	"time"
)

// Clock is the machine's clock, which a test can stop or set ahead.
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

// StopAt makes the clock show this moment and stand still.
func (c *Clock) StopAt(at time.Time) { c.stopped.Store(&at) }

// Stop makes the clock stand still where it is.
func (c *Clock) Stop() { c.StopAt(c.Now()) }

// GoOn makes the clock go on after it stood still, as if it never had.
func (c *Clock) GoOn() { c.stopped.Store(nil) }

// SetAhead makes the clock show a time that is d ahead of the machine's.
func (c *Clock) SetAhead(d time.Duration) { c.ahead.Store(int64(d)) }

// AwaitEarlyMinute returns when at least twenty seconds of the current minute are left. Quotas are counted by the minute, and a
// test that uses one up must not run into the next.
func AwaitEarlyMinute(t testing.TB) {
	t.Helper()
	if s := time.Now().Second(); s >= 40 {
		time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)))
	}
}
