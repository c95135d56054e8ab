package view

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

func TestFixed_RoundsHalfUpWithoutFloats(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		millionths int64
		decimals   int
		want       string
	}{
		{20_000_000, 2, "20.00"}, {20_500_000, 2, "20.50"}, {0, 2, "0.00"}, {4_999, 2, "0.00"}, {5_000, 2, "0.01"}, {994_999, 2, "0.99"}, {995_000, 2, "1.00"},
		{-5_000, 2, "-0.01"}, {-1_500_000, 2, "-1.50"}, {1_234_567, 4, "1.2346"}, {3_500_000, 3, "3.500"}, {1, 6, "0.000001"},
		{math.MaxInt64, 2, "9223372036854.78"}, {math.MaxInt64, 6, "9223372036854.775807"},
	} {
		assert.Equal(t, c.want, string(fixed(c.millionths, c.decimals)), "%d with %d", c.millionths, c.decimals)
	}
}

func TestMetrics_MakesNoRatioOfNothing(t *testing.T) {
	t.Parallel()
	none := metrics(&ads.ShownAd{Metrics: new(advert.NoMetrics())})
	require.NotNil(t, none)
	assert.Nil(t, none.CTR)
	assert.Nil(t, none.CPC)
	assert.Nil(t, none.CPM)
	assert.Nil(t, none.CostPerConversion)
	assert.Nil(t, none.ROAS)
	assert.Equal(t, "0.00", string(*none.Spend))
	assert.NotNil(t, none.Actions)
	some := metrics(&ads.ShownAd{Metrics: &advert.Metrics{
		Spend: new(advert.Amount(12_340_000)), Impressions: new(int64(1000)), Clicks: new(int64(3)), Conversions: new(int64(1500)),
		PurchaseValue: new(advert.Amount(24_680_000)), Actions: map[string]int64{"like": 2500},
	}})
	assert.Equal(t, "12.34", string(*some.Spend))
	assert.Equal(t, "0.3000", string(*some.CTR))
	assert.Equal(t, "4.1133", string(*some.CPC))
	assert.Equal(t, "12.3400", string(*some.CPM))
	assert.Equal(t, "1.500", string(*some.Conversions))
	assert.Equal(t, "8.2267", string(*some.CostPerConversion))
	assert.Equal(t, "2.0000", string(*some.ROAS))
	assert.Equal(t, "2.500", string(some.Actions["like"]))
	assert.Nil(t, metrics(&ads.ShownAd{}), "the network was not asked")
}

func TestMetrics_AreNullWhereNobodyKnows(t *testing.T) {
	t.Parallel()
	shown, err := json.Marshal(metrics(&ads.ShownAd{Metrics: &advert.Metrics{Spend: new(advert.AmountUnit)}}))
	require.NoError(t, err)
	assert.JSONEq(t, `{"spend": 1.00, "impressions": null, "reach": null, "clicks": null, "ctr": null, "cpc": null, "cpm": null, "engagement": null,
		"conversions": null, "cost_per_conversion": null, "purchase_value": null, "roas": null, "video_views": null, "actions": null,
		"from": null, "to": null, "warnings": [], "last_synced_at": null}`, string(shown))
}

func TestSchedule_IsInTheAdAccountsDays(t *testing.T) {
	t.Parallel()
	account := &advert.Account{Timezone: "America/New_York"}
	from := ads.Date{Year: 2026, Month: 3, Day: 8}
	starts, ends := core.TimeOf(from.Start(location(account))), core.TimeOf(from.AddDays(6).End(location(account)))
	out := schedule(&starts, &ends, account)
	assert.Equal(t, "2026-03-08", *out.StartDate)
	assert.Equal(t, "2026-03-14", *out.EndDate, "the last day, over a change of the clocks")
	assert.Nil(t, schedule(nil, nil, account).EndDate)
}

func TestLatestAndEarliest_TakeWhatThereIs(t *testing.T) {
	t.Parallel()
	early, late := new(core.Time(1)), new(core.Time(2))
	for _, c := range []struct{ a, b, latest, earliest *core.Time }{
		{early, late, late, early}, {late, early, late, early}, {early, nil, early, early}, {nil, late, late, late}, {nil, nil, nil, nil},
	} {
		assert.Equal(t, c.latest, latest(c.a, c.b))
		assert.Equal(t, c.earliest, earliest(c.a, c.b))
	}
}

func TestExtras_DoNotReplaceAnAdsOwnFields(t *testing.T) {
	t.Parallel()
	fields := extras(advert.NewObject(map[string]any{"id": "evil", "metrics": 1, "utm_source": "news", "object": "x"}))
	require.Len(t, fields, 1)
	assert.JSONEq(t, `"news"`, string(fields["utm_source"]))
	assert.Empty(t, extras(""))
}
