package pinterest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

func (w *world) refOf(made ads.Created) ads.Ref {
	return ads.Ref{AdAccount: w.account.ID, Level: advert.LevelAd, ID: made.Ad.PlatformID, CampaignID: made.Ad.CampaignID, AdGroupID: made.Ad.AdGroupID}
}

func TestUpdate_ChangesAnAdAndKeepsItsToken(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	made := w.create(t, w.standalone("Spring"))
	e, err := w.driver.Update(t.Context(), w.conn, w.refOf(made), ads.Patch{Name: new("Winter"), Configured: new(advert.ConfiguredPaused)})
	require.NoError(t, err)
	assert.Equal(t, "Winter", e.Ad.Name)
	assert.Equal(t, advert.StatusPaused, e.Ad.Status)
	assert.True(t, strings.HasSuffix(w.net.Ads(w.account)[0].Text("name"), token("spring")), "by it the ad is known as one of this program's")

	w.net.Rename(w.account, made.Ad.PlatformID, "Somebody's")
	_, err = w.driver.Update(t.Context(), w.conn, w.refOf(made), ads.Patch{Name: new("Theirs")})
	require.NoError(t, err)
	assert.Equal(t, "Theirs", w.net.Ads(w.account)[0].Text("name"), "what others made gets no token")
}

func TestDelete_ArchivesAnAdAlone(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	made := w.create(t, w.boost("Spring"))
	gone, err := w.driver.Delete(t.Context(), w.conn, w.refOf(made))
	require.NoError(t, err)
	assert.Equal(t, ads.Deleted{Ads: 1}, gone)
	assert.Equal(t, "ARCHIVED", w.net.Ads(w.account)[0].Text("status"))
	assert.Equal(t, 1, w.running())
	_, err = w.driver.Delete(t.Context(), w.conn, w.refOf(made))
	require.ErrorIs(t, err, ads.ErrNotFound)
	_, err = w.driver.Update(t.Context(), w.conn, w.refOf(made), ads.Patch{Name: new("Gone")})
	require.ErrorIs(t, err, ads.ErrNotFound)
}
