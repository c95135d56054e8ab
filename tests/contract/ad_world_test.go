package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// The tests of the ads_ files are a checklist of what ads do with every input, held against each of the networks.

// adNetworks are all of them.
var adNetworks = []sdk.AdPlatform{"facebook", "instagram", "tiktok", "linkedin", "pinterest", "google", "twitter"}

// onNetwork is an advertiser on one network, with what the network can do.
type onNetwork struct {
	advertiser
	raw      *harness.Client // with the same key
	server   *harness.Server
	platform sdk.AdPlatform
	can      sdk.AdCapability
}

// onNetworks runs a test for each network, each with an account of its own, on both databases. As with onEach, there are accounts of other tests.
func onNetworks(t *testing.T, test func(t *testing.T, n onNetwork)) {
	onEach(t, func(t *testing.T, _ *sdk.Client, s *harness.Server) { onAllOf(t, s, test) })
}

// onNetworksAlone is onNetworks with a server that no other test has.
func onNetworksAlone(t *testing.T, test func(t *testing.T, n onNetwork)) {
	onEachAlone(t, func(t *testing.T, _ *sdk.Client, s *harness.Server) { onAllOf(t, s, test) })
}

func onAllOf(t *testing.T, s *harness.Server, test func(t *testing.T, n onNetwork)) {
	for _, platform := range adNetworks {
		t.Run(string(platform), func(t *testing.T) { test(t, newOnNetwork(t, s, platform)) })
	}
}

// onOneNetwork runs a test that is the same whatever the network is, on both databases.
func onOneNetwork(t *testing.T, platform sdk.AdPlatform, test func(t *testing.T, n onNetwork)) {
	onEach(t, func(t *testing.T, _ *sdk.Client, s *harness.Server) { test(t, newOnNetwork(t, s, platform)) })
}

// onOneNetworkAlone is onOneNetwork with a server that no other test has.
func onOneNetworkAlone(t *testing.T, platform sdk.AdPlatform, test func(t *testing.T, n onNetwork)) {
	onEachAlone(t, func(t *testing.T, _ *sdk.Client, s *harness.Server) { test(t, newOnNetwork(t, s, platform)) })
}

func newOnNetwork(t *testing.T, s *harness.Server, platform sdk.AdPlatform) onNetwork {
	t.Helper()
	raw := s.Account(t)
	n := onNetwork{advertiser: advertise(t, raw.SDK(), platform), raw: raw, server: s, platform: platform}
	capabilities := ok[*sdk.AdCapabilityList](t)(n.Ads.ListCapabilities(background)).Data
	n.can = capabilities[slices.IndexFunc(capabilities, func(c sdk.AdCapability) bool { return c.Platform == platform })]
	return n
}

// body names the network.
func (n onNetwork) body() *sdk.AdPlatformBody { return &sdk.AdPlatformBody{Platform: &n.platform} }

// has reports whether the network has budgets at a level.
func (n onNetwork) has(level sdk.AdBudgetLevel) bool {
	return slices.Contains(n.can.BudgetLevels, level)
}

// otherPlatform is a network that this is not.
func (n onNetwork) otherPlatform() sdk.AdPlatform {
	if n.platform == sdk.AdPlatformTwitter {
		return sdk.AdPlatformGoogle
	}
	return sdk.AdPlatformTwitter
}

// boost is a boost of a post that can be made.
func (n onNetwork) boost(post string) *sdk.AdBoost {
	return &sdk.AdBoost{
		AccountID: n.channel, AdAccountID: n.account, PostID: post, Name: "Boosted", Goal: sdk.AdGoalEngagement,
		Budget: sdk.AdBudgetInput{Amount: "20", Type: sdk.AdBudgetTypeDaily},
	}
}

// post returns the id of a post of the channel in a state.
func (n onNetwork) post(t *testing.T, status sdk.SocialPostStatus) string {
	t.Helper()
	for _, post := range ok[*sdk.SocialPostList](t)(n.Socials.ListPosts(background, n.channel, nil)).Data {
		if post.Status == status {
			return post.ID
		}
	}
	t.Fatalf("the channel has no post that is %s", status)
	return ""
}

// campaigns returns all campaigns of the ad account.
func (n onNetwork) campaigns(t *testing.T) []sdk.AdCampaign {
	t.Helper()
	var all []sdk.AdCampaign
	for campaign, err := range sdk.All(background, n.AdCampaigns.List, &sdk.ListAdCampaignsParams{AccountID: &n.channel, AdAccountID: &n.account}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, campaign)
	}
	return all
}

// external returns a campaign of the ad account that was made in the ad manager and is in a status.
func (n onNetwork) external(t *testing.T, status sdk.AdStatus) sdk.AdCampaign {
	t.Helper()
	for _, campaign := range n.campaigns(t) {
		if campaign.Source == sdk.AdSourceExternal && campaign.Status == status {
			return campaign
		}
	}
	t.Fatalf("no external campaign is %s", status)
	return sdk.AdCampaign{}
}

// groups returns the ad groups of a campaign.
func (n onNetwork) groups(t *testing.T, campaign string) []sdk.AdGroup {
	t.Helper()
	return ok[*sdk.AdGroupList](t)(n.AdCampaigns.ListAdGroups(background, campaign, nil)).Data
}

// natives returns the ids of the ads that were made here.
func (n onNetwork) natives(t *testing.T) []string {
	t.Helper()
	var ids []string
	for ad, err := range sdk.All(background, n.Ads.List, &sdk.ListAdsParams{Source: new(sdk.AdSourceScopeNative)}) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, ad.ID)
	}
	return ids
}

// inCurrency returns the same network with a channel whose ad account is paid in another currency than the dollar.
func (n onNetwork) inCurrency(t *testing.T, currency string) onNetwork {
	t.Helper()
	for range 60 { // each channel has one of two
		channel := activated(t, n.Client, n.platform)
		for _, account := range ok[*sdk.AdAccountList](t)(n.AdAccounts.List(background, &sdk.ListAdAccountsParams{AccountID: channel.ID})).Data {
			if account.Selectable && account.Currency == currency {
				n.channel, n.account = channel.ID, account.ID
				return n
			}
		}
	}
	t.Fatalf("no channel has an ad account in %s", currency)
	return n
}

// fault makes the sandbox do something else than what it is asked for.
func fault(text string) sdk.Option { return sdk.WithHeader("X-Sandbox-Fault", text) }

// unreachable is a network that cannot be asked: what succeeds all the same has not asked it.
var unreachable = fault("5xx")

// amount is one in a request.
func amount(text string) *json.Number { return new(json.Number(text)) }

// send sends a text as a body.
func (n onNetwork) send(t *testing.T, method, path, body string) *harness.Response {
	t.Helper()
	if body == "" {
		return n.raw.Do(t, method, path, nil)
	}
	return n.raw.Do(t, method, path, body)
}

// refusedText checks that a body is refused with this status, code and param.
func (n onNetwork) refusedText(t *testing.T, method, path, body string, status int, code, param string) {
	t.Helper()
	f := n.send(t, method, path, body).Fault(t, status, code)
	assert.Equal(t, param, f.Param, "%s %s %.200s: param", method, path, body)
	assert.False(t, status == http.StatusUnprocessableEntity && len(f.Errors[param]) == 0, "%s %s %.200s: param", method, path, body)
}

// unchanged fails the test if a request wrote something besides its Idempotency-Key.
func unchanged(t *testing.T, s *harness.Server, what string, request func()) {
	t.Helper()
	defer s.RestAds()() // they mirror what the network has
	before := rows(t, s.Database)
	request()
	if after := rows(t, s.Database); fmt.Sprint(withKeys(before, after)) != fmt.Sprint(after) {
		t.Errorf("%s wrote something: %v became %v", what, before, after)
	}
}

// sendUnder sends the body of an ad under a key.
func (n onNetwork) sendUnder(t *testing.T, key string, body any) *harness.Response {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, n.raw.URL+"/v1/ads", bytes.NewReader(harness.Encode(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Authorization": {"Bearer " + n.raw.Key}, "Content-Type": {"application/json"}, "Idempotency-Key": {key}}
	resp, err := n.raw.HTTP.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return &harness.Response{Status: resp.StatusCode, Header: resp.Header, Body: text}
}
