package contract

import (
	"slices"
	"strings"
	"testing"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness/adwalk"
)

// TestAdCapabilities_AreTrue asks each network for everything that its capabilities say yes to, and for what they say no to.
func TestAdCapabilities_AreTrue(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		posts := ok[*sdk.SocialPostList](t)(n.Socials.ListPosts(background, n.channel, nil)).Data
		walk := adwalk.World{
			Client: n.Client, Channel: n.channel, AdAccount: n.account, Can: n.can, Image: "https://example.com/go.png", Video: "https://example.com/go.mp4",
			Post: n.post(t, sdk.SocialPostStatusPublished), Pixel: "4711", Picture: posts[slices.IndexFunc(posts, func(p sdk.SocialPost) bool { return p.MediaURL != nil && strings.HasSuffix(*p.MediaURL, ".jpg") })].ID,
		}
		walk.Walk(t)
	})
}
