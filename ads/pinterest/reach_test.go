package pinterest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
)

func (w *world) reach(t *testing.T, to ads.Targeting) (ads.Reach, error) {
	t.Helper()
	words, err := w.driver.Target(to, "")
	require.NoError(t, err)
	return w.driver.Reach(t.Context(), w.conn, ads.ReachQuery{AdAccount: w.ad, Targeting: to, Words: words})
}

// The network shows ads to others than those of the targeting unless it is told not to, and would count them, too.
func TestReach_CountsThoseOfTheTargetingAlone(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	women := ads.Targeting{Places: ads.Places{Countries: []string{"US"}}, Genders: []string{"female"}}
	counted := func(to ads.Targeting) int64 {
		reached, err := w.reach(t, to)
		require.NoError(t, err)
		assert.True(t, reached.Ready)
		assert.Greater(t, *reached.Upper, *reached.Lower)
		return *reached.Lower
	}
	assert.Equal(t, int64(16_000_000), counted(women))
	inFeed := women
	inFeed.Placements = []string{"feed"}
	assert.Equal(t, int64(8_000_000), counted(inFeed))
	women.Expand = true
	assert.Equal(t, int64(64_000_000), counted(women))
}

// A targeting without a place is refused: rule P1.
func TestReach_NeedsAPlace(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	_, err := w.reach(t, ads.Targeting{Genders: []string{"female"}})
	var refused *ads.Rejected
	require.ErrorAs(t, err, &refused)
}
