package contract

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/oapi-codegen/nullable"

	"github.com/tillwright/tillwright/sdk"
)

// purchases is what most destinations are told of.
var purchases = []sdk.ConversionEventKind{sdk.ConversionEventKindPurchase, sdk.ConversionEventKindLead}

// pixel returns the first pixel of the ad account.
func (a advertiser) pixel(t *testing.T) sdk.AdPixel {
	t.Helper()
	pixels := ok[*sdk.AdPixelList](t)(a.AdConversions.ListPixels(background, &sdk.ListAdPixelsParams{AccountID: a.channel, AdAccountID: a.account})).Data
	if len(pixels) == 0 || pixels[0].Object != "pixel" || pixels[0].Name == "" {
		t.Fatalf("the pixels are %+v", pixels)
	}
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
		if made.Object != "conversion_destination" || made.PixelID != pixel.ID || made.Name != pixel.Name || made.Status != sdk.ConversionDestinationStatusActive ||
			made.ProductIDs != nil || made.HasToken != n.can.Conversions.OwnToken || made.Platform != n.platform || !slices.Equal(made.Events, purchases) {
			t.Errorf("the destination is %+v", made)
		}
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
		if changed.Name != "Course buyers" || !slices.Equal(changed.Events, []sdk.ConversionEventKind{"purchase", "trial_started"}) ||
			!slices.Equal(changed.ProductIDs, []string{product.ID}) || changed.Status != sdk.ConversionDestinationStatusPaused {
			t.Errorf("the destination is %+v", changed)
		}
		same := ok[*sdk.ConversionDestination](t)(n.AdConversions.UpdateDestination(background, d.ID, &sdk.ConversionDestinationUpdate{Name: new("Course buyers")}))
		if same.UpdatedAt != changed.UpdatedAt {
			t.Error("nothing was changed, and yet it was")
		}
		cleared := ok[*sdk.ConversionDestination](t)(n.AdConversions.UpdateDestination(background, d.ID, &sdk.ConversionDestinationUpdate{ProductIDs: nullable.NewNullNullable[[]string]()}))
		if cleared.ProductIDs != nil || cleared.Name != "Course buyers" {
			t.Errorf("the destination is %+v", cleared)
		}
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
		if len(all) != 2 || all[0].ID != second.ID || all[1].ID != first.ID {
			t.Errorf("the destinations are %+v", all)
		}
		mine := ok[*sdk.ConversionDestinationList](t)(n.AdConversions.ListDestinations(background, &sdk.ListConversionDestinationsParams{AccountID: &n.channel})).Data
		if len(mine) != 1 || mine[0].ID != first.ID {
			t.Errorf("the destinations of the channel are %+v", mine)
		}
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
		if len(left) != 1 || left[0].EventID != "told" || left[0].Status != sdk.ConversionStatusSent {
			t.Errorf("what is left is %+v", left)
		}
		_, err := n.AdConversions.GetDestination(background, d.ID)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
	})
}
