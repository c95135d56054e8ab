package view

import (
	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store/advert"
)

func creative(c advert.Creative) api.AdCreative {
	return api.AdCreative{
		Headline: text(c.Headline), Body: text(c.Body), Description: text(c.Description), CallToAction: text(c.CallToAction), LinkURL: text(c.LinkURL),
		ImageURL: text(c.ImageURL), VideoURL: text(c.VideoURL), ThumbnailURL: text(c.ThumbnailURL),
		Cards: mapped(c.Cards, func(card advert.Card) api.AdCard {
			return api.AdCard{
				ImageURL: text(card.ImageURL), VideoURL: text(card.VideoURL), Headline: text(card.Headline), Description: text(card.Description), LinkURL: text(card.LinkURL),
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
