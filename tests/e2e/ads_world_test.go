package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
	"github.com/tillwright/tillwright/tests/harness/metafake"
	"github.com/tillwright/tillwright/tests/harness/pinterestfake"
)

var background = context.Background()

// adToken is the access to a network. It must be seen there, and nowhere else.
const adToken = "EAAGm0PX4ZCpsBAfakeTokenThatMustNotBeSeen"

// stage is a network that is played by a strict fake, as those who run it see it.
type stage interface {
	http.Handler
	live() (campaigns, ads int)                      // neither deleted nor archived
	status(level, id string) string                  // its own switch
	dailyBudget(level, id string) string             // as it stands on the wire
	deliver(ad, day string)                          // 12.34 for 1000 impressions and 30 clicks
	loseNextAd()                                     // it is made, and whoever asked for it hears nothing
	revoke()                                         // of the token
	Refused() []string                               // what the network refused, for whatever reason
	facts() (adAccount, post string, dollars string) // what there is, and how thirty dollars are written
}

// onMeta is Meta with a page, its Instagram account and two ad accounts, of which one is closed.
type onMeta struct {
	*metafake.Fake
	post string
}

func newOnMeta(platform sdk.AdPlatform) onMeta {
	f := metafake.New(adToken)
	f.AddAccount(metafake.Account{ID: "act_1015000000000101", Name: "Dollars", Currency: "USD", Timezone: "America/New_York", Minimum: 100, Country: "US"})
	f.AddAccount(metafake.Account{ID: "act_1015000000000104", Name: "Closed", Currency: "USD", Timezone: "Europe/Berlin", Minimum: 100, Status: 2})
	f.AddPage("2020000000000001", "Northwind", adToken+"OfThePage", "17840000000000001")
	f.AddPost("2020000000000001", "2020000000000001_3030000000000001", "Autumn is here", time.Now().Add(-48*time.Hour))
	f.AddMedia("17840000000000001", "17900000000000001", "Leaves", time.Now().Add(-24*time.Hour))
	if platform == sdk.AdPlatformInstagram {
		return onMeta{f, "17900000000000001"}
	}
	return onMeta{f, "2020000000000001_3030000000000001"}
}

func (m onMeta) live() (campaigns, ads int) { return len(m.Live("Campaign")), len(m.Live("Ad")) }

func (m onMeta) status(_, id string) string { return fmt.Sprint(m.Field(id, "status")) }

func (m onMeta) dailyBudget(_, id string) string { return fmt.Sprint(m.Field(id, "daily_budget")) }

func (m onMeta) deliver(ad, day string) {
	m.Deliver(ad, day, metafake.Delivery{Impressions: 1000, Reach: 700, Clicks: 30, Spend: "12.34"})
}

func (m onMeta) loseNextAd() {
	m.Fail(metafake.Fault{Kind: metafake.FaultTimeoutAfter, Method: http.MethodPost, Edge: "ads"})
}

func (m onMeta) revoke() { m.Revoke(adToken) }

func (m onMeta) facts() (adAccount, post, dollars string) {
	return "act_1015000000000101", m.post, "3000"
}

// onPinterest is Pinterest with an ad account and a Pin.
type onPinterest struct {
	*pinterestfake.Network
	account *pinterestfake.Account
	pin     string
}

func newOnPinterest() onPinterest {
	n := pinterestfake.New(time.Now)
	return onPinterest{n, n.AddAccount(adToken, "Shop", "USD", "OWNER"), n.AddPin(adToken, "REGULAR", "Mug")}
}

func (p onPinterest) live() (campaigns, ads int) {
	for _, campaign := range p.Campaigns(p.account) {
		if campaign.Text("status") != "ARCHIVED" {
			campaigns++
			ads += len(slices.DeleteFunc(p.Ads(p.account), func(ad pinterestfake.Object) bool { return ad.Text("campaign_id") != campaign.Text("id") }))
		}
	}
	return campaigns, ads
}

func (p onPinterest) object(level, id string) pinterestfake.Object {
	rows := map[string][]pinterestfake.Object{"campaign": p.Campaigns(p.account), "ad_group": p.Groups(p.account)}[level]
	i := slices.IndexFunc(rows, func(o pinterestfake.Object) bool { return o.Text("id") == id })
	return rows[i]
}

func (p onPinterest) status(level, id string) string { return p.object(level, id).Text("status") }

func (p onPinterest) dailyBudget(level, id string) string {
	name := map[string]string{"campaign": "daily_spend_cap", "ad_group": "budget_in_micro_currency"}[level]
	return fmt.Sprint(p.object(level, id).Number(name))
}

func (p onPinterest) deliver(ad, day string) {
	p.Deliver(p.account, ad, day, map[string]float64{"SPEND_IN_MICRO_DOLLAR": 12_340_000, "TOTAL_IMPRESSION": 1000, "TOTAL_CLICKTHROUGH": 30})
}

func (p onPinterest) loseNextAd() { p.Break("ads/create", 0, pinterestfake.FaultHangAfter) }

func (p onPinterest) revoke() { p.Revoke(adToken) }

func (p onPinterest) facts() (adAccount, post, dollars string) {
	return p.account.ID, p.pin, "30000000"
}

// tap writes down all that is said to a network.
type tap struct {
	network http.Handler
	mu      sync.Mutex
	heard   bytes.Buffer
	writes  int
}

func (p *tap) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	said, err := httputil.DumpRequest(r, true)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	p.mu.Lock()
	p.heard.Write(said)
	if r.Method != http.MethodGet {
		p.writes++
	}
	p.mu.Unlock()
	p.network.ServeHTTP(w, r)
}

func (p *tap) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.heard.String()
}

func (p *tap) written() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.writes
}

// advertiser is an account of a program that speaks to a network itself.
type advertiser struct {
	*sdk.Client
	stage
	platform               sdk.AdPlatform
	heard                  *tap
	program                *harness.Process
	channel, adAccount     string
	post, dollarsOnTheWire string
	silence                error // what came of an ad whose answer was lost
}

// spoken are the networks that there is a driver for. It is a constant.
var spoken = []sdk.AdPlatform{sdk.AdPlatformFacebook, sdk.AdPlatformInstagram, sdk.AdPlatformPinterest}

// onStages runs a test on each of them, with a program of its own, on both databases.
func onStages(t *testing.T, test func(t *testing.T, a *advertiser)) {
	t.Parallel()
	for _, platform := range spoken {
		t.Run(string(platform), func(t *testing.T) {
			t.Parallel()
			database.Each(t, func(t *testing.T, url string) { test(t, newAdvertiser(t, url, platform)) })
		})
	}
}

func newAdvertiser(t *testing.T, url string, platform sdk.AdPlatform) *advertiser {
	t.Helper()
	a := &advertiser{platform: platform}
	if a.stage = newOnMeta(platform); platform == sdk.AdPlatformPinterest {
		a.stage = newOnPinterest()
	}
	a.adAccount, a.post, a.dollarsOnTheWire = a.facts()
	a.heard = &tap{network: a.stage}
	fake := httptest.NewServer(a.heard)
	t.Cleanup(func() {
		fake.CloseClientConnections()
		fake.Close()
	})
	s := newSite(t, url)
	s.binary.Env = append(s.binary.Env, "TILLWRIGHT_ADS_NETWORKS=facebook,instagram,pinterest",
		"TILLWRIGHT_META_URL="+fake.URL, "TILLWRIGHT_PINTEREST_URL="+fake.URL+pinterestfake.Prefix)
	a.program = s.binary.Serve(t, "")
	client := s.client(a.program).HTTP
	client.Transport = &harness.Transport{T: t, Coverage: &harness.Coverage{}, Base: client.Transport}
	a.Client = sdk.New(s.key, sdk.WithBaseURL(a.program.URL+"/v1"), sdk.WithHTTPClient(client), sdk.WithRetries(0))
	a.connect(t)
	return a
}

// connect connects a channel with the token and activates it.
func (a *advertiser) connect(t *testing.T) {
	t.Helper()
	connected, err := a.Socials.Connect(background, &sdk.SocialAccountConnect{Platform: a.platform, Token: new(adToken)})
	require.NoError(t, err)
	require.NotEqual(t, "sandbox", connected.Driver)
	a.channel = connected.ID
	activated, err := a.Socials.Activate(background, &sdk.SocialAccountActivate{AccountID: a.channel})
	require.NoError(t, err)
	require.Equal(t, sdk.SocialAdsStatusActive, activated.AdsStatus)
}

// draft is an ad of 20 dollars a day that can be created.
func (a *advertiser) draft(name string) *sdk.AdCreate {
	return &sdk.AdCreate{
		AccountID: a.channel, AdAccountID: a.adAccount, Name: name, Goal: new(sdk.AdGoalTraffic),
		BudgetAmount: new(json.Number("20")), BudgetType: new(sdk.AdBudgetTypeDaily),
		Headline: new("The Go Handbook"), Body: new("Learn Go in a weekend."), CallToAction: new("LEARN_MORE"),
		LinkURL: new("https://example.com/go"), ImageURL: new("https://example.com/go.png"),
	}
}

// body names the network.
func (a *advertiser) body() *sdk.AdPlatformBody { return &sdk.AdPlatformBody{Platform: &a.platform} }

// keepsSecrets fails the test if the program's log has the token, or a word that must not be in it.
func (a *advertiser) keepsSecrets(t *testing.T, words ...string) {
	t.Helper()
	for _, word := range append(words, adToken) {
		require.NotContains(t, a.program.Log(), word)
	}
	require.True(t, strings.Contains(a.heard.text(), adToken), "the network is not asked with the token")
}
