package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// can returns what the network is said to be able to do.
func (a *advertiser) can(t *testing.T) sdk.AdCapability {
	t.Helper()
	all, err := a.Ads.ListCapabilities(background)
	require.NoError(t, err)
	return all.Data[slices.IndexFunc(all.Data, func(c sdk.AdCapability) bool { return c.Platform == a.platform })]
}

// looksAt previews an ad that is to be made, and one that is there.
func (a *advertiser) looksAt(t *testing.T, ad *sdk.Ad) {
	t.Helper()
	before, _ := a.live()
	fresh, err := a.Ads.PreviewNew(background, a.draft("Preview"))
	if !a.can(t).Previews {
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "account_id")
		_, err = a.Ads.Preview(background, ad.ID, a.body())
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "platform")
		return
	}
	require.NoError(t, err)
	assert.Contains(t, fresh.HTMLURL, "https://")
	shown, err := a.Ads.Preview(background, ad.ID, a.body())
	require.NoError(t, err)
	assert.Contains(t, shown.HTMLURL, "https://")
	after, _ := a.live()
	assert.Equal(t, before, after, "a preview makes nothing")
}

// tellsPixels has a pixel told of what was sold elsewhere.
func (a *advertiser) tellsPixels(t *testing.T) {
	t.Helper()
	pixels, err := a.AdConversions.ListPixels(background, &sdk.ListAdPixelsParams{AccountID: a.channel, AdAccountID: a.adAccount})
	require.NoError(t, err)
	require.Contains(t, fmt.Sprint(pixels.Data), a.pixel)
	made, err := a.AdConversions.CreateDestination(background, &sdk.ConversionDestinationCreate{
		AccountID: a.channel, AdAccountID: a.adAccount, PixelID: a.pixel, Events: []sdk.ConversionEventKind{sdk.ConversionEventKindPurchase}, Token: a.tokenOfPixel(),
	})
	require.NoError(t, err)
	_, err = a.AdConversions.UpdateDestination(background, made.ID, &sdk.ConversionDestinationUpdate{Name: new("Till")})
	require.NoError(t, err)
	told, err := a.AdConversions.Create(background, &sdk.ConversionsCreate{DestinationID: made.ID, Events: []sdk.ConversionInput{{
		EventID: new("till-1"), Event: new("purchase"), OccurredAt: new(time.Now().UTC().Format(time.RFC3339)), AdsConsent: new(true),
		Value: new(json.Number("19.00")), Currency: new("usd"), User: &sdk.ConversionPerson{Email: new("ada@example.com")},
		PageURL: new("https://example.com/go"), ClientIP: new("203.0.113.7"), UserAgent: new("Mozilla/5.0"),
	}}})
	require.NoError(t, err)
	require.EqualValues(t, 1, told.Queued)
	var sent *sdk.ConversionList
	require.Eventually(t, func() bool {
		sent, err = a.AdConversions.List(background, &sdk.ListConversionsParams{DestinationID: &made.ID, Status: new(sdk.ConversionStatusSent)})
		return err == nil && len(sent.Data) == 1
	}, harness.Patience, 50*time.Millisecond)
	_, err = a.AdConversions.Get(background, sent.Data[0].ID)
	require.NoError(t, err)
	_, err = a.AdConversions.GetDestination(background, made.ID)
	require.NoError(t, err)
	_, err = a.AdConversions.ListDestinations(background, nil)
	require.NoError(t, err)
	_, err = a.AdConversions.DeleteDestination(background, made.ID)
	require.NoError(t, err)
	assert.NotContains(t, a.heard.text(), "ada@example.com", "only the hash of an address is told")
}
