package advert

import "slices"

// Platform is an ad network, by the name that the field `platform` carries.
type Platform string

// The networks.
const (
	PlatformFacebook  Platform = "facebook"
	PlatformInstagram Platform = "instagram"
	PlatformTikTok    Platform = "tiktok"
	PlatformLinkedIn  Platform = "linkedin"
	PlatformPinterest Platform = "pinterest"
	PlatformGoogle    Platform = "google"
	PlatformTwitter   Platform = "twitter"
)

// Platforms lists the networks in the order in which they are shown. It is never changed.
var Platforms = []Platform{
	PlatformFacebook, PlatformInstagram, PlatformTikTok, PlatformLinkedIn, PlatformPinterest, PlatformGoogle, PlatformTwitter,
}

// IsKnown reports whether it is one of Platforms.
func (p Platform) IsKnown() bool { return slices.Contains(Platforms, p) }
