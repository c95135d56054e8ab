package view

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/sdk/wire"
	"github.com/tillwright/tillwright/store/core"
)

// A seller moves the clock to the end of a trial as the subscription shows it. The trial has to be over then.
func TestAdvanceTestClock_ReachesWhatItWasShown(t *testing.T) {
	t.Parallel()
	due := core.TimeOf(time.Date(2026, 11, 29, 7, 53, 51, 123_456_000, time.UTC))
	shown := at(due)
	require.Equal(t, wire.Time("2026-11-29T07:53:51.123Z"), shown)
	in, err := AdvanceTestClock(&api.TestClockCreate{Now: &shown})
	require.NoError(t, err)
	require.GreaterOrEqual(t, *in.To, due)
	require.Equal(t, shown, at(*in.To), "it is shown as it was sent")

	exact := wire.Time("2026-11-29T07:53:51.123456Z")
	in, err = AdvanceTestClock(&api.TestClockCreate{Now: &exact})
	require.NoError(t, err)
	require.Equal(t, due, *in.To)
}
