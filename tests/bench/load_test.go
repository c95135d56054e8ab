package main

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A program that is asked for more than the keys may ask for within a minute refuses the rest, and the run would end there.
func TestLeave_WaitsWhileTheKeysMightRunOut(t *testing.T) {
	t.Parallel()
	stopped, stop := context.WithCancel(t.Context())
	stop() // so that whoever waits ends at once
	near := asked{minute: time.Now(), requests: quota - 10_000, fastest: 20_000}
	require.ErrorIs(t, near.leave(stopped, time.Second), context.Canceled)
	require.NoError(t, near.leave(stopped, 100*time.Millisecond))
	near.minute = near.minute.Add(-2 * time.Minute)
	require.NoError(t, near.leave(stopped, time.Second))

	var counted asked
	counted.add(load{Requests: 3000, Micros: 1_000_000})
	counted.add(load{Requests: 1000, Micros: 1_000_000})
	require.InDelta(t, 3000, counted.fastest, 0.1)
}
