package view

import (
	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store/advert"
)

func creative(c advert.Creative) api.AdCreative {
	return api.AdCreative{
		Headline: textOrNil(c.Headline), Body: textOrNil(c.Body), Description: textOrNil(c.Description), CallToAction: textOrNil(c.CallToAction), LinkURL: textOrNil(c.LinkURL),
		ImageURL: textOrNil(c.ImageURL), VideoURL: textOrNil(c.VideoURL), ThumbnailURL: textOrNil(c.ThumbnailURL),
		Cards: mapped(c.Cards, func(card advert.Card) api.AdCard {
			return api.AdCard{
				ImageURL: textOrNil(card.ImageURL), VideoURL: textOrNil(card.VideoURL), Headline: textOrNil(card.Headline), Description: textOrNil(card.Description), LinkURL: textOrNil(card.LinkURL),
			}
		}),
	}
}

// wantedCreative reads what an ad is to show.
func wantedCreative(c *api.AdCreativeInput) advert.Creative {
	wanted := advert.Creative{
		Headline: value(c.Headline), Body: value(c.Body), Description: value(c.Description), CallToAction: value(c.CallToAction), LinkURL: value(c.LinkURL),
		ImageURL: value(c.ImageURL), VideoURL: value(c.VideoURL), ThumbnailURL: value(c.ThumbnailURL),
	}
	for _, card := range c.Cards {
		wanted.Cards = append(wanted.Cards, advert.Card{
			ImageURL: value(card.ImageURL), VideoURL: value(card.VideoURL), Headline: value(card.Headline), Description: value(card.Description), LinkURL: value(card.LinkURL),
		})
	}
	return wanted
}

// namedCreative reads one of several ads that are made together.
func namedCreative(c api.AdNamedCreative) ads.NamedCreative {
	return ads.NamedCreative{Name: c.Name, Creative: wantedCreative(&api.AdCreativeInput{
		Headline: c.Headline, Body: c.Body, Description: c.Description, CallToAction: c.CallToAction, LinkURL: c.LinkURL, ImageURL: c.ImageURL,
		VideoURL: c.VideoURL, ThumbnailURL: c.ThumbnailURL, Cards: c.Cards,
	})}
}
