package zernio_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/ads/zernio"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/tests/harness/zerniofake"
)

// apiKey is the installation's key. It is looked for where it must not be.
const apiKey = "zrn_SECRETSECRETSECRET"

// mine is the account whose world it is, other is another one of the installation.
const (
	mine  = "acct_00000000000000000000000001"
	other = "acct_00000000000000000000000002"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// world is a Zernio with a network that an account has connected, and a driver for it.
type world struct {
	net     *zerniofake.Network
	account *zerniofake.Account
	driver  *zernio.Driver
	conn    ads.Conn
	ad      advert.Account
	now     time.Time
}

// names are Zernio's words for networks where they are connected.
var names = map[advert.Platform]string{advert.PlatformGoogle: "googleads"}

// newWorld lets the driver's requests pass through wire, if there is one.
func newWorld(p advert.Platform, wire func(http.RoundTripper) http.RoundTripper) *world {
	w := &world{now: noon}
	w.net = zerniofake.New(apiKey, func() time.Time { return w.now })
	var next http.RoundTripper = w.net
	if wire != nil {
		next = wire(w.net)
	}
	w.driver = zernio.New(p, zernio.Config{Client: &http.Client{Transport: next}, Key: apiKey, BaseURL: "https://zernio.example" + zerniofake.Prefix, Pause: time.Microsecond})
	w.account = w.net.Connect(mine, nameOf(p))
	w.conn = w.connTo(mine, p, w.account)
	w.ad = advert.Account{PlatformID: w.account.AdAccounts[0]["id"].(string), Platform: p, Currency: "usd", Timezone: "UTC"}
	if w.account.Parent() != nil {
		w.net.AddPost(w.account, "post_1", "Autumn is here")
	}
	return w
}

func nameOf(p advert.Platform) string {
	if name := names[p]; name != "" {
		return name
	}
	return string(p)
}

func (w *world) connTo(account string, p advert.Platform, a *zerniofake.Account) ads.Conn {
	return ads.Conn{Account: account, Channel: "sacct_1", Platform: p, PlatformID: a.ID, Token: ads.Secret(a.ID), Now: func() time.Time { return w.now }}
}

// token returns an action's id that ends in text.
func token(text string) string { return "adact_" + strings.Repeat("0", 26-len(text)) + text }

// plan is an ad of 30.00 a day that the network takes.
func (w *world) plan(name string) ads.Plan {
	caps := w.driver.Caps()
	p := ads.Plan{
		Token: token(name), AdAccount: w.ad, Name: name, Goal: advert.GoalTraffic, BudgetLevel: caps.BudgetLevels[0], BudgetAmount: 30 * advert.AmountUnit,
		BudgetType: advert.BudgetTypeDaily, Configured: advert.ConfiguredActive, BidStrategy: caps.DefaultBid,
		Targeting: ads.Targeting{Places: ads.Places{Countries: []string{"US"}}},
		Creative:  advert.Creative{Headline: "A mug", Body: "It holds tea.", CallToAction: "LEARN_MORE", LinkURL: "https://shop.example/mug", ImageURL: "https://shop.example/mug.jpg"},
	}
	switch caps.Platform {
	case advert.PlatformTikTok:
		p.Creative.ImageURL, p.Creative.VideoURL = "", "https://shop.example/mug.mp4"
	case advert.PlatformGoogle, advert.PlatformTwitter:
		p.Creative.ImageURL = ""
	}
	return w.targeted(p)
}

// targeted writes the targeting of a plan as the driver does.
func (w *world) targeted(p ads.Plan) ads.Plan {
	own := advert.Object("")
	if w.driver.Caps().Platform == advert.PlatformGoogle {
		own = `{"keywords":["mug"],"negativeKeywords":["bug"]}`
	}
	words, err := w.driver.Target(p.Targeting, own)
	if err != nil {
		panic(err)
	}
	p.PlatformTargeting = words
	return p
}

// boost is a plan for the published post.
func (w *world) boost(name string) ads.Plan {
	p := w.plan(name)
	p.Creative, p.Post = advert.Creative{}, &advert.SocialPost{PlatformID: "post_1"}
	return p
}

func (w *world) create(t *testing.T, plan ads.Plan) ads.Created {
	t.Helper()
	made, err := w.driver.Create(t.Context(), w.conn, plan)
	require.NoError(t, err)
	return made
}

// walk returns the whole ad account.
func (w *world) walk(ctx context.Context) (advert.Batch, error) {
	var whole advert.Batch
	for cursor := ""; ; {
		b, next, err := w.driver.Sync(ctx, w.conn, w.ad.PlatformID, cursor)
		whole.Campaigns, whole.Groups, whole.Ads = append(whole.Campaigns, b.Campaigns...), append(whole.Groups, b.Groups...), append(whole.Ads, b.Ads...)
		if err != nil || next == "" {
			return whole, err
		}
		cursor = next
	}
}

func (w *world) campaignRef(c *advert.Campaign) ads.Ref {
	return ads.Ref{AdAccount: w.ad.PlatformID, Level: advert.LevelCampaign, ID: c.PlatformID}
}

func (w *world) groupRef(g *advert.Group) ads.Ref {
	return ads.Ref{AdAccount: w.ad.PlatformID, Level: advert.LevelGroup, ID: g.PlatformID, CampaignID: g.CampaignID}
}

func (w *world) adRef(a *advert.Ad) ads.Ref {
	return ads.Ref{AdAccount: w.ad.PlatformID, Level: advert.LevelAd, ID: a.PlatformID, CampaignID: a.CampaignID, AdGroupID: a.AdGroupID}
}

func at(t time.Time) *core.Time {
	moment := core.TimeOf(t)
	return &moment
}

// onEach runs a test on every network.
func onEach(t *testing.T, test func(t *testing.T, w *world)) {
	t.Parallel()
	for _, p := range advert.Platforms {
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			test(t, newWorld(p, nil))
		})
	}
}
