package ads

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

var fullCreative = store.AdCreative{
	Headline: "New in", Body: "Have a look", CallToAction: "LEARN_MORE", LinkURL: "https://shop.example/new", ImageURL: "https://shop.example/new.jpg",
}

func TestCheckCreative_TakesAWholeOneEverywhere(t *testing.T) {
	t.Parallel()
	for _, platform := range store.Platforms {
		var p core.Problems
		CapsOf(platform).CheckCreative(&p, fullCreative)
		require.NoError(t, p.Err(), platform)
	}
}

func TestCheckCreative_NeedsWhatTheNetworkNeeds(t *testing.T) {
	t.Parallel()
	meta := map[string]int{"headline": 1, "body": 1, "call_to_action": 1, "link_url": 1, "image_url": 1}
	picture := map[string]int{"headline": 1, "body": 1, "image_url": 1}
	for platform, want := range map[store.Platform]map[string]int{
		store.PlatformFacebook: meta, store.PlatformInstagram: meta,
		store.PlatformGoogle: picture, store.PlatformPinterest: picture, store.PlatformLinkedIn: picture,
		store.PlatformTikTok: {"body": 1, "image_url": 1}, store.PlatformTwitter: {"body": 1},
	} {
		var p core.Problems
		CapsOf(platform).CheckCreative(&p, store.AdCreative{Headline: " "})
		assert.Equal(t, want, fieldsOf(p), platform)
	}
	var p core.Problems
	CapsOf(store.PlatformTikTok).CheckCreative(&p, store.AdCreative{})
	assert.Contains(t, p["image_url"][0], "video")
}

// TestCheckCreative_CountsCharacters uses one of two bytes: a limit of bytes would refuse half as many.
func TestCheckCreative_CountsCharacters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		platform store.Platform
		field    string
		limit    int
	}{
		{store.PlatformFacebook, "headline", 255}, {store.PlatformInstagram, "headline", 255}, {store.PlatformGoogle, "headline", 30},
		{store.PlatformPinterest, "headline", 100}, {store.PlatformLinkedIn, "headline", 400},
		{store.PlatformGoogle, "body", 90}, {store.PlatformPinterest, "body", 500}, {store.PlatformTwitter, "body", 280},
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
			CapsOf(c.platform).CheckCreative(&p, creative)
			assert.Equal(t, want, fieldsOf(p), "%s of %d on %s", c.field, c.limit+extra, c.platform)
		}
	}
}

func TestCheckCreative_TakesTheCallsToActionOfTheNetwork(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		platform store.Platform
		call     string
		ok       bool
	}{
		{store.PlatformFacebook, "BOOK_TRAVEL", true}, {store.PlatformFacebook, "VISIT_SITE", false}, {store.PlatformFacebook, "learn_more", false},
		{store.PlatformLinkedIn, "REQUEST_DEMO", true}, {store.PlatformLinkedIn, "BOOK_TRAVEL", false},
		{store.PlatformPinterest, "VISIT_SITE", true}, {store.PlatformPinterest, "BOOK_TRAVEL", false},
		{store.PlatformGoogle, "BUY_NOW", true}, {store.PlatformGoogle, "GO_AWAY", false},
	} {
		creative := fullCreative
		creative.CallToAction = c.call
		var p core.Problems
		CapsOf(c.platform).CheckCreative(&p, creative)
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
		CapsOf(store.PlatformFacebook).CheckCreative(&p, creative)
		want := map[string]int{"link_url": 1, "image_url": 1}
		if ok {
			want = map[string]int{}
		}
		assert.Equal(t, want, fieldsOf(p), address)
	}
}

func TestWarnings_NameWhatANetworkHasNoPlaceFor(t *testing.T) {
	t.Parallel()
	assert.Empty(t, CapsOf(store.PlatformFacebook).Warnings(fullCreative))
	assert.Empty(t, CapsOf(store.PlatformTikTok).Warnings(store.AdCreative{Body: "Have a look"}))
	assert.Equal(t, []string{"headline is not shown on tiktok and was not sent."}, CapsOf(store.PlatformTikTok).Warnings(fullCreative))
	assert.Len(t, CapsOf(store.PlatformTwitter).Warnings(fullCreative), 2)
}

func TestCheckName_Has255Characters(t *testing.T) {
	t.Parallel()
	for name, ok := range map[string]bool{"": false, " \t": false, "Spring": true, strings.Repeat("é", 255): true, strings.Repeat("é", 256): false} {
		var p core.Problems
		CheckName(&p, name)
		assert.Equal(t, ok, p.Err() == nil, "%d bytes", len(name))
	}
}
