package contract

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tillwright/tillwright/sdk"
)

func TestEstimateAdReach_SaysWhatTheNetworkGuesses(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		estimate := func(to sdk.AdTargeting) (*sdk.ReachEstimate, error) {
			return n.Ads.EstimateReach(background, &sdk.ReachEstimateCreate{AccountID: n.channel, AdAccountID: n.account, Targeting: to})
		}
		guess := ok[*sdk.ReachEstimate](t)(estimate(sdk.AdTargeting{Countries: []string{"us"}}))
		makes := slices.Contains([]sdk.AdPlatform{"facebook", "instagram", "pinterest"}, n.platform)
		if guess.Object != "reach_estimate" || guess.Platform != n.platform || guess.Available != makes || guess.Ready != makes || len(guess.Warnings) != 0 {
			t.Errorf("the estimate is %+v", guess)
		}
		if (guess.Lower != nil) != makes || (guess.Upper != nil) != makes || makes && *guess.Lower >= *guess.Upper {
			t.Errorf("the bounds are %v and %v", guess.Lower, guess.Upper)
		}
		placeless := ok[*sdk.ReachEstimate](t)(estimate(sdk.AdTargeting{}))
		if len(placeless.Warnings) != 1 || !strings.HasPrefix(placeless.Warnings[0], "targeting ") {
			t.Errorf("without a place the warnings are %q", placeless.Warnings)
		}
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
		if len(told.Warnings) != 1 || !strings.HasPrefix(told.Warnings[0], "goal ") {
			t.Errorf("the warnings are %q", told.Warnings)
		}
	})
}
