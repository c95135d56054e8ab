package server

import (
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNewRequestID(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_795_219_860_123)
	seen := map[string]bool{}
	for range 1000 {
		id := newRequestID(now)
		require.Regexp(t, `^req_[0-9a-hjkmnp-tv-z]{26}$`, id)
		require.False(t, seen[id])
		seen[id] = true
		parsed, err := ulid.ParseStrict(id[4:])
		require.NoError(t, err)
		assert.EqualValues(t, now.UnixMilli(), parsed.Time())
	}
}
