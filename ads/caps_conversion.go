package ads

import (
	"time"

	"github.com/tillwright/tillwright/store/advert"
)

const week = 7 * 24 * time.Hour

// metaConversions are from Meta's "Server Event Parameters".
func metaConversions() ConversionRules {
	return ConversionRules{
		Words: map[advert.ConversionKind]string{
			advert.ConversionPurchase: "Purchase", advert.ConversionLead: "Lead",
			advert.ConversionSubscriptionStarted: "Subscribe", advert.ConversionTrialStarted: "StartTrial",
		},
		PerCall: 1_000, MaxAge: week, Dedupe: 48 * time.Hour, ClickID: "fbclid", Phone: PhoneDigits,
	}
}

// pinterestConversions are from Pinterest's description of the call that takes events. That names no greatest age, so a week is ours. It names no
// time after which an event that is told again counts twice, so a day is what we trust.
func pinterestConversions() ConversionRules {
	return ConversionRules{
		Words: map[advert.ConversionKind]string{
			advert.ConversionPurchase: "checkout", advert.ConversionLead: "lead",
			advert.ConversionSubscriptionStarted: "subscribe", advert.ConversionTrialStarted: "signup",
		},
		PerCall: 1_000, MaxAge: week, Dedupe: 24 * time.Hour, OffsiteOnce: true, OwnToken: true, ClickID: "epik", Phone: PhoneDigits,
	}
}
