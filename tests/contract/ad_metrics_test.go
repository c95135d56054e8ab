package contract

import (
	"encoding/json"
	"math/big"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
)

// figures adds up a figure of periods.
func figures(t *testing.T, periods []sdk.AdMetricsPeriod, of func(sdk.AdMetrics) *json.Number) string {
	t.Helper()
	sum := new(big.Rat)
	for _, p := range periods {
		n := of(p.Metrics)
		if n == nil {
			t.Fatalf("the figures of %s are not known: %v", p.DateStart, p.Metrics.Warnings)
		}
		one, fine := new(big.Rat).SetString(n.String())
		if !fine {
			t.Fatalf("%s is no number", n)
		}
		sum.Add(sum, one)
	}
	return sum.FloatString(6)
}

func spendOf(m sdk.AdMetrics) *json.Number { return m.Spend }

func impressionsOf(m sdk.AdMetrics) *json.Number {
	if m.Impressions == nil {
		return nil
	}
	return new(json.Number(string(harnessJSON(*m.Impressions))))
}

func harnessJSON(v any) []byte {
	text, _ := json.Marshal(v)
	return text
}

// metricsOf asks for a series of every level of an ad.
func (n onNetwork) metricsOf(ad *sdk.Ad) map[string]func(*sdk.ListAdMetricsParams) (*sdk.AdMetricsPeriodList, error) {
	return map[string]func(*sdk.ListAdMetricsParams) (*sdk.AdMetricsPeriodList, error){
		"ad": func(p *sdk.ListAdMetricsParams) (*sdk.AdMetricsPeriodList, error) {
			return n.Ads.ListMetrics(background, ad.ID, p)
		},
		"ad group": func(p *sdk.ListAdMetricsParams) (*sdk.AdMetricsPeriodList, error) {
			return n.AdGroups.ListMetrics(background, ad.AdGroupID, (*sdk.ListAdGroupMetricsParams)(p))
		},
		"campaign": func(p *sdk.ListAdMetricsParams) (*sdk.AdMetricsPeriodList, error) {
			return n.AdCampaigns.ListMetrics(background, ad.CampaignID, (*sdk.ListAdCampaignMetricsParams)(p))
		},
	}
}

// TestListAdMetrics_AddsUp asks every network for every interval and breakdown that it is said to have: the parts are the whole.
func TestListAdMetrics_AddsUp(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		ad := n.delivered(t)
		today := time.Now().UTC()
		from, to := today.AddDate(0, 0, -40).Format(time.DateOnly), today.AddDate(0, 0, -3).Format(time.DateOnly)
		for level, ask := range n.metricsOf(ad) {
			total := ok[*sdk.AdMetricsPeriodList](t)(ask(&sdk.ListAdMetricsParams{From: &from, To: &to, Interval: new(sdk.AdMetricsIntervalTotal)}))
			require.Len(t, total.Data, 1, "%s: the total", level)
			require.Equal(t, from, total.Data[0].DateStart, "%s: the total", level)
			require.Equal(t, to, total.Data[0].DateEnd, "%s: the total", level)
			require.NotEmpty(t, total.Data[0].Timezone, "%s: the total", level)
			require.False(t, total.HasMore, "%s: the total", level)
			if figures(t, total.Data, spendOf) == "0.000000" {
				t.Errorf("%s: nothing was delivered, so that nothing is tested", level)
			}
			for _, interval := range n.can.Figures.Intervals {
				rows := ok[*sdk.AdMetricsPeriodList](t)(ask(&sdk.ListAdMetricsParams{From: &from, To: &to, Interval: &interval}))
				if interval == sdk.AdMetricsIntervalDay && len(rows.Data) != 38 {
					t.Errorf("%s: 38 days have %d rows", level, len(rows.Data))
				}
				n.areTheWhole(t, level+" by "+string(interval), rows.Data, total.Data)
				if !slices.IsSortedFunc(rows.Data, func(a, b sdk.AdMetricsPeriod) int { return slices.Compare([]byte(a.DateStart), []byte(b.DateStart)) }) {
					t.Errorf("%s: the periods are not in their order", level)
				}
			}
			for _, by := range []sdk.AdMetricsBreakdown{"age", "gender", "country", "placement", "device"} {
				rows, err := ask(&sdk.ListAdMetricsParams{From: &from, To: &to, Interval: new(sdk.AdMetricsIntervalTotal), Breakdown: &by})
				if !slices.Contains(n.can.Figures.Breakdowns, by) {
					refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "breakdown")
					continue
				}
				parts := ok[*sdk.AdMetricsPeriodList](t)(rows, err)
				require.GreaterOrEqual(t, len(parts.Data), 2, level)
				assert.NotEmpty(t, parts.Data[0].Breakdown[string(by)], level)
				n.areTheWhole(t, level+" by "+string(by), parts.Data, total.Data)
			}
		}
	})
}

func (n onNetwork) areTheWhole(t *testing.T, what string, parts, whole []sdk.AdMetricsPeriod) {
	t.Helper()
	for name, of := range map[string]func(sdk.AdMetrics) *json.Number{"spend": spendOf, "impressions": impressionsOf} {
		if got, want := figures(t, parts, of), figures(t, whole, of); got != want {
			t.Errorf("%s: the parts have %s of %s, the whole %s", what, got, name, want)
		}
	}
}

// TestListAdMetrics_IsPaged walks through a series in small pages, and sees each row once.
func TestListAdMetrics_IsPaged(t *testing.T) {
	onOneNetwork(t, sdk.AdPlatformFacebook, func(t *testing.T, n onNetwork) {
		ad := n.delivered(t)
		today := time.Now().UTC()
		from, to := today.AddDate(0, 0, -20).Format(time.DateOnly), today.AddDate(0, 0, -3).Format(time.DateOnly)
		for by, want := range map[sdk.AdMetricsBreakdown]int{"": 18, "gender": 54} {
			params := &sdk.ListAdMetricsParams{From: &from, To: &to}
			if by != "" {
				params.Breakdown = &by
			}
			whole := ok[*sdk.AdMetricsPeriodList](t)(n.Ads.ListMetrics(background, ad.ID, params))
			require.Len(t, whole.Data, want, "by %q there", by)
			require.False(t, whole.HasMore, "by %q there", by)
			var seen []string
			params.Limit = new(int64(5))
			for {
				page := ok[*sdk.AdMetricsPeriodList](t)(n.Ads.ListMetrics(background, ad.ID, params))
				for _, row := range page.Data {
					seen = append(seen, row.DateStart+row.Breakdown[string(by)])
				}
				require.Equal(t, page.NextCursor != nil, page.HasMore, "a page")
				require.LessOrEqual(t, len(page.Data), 5, "a page")
				if !page.HasMore {
					break
				}
				params.Cursor = page.NextCursor
			}
			slices.Sort(seen)
			if len(slices.Compact(seen)) != want {
				t.Errorf("by %q the walk saw %d different rows", by, len(slices.Compact(seen)))
			}
			params.Interval = new(sdk.AdMetricsIntervalWeek)
			_, err := n.Ads.ListMetrics(background, ad.ID, &sdk.ListAdMetricsParams{From: &from, To: &to, Interval: params.Interval, Cursor: params.Cursor})
			refused(t, err, http.StatusBadRequest, sdk.CodeBadRequest, "cursor")
		}
	})
}

// TestListAdMetrics_SaysWhatIsNotCounted asks for days that are told in a report alone, or never were.
func TestListAdMetrics_SaysWhatIsNotCounted(t *testing.T) {
	onOneNetworkAlone(t, sdk.AdPlatformPinterest, func(t *testing.T, n onNetwork) {
		ad := n.delivered(t)
		n.server.Clock.SetAhead(74 * 24 * time.Hour)
		today := time.Now().UTC()
		from, to := today.AddDate(0, 0, -19).Format(time.DateOnly), today.AddDate(0, 0, -14).Format(time.DateOnly) // 93 and 88 days ago
		for level, ask := range n.metricsOf(ad) {
			params := &sdk.ListAdMetricsParams{From: &from, To: &to}
			days := ok[*sdk.AdMetricsPeriodList](t)(ask(params))
			require.Len(t, days.Data, 6, "%s: the days", level)
			require.Equal(t, "UTC", days.Data[0].Timezone, "%s: the days", level)
			for i, day := range days.Data {
				isKept := i >= 3
				assert.Equal(t, day.Metrics.Impressions != nil, isKept, level)
				assert.Equal(t, len(day.Metrics.Warnings) == 0, isKept, level)
				assert.Equal(t, day.Metrics.From != nil, isKept, level)
			}
		}
		for level, ask := range n.metricsOf(ad) {
			days := n.fetched(t, ask, &sdk.ListAdMetricsParams{From: &from, To: &to})
			total := ok[*sdk.AdMetricsPeriodList](t)(ask(&sdk.ListAdMetricsParams{From: &from, To: &to, Interval: new(sdk.AdMetricsIntervalTotal)}))
			n.areTheWhole(t, level, days, total.Data)
			m := total.Data[0].Metrics
			require.NotNil(t, m.From, "%s: the total", level)
			assert.Equal(t, from, *m.From, "%s: the total", level)
			assert.Empty(t, m.Warnings, "%s: the total", level)
			assert.NotEqual(t, "0.00", days[0].Metrics.Spend.String(), "%s: the total", level)
		}
		_, err := n.Ads.ListMetrics(background, ad.ID, &sdk.ListAdMetricsParams{From: &to, To: &from})
		refused(t, err, http.StatusBadRequest, sdk.CodeBadRequest, "from")
		_, err = n.Ads.ListMetrics(background, "404", nil)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
	})
}

// fetched asks for metrics until all of them are known.
func (n onNetwork) fetched(t *testing.T, ask func(*sdk.ListAdMetricsParams) (*sdk.AdMetricsPeriodList, error), params *sdk.ListAdMetricsParams) []sdk.AdMetricsPeriod {
	t.Helper()
	for until := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
		days := ok[*sdk.AdMetricsPeriodList](t)(ask(params)).Data
		missing := slices.IndexFunc(days, func(p sdk.AdMetricsPeriod) bool { return p.Metrics.Impressions == nil })
		if missing < 0 {
			return days
		}
		if time.Now().After(until) {
			t.Fatalf("after a minute %s is %+v", days[missing].DateStart, days[missing].Metrics)
		}
	}
}

// delivered returns an ad that somebody else made a while ago, and that was delivered since.
func (n onNetwork) delivered(t *testing.T) *sdk.Ad {
	t.Helper()
	from, to := time.Now().AddDate(0, 0, -40).Format(time.DateOnly), time.Now().AddDate(0, 0, -3).Format(time.DateOnly)
	for ad, err := range sdk.All(background, n.Ads.List, &sdk.ListAdsParams{AccountID: &n.channel, From: &from, To: &to}) {
		if err != nil {
			t.Fatal(err)
		}
		if ad.Metrics != nil && ad.Metrics.Spend != nil && ad.Metrics.Spend.String() != "0.00" && ad.Metrics.Spend.String() != "0" {
			return &ad
		}
	}
	t.Fatal("nothing was delivered")
	return nil
}
