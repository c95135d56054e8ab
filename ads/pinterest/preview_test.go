package pinterest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/tests/harness/pinterestfake"
)

func TestPreview_MakesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	pins := len(w.net.Pins(secret))
	shown, err := w.driver.Preview(t.Context(), w.conn, ads.PreviewQuery{Plan: w.standalone("Shown")})
	require.NoError(t, err)
	assert.Contains(t, shown.URL, "https://ads.pinterest.com/ad-preview/")
	assert.Equal(t, noon.Add(7*24*time.Hour), shown.Until.Time())
	assert.Equal(t, []string{"body", "call_to_action", "link_url"}, shown.Lacks)
	assert.Equal(t, []string{"ad_previews/create"}, w.net.Calls())
	assert.Len(t, w.net.Pins(secret), pins)

	made := w.create(t, w.boost("Made"))
	shown, err = w.driver.Preview(t.Context(), w.conn, ads.PreviewQuery{Ad: &ads.Ref{AdAccount: w.account.ID, Level: advert.LevelAd, ID: made.Ad.PlatformID}})
	require.NoError(t, err)
	assert.NotEmpty(t, shown.URL)
	assert.Empty(t, shown.Lacks)
	_, err = w.driver.Preview(t.Context(), w.conn, ads.PreviewQuery{Ad: &ads.Ref{AdAccount: w.account.ID, Level: advert.LevelAd, ID: "404"}})
	require.ErrorIs(t, err, ads.ErrNotFound)
}

func TestPreview_ErrorsHaveTheirClass(t *testing.T) {
	t.Parallel()
	w := newWorld("USD", nil)
	bare := w.standalone("Bare")
	bare.Creative.Headline = ""
	_, err := w.driver.Preview(t.Context(), w.conn, ads.PreviewQuery{Plan: bare})
	var refused *ads.Rejected
	require.ErrorAs(t, err, &refused)
	w.net.Break("ad_previews/create", 0, pinterestfake.FaultRateLimit)
	_, err = w.driver.Preview(t.Context(), w.conn, ads.PreviewQuery{Plan: w.standalone("Shown")})
	var limited *ads.RateLimited
	require.ErrorAs(t, err, &limited)
}
