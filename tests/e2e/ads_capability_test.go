package e2e

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness/adwalk"
)

// onlyNetworksKnow are the rules that the walk breaks and that only a network can know to be broken. They are about the category of an ad group's
// campaign (G3), and how many people are in an audience (U4).
var onlyNetworksKnow = []string{"G3", "U4"}

// TestAdNetworks_CanDoWhatTheyAreSaidTo asks each network for everything that its capabilities say yes to, and for what they say no to. The network
// refuses nothing of it: what it would refuse is refused before it is asked. TikTok is not asked so, because the walk asks for one thing at a time.
// TikTok has a place among what is searched for only with the feed, and a form only without a link.
func TestAdNetworks_CanDoWhatTheyAreSaidTo(t *testing.T) {
	onEach(t, []sdk.AdPlatform{sdk.AdPlatformFacebook, sdk.AdPlatformInstagram, sdk.AdPlatformPinterest}, func(t *testing.T, a *advertiser) {
		video := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(make([]byte, 1000)) }))
		t.Cleanup(video.Close)
		capabilities, err := a.Ads.ListCapabilities(background)
		require.NoError(t, err)
		of := slices.IndexFunc(capabilities.Data, func(c sdk.AdCapability) bool { return c.Platform == a.platform })
		walk := adwalk.World{
			Client: a.Client, Channel: a.channel, AdAccount: a.adAccount, Can: capabilities.Data[of], Image: "https://shop.example/go.png", Video: video.URL + "/go.mp4",
			Post: a.film, Picture: a.post, Pixel: a.pixel,
		}
		walk.Walk(t)
		for _, said := range a.Refused() {
			known := slices.ContainsFunc(onlyNetworksKnow, func(rule string) bool { return strings.Contains(said, " "+rule+" ") })
			assert.True(t, known, "the network refused something: %s", said)
		}
	})
}
