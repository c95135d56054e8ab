package sandbox

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

func TestSearchTargeting_HasIdsLikeTheNetworks(t *testing.T) {
	ids := map[advert.Platform]map[ads.Search]string{
		advert.PlatformFacebook: {
			{Type: ads.SearchRegion, Text: "kansas"}: "3859", {Type: ads.SearchInterest, Text: "rugby"}: "6003022269556", {Type: ads.SearchLanguage, Text: "german"}: "5",
		},
		advert.PlatformPinterest: {
			{Type: ads.SearchRegion, Text: "kansas"}: "US-KS", {Type: ads.SearchInterest, Text: "rugby"}: "961238559656", {Type: ads.SearchLanguage, Text: "german"}: "de",
			{Type: ads.SearchZip, Text: "nr9 5al", Country: "GB"}: "GB-NR9 5AL",
		},
		advert.PlatformGoogle: {{Type: ads.SearchLanguage, Text: "german"}: "de", {Type: ads.SearchCity, Text: "san jose", Country: "US"}: "2421846"},
	}
	for platform, searches := range ids {
		t.Run(string(platform), func(t *testing.T) {
			each(t, platform, Options{}, func(t *testing.T, n *network) {
				for q, id := range searches {
					found, err := n.SearchTargeting(t.Context(), n.conn, q)
					require.NoError(t, err)
					require.Len(t, found, 1, "%+v", q)
					assert.Equal(t, id, found[0].ID)
				}
				found, err := n.SearchTargeting(t.Context(), n.conn, ads.Search{Type: ads.SearchRegion, Text: "a", Country: "US"})
				require.NoError(t, err)
				assert.Empty(t, found, "Alberta is in another country")
			})
		})
	}
}
