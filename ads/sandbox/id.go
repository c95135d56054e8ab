package sandbox

import (
	"strconv"

	"github.com/tillwright/tillwright/store/advert"
)

// kind says what an id names. A level of the hierarchy is a kind with the same name.
type kind string

const (
	kindCampaign       = kind(advert.LevelCampaign)
	kindGroup          = kind(advert.LevelGroup)
	kindAd             = kind(advert.LevelAd)
	kindAccount        = kind("ad_account")
	kindBusinessCenter = kind("business_center")
	kindPost           = kind("post")
	kindAudience       = kind("audience")
	kindPixel          = kind("pixel")
)

// platformID returns the n-th id of a kind behind a channel, in the form of the network's own ids. It is a pure
// function. Campaigns, ad groups and ads are counted together, so that no two of them have the same id.
func platformID(p advert.Platform, account, channel string, k kind, n int64) string {
	at := hash(account+channel+k.series(), 0)>>1 + uint64(n)*idStep
	switch p {
	case advert.PlatformFacebook, advert.PlatformInstagram:
		return metaID(p, k, at)
	case advert.PlatformTikTok:
		return "7" + digits(at, 18)
	case advert.PlatformLinkedIn:
		return linkedInID(k, at)
	case advert.PlatformPinterest:
		return pinterestID(k, at)
	case advert.PlatformGoogle:
		return googleID(k, at)
	default:
		return twitterID(k, at)
	}
}

// series returns the name of the count that a kind belongs to.
func (k kind) series() string {
	switch k {
	case kindCampaign, kindGroup, kindAd:
		return ""
	}
	return string(k)
}

// idStep is the difference between two ids. They ascend only roughly, and look as if others had made something in
// between.
const idStep = 104_729

// metaID returns an id as facebook and instagram write it.
func metaID(p advert.Platform, k kind, at uint64) string {
	switch {
	case k == kindAccount:
		return "act_" + digits(at, 15)
	case k == kindPost && p == advert.PlatformFacebook:
		return "1" + digits(at, 14) + "_1" + digits(at, 16)
	case k == kindPost:
		return "17" + digits(at, 15)
	case k == kindPixel:
		return digits(at, 15)
	}
	return "1202" + digits(at, 14)
}

// linkedInID returns an id as LinkedIn writes it: a URN that names the kind. LinkedIn's words for the levels differ from
// ours: its campaign is our ad group.
func linkedInID(k kind, at uint64) string {
	switch k {
	case kindAccount:
		return "urn:li:sponsoredAccount:" + digits(at, 9)
	case kindCampaign:
		return "urn:li:sponsoredCampaignGroup:" + digits(at, 9)
	case kindGroup:
		return "urn:li:sponsoredCampaign:" + digits(at, 9)
	case kindAd:
		return "urn:li:sponsoredCreative:" + digits(at, 9)
	case kindPost:
		return "urn:li:share:7" + digits(at, 18)
	}
	return "urn:li:adSegment:" + digits(at, 9)
}

// pinterestID returns an id as Pinterest writes it.
func pinterestID(k kind, at uint64) string {
	switch k {
	case kindAccount:
		return "549" + digits(at, 9)
	case kindPost:
		return "1" + digits(at, 17)
	}
	return "626" + digits(at, 10)
}

// googleID returns an id as Google writes it.
func googleID(k kind, at uint64) string {
	switch k {
	case kindAccount:
		return digits(at, 10)
	case kindPost: // a video
		return base36(at, 11)
	}
	return "2" + digits(at, 11)
}

// twitterID returns an id as Twitter writes it.
func twitterID(k kind, at uint64) string {
	if k == kindPost {
		return "1" + digits(at, 18)
	}
	return base36(at, 8)
}

// digits returns a number of n digits that does not begin with 0.
func digits(at uint64, n int) string {
	tens := uint64(1)
	for range n - 1 {
		tens *= 10
	}
	return strconv.FormatUint(tens+at%(9*tens), 10)
}

// base36 returns n characters of base 36 that do not begin with 0.
func base36(at uint64, n int) string {
	span := uint64(1)
	for range n - 1 {
		span *= 36
	}
	return strconv.FormatUint(span+at%(35*span), 36)
}
