package tiktok_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/ads/tiktok"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/tests/harness/impatient"
	"github.com/tillwright/tillwright/tests/harness/tiktokfake"
)

// secret is the channel's token, appSecret that of the app. They are looked for where they must not be.
const (
	secret    = "tt_SECRETSECRETSECRET"
	appSecret = "app_SECRETSECRETSECRET"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func clock() time.Time { return noon }

// clip is the address of a video.
const clip = "https://shop.example/mug.mp4"

// world is a network with an ad account, and a driver for it.
type world struct {
	net     *tiktokfake.Network
	account *tiktokfake.Account
	who     string // the channel's identity
	post    string // one of its posts
	driver  *tiktok.Driver
	conn    ads.Conn
	ad      advert.Account
}

// newWorld lets the driver's requests pass through wire, if there is one.
func newWorld(wire func(http.RoundTripper) http.RoundTripper) *world {
	return newWorldAt(clock, wire)
}

func newWorldAt(clock func() time.Time, wire func(http.RoundTripper) http.RoundTripper) *world {
	net := tiktokfake.New(clock)
	net.App = tiktokfake.App{ID: "app", Secret: appSecret, RedirectURIs: []string{redirect}}
	w := &world{net: net, account: net.AddAccount(secret, "Shop", "USD", "US")}
	w.who = net.AddIdentity(w.account, "BC_AUTH_TT", "northwind")
	w.post = net.AddPost(w.account, w.who, "Mug")
	client := &impatient.Transport{Next: net}
	if wire != nil {
		client.Next = wire(net)
	}
	net.OnHang = client.GiveUp
	w.driver = tiktok.New(tiktok.Config{
		Client: &http.Client{Transport: client}, App: "app", Secret: appSecret, Request: time.Minute, Total: time.Minute, Pause: time.Microsecond,
	})
	w.conn = ads.Conn{Account: "acct_1", Channel: "sacct_1", Platform: advert.PlatformTikTok, PlatformID: w.who, Token: ads.Secret(secret), Now: clock}
	w.ad = advert.Account{PlatformID: w.account.ID, Platform: advert.PlatformTikTok, Currency: "usd", Timezone: "America/New_York"}
	return w
}

// token returns an action's id that ends in text.
func token(text string) string { return "adact_" + strings.Repeat("0", 26-len(text)) + text }

// plan is an ad for traffic: 20.00 a day in an ad group of its own.
func (w *world) plan(t *testing.T, name string) ads.Plan {
	t.Helper()
	words, err := w.driver.Target(ads.Targeting{Places: ads.Places{Countries: []string{"US"}}}, "")
	require.NoError(t, err)
	return ads.Plan{
		Token: token(strings.ToLower(name)), AdAccount: w.ad, Name: name, Goal: advert.GoalTraffic,
		BudgetLevel: advert.BudgetLevelGroup, BudgetAmount: 20 * advert.AmountUnit, BudgetType: advert.BudgetTypeDaily,
		Configured: advert.ConfiguredActive, Targeting: ads.Targeting{Places: ads.Places{Countries: []string{"US"}}}, PlatformTargeting: words,
		Creative: creative(), Media: ads.Media{clip: w.video(t)},
	}
}

func creative() advert.Creative {
	return advert.Creative{Body: "It holds tea.", CallToAction: "SHOP_NOW", LinkURL: "https://shop.example/mug", VideoURL: clip}
}

// video returns a video that is ready.
func (w *world) video(t *testing.T) string {
	t.Helper()
	id, err := w.driver.UploadVideo(t.Context(), w.conn, w.account.ID, clip)
	require.NoError(t, err)
	ready, err := w.driver.VideoReady(t.Context(), w.conn, w.account.ID, id)
	require.NoError(t, err)
	require.True(t, ready)
	return id
}

// boost is a plan for the post, for engagement.
func (w *world) boost(t *testing.T, name string) ads.Plan {
	t.Helper()
	p := w.plan(t, name)
	p.Goal, p.Creative, p.Media, p.Post = advert.GoalEngagement, advert.Creative{}, nil, &advert.SocialPost{PlatformID: w.post}
	return p
}

func (w *world) create(t *testing.T, plan ads.Plan) ads.Created {
	t.Helper()
	made, err := w.driver.Create(t.Context(), w.conn, plan)
	require.NoError(t, err)
	require.NotNil(t, made.Ad)
	return made
}

// walk returns the whole ad account.
func (w *world) walk(ctx context.Context) (advert.Batch, error) {
	var whole advert.Batch
	for cursor := ""; ; {
		b, next, err := w.driver.Sync(ctx, w.conn, w.account.ID, cursor)
		whole.Campaigns = append(whole.Campaigns, b.Campaigns...)
		whole.Groups = append(whole.Groups, b.Groups...)
		whole.Ads = append(whole.Ads, b.Ads...)
		if err != nil || next == "" {
			return whole, err
		}
		cursor = next
	}
}

func at(t time.Time) *core.Time {
	moment := core.TimeOf(t)
	return &moment
}

// rejection expects that the network, or the driver itself, refused something because of a field.
func rejection(t *testing.T, err error, field string) {
	t.Helper()
	var refused *ads.Rejected
	require.ErrorAs(t, err, &refused)
	require.Equal(t, field, refused.Field, refused.Message)
}
