package meta_test

import (
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/ads/meta"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/tests/harness/impatient"
	"github.com/tillwright/tillwright/tests/harness/metafake"
)

const (
	token     = "EAAGm0PX4ZCpsBAfakeUserTokenThatMustNotBeSeen"
	pageToken = "EAAGm0PX4ZCpsBAfakePageTokenThatMustNotBeSeen"

	dollars = "act_1015000000000101"
	yen     = "act_1015000000000102"
	dinars  = "act_1015000000000103"
	closed  = "act_1015000000000104"

	pageID    = "2020000000000001"
	instagram = "17840000000000001"
	post      = pageID + "_3030000000000001"
	media     = "17900000000000001"
	pixelID   = "6060000000000001"
)

var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// world is a network with a page, four ad accounts and a driver that speaks to it.
type world struct {
	fake      *metafake.Fake
	net       *meta.Network
	conn      ads.Conn
	address   string
	transport http.RoundTripper
}

// driver returns a driver that waits so long for an answer.
func (w *world) driver(timeout time.Duration) *meta.Network {
	return meta.New(w.conn.Platform, meta.Options{
		Client: &http.Client{Transport: w.transport}, BaseURL: w.address, Timeout: timeout, Total: time.Minute, Backoff: time.Millisecond,
	})
}

func newWorld(t *testing.T, p advert.Platform) *world {
	t.Helper()
	return worldThrough(t, p, nil)
}

// worldThrough puts something between the driver and the network.
func worldThrough(t *testing.T, p advert.Platform, wrap func(*metafake.Fake, http.RoundTripper) http.RoundTripper) *world {
	t.Helper()
	f := metafake.New(token)
	f.Now = func() time.Time { return now }
	f.AddBusiness("4040000000000001", "Northwind")
	for _, a := range []metafake.Account{
		{ID: dollars, Name: "Dollars", Currency: "USD", Timezone: "America/New_York", Minimum: 100, Business: "4040000000000001", Country: "US"},
		{ID: yen, Name: "Yen", Currency: "JPY", Timezone: "Asia/Tokyo", Minimum: 1, Country: "JP"},
		{ID: dinars, Name: "Dinars", Currency: "BHD", Timezone: "Asia/Bahrain", Minimum: 40, Country: "BH"},
		{ID: closed, Name: "Closed", Currency: "USD", Timezone: "Europe/Berlin", Minimum: 100, Status: 2},
	} {
		f.AddAccount(a)
	}
	f.AddPage(pageID, "Northwind", pageToken, instagram)
	f.AddPixel(dollars, pixelID, "Shop")
	f.AddPost(pageID, post, "Autumn is here", now.Add(-48*time.Hour))
	f.AddMedia(instagram, media, "Leaves", now.Add(-24*time.Hour))
	i := &impatient.Transport{Next: &http.Transport{}}
	f.OnHang = i.GiveUp
	w := &world{fake: f, transport: i, address: f.Serve(t),
		conn: ads.Conn{Account: "acct_1", Channel: "sacct_1", Platform: p, Token: token, Now: func() time.Time { return now }}}
	if wrap != nil {
		w.transport = wrap(f, w.transport)
	}
	w.net = w.driver(time.Minute)
	return w
}

func account(id string) advert.Account {
	currency := map[string]string{dollars: "usd", yen: "jpy", dinars: "bhd", closed: "usd"}[id]
	return advert.Account{PlatformID: id, Currency: currency, Timezone: "UTC", Status: advert.AccountActive}
}

// plan is a traffic ad of 20 dollars a day.
func plan(change func(*ads.Plan)) ads.Plan {
	p := ads.Plan{Token: "adact_01kabc0000000000000000000a", AdAccount: account(dollars), Name: "Autumn", Goal: advert.GoalTraffic,
		BudgetLevel: advert.BudgetLevelGroup, BudgetAmount: 20 * advert.AmountUnit, BudgetType: advert.BudgetTypeDaily, Configured: advert.ConfiguredActive,
		PlatformTargeting: `{"geo_locations":{"countries":["US"]},"targeting_automation":{"advantage_audience":0},"publisher_platforms":["facebook"]}`,
		Creative:          advert.Creative{Headline: "Leaves", Body: "They fall", CallToAction: "LEARN_MORE", LinkURL: "https://shop.example/leaves", ImageURL: "https://shop.example/leaf.jpg"}}
	if change != nil {
		change(&p)
	}
	return p
}

// valued makes a plan one that Meta takes a smallest ROAS for.
func valued(p *ads.Plan) {
	p.Goal, p.PromotedObject, p.BidStrategy, p.BidAmount, p.RoasFloor = advert.GoalConversions, `{"pixel_id":"6060"}`, advert.BidStrategyMinROAS, 0, 2*advert.RatioOne
}

func at(days int) *core.Time {
	t := core.TimeOf(now.Add(time.Duration(days) * 24 * time.Hour).Truncate(24 * time.Hour))
	return &t
}

// create makes an ad that must succeed.
func (w *world) create(t *testing.T, p ads.Plan) ads.Created {
	t.Helper()
	made, err := w.net.Create(t.Context(), w.conn, p)
	require.NoError(t, err)
	return made
}

// sent returns the parameters of the only call of a method and edge.
func (w *world) sent(t *testing.T, method, edge string) url.Values {
	t.Helper()
	calls := w.calls(method, edge)
	require.Len(t, calls, 1, "%s %s", method, edge)
	return calls[0].Params
}

func (w *world) calls(method, edge string) []metafake.Call {
	return slices.DeleteFunc(w.fake.Calls(), func(c metafake.Call) bool { return c.Method != method || c.Edge != edge })
}

func postOf(p advert.Platform) *advert.SocialPost {
	if p == advert.PlatformInstagram {
		return &advert.SocialPost{PlatformID: media, Status: advert.SocialPostPublished}
	}
	return &advert.SocialPost{PlatformID: post, Status: advert.SocialPostPublished}
}

var platforms = []advert.Platform{advert.PlatformFacebook, advert.PlatformInstagram}
