package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/browser"
)

// TestAdNetworks_AskForConsent lets somebody with a browser say no and yes on the page of a network. They bring answers back that are not good, and
// reconnect a channel with all that is in it. Then the access is renewed.
func TestAdNetworks_AskForConsent(t *testing.T) {
	onStages(t, func(t *testing.T, a *advertiser) {
		shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "<!doctype html><title>Shop</title><h1>Back in the shop</h1>")
		}))
		t.Cleanup(shop.Close)
		a.back = shop.URL + "/connected?from=network"
		ad, err := a.creates(a.draft("Kept"), "Kept")
		require.NoError(t, err)
		page := browser.Open(t, nil)
		db := harness.OpenDatabase(t, a.database)

		a.isDenied(t, page)
		a.isNotTaken(t, page, db)
		a.connectsAgain(t, page, ad)
		a.connectsOneOfTwoTabs(t)
		a.selectsAProfile(t, page)
		a.isRenewed(t, db)
		assert.Empty(t, page.Refused(), "the browser refused something")
		a.keepsSecrets(t, append(a.minted(), appSecret, "client_secret")...)
	})
}

// asks begins a connection, of whoever is to be sent to the network's page.
func (a *advertiser) asks(t *testing.T) *sdk.SocialConnection {
	t.Helper()
	begun, err := a.Socials.CreateConnection(background, &sdk.SocialConnectionCreate{Platform: a.platform, ReturnURL: a.back})
	require.NoError(t, err)
	require.NotNil(t, begun.URL)
	require.NotEqual(t, "sandbox", begun.Driver)
	return begun
}

// answer opens the network's page, and returns the address to which a link leads.
func (a *advertiser) answer(t *testing.T, page *browser.Page, link string) (*sdk.SocialConnection, string) {
	t.Helper()
	begun := a.asks(t)
	page.Go(*begun.URL)
	page.Wait(`document.querySelector('` + link + `')`)
	return begun, page.Value(`document.querySelector('` + link + `').href`)
}

// is expects a connection in a status.
func (a *advertiser) is(t *testing.T, id string, status sdk.SocialConnectionStatus) *sdk.SocialConnection {
	t.Helper()
	c, err := a.Socials.GetConnection(background, id)
	require.NoError(t, err)
	assert.Equal(t, status, c.Status)
	return c
}

func (a *advertiser) isDenied(t *testing.T, page *browser.Page) {
	t.Helper()
	begun, _ := a.answer(t, page, "#deny")
	page.Click("#deny")
	page.WaitText("Nothing was connected")
	assert.Nil(t, a.is(t, begun.ID, sdk.SocialConnectionStatusDenied).AccountID)
	page.Click("a.button")
	page.WaitText("Back in the shop")
	assert.Equal(t, a.back+"&connection="+begun.ID+"&status=denied", sorted(t, page.Value("location.href")))
}

// sorted moves from to the beginning of the query, as it was sent.
func sorted(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	q := u.Query()
	return u.Scheme + "://" + u.Host + u.Path + "?from=" + q.Get("from") + "&connection=" + q.Get("connection") + "&status=" + q.Get("status")
}

// isNotTaken brings back a state that is nobody's, one of another network, and one that is late.
func (a *advertiser) isNotTaken(t *testing.T, page *browser.Page, db *harness.Database) {
	t.Helper()
	begun, back := a.answer(t, page, "#allow")
	u, err := url.Parse(back)
	require.NoError(t, err)
	foreign := u.Query()
	foreign.Set("state", "AAAAAAAAAAAAAAAAAAAAAA")
	for _, address := range []string{
		u.Scheme + "://" + u.Host + u.Path + "?" + foreign.Encode(),
		u.Scheme + "://" + u.Host + "/connect/linkedin?" + u.RawQuery,
		u.Scheme + "://" + u.Host + u.Path,
	} {
		page.Go(address)
		page.WaitText("This did not connect anything")
	}
	a.is(t, begun.ID, sdk.SocialConnectionStatusPending)
	db.Must(t, `UPDATE social_connections SET expires_at = 1 WHERE id = '`+begun.ID+`'`)
	page.Go(back)
	page.WaitText("more than ten minutes old")
	assert.Nil(t, a.is(t, begun.ID, sdk.SocialConnectionStatusExpired).AccountID)
	assert.Empty(t, a.minted(), "the network was asked for an access")
}

// connectsAgain consents for the profile that is connected already, and brings the same answer twice.
func (a *advertiser) connectsAgain(t *testing.T, page *browser.Page, ad *sdk.Ad) {
	t.Helper()
	begun, back := a.answer(t, page, "#allow")
	page.Click("#allow")
	page.WaitText("Back in the shop")
	assert.Equal(t, a.back+"&connection="+begun.ID+"&status=connected", sorted(t, page.Value("location.href")))
	assert.Regexp(t, `^http://127\.0\.0\.1:\d+/$`, page.Value("document.referrer"), "the address with the code is told to the shop")
	connected := a.is(t, begun.ID, sdk.SocialConnectionStatusConnected)
	require.NotNil(t, connected.AccountID)
	assert.Equal(t, a.channel, *connected.AccountID, "the same profile is the same channel")
	known, err := a.Ads.Get(background, ad.ID, nil)
	require.NoError(t, err)
	assert.Equal(t, sdk.AdSourceNative, known.Source)
	channel, err := a.Socials.Get(background, a.channel)
	require.NoError(t, err)
	assert.Equal(t, sdk.SocialAdsStatusActive, channel.AdsStatus)
	assert.Equal(t, a.platform != sdk.AdPlatformTikTok, channel.TokenExpiresAt != nil, "TikTok's do not end")
	assert.NotEmpty(t, channel.Scopes)

	page.Go(back)
	page.WaitText("used before")
	again, err := a.Socials.Get(background, a.channel)
	require.NoError(t, err)
	assert.Equal(t, channel.UpdatedAt, again.UpdatedAt, "a replay changes nothing")
	_, err = a.creates(a.draft("With the new access"), "With the new access")
	require.NoError(t, err)
}

// connectsOneOfTwoTabs brings the same answer back from several tabs at once.
func (a *advertiser) connectsOneOfTwoTabs(t *testing.T) {
	t.Helper()
	begun := a.asks(t)
	_, text := get(t, *begun.URL)
	_, rest, found := strings.Cut(text, `id="allow" href="`)
	require.True(t, found, text)
	link, _, _ := strings.Cut(rest, `"`)
	back := strings.ReplaceAll(link, "&amp;", "&")
	back, _, _ = strings.Cut(back, "#")
	before := len(a.minted())
	var tabs sync.WaitGroup
	var through, gone atomic.Int64
	for range 4 {
		tabs.Go(func() {
			switch status, _ := get(t, back); status {
			case http.StatusSeeOther:
				through.Add(1)
			case http.StatusGone:
				gone.Add(1)
			}
		})
	}
	tabs.Wait()
	assert.EqualValues(t, []int64{1, 3}, []int64{through.Load(), gone.Load()})
	assert.Positive(t, len(a.minted())-before)
	a.is(t, begun.ID, sdk.SocialConnectionStatusConnected)
}

// get asks for a page without following where it leads.
func get(t *testing.T, address string) (int, string) {
	client := &http.Client{Timeout: harness.Patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Get(address)
	if !assert.NoError(t, err) {
		return 0, ""
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	assert.NoError(t, err)
	return res.StatusCode, string(text)
}

// selectsAProfile consents for two profiles, where a network has such a thing.
func (a *advertiser) selectsAProfile(t *testing.T, page *browser.Page) {
	t.Helper()
	if a.platform == sdk.AdPlatformPinterest { // an access is of one profile
		return
	}
	a.addProfile()
	begun, _ := a.answer(t, page, "#allow")
	page.Click("#allow")
	page.WaitText("Back in the shop")
	assert.Equal(t, a.back+"&connection="+begun.ID+"&status=choose", sorted(t, page.Value("location.href")))
	choose := a.is(t, begun.ID, sdk.SocialConnectionStatusChoose)
	require.Len(t, choose.Profiles, 2)
	for _, profile := range choose.Profiles {
		if profile.Name == "Southwind" {
			selected, err := a.Socials.SelectProfile(background, begun.ID, &sdk.SocialProfileSelect{PlatformAccountID: profile.PlatformAccountID})
			require.NoError(t, err)
			assert.NotEqual(t, a.channel, *selected.AccountID)
		}
	}
	channels, err := a.Socials.List(background, nil)
	require.NoError(t, err)
	assert.Len(t, channels.Data, 2)
}

// isRenewed lets the time come at which the access is renewed.
func (a *advertiser) isRenewed(t *testing.T, db *harness.Database) {
	t.Helper()
	if a.platform == sdk.AdPlatformTikTok { // an access does not end
		return
	}
	before := len(a.minted())
	db.Must(t, `UPDATE social_accounts SET refresh_at = 1 WHERE id = '`+a.channel+`'`)
	require.Eventually(t, func() bool { return len(a.minted()) > before }, harness.Patience, 50*time.Millisecond)
	later := fmt.Sprint(time.Now().Add(24 * time.Hour).UnixMicro())
	require.Eventually(t, func() bool {
		return len(db.Strings(t, `SELECT id FROM social_accounts WHERE id = '`+a.channel+`' AND refresh_at > `+later)) == 1
	}, harness.Patience, 50*time.Millisecond, "it is to be renewed again in time")
	for _, old := range a.minted()[:before] {
		a.revokeOne(old)
	}
	_, err := a.Socials.Sync(background, a.channel)
	require.NoError(t, err, "the new access is used")
}
