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
	"github.com/tillwright/tillwright/tests/harness/tiktokfake"
)

var background = context.Background()

// adToken is the access to a network. It must be seen there, and nowhere else.
const adToken = "EAAGm0PX4ZCpsBAfakeTokenThatMustNotBeSeen"

// The app at the network, whose secret must be seen there and nowhere else.
const (
	appID     = "471147114711"
	appSecret = "anAppSecretThatMustNotBeSeen"
)

// stage is a network that is played by a strict fake, as those who run it see it.
type stage interface {
	http.Handler
	live() (campaigns, ads int)          // neither deleted nor archived
	status(level, id string) string      // its own switch
	dailyBudget(level, id string) string // as it stands on the wire
	deliver(ad, day string)              // 12.34 for 1000 impressions and 30 clicks
	names() []string                     // of campaigns that are neither deleted nor archived, and of what is in them
	steps() []string                     // of a new ad with a video, as they are called there
	breakOff(step string, done bool)     // at the next such step: before it is done, or after
	loseNextAd()                         // it is made, and whoever asked for it hears nothing
	servedAt(url string)
	consentTo(redirect string) // people can be asked by the app, and come back there
	minted() []string          // the tokens that were given for consents
	addProfile()               // beside the one that there is; of a network whose tokens are of one profile, nothing
	revoke()                   // of the token
	revokeOne(token string)
	Refused() []string                               // what the network refused, for whatever reason
	facts() (adAccount, post string, dollars string) // what there is, and how sixty dollars are written
	films() (post, pixel string)                     // a post that shows a video, and what counts on a site
	tokenOfPixel() *string                           // by which a pixel is told; nil = the channel's
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

func (m onMeta) names() []string {
	var names []string
	for _, kind := range []string{"Campaign", "AdSet", "Ad"} {
		for _, id := range m.Live(kind) {
			names = append(names, fmt.Sprint(m.Field(id, "name")))
		}
	}
	return names
}

func (m onMeta) status(_, id string) string { return fmt.Sprint(m.Field(id, "status")) }

func (m onMeta) dailyBudget(_, id string) string { return fmt.Sprint(m.Field(id, "daily_budget")) }

func (m onMeta) deliver(ad, day string) {
	m.Deliver(ad, day, metafake.Delivery{Impressions: 1000, Reach: 700, Clicks: 30, Spend: "12.34"})
}

func (m onMeta) steps() []string {
	return []string{"advideos", "campaigns", "adsets", "adcreatives", "ads"}
}

func (m onMeta) breakOff(step string, done bool) {
	kind := metafake.FaultCutBefore
	if done {
		kind = metafake.FaultCutAfter
	}
	m.Fail(metafake.Fault{Kind: kind, Method: http.MethodPost, Edge: step})
}

func (m onMeta) loseNextAd() {
	m.Fail(metafake.Fault{Kind: metafake.FaultTimeoutAfter, Method: http.MethodPost, Edge: "ads"})
}

func (m onMeta) servedAt(string) {}

func (m onMeta) consentTo(redirect string) {
	m.Secret, m.App = appSecret, metafake.App{ID: appID, Secret: appSecret, RedirectURIs: []string{redirect}}
}

func (m onMeta) minted() []string { return m.Minted() }

func (m onMeta) addProfile() {
	m.AddPage("2020000000000002", "Southwind", adToken+"OfTheOtherPage", "17840000000000002")
}

func (m onMeta) revoke() { m.Revoke(adToken) }

func (m onMeta) revokeOne(token string) { m.Revoke(token) }

func (m onMeta) facts() (adAccount, post, dollars string) {
	return "act_1015000000000101", m.post, "6000"
}

func (m onMeta) films() (post, pixel string) {
	page, user := "2020000000000001", "17840000000000001"
	if strings.HasPrefix(m.post, page) {
		post = page + "_3030000000000002"
		m.AddPost(page, post, "How leaves fall", time.Now().Add(-72*time.Hour))
	} else {
		post = "17900000000000002"
		m.AddMedia(user, post, "How leaves fall", time.Now().Add(-72*time.Hour))
	}
	m.Film(post)
	m.AddPixel("act_1015000000000101", "6060000000000001", "Site")
	return post, "6060000000000001"
}

func (m onMeta) tokenOfPixel() *string { return nil }

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

func (p onPinterest) names() []string {
	var names []string
	ended := map[string]bool{}
	for _, campaign := range p.Campaigns(p.account) {
		ended[campaign.Text("id")] = campaign.Text("status") == "ARCHIVED"
		if !ended[campaign.Text("id")] {
			names = append(names, campaign.Text("name"))
		}
	}
	for _, row := range append(p.Groups(p.account), p.Ads(p.account)...) {
		if !ended[row.Text("campaign_id")] {
			names = append(names, row.Text("name"))
		}
	}
	return names
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

func (p onPinterest) steps() []string {
	return []string{"media/create", "pins/create", "campaigns/create", "ad_groups/create", "ads/create"}
}

func (p onPinterest) breakOff(step string, done bool) {
	kind := pinterestfake.FaultDrop
	if done {
		kind = pinterestfake.FaultDropAfter
	}
	p.Break(step, 0, kind)
}

func (p onPinterest) loseNextAd() { p.Break("ads/create", 0, pinterestfake.FaultHangAfter) }

func (p onPinterest) servedAt(url string) {
	p.UploadTo(url)
	p.ReportsAt(url)
}

func (p onPinterest) consentTo(redirect string) {
	p.ConsentTo(pinterestfake.App{ID: appID, Secret: appSecret, RedirectURIs: []string{redirect}}, adToken)
}

func (p onPinterest) minted() []string { return p.Minted() }

func (p onPinterest) addProfile() {}

func (p onPinterest) revoke() { p.Revoke(adToken) }

func (p onPinterest) revokeOne(token string) { p.Revoke(token) }

func (p onPinterest) facts() (adAccount, post, dollars string) {
	return p.account.ID, p.pin, "60000000"
}

func (p onPinterest) films() (post, pixel string) {
	return p.AddPin(adToken, "VIDEO", "How a mug is made"), p.AddTag(p.account)
}

func (p onPinterest) tokenOfPixel() *string {
	p.AddConversionToken(p.account, "aTokenOfConversionsThatMustNotBeSeen")
	return new("aTokenOfConversionsThatMustNotBeSeen")
}

// onTikTok is TikTok with an ad account that speaks for an account with a post.
type onTikTok struct {
	*tiktokfake.Network
	account *tiktokfake.Account
	post    string
}

func newOnTikTok() onTikTok {
	n := tiktokfake.New(time.Now)
	account := n.AddAccount(adToken, "Shop", "USD", "US")
	return onTikTok{n, account, n.AddPost(account, n.AddIdentity(account, "BC_AUTH_TT", "Northwind"), "Mug")}
}

func (k onTikTok) live() (campaigns, ads int) {
	campaigns, _, ads = k.Live(k.account)
	return campaigns, ads
}

func (k onTikTok) rows(level string) []tiktokfake.Object {
	return map[string]func(*tiktokfake.Account) []tiktokfake.Object{"campaign": k.Campaigns, "adgroup": k.Groups, "ad": k.Ads}[level](k.account)
}

func (k onTikTok) names() []string {
	var names []string
	for _, kind := range []string{"campaign", "adgroup", "ad"} {
		for _, row := range k.rows(kind) {
			if !strings.HasSuffix(row.Text("secondary_status"), "DELETE") {
				names = append(names, row.Text(kind+"_name"))
			}
		}
	}
	return names
}

func (k onTikTok) object(level, id string) tiktokfake.Object {
	kind := strings.ReplaceAll(level, "_", "")
	rows := k.rows(kind)
	return rows[slices.IndexFunc(rows, func(o tiktokfake.Object) bool { return o.Text(kind+"_id") == id })]
}

func (k onTikTok) status(level, id string) string {
	return map[string]string{"ENABLE": "ACTIVE", "DISABLE": "PAUSED"}[k.object(level, id).Text("operation_status")]
}

func (k onTikTok) dailyBudget(level, id string) string {
	return fmt.Sprint(k.object(level, id).Number("budget"))
}

func (k onTikTok) deliver(ad, day string) {
	k.Deliver(k.account, ad, day, map[string]string{"spend": "12.34", "impressions": "1000", "clicks": "30"}, nil)
}

func (k onTikTok) steps() []string {
	return []string{"POST file/video/ad/upload", "POST campaign/create", "POST adgroup/create", "POST ad/create"}
}

func (k onTikTok) breakOff(step string, done bool) {
	kind := tiktokfake.FaultCutBefore
	if done {
		kind = tiktokfake.FaultCutAfter
	}
	k.Break(step, 0, kind)
}

func (k onTikTok) loseNextAd() { k.Break("POST ad/create", 0, tiktokfake.FaultHangAfter) }

func (k onTikTok) servedAt(string) {}

func (k onTikTok) consentTo(redirect string) {
	k.ConsentOf(adToken, tiktokfake.App{ID: appID, Secret: appSecret, RedirectURIs: []string{redirect}})
}

func (k onTikTok) minted() []string { return k.Minted() }

func (k onTikTok) addProfile() { k.AddIdentity(k.account, "TT_USER", "Southwind") }

func (k onTikTok) revoke() { k.Revoke(adToken) }

func (k onTikTok) revokeOne(token string) { k.Revoke(token) }

func (k onTikTok) facts() (adAccount, post, dollars string) { return k.account.ID, k.post, "60" }

func (k onTikTok) films() (post, pixel string) {
	pixel, _ = k.AddPixel(k.account, "Site")
	return k.post, pixel
}

func (k onTikTok) tokenOfPixel() *string { return nil }

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
	coverage               *harness.Coverage
	program                *harness.Process
	database               string // its address
	back                   string // where people come back to who were asked for consent
	channel, adAccount     string
	post, dollarsOnTheWire string
	film, pixel            string // a post that shows a video, and what counts on a site
	silence                error  // what came of an ad whose answer was lost
}

// spoken are the networks that there is a driver for. It is a constant.
var spoken = []sdk.AdPlatform{sdk.AdPlatformFacebook, sdk.AdPlatformInstagram, sdk.AdPlatformPinterest, sdk.AdPlatformTikTok}

// onStages runs a test on each of them, with a program of its own, on both databases.
func onStages(t *testing.T, test func(t *testing.T, a *advertiser)) { onEach(t, spoken, test) }

// onEach is onStages on some of them.
func onEach(t *testing.T, platforms []sdk.AdPlatform, test func(t *testing.T, a *advertiser)) {
	t.Parallel()
	for _, platform := range platforms {
		t.Run(string(platform), func(t *testing.T) {
			t.Parallel()
			database.Each(t, func(t *testing.T, url string) { test(t, newAdvertiser(t, url, platform)) })
		})
	}
}

func newAdvertiser(t *testing.T, url string, platform sdk.AdPlatform) *advertiser {
	t.Helper()
	a := &advertiser{platform: platform}
	switch platform {
	case sdk.AdPlatformPinterest:
		a.stage = newOnPinterest()
	case sdk.AdPlatformTikTok:
		a.stage = newOnTikTok()
	default:
		a.stage = newOnMeta(platform)
	}
	a.adAccount, a.post, a.dollarsOnTheWire = a.facts()
	a.film, a.pixel = a.films()
	a.heard = &tap{network: a.stage}
	fake := httptest.NewServer(a.heard)
	a.servedAt(fake.URL)
	t.Cleanup(func() {
		fake.CloseClientConnections()
		fake.Close()
	})
	s := newSite(t, url)
	s.binary.Env = append(s.binary.Env, "TILLWRIGHT_ADS_NETWORKS=facebook,instagram,pinterest,tiktok",
		"TILLWRIGHT_META_URL="+fake.URL, "TILLWRIGHT_PINTEREST_URL="+fake.URL+pinterestfake.Prefix,
		"TILLWRIGHT_META_APP_ID="+appID, "TILLWRIGHT_META_APP_SECRET="+appSecret, "TILLWRIGHT_META_CONSENT_URL="+fake.URL,
		"TILLWRIGHT_PINTEREST_APP_ID="+appID, "TILLWRIGHT_PINTEREST_APP_SECRET="+appSecret, "TILLWRIGHT_PINTEREST_CONSENT_URL="+fake.URL,
		"TILLWRIGHT_TIKTOK_URL="+fake.URL+tiktokfake.Prefix, "TILLWRIGHT_TIKTOK_APP_ID="+appID, "TILLWRIGHT_TIKTOK_APP_SECRET="+appSecret,
		"TILLWRIGHT_TIKTOK_CONSENT_URL="+fake.URL)
	a.program, a.database = s.binary.Serve(t, ""), url
	a.consentTo(a.program.URL + "/connect/" + string(platform))
	client := s.client(a.program).HTTP
	a.coverage = &harness.Coverage{}
	client.Transport = &harness.Transport{T: t, Coverage: a.coverage, Base: client.Transport}
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
	draft := &sdk.AdCreate{
		AccountID: a.channel, AdAccountID: a.adAccount, Name: name, Goal: new(sdk.AdGoalTraffic),
		BudgetAmount: new(json.Number("20")), BudgetType: new(sdk.AdBudgetTypeDaily),
		Headline: new("The Go Handbook"), Body: new("Learn Go in a weekend."), CallToAction: new("LEARN_MORE"),
		LinkURL: new("https://example.com/go"), ImageURL: new("https://example.com/go.png"),
	}
	if a.platform == sdk.AdPlatformTikTok { // which shows videos only
		draft.ImageURL, draft.VideoURL = nil, new("https://example.com/go.mp4")
	}
	return draft
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
