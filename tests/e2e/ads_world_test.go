package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
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
