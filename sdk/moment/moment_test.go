package moment

import (
	"testing"
	"time"

	"github.com/tillwright/tillwright/sdk/internal/require"
)

func TestParse_ReadsRFC3339(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2026-01-31T12:00:00Z":           "2026-01-31T12:00:00Z",
		"2026-01-31t12:00:00z":           "2026-01-31T12:00:00Z",
		"2026-01-31T12:00:00.123456789Z": "2026-01-31T12:00:00.123456789Z",
		"2026-01-31t12:00:00.5+02:00":    "2026-01-31T10:00:00.5Z",
		"2016-12-31T23:59:60Z":           "2017-01-01T00:00:00Z",
		"2016-12-31T23:59:60.75z":        "2017-01-01T00:00:00Z",
		"1990-12-31T15:59:60-08:00":      "1991-01-01T00:00:00Z",
		"2026-01-31T12:00:00-00:00":      "2026-01-31T12:00:00Z",
	} {
		at, err := Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, at.UTC().Format(time.RFC3339Nano), text)
	}
	for _, text := range []string{
		"", "2026-01-31", "2026-01-31 12:00:00Z", "2026-01-31T12:00:00", "2026-02-30T12:00:00Z", "2026-01-31T24:00:00Z", "2026-01-31T12:00:61Z",
		"2026-01-31T12:00:60Z", "2026-01-30T23:59:60Z", "2026-01-31T2:00:00Z", "2026-01-31T12:00:00,5Z", "2026-01-31T12:00:00+24:00", "2026-01-31T12:00:00+1:00", "2026-13-31T23:59:60Z",
	} {
		_, err := Parse(text)
		require.Error(t, err, text)
	}
}
