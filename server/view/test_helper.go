package view

import (
	"time"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// AdvanceTestClock reads how far a clock is to be moved. Moments are shown in milliseconds and kept in microseconds. So a
// moment that is sent as it was shown means the end of its millisecond: what falls due within that is due then.
func AdvanceTestClock(b *api.TestClockCreate) (store.AdvanceClock, error) {
	if b.AdvanceSeconds != nil && b.Now != nil {
		return store.AdvanceClock{}, core.Invalid("now", "Send advance_seconds or now, not both.")
	}
	to := stored(b.Now)
	if to != nil && *to%1000 == 0 {
		to = new(*to + 999)
	}
	return store.AdvanceClock{By: time.Duration(value(b.AdvanceSeconds)) * time.Second, To: to}, nil
}

// TestClock renders an account's clock after it was moved.
func TestClock(now, target core.Time, done bool, processed int) api.TestClock {
	return api.TestClock{Object: "test_clock", Now: at(now), Target: at(target), Done: done, Processed: int64(processed)}
}

// DriftAds reads which change made outside, in the network's ad manager, is to be played.
func DriftAds(b *api.AdDriftCreate) ads.DriftAds {
	return ads.DriftAds{Channel: b.AccountID, CampaignID: value(b.CampaignID), Kind: ads.Drift(b.Kind)}
}

// AdDrift renders which change was played on a campaign.
func AdDrift(c *advert.Campaign, kind api.AdDriftKind) api.AdDrift {
	return api.AdDrift{
		Object: "ad_drift", AccountID: c.ChannelID, Platform: api.AdPlatform(c.Platform), AdAccountID: c.AdAccountID, CampaignID: c.PlatformID, Kind: kind,
	}
}
