package meta_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

func TestProfiles_ArePagesOrTheirInstagramAccounts(t *testing.T) {
	for platform, want := range map[advert.Platform][]advert.SocialProfile{
		advert.PlatformFacebook:  {{ID: "2020000000000002", Name: "Alone"}, {ID: pageID, Name: "Northwind"}},
		advert.PlatformInstagram: {{ID: instagram, AlsoID: pageID, Username: "northwind", Name: "Northwind"}},
	} {
		t.Run(string(platform), func(t *testing.T) {
			w := newWorld(t, platform)
			w.fake.AddPage("2020000000000002", "Alone", pageToken+"2", "")
			found, err := w.net.Profiles(t.Context(), w.conn)
			require.NoError(t, err)
			assert.Equal(t, want, found)
			w.fake.Revoke(token)
			_, err = w.net.Profiles(t.Context(), w.conn)
			require.ErrorIs(t, err, ads.ErrUnauthorized)
		})
	}
}
