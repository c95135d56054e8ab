package view

import (
	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/sdk/wire"
	"github.com/tillwright/tillwright/store/advert"
)

// SearchAdTargeting reads the query of a search.
func SearchAdTargeting(q api.SearchAdTargetingParams) ads.SearchTargeting {
	return ads.SearchTargeting{AccountID: q.AccountID, Type: string(q.Type), Q: value(q.Q), Country: value(q.Country)}
}

// TargetingOptions renders what a search found, in a list of one page.
func TargetingOptions(rows []ads.TargetingOption) wire.CursorList[api.TargetingOption] {
	return CursorList("/v1/ads/targeting/search", &advert.List[ads.TargetingOption]{Items: rows}, TargetingOption)
}

// TargetingOption renders something that a targeting can name.
func TargetingOption(o *ads.TargetingOption) api.TargetingOption {
	return api.TargetingOption{
		ID: o.ID, Object: "targeting_option", Platform: api.AdPlatform(o.Platform), Name: o.Name, Type: api.AdTargetingType(o.Type), Path: list(o.Path),
		AudienceSize: o.AudienceSize, Country: textOrNil(o.Country),
	}
}
