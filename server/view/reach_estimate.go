package view

import (
	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/gen/api"
)

// EstimateAdReach reads a targeting whose reach is wanted.
func EstimateAdReach(b *api.ReachEstimateCreate) ads.EstimateReach {
	return ads.EstimateReach{AccountID: b.AccountID, AdAccountID: b.AdAccountID, Targeting: adWords(&b.Targeting), Goal: string(value(b.Goal))}
}

// ReachEstimate renders how many people a targeting reaches.
func ReachEstimate(r *ads.Reach) api.ReachEstimate {
	return api.ReachEstimate{
		Object: "reach_estimate", Platform: api.AdPlatform(r.Platform), Available: r.Available, Lower: r.Lower, Upper: r.Upper, Ready: r.Ready, Warnings: list(r.Warnings),
	}
}
