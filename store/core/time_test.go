package core

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestTimeString_IsTheWireLayout(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		moment := TimeOf(time.UnixMicro(rapid.Int64Range(-62_135_596_800_000_000, 253_402_300_799_999_999).Draw(t, "micros")))
		require.Equal(t, moment.Time().Format(timeLayout), moment.String())
	})
	require.Equal(t, time.UnixMicro(1<<58).UTC().Format(timeLayout), Time(1<<58).String(), "beyond the year 9999")
}
