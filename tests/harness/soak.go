package harness

import (
	"os"
	"testing"
	"time"
)

// Soaks reports whether this is make soak. It has the machine to itself: there alone a test may look at how long things take.
func Soaks() bool { return os.Getenv("TILLWRIGHT_SOAK") != "" }

// Within fails the test in make soak if what took longer than the limit. Anywhere else it notes how long that took.
func Within(t testing.TB, limit, took time.Duration, what string) {
	t.Helper()
	t.Logf("%s: %s", what, took.Round(10*time.Microsecond))
	if Soaks() && took > limit {
		t.Errorf("%s took %s, and may take %s", what, took, limit)
	}
}
