package ads

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestPause_IsATimeWhateverTheNetworkSends(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"":                      0,
		"soon":                  0,
		"-1":                    0,
		"0":                     0,
		"90":                    90 * time.Second,
		"9999999999":            24 * time.Hour, // more than nanoseconds hold
		"99999999999999999999":  24 * time.Hour, // more than 64 bits hold
		"-99999999999999999999": 0,
	} {
		assert.Equal(t, want, PauseSeconds(text), text)
	}
	assert.Equal(t, 3*time.Minute, Pause(3, time.Minute))
	assert.Equal(t, 24*time.Hour, Pause(math.MaxInt64, time.Minute))
	assert.Zero(t, Pause(math.MinInt64, time.Minute))
}
