package e2e

import (
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// TestAdNetworks_ThatKeepSilentMakeOneAd lets the programs wait in vain for the answer to an ad that was made, all at the
// same time. The request sent again finds that ad. Then the access is revoked.
func TestAdNetworks_ThatKeepSilentMakeOneAd(t *testing.T) {
	t.Parallel()
	lost := map[string]*advertiser{}
	var waiting sync.WaitGroup
	for _, platform := range spoken {
		for _, engine := range database.Engines() {
			a := newAdvertiser(t, database.URL(t, engine), platform)
			a.loseNextAd()
			lost[string(platform)+"/"+engine] = a
			waiting.Go(func() { _, a.silence = a.creates(a.draft("Lost"), "lost") })
		}
	}
	waiting.Wait()
	for name, a := range lost {
		t.Run(name, func(t *testing.T) {
			refused(t, a.silence, http.StatusInternalServerError, sdk.CodeAPIError, "")
			found := a.findsTheAd(t)
			a.hasTidyNames(t)
			a.losesItsAccess(t, found)
			a.keepsSecrets(t)
		})
	}
}

// findsTheAd sends the request again, until the first one has let go of its key, and once more.
func (a *advertiser) findsTheAd(t *testing.T) *sdk.Ad {
	t.Helper()
	found := a.insists(t, a.draft("Lost"), "lost")
	again, err := a.Ads.Create(background, a.draft("Lost"), sdk.WithIdempotencyKey("lost"))
	require.NoError(t, err)
	assert.Equal(t, found.ID, again.ID)
	campaigns, ads := a.live()
	assert.Equal(t, []int{1, 1}, []int{campaigns, ads})
	listed, err := a.Ads.List(background, nil)
	require.NoError(t, err)
	require.Len(t, listed.Data, 1)
	assert.Equal(t, found.ID, listed.Data[0].ID)
	assert.Equal(t, sdk.AdSourceNative, listed.Data[0].Source)
	return found
}

// losesItsAccess revokes the token: the channel is not activated any more, and says so.
func (a *advertiser) losesItsAccess(t *testing.T, ad *sdk.Ad) {
	t.Helper()
	a.revoke()
	_, err := a.AdGroups.Pause(background, ad.AdGroupID, a.body())
	refused(t, err, http.StatusConflict, sdk.CodeAccountNotActivated, "account_id")
	channel, err := a.Socials.Get(background, a.channel)
	require.NoError(t, err)
	assert.Equal(t, sdk.SocialAdsStatusError, channel.AdsStatus)
	_, err = a.Ads.Create(background, a.draft("Late"))
	refused(t, err, http.StatusConflict, sdk.CodeAccountNotActivated, "account_id")
}
