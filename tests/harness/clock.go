package harness

import (
	"testing"
	"time"
)

// AwaitEarlyMinute returns when at least twenty seconds of the clock's minute are left: the quota's windows are the
// clock's minutes, and a test that fills one must not run over its end.
func AwaitEarlyMinute(t testing.TB) {
	t.Helper()
	if s := time.Now().Second(); s >= 40 {
		time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)))
	}
}
