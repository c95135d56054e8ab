package db

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCache_IsBoundedAndKeepsTheFirst(t *testing.T) {
	t.Parallel()
	var c cache[int, int]
	gone := 0
	for i := range CacheLimit + 100 {
		kept, dropped := c.put(i, i)
		require.Equal(t, i, kept)
		gone += len(dropped)
	}
	require.Len(t, c.entries, CacheLimit)
	require.Equal(t, 100, gone)

	last := CacheLimit + 99
	kept, dropped := c.put(last, -1)
	require.Equal(t, last, kept)
	require.Equal(t, []int{-1}, dropped)
	require.Len(t, c.empty(), CacheLimit)
}
