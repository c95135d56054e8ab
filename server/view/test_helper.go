package view

import (
	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store"
)

// DriftAds reads what is to happen in an ad manager.
func DriftAds(b *api.AdDriftCreate) ads.DriftAds {
	return ads.DriftAds{Channel: b.AccountID, CampaignID: value(b.CampaignID), Kind: ads.Drift(b.Kind)}
}

// AdDrift renders what happened to a campaign.
func AdDrift(c *store.AdCampaign, kind api.AdDriftKind) api.AdDrift {
	return api.AdDrift{
		Object: "ad_drift", AccountID: c.ChannelID, Platform: api.AdPlatform(c.Platform), AdAccountID: c.AdAccountID, CampaignID: c.PlatformID, Kind: kind,
	}
}
