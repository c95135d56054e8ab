package ads

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseDate_KnowsWhichDaysExist(t *testing.T) {
	t.Parallel()
	for _, wrong := range []string{"2026-02-30", "2026-2-3", "20260203", "2026-02-03T00:00:00Z", ""} {
		_, err := ParseDate(wrong)
		assert.Error(t, err, wrong)
	}
	d, err := ParseDate("2028-02-28")
	require.NoError(t, err)
	assert.Equal(t, "2028-02-29", d.AddDays(1).String())
	assert.Equal(t, 2, d.DaysUntil(d.AddDays(2)))
	assert.Negative(t, d.Compare(d.AddDays(1)))
}

func TestDate_EndsWhenTheNextOneBegins(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	d := Date{2026, time.March, 29} // an hour is skipped that day
	assert.Equal(t, 23*time.Hour, d.End(berlin).Sub(d.Start(berlin)))
}
