package ads

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// The longest texts of every network.
const (
	maxName = 255
	maxURL  = 2048
)

// minCards is how many cards a carousel has at least.
const minCards = 2

// CheckName adds a problem if no network would take the name.
func CheckName(p *core.Problems, name string) { checkName(p, "name", name) }

func checkName(p *core.Problems, field, name string) {
	ok := strings.TrimSpace(name) != "" && utf8.RuneCountInString(name) <= maxName
	p.Check(ok, field, "A name has 1 to 255 characters, not only white space.")
}

// CheckCreative adds a problem for each field of a creative that the network needs and that is missing. It adds one for
// each field that the network would not take. Fields that the network has no place for are not checked: Warnings names
// them. The names of the fields begin with prefix.
func (c Caps) CheckCreative(p *core.Problems, prefix string, goal advert.Goal, creative advert.Creative) {
	for _, f := range creativeFields(creative) {
		if !slices.Contains(c.Creative.Ignored, f.name) {
			c.checkCreativeField(p, prefix, f)
		}
	}
	c.checkMedia(p, prefix, goal, creative)
	c.checkCards(p, prefix, creative.Cards)
}

// Warnings returns a sentence for each field that was given and that the network has no place for.
func (c Caps) Warnings(prefix string, creative advert.Creative) []string {
	var warnings []string
	for _, f := range creativeFields(creative) {
		if f.value != "" && slices.Contains(c.Creative.Ignored, f.name) {
			warnings = append(warnings, fmt.Sprintf("%s%s is not shown on %s and was not sent.", prefix, f.name, c.Platform))
		}
	}
	return warnings
}

// checkCreativeField adds what is wrong with one text of a creative to the problems.
func (c Caps) checkCreativeField(p *core.Problems, prefix string, f creativeField) {
	if strings.TrimSpace(f.value) == "" {
		p.Check(!slices.Contains(c.Creative.Required, f.name), prefix+f.name, fmt.Sprintf("An ad on %s needs %s.", c.Platform, f.name))
		return
	}
	if limit, ok := c.Creative.Limits[f.name]; ok && utf8.RuneCountInString(f.value) > limit {
		p.Add(prefix+f.name, fmt.Sprintf("A %s on %s has at most %d characters.", f.name, c.Platform, limit))
	}
	switch f.name {
	case "call_to_action":
		p.Check(slices.Contains(c.CallsToAction, f.value), prefix+f.name,
			fmt.Sprintf("Send a call to action that %s knows: %s.", c.Platform, strings.Join(c.CallsToAction, ", ")))
	case "link_url":
		checkAddress(p, prefix+f.name, f.value)
	}
}

// mediaFields are the fields of a creative that bring something to look at.
var mediaFields = map[Medium]string{MediumImage: "image_url", MediumVideo: "video_url", MediumCarousel: "cards"}

// MediaField returns the field that an ad on the network must have because it shows something, or "" if it need not. Another
// kind of medium that the network knows may take its place.
func (c Caps) MediaField() string {
	if c.Media.IsOptional {
		return ""
	}
	return mediaFields[c.Media.Kinds[0]]
}

// mediaOf returns the kinds of media that a creative brings.
func mediaOf(creative advert.Creative) []Medium {
	var kinds []Medium
	if creative.ImageURL != "" {
		kinds = append(kinds, MediumImage)
	}
	if creative.VideoURL != "" {
		kinds = append(kinds, MediumVideo)
	}
	if len(creative.Cards) > 0 {
		kinds = append(kinds, MediumCarousel)
	}
	return kinds
}

// checkMedia adds what is wrong with what a creative shows: it is one thing, of a kind that the network and the goal know.
func (c Caps) checkMedia(p *core.Problems, prefix string, goal advert.Goal, creative advert.Creative) {
	checkAddress(p, prefix+"image_url", creative.ImageURL)
	checkAddress(p, prefix+"video_url", creative.VideoURL)
	checkAddress(p, prefix+"thumbnail_url", creative.ThumbnailURL)
	p.Check(creative.ThumbnailURL == "" || creative.VideoURL != "", prefix+"thumbnail_url", "A thumbnail is of a video: send video_url, too.")
	kinds := mediaOf(creative)
	for i, kind := range kinds {
		field := prefix + mediaFields[kind]
		p.Check(i == 0, field, "An ad shows one of image_url, video_url and cards.")
		p.Check(slices.Contains(c.Media.Kinds, kind), field, fmt.Sprintf("An ad on %s shows no %s. Send one of: %s.", c.Platform, kind, list(c.Media.Kinds)))
	}
	if needs := slices.Contains(c.VideoGoals, goal); needs && creative.VideoURL == "" {
		p.Add(prefix+"video_url", fmt.Sprintf("%s on %s needs a video: send video_url.", goal, c.Platform))
	} else if field := c.MediaField(); len(kinds) == 0 && field != "" && !needs {
		p.Add(prefix+field, fmt.Sprintf("An ad on %s needs %s.", c.Platform, field))
	}
}

// checkCards adds what is wrong with the cards of a carousel. Without cards there is nothing to check.
func (c Caps) checkCards(p *core.Problems, prefix string, cards []advert.Card) {
	if len(cards) == 0 || c.Media.MaxCards == 0 {
		return
	}
	p.Check(len(cards) >= minCards && len(cards) <= c.Media.MaxCards, prefix+"cards",
		fmt.Sprintf("A carousel on %s has %d to %d cards.", c.Platform, minCards, c.Media.MaxCards))
	for i, card := range cards {
		at := fmt.Sprintf("%scards.%d.", prefix, i)
		checkAddress(p, at+"image_url", card.ImageURL)
		checkAddress(p, at+"video_url", card.VideoURL)
		checkAddress(p, at+"link_url", card.LinkURL)
		p.Check(card.ImageURL != "" || card.VideoURL != "", at+"image_url", "A card shows an image.")
		p.Check(card.ImageURL == "" || card.VideoURL == "", at+"video_url", "A card shows one of image_url and video_url.")
		p.Check(card.VideoURL == "" || c.Media.VideoCards, at+"video_url", fmt.Sprintf("A card on %s shows an image: send image_url.", c.Platform))
		if limit, ok := c.Creative.Limits["headline"]; ok && utf8.RuneCountInString(card.Headline) > limit {
			p.Add(at+"headline", fmt.Sprintf("A headline on %s has at most %d characters.", c.Platform, limit))
		}
	}
}

type creativeField struct{ name, value string }

// creativeFields returns the texts of a creative.
func creativeFields(c advert.Creative) []creativeField {
	return []creativeField{
		{"headline", c.Headline}, {"body", c.Body}, {"description", c.Description}, {"call_to_action", c.CallToAction}, {"link_url", c.LinkURL},
	}
}

// checkAddress adds a problem for something that was sent and is no address of the web.
func checkAddress(p *core.Problems, field, text string) {
	p.Check(text == "" || isWebURL(text), field, "Send a URL such as https://example.com/offer.")
}

func isWebURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && len(text) <= maxURL && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != ""
}

// fields returns a creative as a dry run shows it.
func fieldsOfCreative(c advert.Creative) map[string]string {
	fields := map[string]string{"image_url": c.ImageURL, "video_url": c.VideoURL, "thumbnail_url": c.ThumbnailURL}
	for _, f := range creativeFields(c) {
		fields[f.name] = f.value
	}
	for i, card := range c.Cards {
		at := fmt.Sprintf("cards.%d.", i)
		fields[at+"image_url"], fields[at+"video_url"], fields[at+"headline"] = card.ImageURL, card.VideoURL, card.Headline
		fields[at+"description"], fields[at+"link_url"] = card.Description, card.LinkURL
	}
	return given(fields)
}
