package pinterest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/ads/pinterest"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/tests/harness/impatient"
	"github.com/tillwright/tillwright/tests/harness/pinterestfake"
)

// secret is the channel's token. It is looked for where it must not be.
const secret = "pina_SECRETSECRETSECRET"

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func clock() time.Time { return noon }

// world is a network with an ad account, and a driver for it.
type world struct {
	net     *pinterestfake.Network
	account *pinterestfake.Account
	pin     string // a published one
	driver  *pinterest.Driver
	conn    ads.Conn
	ad      advert.Account
}

// newWorld lets the driver's requests pass through wire, if there is one.
func newWorld(currency string, wire func(http.RoundTripper) http.RoundTripper) *world {
	return newWorldAt(clock, currency, wire)
}

func newWorldAt(clock func() time.Time, currency string, wire func(http.RoundTripper) http.RoundTripper) *world {
	net := pinterestfake.New(clock)
	w := &world{net: net, account: net.AddAccount(secret, "Shop", currency, "OWNER"), pin: net.AddPin(secret, "VIDEO", "Mug")}
	client := &impatient.Transport{Next: net}
	if wire != nil {
		client.Next = wire(net)
	}
	net.OnHang = client.GiveUp
	w.driver = pinterest.New(pinterest.Config{
		Client: &http.Client{Transport: client}, Request: time.Minute, Total: time.Minute, Pause: time.Microsecond,
	})
	w.conn = ads.Conn{Account: "acct_1", Channel: "sacct_1", Platform: advert.PlatformPinterest, Token: ads.Secret(secret), Now: clock}
	w.ad = advert.Account{PlatformID: w.account.ID, Currency: strings.ToLower(currency), Timezone: "UTC"}
	return w
}

// token returns an action's id that ends in text.
func token(text string) string { return "adact_" + strings.Repeat("0", 26-len(text)) + text }

// boost is a plan for the published Pin: 20.00 a day in an ad group of its own.
func (w *world) boost(name string) ads.Plan {
	return ads.Plan{
		Token: token(strings.ToLower(name)), AdAccount: w.ad, Name: name, Goal: advert.GoalTraffic,
		BudgetLevel: advert.BudgetLevelGroup, BudgetAmount: 20 * advert.AmountUnit, BudgetType: advert.BudgetTypeDaily,
		Configured: advert.ConfiguredActive, Post: &advert.SocialPost{PlatformID: w.pin}, PlatformTargeting: `{"LOCATION":["US"]}`,
	}
}

// standalone is a plan with a creative of its own.
func (w *world) standalone(name string) ads.Plan {
	p := w.boost(name)
	p.Post = nil
	p.Creative = advert.Creative{
		Headline: "A mug", Body: "It holds tea.", CallToAction: "SHOP_NOW", LinkURL: "https://shop.example/mug",
		ImageURL: "https://shop.example/mug.jpg",
	}
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
		b, next, err := w.driver.Sync(ctx, w.conn, w.account.ID, cursor)
		if err != nil || next == "" {
			return merge(whole, b), err
		}
		whole, cursor = merge(whole, b), next
	}
}

func merge(a, b advert.Batch) advert.Batch {
	a.Campaigns = append(a.Campaigns, b.Campaigns...)
	a.Groups = append(a.Groups, b.Groups...)
	a.Ads = append(a.Ads, b.Ads...)
	return a
}

// running returns how many campaigns are not archived.
func (w *world) running() int {
	count := 0
	for _, c := range w.net.Campaigns(w.account) {
		if c.Text("status") != "ARCHIVED" {
			count++
		}
	}
	return count
}

func at(t time.Time) *core.Time {
	moment := core.TimeOf(t)
	return &moment
}

func pointer[T any](v T) *T { return &v }
