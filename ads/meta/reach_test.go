package meta_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/tests/harness/metafake"
)

// reach asks for the reach of a targeting as the driver writes it.
func (w *world) reach(t *testing.T, to ads.Targeting) (ads.Reach, error) {
	t.Helper()
	words, err := w.net.Target(to, "")
	require.NoError(t, err)
	return w.net.Reach(t.Context(), w.conn, ads.ReachQuery{AdAccount: account(dollars), Targeting: to, Words: words})
}

func TestReach_IsWhatTheNetworkGuesses(t *testing.T) {
	t.Parallel()
	for _, p := range platforms {
		w := newWorld(t, p)
		reached, err := w.reach(t, ads.Targeting{Places: ads.Places{Countries: []string{"US"}}, AgeMin: 25})
		require.NoError(t, err)
		assert.Equal(t, ads.Reach{}, reached, "Meta does not know yet")

		w.fake.SetReach(1_200_000, 1_400_000)
		reached, err = w.reach(t, ads.Targeting{Places: ads.Places{Countries: []string{"US"}}, AgeMin: 25})
		require.NoError(t, err)
		assert.Equal(t, []any{int64(1_200_000), int64(1_400_000), true}, []any{*reached.Lower, *reached.Upper, reached.Ready})
		assert.JSONEq(t, `{"geo_locations":{"countries":["US"]},"age_min":25,"publisher_platforms":["`+string(p)+`"],"targeting_automation":{"advantage_audience":0}}`,
			w.calls("GET", "reachestimate")[1].Params.Get("targeting_spec"))
	}
}

// A targeting that an ad set could not have is refused here already: rules G1 and G5.
func TestReach_IsOfATargetingThatCanBe(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	us := ads.Places{Countries: []string{"US"}}
	for _, o := range w.search(t, ads.Search{Type: ads.SearchInterest, Text: "movies"}) {
		_, err := w.reach(t, ads.Targeting{Places: us, Interests: []ads.Option{{ID: o.ID}}})
		require.NoError(t, err)
	}
	for _, to := range []ads.Targeting{{}, {Places: us, Interests: []ads.Option{{ID: metafake.RetiredInterest}}}} {
		_, err := w.reach(t, to)
		var refused *ads.Rejected
		require.ErrorAs(t, err, &refused)
	}
}
