package ads

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

var fullCreative = advert.Creative{
	Headline: "New in", Body: "Have a look", CallToAction: "LEARN_MORE", LinkURL: "https://shop.example/new", ImageURL: "https://shop.example/new.jpg",
}

// fullOn is a whole creative of what a network shows.
func fullOn(platform advert.Platform) advert.Creative {
	c := fullCreative
	if platform == advert.PlatformTikTok {
		c.ImageURL, c.VideoURL = "", "https://shop.example/new.mp4"
	}
	return c
}

func TestCheckCreative_TakesAWholeOneEverywhere(t *testing.T) {
	t.Parallel()
	for _, platform := range advert.Platforms {
		var p core.Problems
		CapsOf(platform).CheckCreative(&p, "", advert.GoalTraffic, fullOn(platform))
		require.NoError(t, p.Err(), platform)
	}
}

func TestCheckCreative_NeedsWhatTheNetworkNeeds(t *testing.T) {
	t.Parallel()
	meta := map[string]int{"headline": 1, "body": 1, "call_to_action": 1, "link_url": 1, "image_url": 1}
	picture := map[string]int{"headline": 1, "body": 1, "image_url": 1}
	for platform, want := range map[advert.Platform]map[string]int{
		advert.PlatformFacebook: meta, advert.PlatformInstagram: meta,
		advert.PlatformGoogle: picture, advert.PlatformPinterest: picture, advert.PlatformLinkedIn: picture,
		advert.PlatformTikTok: {"body": 1, "video_url": 1}, advert.PlatformTwitter: {"body": 1},
	} {
		var p core.Problems
		CapsOf(platform).CheckCreative(&p, "", advert.GoalTraffic, advert.Creative{Headline: " "})
		assert.Equal(t, want, fieldsOf(p), platform)
	}
}

// TestCheckCreative_TakesTheMediaOfTheNetwork holds every kind of medium against every network.
func TestCheckCreative_TakesTheMediaOfTheNetwork(t *testing.T) {
	t.Parallel()
	const image, video = "https://shop.example/a.jpg", "https://shop.example/a.mp4"
	cards := func(n int, card advert.Card) []advert.Card { return slices.Repeat([]advert.Card{card}, n) }
	for name, c := range map[string]struct {
		show  func(*advert.Creative)
		goal  advert.Goal
		wrong func(Caps) string // the field at fault, "" if none is
	}{
		"image":      {func(c *advert.Creative) { c.ImageURL = image }, "", kind(MediumImage)},
		"video":      {func(c *advert.Creative) { c.VideoURL = video }, "", kind(MediumVideo)},
		"cover":      {func(c *advert.Creative) { c.VideoURL, c.ThumbnailURL = video, image }, "", kind(MediumVideo)},
		"cards":      {func(c *advert.Creative) { c.Cards = cards(2, advert.Card{ImageURL: image}) }, "", kind(MediumCarousel)},
		"viewed":     {func(c *advert.Creative) { c.VideoURL = video }, advert.GoalVideoViews, kind(MediumVideo)},
		"one card":   {func(c *advert.Creative) { c.Cards = cards(1, advert.Card{ImageURL: image}) }, "", always("cards")},
		"many cards": {func(c *advert.Creative) { c.Cards = cards(11, advert.Card{ImageURL: image}) }, "", always("cards")},
		"six cards": {func(c *advert.Creative) { c.Cards = cards(6, advert.Card{ImageURL: image}) }, "", func(c Caps) string {
			if c.Media.MaxCards >= 6 {
				return ""
			}
			return "cards"
		}},
		"video cards": {func(c *advert.Creative) { c.Cards = cards(2, advert.Card{VideoURL: video}) }, "", func(c Caps) string {
			switch {
			case c.Media.MaxCards == 0:
				return "cards"
			case !c.Media.VideoCards:
				return "cards.0.video_url"
			}
			return ""
		}},
		"viewed image": {func(c *advert.Creative) { c.ImageURL = image }, advert.GoalVideoViews, func(c Caps) string {
			if slices.Contains(c.VideoGoals, advert.GoalVideoViews) {
				return "video_url"
			}
			return kind(MediumImage)(c)
		}},
		"both":      {func(c *advert.Creative) { c.ImageURL, c.VideoURL = image, video }, "", always("video_url")},
		"no video":  {func(c *advert.Creative) { c.ImageURL, c.ThumbnailURL = image, image }, "", always("thumbnail_url")},
		"no web":    {func(c *advert.Creative) { c.VideoURL = "file:///etc/passwd" }, "", always("video_url")},
		"bad cover": {func(c *advert.Creative) { c.VideoURL, c.ThumbnailURL = video, "a.jpg" }, "", always("thumbnail_url")},
	} {
		for _, platform := range advert.Platforms {
			creative := fullCreative
			creative.ImageURL = ""
			c.show(&creative)
			caps := CapsOf(platform)
			var p core.Problems
			caps.CheckCreative(&p, "", c.goal, creative)
			if wrong := c.wrong(caps); wrong == "" {
				assert.Empty(t, p, "%s on %s", name, platform)
			} else {
				assert.Contains(t, p, wrong, "%s on %s", name, platform)
			}
		}
	}
}

// kind returns the field that is at fault where a network does not show a kind of medium.
func kind(m Medium) func(Caps) string {
	return func(c Caps) string {
		if slices.Contains(c.Media.Kinds, m) {
			return ""
		}
		return mediaFields[m]
	}
}

func always(field string) func(Caps) string { return func(Caps) string { return field } }

// TestCheckCreative_CountsCharacters uses one of two bytes: a limit of bytes would refuse half as many.
func TestCheckCreative_CountsCharacters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		platform advert.Platform
		field    string
		limit    int
	}{
		{advert.PlatformFacebook, "headline", 255}, {advert.PlatformInstagram, "headline", 255}, {advert.PlatformGoogle, "headline", 30},
		{advert.PlatformPinterest, "headline", 100}, {advert.PlatformLinkedIn, "headline", 400},
		{advert.PlatformGoogle, "body", 90}, {advert.PlatformPinterest, "body", 500}, {advert.PlatformTwitter, "body", 280},
	} {
		for extra, want := range []map[string]int{{}, {c.field: 1}} {
			creative := fullCreative
			text := strings.Repeat("é", c.limit+extra)
			if c.field == "headline" {
				creative.Headline = text
			} else {
				creative.Body = text
			}
			var p core.Problems
			CapsOf(c.platform).CheckCreative(&p, "", advert.GoalTraffic, creative)
			assert.Equal(t, want, fieldsOf(p), "%s of %d on %s", c.field, c.limit+extra, c.platform)
		}
	}
}

func TestCheckCreative_TakesTheCallsToActionOfTheNetwork(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		platform advert.Platform
		call     string
		ok       bool
	}{
		{advert.PlatformFacebook, "BOOK_TRAVEL", true}, {advert.PlatformFacebook, "VISIT_SITE", false}, {advert.PlatformFacebook, "learn_more", false},
		{advert.PlatformLinkedIn, "REQUEST_DEMO", true}, {advert.PlatformLinkedIn, "BOOK_TRAVEL", false},
		{advert.PlatformPinterest, "VISIT_SITE", true}, {advert.PlatformPinterest, "BOOK_TRAVEL", false},
		{advert.PlatformGoogle, "BUY_NOW", true}, {advert.PlatformGoogle, "GO_AWAY", false},
	} {
		creative := fullCreative
		creative.CallToAction = c.call
		var p core.Problems
		CapsOf(c.platform).CheckCreative(&p, "", advert.GoalTraffic, creative)
		assert.Equal(t, c.ok, p.Err() == nil, "%s on %s", c.call, c.platform)
	}
}

func TestCheckCreative_TakesWebAddresses(t *testing.T) {
	t.Parallel()
	for address, ok := range map[string]bool{
		"https://shop.example/a?b=c": true, "http://shop.example": true, "shop.example": false, "javascript:alert(1)": false,
		"ftp://shop.example/a": false, "https://": false, "https://:443/": false, "/new": false, "https://shop.example/" + strings.Repeat("a", 2048): false,
	} {
		creative := fullCreative
		creative.LinkURL, creative.ImageURL = address, address
		var p core.Problems
		CapsOf(advert.PlatformFacebook).CheckCreative(&p, "", advert.GoalTraffic, creative)
		want := map[string]int{"link_url": 1, "image_url": 1}
		if ok {
			want = map[string]int{}
		}
		assert.Equal(t, want, fieldsOf(p), address)
	}
}

func TestWarnings_NameWhatANetworkHasNoPlaceFor(t *testing.T) {
	t.Parallel()
	assert.Empty(t, CapsOf(advert.PlatformFacebook).Warnings("", fullCreative))
	assert.Empty(t, CapsOf(advert.PlatformTikTok).Warnings("", advert.Creative{Body: "Have a look"}))
	assert.Equal(t, []string{"headline is not shown on tiktok and was not sent."}, CapsOf(advert.PlatformTikTok).Warnings("", fullCreative))
	assert.Len(t, CapsOf(advert.PlatformTwitter).Warnings("", fullCreative), 2)
}

func TestCheckName_Has255Characters(t *testing.T) {
	t.Parallel()
	for name, ok := range map[string]bool{"": false, " \t": false, "Spring": true, strings.Repeat("é", 255): true, strings.Repeat("é", 256): false} {
		var p core.Problems
		CheckName(&p, name)
		assert.Equal(t, ok, p.Err() == nil, "%d bytes", len(name))
	}
}
