package harness

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

// Clock is the machine's clock, which a test can stop or set ahead.
type Clock struct {
	ahead   atomic.Int64
	stopped atomic.Pointer[time.Time]
	shared  bool
}

// own panics where the clock is that of other tests too.
func (c *Clock) own() {
	if c.shared {
		panic("this server is shared: a test that moves the clock boots one of its own")
	}
}

// Now returns the time on the clock.
func (c *Clock) Now() time.Time {
	if at := c.stopped.Load(); at != nil {
		return *at
	}
	return time.Now().Add(time.Duration(c.ahead.Load()))
}

// StopAt makes the clock show this moment and stand still.
func (c *Clock) StopAt(at time.Time) {
	c.own()
	c.stopped.Store(&at)
}

// Stop makes the clock stand still where it is.
func (c *Clock) Stop() { c.StopAt(c.Now()) }

// GoOn makes the clock go on after it stood still, as if it never had.
func (c *Clock) GoOn() { c.stopped.Store(nil) }

// SetAhead makes the clock show a time that is d ahead of the machine's.
func (c *Clock) SetAhead(d time.Duration) {
	c.own()
	c.ahead.Store(int64(d))
}

// StopClock makes the database's clock stand still for every server that connects from now on. So whoever uses up a quota of a minute may take their
// time. An embedded database has no clock but the server's.
func (d *Database) StopClock(t testing.TB) {
	t.Helper()
	if d.Engine == "sqlite" {
		return
	}
	d.Must(t, fmt.Sprintf(`CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql STABLE AS 'SELECT to_timestamp(%d)'`, time.Now().Unix()))
	d.Must(t, `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog', current_database()); END $$`)
}
