package zernio

import (
	"fmt"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// shown is what an ad shows.
type shown struct {
	Headline     string `json:"headline,omitempty"`
	LongHeadline string `json:"longHeadline,omitempty"`
	Body         string `json:"body,omitempty"`
	Description  string `json:"description,omitempty"`
	CallToAction string `json:"callToAction,omitempty"`
	LinkURL      string `json:"linkUrl,omitempty"`
	ImageURL     string `json:"imageUrl,omitempty"` // at TikTok that of a video
	Video        *video `json:"video,omitempty"`
}

// namedShown is one of several.
type namedShown struct {
	Name string `json:"name,omitempty"`
	shown
}

type video struct {
	URL       string `json:"url"`
	Thumbnail string `json:"thumbnailUrl,omitempty"`
}

// card is a card of a carousel. Its destination has one name at Meta and another one at LinkedIn.
type card struct {
	ImageURL    string `json:"imageUrl"`
	Headline    string `json:"headline,omitempty"`
	Description string `json:"description,omitempty"`
	LinkURL     string `json:"linkUrl,omitempty"`
	LandingURL  string `json:"landingUrl,omitempty"`
}

// creatives fills in what the ad shows, or each of several.
func (d *Driver) creatives(w *newAd, p ads.Plan) error {
	if len(p.Creatives) == 0 {
		return d.single(w, p)
	}
	if !d.isMeta() {
		return refused("creatives", "Through Zernio one ad at a time is made on %s. Send its fields beside the name.", d.platform)
	}
	for i, one := range p.Creatives {
		at := fmt.Sprintf("creatives.%d.", i)
		if len(one.Creative.Cards) > 0 {
			return refused(at+"cards", "Through Zernio a carousel is made by itself. Send its fields beside the name.")
		}
		s, err := d.shown(at, one.Creative)
		if err != nil {
			return err
		}
		w.Creatives = append(w.Creatives, namedShown{one.Name, s})
	}
	return nil
}

// single fills in the creative of one ad.
func (d *Driver) single(w *newAd, p ads.Plan) (err error) {
	if w.shown, err = d.shown("", p.Creative); err != nil || len(p.Creative.Cards) == 0 {
		return err
	}
	cards, err := d.cards(p.Creative.Cards)
	if err != nil {
		return err
	}
	switch {
	case d.platform == advert.PlatformLinkedIn:
		w.Platform = map[string]any{"carousel": map[string]any{"cards": cards}}
	case p.AdGroupID != "" || p.Goal == advert.GoalCatalogSales || p.Goal == advert.GoalLeadGeneration:
		return refused("cards", "Through Zernio a carousel is an ad of a campaign of its own, for other goals than %s and %s.", advert.GoalCatalogSales, advert.GoalLeadGeneration)
	default:
		w.Cards = cards
	}
	return nil
}

// shown converts a creative, without its cards. The names of fields begin with prefix.
func (d *Driver) shown(prefix string, c advert.Creative) (shown, error) {
	s := shown{Headline: c.Headline, Body: c.Body, CallToAction: c.CallToAction, LinkURL: c.LinkURL, ImageURL: c.ImageURL}
	for field, text := range map[string]*string{"headline": &s.Headline, "call_to_action": &s.CallToAction} {
		if d.ignores(field) {
			*text = ""
		}
	}
	switch {
	case c.VideoURL == "":
	case d.platform == advert.PlatformTikTok:
		s.ImageURL = c.VideoURL
	default:
		s.Video = &video{c.VideoURL, c.ThumbnailURL}
	}
	if c.ThumbnailURL != "" && !d.isMeta() {
		return s, refused(prefix+"thumbnail_url", "On %s the network takes a frame of the video. Leave thumbnail_url out.", d.platform)
	}
	switch {
	case c.Description == "" || d.ignores("description"):
	case d.isMeta():
		s.Description = c.Description
	case c.LinkURL != "": // at LinkedIn
		s.LongHeadline = c.Description
	default:
		return s, refused(prefix+"description", "On %s a description stands below a link: send link_url, or leave it out.", d.platform)
	}
	return s, nil
}

// ignores reports whether the network has no place for a field; whoever sends it is told so.
func (d *Driver) ignores(field string) bool {
	for _, one := range d.caps.Creative.Ignored {
		if one == field {
			return true
		}
	}
	return false
}

// cards converts the cards of a carousel.
func (d *Driver) cards(all []advert.Card) ([]card, error) {
	var wire []card
	for i, c := range all {
		w := card{ImageURL: c.ImageURL, Headline: c.Headline, Description: c.Description, LinkURL: c.LinkURL}
		if d.platform == advert.PlatformLinkedIn {
			if c.Description != "" {
				return nil, refused(fmt.Sprintf("cards.%d.description", i), "A card on LinkedIn has no description. Leave it out.")
			}
			w.LinkURL, w.LandingURL = "", c.LinkURL
		}
		wire = append(wire, w)
	}
	return wire, nil
}
