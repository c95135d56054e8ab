package e2e

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
	"github.com/tillwright/tillwright/tests/harness/zerniofake"
)

// thirdPartyKey is the installation's key at Zernio. It must be seen there, and nowhere else.
const thirdPartyKey = "zrn_aKeyThatMustNotBeSeen"

// reseller is an account of a program that has a key at Zernio.
type reseller struct {
	*sdk.Client
	zernio  *zerniofake.Network
	channel string
}

// TestZernio_ReachesANetworkThroughAThirdParty takes two accounts of one program from the page of consent to an ad, of which the answer is lost.
// Neither has anything of the other.
func TestZernio_ReachesANetworkThroughAThirdParty(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, address string) {
		zernio := zerniofake.New(thirdPartyKey, time.Now)
		heard := &tap{network: zernio}
		fake := httptest.NewServer(heard)
		t.Cleanup(fake.Close)
		zernio.URL = fake.URL
		s := newSite(t, address)
		s.binary.Env = append(s.binary.Env, "TILLWRIGHT_ZERNIO_API_KEY="+thirdPartyKey, "TILLWRIGHT_ZERNIO_URL="+fake.URL+zerniofake.Prefix)
		other := s.binary.JSON(t, "accounts", "create", "--name", "Other", "--email", "other@example.com", "--json")
		otherKey := s.binary.JSON(t, "keys", "create", "--account", other["id"].(string), "--json")
		program := s.binary.Serve(t, "")
		as := func(key string) *reseller {
			client := s.client(program).HTTP
			client.Transport = &harness.Transport{T: t, Coverage: &harness.Coverage{}, Base: client.Transport}
			return &reseller{Client: sdk.New(key, sdk.WithBaseURL(program.URL+"/v1"), sdk.WithHTTPClient(client), sdk.WithRetries(0)), zernio: zernio}
		}
		one, two := as(s.key), as(otherKey["token"].(string))

		own := one.consents(t)
		stolen := two.asks(t)
		query := stolen.Query()
		query.Set("accountId", own)
		stolen.RawQuery = query.Encode()
		status, text := get(t, stolen.String())
		assert.Equal(t, http.StatusBadGateway, status)
		assert.Contains(t, text, "did not connect anything")
		_, err := two.Socials.Connect(background, &sdk.SocialAccountConnect{Platform: sdk.AdPlatformFacebook, Driver: new("zernio"), Token: new(own)})
		require.Error(t, err)
		channels, err := two.Socials.List(background, nil)
		require.NoError(t, err)
		assert.Empty(t, channels.Data)

		one.advertises(t)
		two.consents(t)
		campaigns, err := two.AdCampaigns.List(background, nil)
		require.NoError(t, err)
		assert.Empty(t, campaigns.Data)
		assert.NotContains(t, program.Log(), thirdPartyKey)
		assert.Contains(t, heard.text(), thirdPartyKey, "Zernio is not asked with the key")
	})
}

// asks begins a connection, consents on the network's page, and returns the address to which that leads back.
func (s *reseller) asks(t *testing.T) *url.URL {
	t.Helper()
	begun, err := s.Socials.CreateConnection(background, &sdk.SocialConnectionCreate{
		Platform: sdk.AdPlatformFacebook, Driver: new("zernio"), ReturnURL: "http://localhost:3000/connected",
	})
	require.NoError(t, err)
	require.NotNil(t, begun.ThirdParty)
	assert.Equal(t, "Zernio", *begun.ThirdParty)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Get(*begun.URL + "&answer=yes")
	require.NoError(t, err)
	defer res.Body.Close()
	back, err := res.Location()
	require.NoError(t, err)
	return back
}

// consents connects and activates a channel, and returns the Zernio account that came back.
func (s *reseller) consents(t *testing.T) string {
	t.Helper()
	back := s.asks(t)
	status, text := get(t, back.String())
	require.Equal(t, http.StatusSeeOther, status, text)
	channels, err := s.Socials.List(background, nil)
	require.NoError(t, err)
	require.Len(t, channels.Data, 1)
	require.NotNil(t, channels.Data[0].ThirdParty)
	assert.Equal(t, "zernio", channels.Data[0].Driver)
	s.channel = channels.Data[0].ID
	activated, err := s.Socials.Activate(background, &sdk.SocialAccountActivate{AccountID: s.channel})
	require.NoError(t, err)
	assert.Equal(t, sdk.SocialAdsStatusActive, activated.AdsStatus)
	return back.Query().Get("accountId")
}

// advertises makes an ad of which the answer is lost, asks again, and pauses it.
func (s *reseller) advertises(t *testing.T) {
	t.Helper()
	accounts, err := s.AdAccounts.List(background, &sdk.ListAdAccountsParams{AccountID: s.channel})
	require.NoError(t, err)
	draft := &sdk.AdCreate{
		AccountID: s.channel, AdAccountID: accounts.Data[0].ID, Name: "Handbook", Goal: new(sdk.AdGoalTraffic), BudgetAmount: new(json.Number("20.50")), BudgetType: new(sdk.AdBudgetTypeDaily),
		Headline: new("The Go Handbook"), Body: new("Learn Go in a weekend."), CallToAction: new("LEARN_MORE"), LinkURL: new("https://example.com/go"),
		ImageURL: new("https://example.com/go.png"), Targeting: &sdk.AdTargeting{Countries: []string{"US"}},
	}
	s.zernio.Break("POST /v1/ads/create", 0, zerniofake.FaultUnavailableAfter)
	_, err = s.Ads.Create(background, draft, sdk.WithIdempotencyKey("lost"))
	require.Error(t, err)
	ad, err := s.Ads.Create(background, draft, sdk.WithIdempotencyKey("lost"))
	require.NoError(t, err)
	require.Len(t, s.zernio.Campaigns(), 1)
	made := s.zernio.Campaigns()[0]
	assert.Equal(t, 20.5, made.Sets[0].Budget["amount"], "whole units")
	_, err = s.Ads.Pause(background, ad.ID, &sdk.AdPlatformBody{Platform: new(sdk.AdPlatformFacebook)})
	require.NoError(t, err)
	assert.False(t, s.zernio.Campaigns()[0].Sets[0].Ads[0].On)
	assert.Empty(t, s.zernio.Refused())
}
