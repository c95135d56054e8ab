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

// PhoneForm returns how a phone number is written before it is hashed for the network.
func (p Platform) PhoneForm() PhoneForm {
	switch p {
	case PlatformTikTok, PlatformGoogle, PlatformTwitter:
		return PhoneE164
	}
	return PhoneDigits
}

// ClickParam returns the parameter by which the network marks the address of an ad that somebody clicked, or "" where none is known.
func (p Platform) ClickParam() string {
	switch p {
	case PlatformFacebook, PlatformInstagram:
		return "fbclid"
	case PlatformPinterest:
		return "epik"
	case PlatformTikTok:
		return "ttclid"
	case PlatformGoogle:
		return "gclid"
	}
	return ""
}
