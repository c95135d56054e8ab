package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// TestAdNetworks_ThatBreakOffMakeOneAd breaks the connection to a network at every step of a new ad: before the step is done, and
// after. The request that is sent again, for as long as it is told to, makes one ad and leaves nothing else.
func TestAdNetworks_ThatBreakOffMakeOneAd(t *testing.T) {
	onStages(t, func(t *testing.T, a *advertiser) {
		video := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(make([]byte, 1000)) }))
		t.Cleanup(video.Close)
		made := 0
		for _, step := range a.steps() {
			for _, done := range []bool{false, true} {
				name := fmt.Sprintf("%s %t", step, done)
				draft := a.draft(name)
				draft.ImageURL, draft.VideoURL, draft.ThumbnailURL = nil, new(video.URL+"/go.mp4"), new("https://example.com/go.png")
				a.breakOff(step, done)
				_, err := a.creates(draft, name)
				refused(t, err, http.StatusInternalServerError, sdk.CodeAPIError, "")
				ad := a.insists(t, draft, name)
				made++
				campaigns, ads := a.live()
				require.Equal(t, []int{made, made}, []int{campaigns, ads}, name)
				assert.Equal(t, name, ad.Name)
			}
		}
		listed, err := a.Ads.List(background, &sdk.ListAdsParams{Limit: new(int64(100))})
		require.NoError(t, err)
		assert.Len(t, listed.Data, made)
		assert.Empty(t, a.Refused(), "the network refused something")
		a.hasTidyNames(t)
	})
}

// creates sends a request for an ad, and sends it again while it is told to wait. Another request with its key may be under way, or the network is not
// through with the video. It returns what comes of it.
func (a *advertiser) creates(draft *sdk.AdCreate, key string) (*sdk.Ad, error) {
	for deadline := time.Now().Add(harness.Patience); ; time.Sleep(200 * time.Millisecond) {
		ad, err := a.Ads.Create(background, draft, sdk.WithIdempotencyKey(key))
		waits := sdk.CodeOf(err) == sdk.CodeRequestInProgress || sdk.CodeOf(err) == sdk.CodeMediaProcessing
		if !waits || time.Now().After(deadline) {
			return ad, err
		}
	}
}

// insists sends a request whose answer was lost, until it is answered with an ad. The reconciler may have looked first, if it came late. Where it found
// that nothing was made, the request is told so, and sent once more.
func (a *advertiser) insists(t *testing.T, draft *sdk.AdCreate, key string) *sdk.Ad {
	t.Helper()
	ad, err := a.creates(draft, key)
	if sdk.CodeOf(err) == sdk.CodeAPIError {
		require.ErrorContains(t, err, "Nothing was changed: send the request again", key)
		ad, err = a.creates(draft, key)
	}
	require.NoError(t, err, key)
	return ad
}
