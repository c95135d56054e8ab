package view

import (
	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/sdk/wire"
	"github.com/tillwright/tillwright/store/advert"
)

// AdPixels renders the pixels of an ad account, in a list of one page.
func AdPixels(rows []ads.Pixel, platform advert.Platform) wire.CursorList[api.AdPixel] {
	return CursorList("/v1/ads/pixels", &advert.List[ads.Pixel]{Items: rows}, func(p *ads.Pixel) api.AdPixel {
		return api.AdPixel{ID: p.ID, Object: "pixel", Platform: api.AdPlatform(platform), Name: p.Name}
	})
}

// ConversionDestination renders a destination, without its token.
func ConversionDestination(d *advert.ConversionDestination) api.ConversionDestination {
	return api.ConversionDestination{
		ID:          d.ID,
		Object:      "conversion_destination",
		Platform:    api.AdPlatform(d.Platform),
		AccountID:   d.ChannelID,
		AdAccountID: d.AdAccountID,
		PixelID:     d.PixelID,
		Name:        d.Name,
		Events:      mapped(d.Events.V, conversionEventKind),
		ProductIDs:  value(d.ProductIDs.V),
		HasToken:    d.SealedToken != nil,
		Status:      api.ConversionDestinationStatus(d.Status),
		LastError:   textOrNil(d.LastError),
		CreatedAt:   at(d.CreatedAt),
		UpdatedAt:   at(d.UpdatedAt),
	}
}

func conversionEventKind(k advert.ConversionKind) api.ConversionEventKind {
	return api.ConversionEventKind(k)
}

func conversionKind(k api.ConversionEventKind) advert.ConversionKind { return advert.ConversionKind(k) }

// ListConversionDestinations reads the query of a list.
func ListConversionDestinations(q api.ListConversionDestinationsParams) advert.ListConversionDestinations {
	return advert.ListConversionDestinations{Page: Page(q.Limit, q.StartingAfter, q.EndingBefore), ChannelID: value(q.AccountID)}
}

// CreateConversionDestination reads the body of a create.
func CreateConversionDestination(b *api.ConversionDestinationCreate) ads.CreateConversionDestination {
	in := ads.CreateConversionDestination{
		AccountID: b.AccountID, AdAccountID: b.AdAccountID, PixelID: b.PixelID, Name: value(b.Name), Events: mapped(b.Events, conversionKind),
		Token: ads.Secret(value(b.Token)), Status: advert.DestinationActive,
	}
	if b.ProductIDs != nil {
		in.ProductIDs = &b.ProductIDs
	}
	setAs(&in.Status, b.Status)
	return in
}

// UpdateConversionDestination reads the body of a change.
func UpdateConversionDestination(b *api.ConversionDestinationUpdate) advert.UpdateConversionDestination {
	change := advert.UpdateConversionDestination{Name: b.Name, Token: b.Token, Status: enum[advert.DestinationStatus](b.Status)}
	if b.Events != nil {
		change.Events = new(mapped(b.Events, conversionKind))
	}
	if b.ProductIDs.IsSpecified() {
		change.ProductIDs = new(sent(b.ProductIDs))
	}
	return change
}
