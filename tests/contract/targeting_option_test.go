package contract

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
)

// wanted is a search of each type that finds something wherever the network has the type.
var wanted = map[sdk.AdTargetingType]sdk.SearchAdTargetingParams{
	sdk.AdTargetingTypeCountry:  {},
	sdk.AdTargetingTypeRegion:   {Q: new("CALIF"), Country: new("us")},
	sdk.AdTargetingTypeCity:     {Q: new("jose san")},
	sdk.AdTargetingTypeZip:      {Q: new("94110"), Country: new("US")},
	sdk.AdTargetingTypeMetro:    {Q: new("new y")},
	sdk.AdTargetingTypeInterest: {Q: new("mov")},
	sdk.AdTargetingTypeBehavior: {},
	sdk.AdTargetingTypeLanguage: {Q: new("germ")},
}

func TestSearchAdTargeting_FindsWhatTheNetworkHas(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		for kind, params := range wanted {
			params.AccountID, params.Type = n.channel, kind
			found, err := n.Ads.SearchTargeting(background, &params)
			if !slices.Contains(n.can.SearchTypes, kind) {
				if e := refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "type"); !strings.Contains(e.Message, string(n.can.SearchTypes[0])) {
					t.Errorf("%s: the message does not say what the network has: %s", kind, e.Message)
				}
				continue
			}
			require.NoError(t, err, kind)
			require.NotEmpty(t, found.Data, kind)
			require.False(t, found.HasMore, kind)
			require.Nil(t, found.NextCursor, kind)
			for _, o := range found.Data {
				assert.Equal(t, "targeting_option", o.Object)
				assert.Equal(t, n.platform, o.Platform)
				assert.Equal(t, kind, o.Type)
				assert.NotEmpty(t, o.ID)
				assert.NotEmpty(t, o.Name)
				assert.NotNil(t, o.Path)
				isPlace := kind != sdk.AdTargetingTypeInterest && kind != sdk.AdTargetingTypeBehavior && kind != sdk.AdTargetingTypeLanguage
				assert.Equal(t, isPlace, o.Country != nil)
				assert.Equal(t, kind == sdk.AdTargetingTypeInterest || kind == sdk.AdTargetingTypeBehavior, o.AudienceSize != nil)
			}
		}
		none := ok[*sdk.TargetingOptionList](t)(n.Ads.SearchTargeting(background, &sdk.SearchAdTargetingParams{AccountID: n.channel, Type: sdk.AdTargetingTypeInterest, Q: new("ovies")}))
		if len(none.Data) != 0 {
			t.Errorf("the middle of a word finds %+v", none.Data)
		}
	})
}

func TestSearchAdTargeting_NeedsSomethingToLookFor(t *testing.T) {
	onOneNetwork(t, sdk.AdPlatformFacebook, func(t *testing.T, n onNetwork) {
		search := func(params sdk.SearchAdTargetingParams) error {
			params.AccountID = n.channel
			_, err := n.Ads.SearchTargeting(background, &params)
			return err
		}
		for kind, params := range wanted {
			if params.Q != nil && kind != sdk.AdTargetingTypeLanguage {
				params.Type, params.Q = kind, new(" ")
				refused(t, search(params), http.StatusBadRequest, sdk.CodeParameterMissing, "q")
				params.Q = nil
				refused(t, search(params), http.StatusBadRequest, sdk.CodeParameterMissing, "q")
			}
		}
		refused(t, search(sdk.SearchAdTargetingParams{Type: "zip", Q: new("94110")}), http.StatusBadRequest, sdk.CodeParameterMissing, "country")
		refused(t, search(sdk.SearchAdTargetingParams{Type: "zip", Q: new("94110"), Country: new("U1")}), http.StatusBadRequest, sdk.CodeBadRequest, "country")
		refused(t, search(sdk.SearchAdTargetingParams{Type: "color", Q: new("red")}), http.StatusBadRequest, sdk.CodeBadRequest, "type")
		for _, kind := range []sdk.AdTargetingType{"country", "interest", "behavior", "language"} {
			refused(t, search(sdk.SearchAdTargetingParams{Type: kind, Q: new("a"), Country: new("US")}), http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "country")
		}
		n.raw.Do(t, http.MethodGet, "/v1/ads/targeting/search?account_id="+n.channel, nil).Fault(t, http.StatusBadRequest, "parameter_missing")
	})
}

func TestSearchAdTargeting_FindsWhatAnAdCanBeShownTo(t *testing.T) {
	onOneNetwork(t, sdk.AdPlatformFacebook, func(t *testing.T, n onNetwork) {
		found := ok[*sdk.TargetingOptionList](t)(n.Ads.SearchTargeting(background, &sdk.SearchAdTargetingParams{AccountID: n.channel, Type: sdk.AdTargetingTypeInterest, Q: new("movies")}))
		to := func(id string) *sdk.AdTargeting {
			return &sdk.AdTargeting{Countries: []string{"US"}, Interests: []sdk.AdTargetingOption{{ID: id}}}
		}
		draft := n.draft("Found")
		draft.Targeting = to(found.Data[0].ID)
		made := ok[*sdk.Ad](t)(n.Ads.Create(background, draft))

		const retired = "6003000000000" // an interest that networks do not have any more
		draft.Targeting = to(retired)
		_, err := n.Ads.Create(background, draft)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "targeting")
		_, err = n.AdGroups.Update(background, made.AdGroupID, &sdk.AdGroupUpdate{Targeting: to(retired)})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "targeting")
		_, err = n.Ads.EstimateReach(background, &sdk.ReachEstimateCreate{AccountID: n.channel, AdAccountID: n.account, Targeting: *to(retired)})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "targeting")
	})
}
