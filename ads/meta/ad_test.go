package meta_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

func adRef(made ads.Created) ads.Ref {
	return ads.Ref{AdAccount: dollars, Level: advert.LevelAd, ID: made.Ad.PlatformID, CampaignID: made.Ad.CampaignID, AdGroupID: made.Ad.AdGroupID}
}

func TestUpdate_ChangesAnAdInOneCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	made := w.create(t, plan(nil))
	w.fake.Forget()
	e, err := w.net.Update(t.Context(), w.conn, adRef(made), ads.Patch{Name: new("Winter"), Configured: new(advert.ConfiguredPaused)})
	require.NoError(t, err)
	assert.Equal(t, "Winter", e.Ad.Name)
	assert.Equal(t, advert.StatusPaused, e.Ad.Status)
	assert.Len(t, w.calls("POST", "."), 1)
	assert.Equal(t, "ACTIVE", w.fake.Field(made.Group.PlatformID, "status"))
}

func TestDelete_OfAnAdLeavesItsCampaign(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	made := w.create(t, plan(nil))
	gone, err := w.net.Delete(t.Context(), w.conn, adRef(made))
	require.NoError(t, err)
	assert.Equal(t, ads.Deleted{Ads: 1}, gone)
	assert.Equal(t, "DELETED", w.fake.Field(made.Ad.PlatformID, "status"))
	assert.Equal(t, "ACTIVE", w.fake.Field(made.Campaign.PlatformID, "status"))
	_, err = w.net.Delete(t.Context(), w.conn, adRef(made))
	require.ErrorIs(t, err, ads.ErrNotFound)
}
