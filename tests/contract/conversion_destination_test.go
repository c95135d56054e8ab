package contract

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/oapi-codegen/nullable"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
)

// purchases is what most destinations are told of.
var purchases = []sdk.ConversionEventKind{sdk.ConversionEventKindPurchase, sdk.ConversionEventKindLead}

// pixel returns the first pixel of the ad account.
func (a advertiser) pixel(t *testing.T) sdk.AdPixel {
	t.Helper()
	pixels := ok[*sdk.AdPixelList](t)(a.AdConversions.ListPixels(background, &sdk.ListAdPixelsParams{AccountID: a.channel, AdAccountID: a.account})).Data
	require.NotEmpty(t, pixels, "the pixels")
	require.Equal(t, "pixel", pixels[0].Object, "the pixels")
	require.NotEmpty(t, pixels[0].Name, "the pixels")
	return pixels[0]
}

// destination makes a destination, with a token where the network needs one.
func (n onNetwork) destination(t *testing.T) *sdk.ConversionDestination {
	t.Helper()
	in := &sdk.ConversionDestinationCreate{AccountID: n.channel, AdAccountID: n.account, PixelID: n.pixel(t).ID, Events: purchases}
	if n.can.Conversions.OwnToken {
		in.Token = new("secret-conversion-token")
	}
	return ok[*sdk.ConversionDestination](t)(n.AdConversions.CreateDestination(background, in))
}

func TestConversionDestinations_AreOfPixelsThatTheNetworkLists(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		in := sdk.ConversionDestinationCreate{AccountID: n.channel, AdAccountID: n.account, PixelID: "1", Events: purchases}
		if len(n.can.Conversions.Events) == 0 {
			_, err := n.AdConversions.ListPixels(background, &sdk.ListAdPixelsParams{AccountID: n.channel, AdAccountID: n.account})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "account_id")
			_, err = n.AdConversions.CreateDestination(background, &in)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "account_id")
			return
		}
		_, err := n.AdConversions.ListPixels(background, &sdk.ListAdPixelsParams{AccountID: n.channel, AdAccountID: "none"})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "ad_account_id")

		token, other := new("secret-conversion-token"), (*string)(nil)
		if !n.can.Conversions.OwnToken {
			token, other = other, token
		}
		in.Token = other
		_, err = n.AdConversions.CreateDestination(background, &in)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "token")
		in.Token = token
		_, err = n.AdConversions.CreateDestination(background, &in)
		e := refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "pixel_id")
		pixel := n.pixel(t)
		if !strings.Contains(e.Message, pixel.ID) {
			t.Errorf("the message does not say which pixels there are: %s", e.Message)
		}

		made := n.destination(t)
		assert.Equal(t, "conversion_destination", made.Object, "the destination")
		assert.Equal(t, pixel.ID, made.PixelID, "the destination")
		assert.Equal(t, pixel.Name, made.Name, "the destination")
		assert.Equal(t, sdk.ConversionDestinationStatusActive, made.Status, "the destination")
		require.Nil(t, made.ProductIDs, "the destination")
		assert.Equal(t, n.can.Conversions.OwnToken, made.HasToken, "the destination")
		assert.Equal(t, n.platform, made.Platform, "the destination")
		assert.True(t, slices.Equal(made.Events, purchases), "the destination")
		known := n.raw.Do(t, http.MethodGet, "/v1/ads/conversion-destinations/"+made.ID, nil)
		if strings.Contains(string(known.Body), "secret-conversion-token") {
			t.Errorf("the token is shown: %s", known.Body)
		}
	})
}

func TestUpdateConversionDestination_ChangesWhatIsSent(t *testing.T) {
	onOneNetwork(t, sdk.AdPlatformFacebook, func(t *testing.T, n onNetwork) {
		d := n.destination(t)
		product := ok[*sdk.Product](t)(n.Products.Create(background, &sdk.ProductCreate{Name: "Book"}))
		changed := ok[*sdk.ConversionDestination](t)(n.AdConversions.UpdateDestination(background, d.ID, &sdk.ConversionDestinationUpdate{
			Name: new("Course buyers"), Events: []sdk.ConversionEventKind{"trial_started", "purchase", "purchase"},
			ProductIDs: nullable.NewNullableWithValue([]string{product.ID}), Status: new(sdk.ConversionDestinationUpdateStatusPaused),
		}))
		assert.Equal(t, "Course buyers", changed.Name, "the destination")
		assert.True(t, slices.Equal(changed.Events, []sdk.ConversionEventKind{"purchase", "trial_started"}), "the destination")
		assert.True(t, slices.Equal(changed.ProductIDs, []string{product.ID}), "the destination")
		assert.Equal(t, sdk.ConversionDestinationStatusPaused, changed.Status, "the destination")
		same := ok[*sdk.ConversionDestination](t)(n.AdConversions.UpdateDestination(background, d.ID, &sdk.ConversionDestinationUpdate{Name: new("Course buyers")}))
		if same.UpdatedAt != changed.UpdatedAt {
			t.Error("nothing was changed, and yet it was")
		}
		cleared := ok[*sdk.ConversionDestination](t)(n.AdConversions.UpdateDestination(background, d.ID, &sdk.ConversionDestinationUpdate{ProductIDs: nullable.NewNullNullable[[]string]()}))
		require.Nil(t, cleared.ProductIDs, "the destination")
		assert.Equal(t, "Course buyers", cleared.Name, "the destination")
		_, err := n.AdConversions.UpdateDestination(background, d.ID, &sdk.ConversionDestinationUpdate{Token: new("secret-conversion-token")})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "token")
		_, err = n.AdConversions.UpdateDestination(background, d.ID, &sdk.ConversionDestinationUpdate{ProductIDs: nullable.NewNullableWithValue([]string{product.ID, "prod_none"})})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "product_ids.1")

		ok[*sdk.SocialAccount](t)(n.Socials.Deactivate(background, n.channel))
		_, err = n.AdConversions.UpdateDestination(background, d.ID, &sdk.ConversionDestinationUpdate{Status: new(sdk.ConversionDestinationUpdateStatusActive)})
		refused(t, err, http.StatusConflict, sdk.CodeAccountNotActivated, "account_id")
		_, err = n.AdConversions.ListPixels(background, &sdk.ListAdPixelsParams{AccountID: n.channel, AdAccountID: n.account})
		refused(t, err, http.StatusConflict, sdk.CodeAccountNotActivated, "account_id")
	})
}

func TestListConversionDestinations_IsOfAChannel(t *testing.T) {
	onOneNetwork(t, sdk.AdPlatformFacebook, func(t *testing.T, n onNetwork) {
		first := n.destination(t)
		other := advertise(t, n.Client, sdk.AdPlatformPinterest)
		second := ok[*sdk.ConversionDestination](t)(n.AdConversions.CreateDestination(background, &sdk.ConversionDestinationCreate{
			AccountID: other.channel, AdAccountID: other.account, PixelID: other.pixel(t).ID, Events: purchases, Token: new("secret-conversion-token"),
		}))
		all := ok[*sdk.ConversionDestinationList](t)(n.AdConversions.ListDestinations(background, nil)).Data
		require.Len(t, all, 2, "the destinations")
		assert.Equal(t, second.ID, all[0].ID, "the destinations")
		assert.Equal(t, first.ID, all[1].ID, "the destinations")
		mine := ok[*sdk.ConversionDestinationList](t)(n.AdConversions.ListDestinations(background, &sdk.ListConversionDestinationsParams{AccountID: &n.channel})).Data
		require.Len(t, mine, 1, "the destinations of the channel")
		assert.Equal(t, first.ID, mine[0].ID, "the destinations of the channel")
	})
}

func TestDeleteConversionDestination_DeletesWhatWaits(t *testing.T) {
	onOneNetworkAlone(t, sdk.AdPlatformFacebook, func(t *testing.T, n onNetwork) {
		d := n.destination(t)
		n.tell(t, d.ID, n.event("told"))
		n.work(t)
		defer n.server.RestAds()()
		n.tell(t, d.ID, later(n.event("waits")))
		ok[*sdk.Deleted](t)(n.AdConversions.DeleteDestination(background, d.ID))
		left := ok[*sdk.ConversionList](t)(n.AdConversions.List(background, &sdk.ListConversionsParams{DestinationID: &d.ID})).Data
		require.Len(t, left, 1, "what")
		assert.Equal(t, "told", left[0].EventID, "what")
		assert.Equal(t, sdk.ConversionStatusSent, left[0].Status, "what")
		_, err := n.AdConversions.GetDestination(background, d.ID)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
	})
}
