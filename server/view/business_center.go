package view

import (
	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store/advert"
)

// BusinessCenter renders a business center.
func BusinessCenter(c *advert.BusinessCenter) api.BusinessCenter {
	return api.BusinessCenter{
		ID:              c.PlatformID,
		Object:          "business_center",
		Platform:        api.AdPlatform(c.Platform),
		AccountID:       c.ChannelID,
		Name:            c.Name,
		AdvertiserCount: c.AdvertiserCount,
		CreatedAt:       at(c.CreatedAt),
		UpdatedAt:       at(c.UpdatedAt),
	}
}

// ListBusinessCenters reads the query of a list.
func ListBusinessCenters(q api.ListBusinessCentersParams) ads.ListBusinessCenters {
	return ads.ListBusinessCenters{AccountID: q.AccountID, Paging: paging(q.Limit, q.Page, q.Cursor)}
}
