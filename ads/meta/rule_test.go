package meta_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/ads/meta"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/tests/harness/metafake"
)

// Meta bids with a cap if nobody says how, and then misses its amount: rule C7.
func TestCreate_SaysHowToBidEvenIfNobodyDid(t *testing.T) {
	t.Parallel()
	for level, edge := range map[advert.BudgetLevel]string{advert.BudgetLevelCampaign: "campaigns", advert.BudgetLevelGroup: "adsets"} {
		w := newWorld(t, advert.PlatformFacebook)
		w.create(t, plan(func(p *ads.Plan) { p.BudgetLevel = level }))
		assert.Equal(t, "LOWEST_COST_WITHOUT_CAP", w.sent(t, "POST", edge).Get("bid_strategy"))
	}
}

// A catalog belongs to the campaign and its products to the ad set: rule S3.
func TestCreate_SellsFromACatalog(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	w.create(t, plan(func(p *ads.Plan) {
		p.Goal, p.PromotedObject = advert.GoalCatalogSales, `{"product_catalog_id":"7060","product_set_id":"7070"}`
	}))
	assert.JSONEq(t, `{"product_catalog_id":"7060"}`, w.sent(t, "POST", "campaigns").Get("promoted_object"))
	assert.JSONEq(t, `{"product_set_id":"7070","custom_event_type":"PURCHASE"}`, w.sent(t, "POST", "adsets").Get("promoted_object"))
}

// What a pixel counts happens on a registrable domain, which the ad names: rule K9.
func TestCreate_NamesTheDomainOfItsLink(t *testing.T) {
	t.Parallel()
	for link, domain := range map[string]string{
		"https://shop.example.co.uk/leaves?a=1": "example.co.uk", "https://EXAMPLE.com": "example.com", "https://10.0.0.1/": "",
	} {
		w := newWorld(t, advert.PlatformFacebook)
		w.create(t, plan(func(p *ads.Plan) { p.Creative.LinkURL = link }))
		assert.Equal(t, domain, strings.ToLower(w.sent(t, "POST", "ads").Get("conversion_domain")), link)
	}
}

// The classes of rule E1: what an error means for whoever asked.
func TestErrors_HaveTheirClass(t *testing.T) {
	t.Parallel()
	for class, codes := range map[error][]metafake.Fault{
		ads.ErrUnauthorized: {{Code: 190}, {Code: 190, Subcode: 458}, {Code: 190, Subcode: 460}, {Code: 190, Subcode: 463}, {Code: 102}},
		ads.ErrForbidden:    {{Code: 3}, {Code: 10}, {Code: 200}, {Code: 294}, {Code: 299}, {Code: 200, Subcode: 1870034}},
		ads.ErrOperator:     {{Code: 2635}},
		ads.ErrNotFound:     {{Code: 100, Subcode: 33}, {Code: 803}},
	} {
		for _, fault := range codes {
			w := newWorld(t, advert.PlatformFacebook)
			fault.Kind, fault.Method, fault.Edge = metafake.FaultCode, "POST", "adsets"
			w.fake.Fail(fault)
			_, err := w.net.Create(t.Context(), w.conn, plan(nil))
			require.ErrorIs(t, err, class, "%d/%d", fault.Code, fault.Subcode)
			assert.Empty(t, w.fake.Live("Campaign"), "what was made before is removed")
		}
	}
	for code, after := range map[int]time.Duration{341: 0, 368: 6 * time.Hour} {
		w := newWorld(t, advert.PlatformFacebook)
		w.fake.Fail(metafake.Fault{Kind: metafake.FaultCode, Code: code})
		var limited *ads.RateLimited
		_, err := w.net.AdAccounts(t.Context(), w.conn)
		require.ErrorAs(t, err, &limited, code)
		assert.Equal(t, after, limited.After)
	}
}

// An error that blames no field is about what its subcode is about.
func TestErrors_NameTheFieldThatTheirSubcodeIsAbout(t *testing.T) {
	t.Parallel()
	for subcode, field := range map[int]string{1885272: "budget_amount", 2490487: "bid_strategy", 1815430: "promoted_object", 1487694: "targeting", 3858636: "targeting", 1: ""} {
		w := newWorld(t, advert.PlatformFacebook)
		w.fake.Fail(metafake.Fault{Kind: metafake.FaultCode, Method: "POST", Edge: "adsets", Code: 100, Subcode: subcode})
		_, err := w.net.Create(t.Context(), w.conn, plan(nil))
		var rejected *ads.Rejected
		require.ErrorAs(t, err, &rejected)
		assert.Equal(t, field, rejected.Field)
	}
}

// Reads come more slowly near the limit: rule T1.
func TestReads_AreSlowNearTheLimit(t *testing.T) {
	t.Parallel()
	const slow = 200 * time.Millisecond
	for _, c := range []struct {
		used  int
		least time.Duration
		usage map[string]string
	}{
		{0, 0, nil}, {75, 0, nil}, {95, slow, nil}, {95, slow, map[string]string{"X-Fb-Ads-Insights-Throttle": `{"acc_id_util_pct":1}`}},
		{0, slow, map[string]string{"X-App-Usage": `{"call_count":28,"total_time":95,"total_cputime":25}`}},
		{0, slow, map[string]string{"X-Fb-Ads-Insights-Reach-Throttle": `{"app_id_util_pct":0,"acc_id_util_pct":95}`}},
		{0, slow, map[string]string{"X-Business-Use-Case-Usage": `{"1015":[{"type":"ads_management","call_count":95,"total_cputime":1,"total_time":1}]}`}},
	} {
		w := newWorld(t, advert.PlatformFacebook)
		w.fake.Used, w.fake.Usage = c.used, c.usage
		n := meta.New(advert.PlatformFacebook, meta.Options{Client: &http.Client{Transport: w.transport}, BaseURL: w.address, Backoff: 20 * time.Millisecond})
		_, err := n.AdAccounts(t.Context(), w.conn)
		require.NoError(t, err)
		begun := time.Now()
		_, err = n.AdAccounts(t.Context(), w.conn)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, time.Since(begun), c.least, c)
	}
}

// With the app's secret every call is signed: rule O2.
func TestCalls_AreSignedWithTheAppsSecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	w.fake.Secret = "of the app"
	_, err := w.net.AdAccounts(t.Context(), w.conn)
	require.ErrorIs(t, err, ads.ErrOperator)
	w.net = meta.New(advert.PlatformFacebook, meta.Options{Client: &http.Client{Transport: w.transport}, BaseURL: w.address, Secret: "of the app", Backoff: time.Millisecond})
	w.create(t, plan(nil))
	_, err = w.net.Delete(t.Context(), w.conn, ads.Ref{AdAccount: dollars, Level: advert.LevelCampaign, ID: w.fake.Live("Campaign")[0]})
	require.NoError(t, err)
}

func TestWarning_ComesNinetyDaysBeforeTheEndOfAVersion(t *testing.T) {
	t.Parallel()
	end := time.Date(2027, 7, 29, 0, 0, 0, 0, time.UTC)
	assert.Empty(t, meta.Warning("v26.0", end.AddDate(0, 0, -91)))
	assert.Contains(t, meta.Warning("v26.0", end.AddDate(0, 0, -90)), "2027-07-29")
	assert.Contains(t, meta.Warning("v24.0", now), "TILLWRIGHT_META_VERSION")
	assert.Empty(t, meta.Warning("v31.0", end), "its end is not known")
	assert.Empty(t, meta.Warning(meta.DefaultVersion, now))
}
