package sandbox

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

func TestReach_IsSmallerTheMoreATargetingSays(t *testing.T) {
	each(t, advert.PlatformPinterest, Options{}, func(t *testing.T, n *network) {
		lower := func(to ads.Targeting) int64 {
			reached, err := n.Reach(t.Context(), n.conn, ads.ReachQuery{AdAccount: n.mine(), Targeting: to})
			require.NoError(t, err)
			require.True(t, reached.Ready)
			require.Greater(t, *reached.Upper, *reached.Lower)
			return *reached.Lower
		}
		us := ads.Places{Countries: []string{"US"}}
		everybody := lower(ads.Targeting{Places: us})
		assert.Equal(t, 2*everybody, lower(ads.Targeting{Places: ads.Places{Countries: []string{"US", "CA"}}}))
		assert.Equal(t, everybody/4, lower(ads.Targeting{Places: us, AgeMin: 25, Genders: []string{"female"}}))
		assert.Equal(t, everybody, lower(ads.Targeting{Places: us, AgeMin: 25, Expand: true}))
		assert.Less(t, lower(ads.Targeting{Places: ads.Places{Zips: []ads.Option{{ID: "US-94110"}}}}), everybody)
	})
}

func TestReach_IsNotEstimatedByAllNetworks(t *testing.T) {
	each(t, advert.PlatformTikTok, Options{}, func(t *testing.T, n *network) {
		_, err := n.Reach(t.Context(), n.conn, ads.ReachQuery{AdAccount: n.mine(), Targeting: ads.Targeting{Places: ads.Places{Countries: []string{"US"}}}})
		require.ErrorIs(t, err, ads.ErrUnsupported)
	})
}
