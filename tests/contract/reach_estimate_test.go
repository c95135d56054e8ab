package contract

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
)

func TestEstimateAdReach_SaysWhatTheNetworkGuesses(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		estimate := func(to sdk.AdTargeting) (*sdk.ReachEstimate, error) {
			return n.Ads.EstimateReach(background, &sdk.ReachEstimateCreate{AccountID: n.channel, AdAccountID: n.account, Targeting: to})
		}
		guess := ok[*sdk.ReachEstimate](t)(estimate(sdk.AdTargeting{Countries: []string{"us"}}))
		makes := slices.Contains([]sdk.AdPlatform{"facebook", "instagram", "pinterest"}, n.platform)
		assert.Equal(t, "reach_estimate", guess.Object, "the estimate")
		assert.Equal(t, n.platform, guess.Platform, "the estimate")
		assert.Equal(t, makes, guess.Available, "the estimate")
		assert.Equal(t, makes, guess.Ready, "the estimate")
		assert.Empty(t, guess.Warnings, "the estimate")
		assert.Equal(t, makes, guess.Lower != nil)
		assert.Equal(t, makes, guess.Upper != nil)
		assert.False(t, makes && *guess.Lower >= *guess.Upper)
		placeless := ok[*sdk.ReachEstimate](t)(estimate(sdk.AdTargeting{}))
		require.Len(t, placeless.Warnings, 1, "without a place the warnings")
		assert.True(t, strings.HasPrefix(placeless.Warnings[0], "targeting "), "without a place the warnings")
		_, err := estimate(sdk.AdTargeting{Countries: []string{"U1"}})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "targeting.countries")
		if !makes {
			return
		}
		narrow := ok[*sdk.ReachEstimate](t)(estimate(sdk.AdTargeting{Countries: []string{"US"}, AgeMin: new(int64(25))}))
		if *narrow.Lower >= *guess.Lower {
			t.Errorf("a narrower targeting reaches %d of %d", *narrow.Lower, *guess.Lower)
		}
	})
}

func TestEstimateAdReach_ReadsTheTargetingAsThatOfAnAd(t *testing.T) {
	onOneNetwork(t, sdk.AdPlatformPinterest, func(t *testing.T, n onNetwork) {
		in := sdk.ReachEstimateCreate{AccountID: n.channel, AdAccountID: n.account, Targeting: sdk.AdTargeting{Countries: []string{"US"}}}
		estimate := func(change func(*sdk.ReachEstimateCreate)) (*sdk.ReachEstimate, error) {
			in := in
			change(&in)
			return n.Ads.EstimateReach(background, &in)
		}
		_, err := estimate(func(in *sdk.ReachEstimateCreate) { in.Targeting.Cities = []sdk.AdTargetingCity{{ID: "1"}} })
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "targeting.cities")
		_, err = estimate(func(in *sdk.ReachEstimateCreate) { in.Goal = new(sdk.AdGoalAppPromotion) })
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "goal")
		_, err = estimate(func(in *sdk.ReachEstimateCreate) { in.AdAccountID = "404" })
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "ad_account_id")
		_, err = estimate(func(in *sdk.ReachEstimateCreate) { in.AccountID = randomID("sacct") })
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "account_id")
		told := ok[*sdk.ReachEstimate](t)(estimate(func(in *sdk.ReachEstimateCreate) { in.Goal = new(sdk.AdGoalTraffic) }))
		require.Len(t, told.Warnings, 1, "the warnings")
		assert.True(t, strings.HasPrefix(told.Warnings[0], "goal "), "the warnings")
	})
}
