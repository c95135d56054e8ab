package sdk

import (
	"net/url"
	"reflect"
	"testing"
	"time"

	"github.com/tillwright/tillwright/sdk/internal/require"
)

func TestQuery_HoldsWhatIsSet(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 1, 0, 0, 0, time.FixedZone("CET", 3600))
	query := encodeQuery(&ListProductsParams{
		Status:       new(ProductStatusActive),
		HasRecurring: new(false),
		Limit:        new(int64(50)),
		CreatedAfter: new(TimeOf(at)),
		Q:            new("größe & co"),
		Metadata:     MetadataFilter{"source": "ads", "a b": "1=2"},
		Expand:       Expand("price_variants", "default_price_variant"),
	})
	require.Equal(t, url.Values{
		"status":           {"active"},
		"has_recurring":    {"false"},
		"limit":            {"50"},
		"created_after":    {"2026-11-21T00:00:00.000Z"},
		"q":                {"größe & co"},
		"metadata[source]": {"ads"},
		"metadata[a b]":    {"1=2"},
		"expand":           {"price_variants,default_price_variant"},
	}, query)
}

func TestQuery_LeavesOutWhatIsNot(t *testing.T) {
	t.Parallel()
	require.Empty(t, encodeQuery(nil))
	require.Empty(t, encodeQuery((*ListOrdersParams)(nil)))
	require.Empty(t, encodeQuery(&ListOrdersParams{}))
}

func TestQuery_NamesEveryParameter(t *testing.T) {
	t.Parallel()
	for _, params := range []any{ListAISitesParams{}, ListAPIKeysParams{}, ListCheckoutLinksParams{}, ListCheckoutsParams{}, ListCustomersParams{}, ListDiscountsParams{},
		ListInvoicesParams{}, ListInvoiceLinesParams{}, ListOrdersParams{}, ListSubscriptionsParams{}, ListPriceVariantsParams{}, ListProductsParams{}, ListWebhookEndpointsParams{}} {
		for field := range reflect.TypeOf(params).Fields() {
			require.Regexp(t, `^[a-z_]+$`, paramName(field.Tag), "%T.%s", params, field.Name)
		}
	}
}
